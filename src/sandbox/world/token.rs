//! Access tokens: who gets one, what it allows, when it ends.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::account::Client;
use super::ids::{AccountId, ClientId, Dice, TokenHash, sha256_hex};
use super::ledger::Event;
use super::{Due, Key, Reply, World};
use crate::base::clock::Time;
use crate::base::secret::Secret;

pub const TOKEN_LIFE: TimeDelta = TimeDelta::seconds(3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    #[serde(rename = "account:read")]
    AccountRead,
    #[serde(rename = "mails:read")]
    MailsRead,
    #[serde(rename = "mails:write")]
    MailsWrite,
}

impl Scope {
    pub const ALL: [Self; 3] = [Self::AccountRead, Self::MailsRead, Self::MailsWrite];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::AccountRead => "account:read",
            Self::MailsRead => "mails:read",
            Self::MailsWrite => "mails:write",
        }
    }

    /// The known words of a `scope` parameter. Others are ignored without an error.
    fn granted(asked: &str) -> BTreeSet<Self> {
        let asked: BTreeSet<&str> = asked.split_ascii_whitespace().collect();
        Self::ALL.into_iter().filter(|scope| asked.contains(scope.as_str())).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Token {
    pub hash: TokenHash,
    pub client: ClientId,
    pub account: AccountId,
    pub scopes: BTreeSet<Scope>,
    pub expires_at: Time,
}

/// One reading of an `Authorization: Basic` header. There may be two: raw and form-decoded.
#[derive(Debug, Clone)]
pub struct Credentials {
    pub id: String,
    pub secret: Secret,
}

/// The refusals of RFC 6749 5.2 that this service makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OAuthError {
    InvalidRequest(&'static str),
    InvalidClient,
    InvalidGrant,
    UnsupportedGrantType,
}

/// Why a bearer token is not accepted.
pub(super) enum Closed {
    Unauthorized,
    Forbidden,
    AccountGone,
}

impl World {
    pub(super) fn issue_token(
        &mut self,
        readings: &[Credentials],
        grant_type: Option<&str>,
        scope: Option<&str>,
        dice: Dice,
    ) -> Reply {
        let Some(client) = self.authenticate(readings) else {
            return Reply::OAuth(OAuthError::InvalidClient);
        };
        match grant_type {
            Some("client_credentials") => {}
            Some(_) => return Reply::OAuth(OAuthError::UnsupportedGrantType),
            None => return Reply::OAuth(OAuthError::InvalidRequest("grant_type is missing")),
        }
        let scopes = Scope::granted(scope.unwrap_or_default());
        let words: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
        let granted = words.join(" ");
        let secret = Secret::new(format!("at_{}", hex::encode(dice.draw("token", 0))));
        let token = Token {
            hash: hash_of(secret.expose()),
            client: client.id.clone(),
            account: client.account.clone(),
            scopes,
            expires_at: self.now + TOKEN_LIFE,
        };
        let event = Event::TokenIssued { client: token.client.clone(), scope: granted.clone() };
        self.note(&token.account.clone(), None, event);
        self.due.insert((token.expires_at, Due::Token(token.hash.clone())));
        self.effects.changed.insert(Key::Token(token.hash.clone()));
        self.tokens.insert(token.hash.clone(), token);
        Reply::Token { secret, lifetime: TOKEN_LIFE, scope: granted }
    }

    /// RFC 7009: success also for an unknown token; refused for another client's.
    pub(super) fn revoke_token(&mut self, readings: &[Credentials], token: Option<&str>) -> Reply {
        let Some(client) = self.authenticate(readings).map(|client| client.id.clone()) else {
            return Reply::OAuth(OAuthError::InvalidClient);
        };
        let Some(token) = token else {
            return Reply::OAuth(OAuthError::InvalidRequest("token is missing"));
        };
        let hash = hash_of(token);
        match self.tokens.get(&hash).map(|token| (token.client == client, token.account.clone())) {
            None => Reply::Revoked,
            Some((false, _)) => Reply::OAuth(OAuthError::InvalidGrant),
            Some((true, account)) => {
                self.drop_token(&hash);
                self.note(&account, None, Event::TokenRevoked { client });
                Reply::Revoked
            }
        }
    }

    pub(super) fn drop_token(&mut self, hash: &TokenHash) {
        if let Some(token) = self.tokens.remove(hash) {
            self.due.remove(&(token.expires_at, Due::Token(hash.clone())));
            self.effects.changed.insert(Key::Token(hash.clone()));
        }
    }

    fn authenticate(&self, readings: &[Credentials]) -> Option<&Client> {
        readings.iter().find_map(|reading| {
            let client =
                self.client(&reading.id).filter(|client| client.secret_is(reading.secret.expose()))?;
            self.account(client.account.as_str())
                .is_some_and(|account| account.closed_at.is_none())
                .then_some(client)
        })
    }

    /// The account for which a bearer token acts, if it has `scope`.
    pub(super) fn authorize(&self, bearer: Option<&Secret>, scope: Scope) -> Result<AccountId, Closed> {
        let token = bearer
            .and_then(|bearer| self.tokens.get(&hash_of(bearer.expose())))
            .filter(|token| self.now < token.expires_at)
            .ok_or(Closed::Unauthorized)?;
        if !token.scopes.contains(&scope) {
            return Err(Closed::Forbidden);
        }
        match self.account(token.account.as_str()) {
            Some(account) if account.closed_at.is_none() => Ok(account.id.clone()),
            Some(_) | None => Err(Closed::AccountGone),
        }
    }
}

fn hash_of(token: &str) -> TokenHash {
    TokenHash::new(sha256_hex(token.as_bytes()))
}
