//! Accounts, their cards, and their clients.

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::ids::{AccountId, ClientId, Dice, sha256_hex};
use super::ledger::Event;
use super::{Key, Reply, World};
use crate::base::clock::Time;
use crate::base::secret::Secret;

pub const CLIENTS_PER_ACCOUNT: usize = 5;
const NAME_CHARACTERS: usize = 100;
const ID_CHARACTERS: usize = 128;

/// What an account's card does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Card {
    Ok,
    Declining,
    None,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Account {
    pub id: AccountId,
    pub name: String,
    pub card: Card,
    pub opened_at: Time,
    pub closed_at: Option<Time>,
}

/// A client that may request tokens. Only its secret's hash is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Client {
    pub id: ClientId,
    pub account: AccountId,
    pub name: String,
    pub issued_at: Time,
    pub terms_agreed_at: Time,
    pub reissued_at: Option<Time>,
    pub(super) secret_sha256: String,
}

impl Client {
    pub fn secret_is(&self, secret: &str) -> bool {
        sha256_hex(secret.as_bytes()).as_bytes().ct_eq(self.secret_sha256.as_bytes()).into()
    }
}

/// Id and secret chosen by the caller instead of drawn; for `--client` and the controls.
#[derive(Debug, Clone)]
pub struct Chosen {
    pub id: ClientId,
    pub secret: Secret,
}

impl Chosen {
    pub fn drawn(dice: Dice) -> Self {
        Self { id: ClientId::new(dice.name("client_", 0)), secret: draw_secret(dice) }
    }
}

/// Why the management screen refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScreenRefusal {
    #[error("there is no such account")]
    NoSuchAccount,
    #[error("there is no such client")]
    NoSuchClient,
    #[error("there is no such mail request, or it is not confirmed")]
    NoSuchMail,
    #[error("the API terms of use must be agreed to before a client is issued")]
    TermsNotAgreed,
    #[error("an account has at most {CLIENTS_PER_ACCOUNT} clients")]
    TooManyClients,
    #[error("a client needs a name of 1 to {NAME_CHARACTERS} characters")]
    BadName,
    #[error("this client id is taken")]
    IdTaken,
    #[error(
        "a client id has 1 to {ID_CHARACTERS} characters, no colon and no control character, and a secret is not empty"
    )]
    BadCredentials,
    #[error("an account needs a name of 1 to {NAME_CHARACTERS} characters")]
    BadAccountName,
}

impl World {
    pub(super) fn open_account(&mut self, name: String, card: Card, dice: Dice) -> Reply {
        if !is_name(&name) {
            return Reply::Screen(ScreenRefusal::BadAccountName);
        }
        // Accounts are never removed, so the number keeps them in the order of their opening.
        let number = self.accounts.len() + 1;
        let id = AccountId::new(dice.name(&format!("acct{number:05}_"), 0));
        let account = Account { id: id.clone(), name, card, opened_at: self.now, closed_at: None };
        self.effects.changed.insert(Key::Account(id.clone()));
        self.accounts.insert(id.clone(), account);
        self.note(&id, None, Event::AccountOpened);
        Reply::AccountOpened(id)
    }

    pub(super) fn close_account(&mut self, id: &AccountId) -> Reply {
        let now = self.now;
        self.alter_account(id, Event::AccountClosed, |account| account.closed_at = Some(now))
    }

    pub(super) fn set_card(&mut self, id: &AccountId, card: Card) -> Reply {
        self.alter_account(id, Event::CardSet { card }, |account| account.card = card)
    }

    fn alter_account(&mut self, id: &AccountId, event: Event, change: impl FnOnce(&mut Account)) -> Reply {
        let Some(account) = self.accounts.get_mut(id).filter(|account| account.closed_at.is_none()) else {
            return Reply::Screen(ScreenRefusal::NoSuchAccount);
        };
        change(account);
        self.effects.changed.insert(Key::Account(id.clone()));
        self.note(id, None, event);
        Reply::ScreenDone
    }

    pub(super) fn issue_client(
        &mut self,
        account: &AccountId,
        name: &str,
        terms_agreed: bool,
        chosen: Option<Chosen>,
        dice: Dice,
    ) -> Reply {
        if let Err(refusal) = self.check_issue(account, name, terms_agreed, chosen.as_ref()) {
            return Reply::Screen(refusal);
        }
        let Chosen { id, secret } = chosen.unwrap_or_else(|| Chosen::drawn(dice));
        let client = Client {
            id: id.clone(),
            account: account.clone(),
            name: name.trim().to_owned(),
            issued_at: self.now,
            terms_agreed_at: self.now,
            reissued_at: None,
            secret_sha256: sha256_hex(secret.expose().as_bytes()),
        };
        self.effects.changed.insert(Key::Client(id.clone()));
        self.clients.insert(id.clone(), client);
        self.note(account, None, Event::ClientIssued { client: id.clone() });
        Reply::ClientIssued { id, secret }
    }

    fn check_issue(
        &self,
        account: &AccountId,
        name: &str,
        terms_agreed: bool,
        chosen: Option<&Chosen>,
    ) -> Result<(), ScreenRefusal> {
        if self.accounts.get(account).is_none_or(|account| account.closed_at.is_some()) {
            return Err(ScreenRefusal::NoSuchAccount);
        }
        if !terms_agreed {
            return Err(ScreenRefusal::TermsNotAgreed);
        }
        if !is_name(name) {
            return Err(ScreenRefusal::BadName);
        }
        if self.clients_of(account).count() >= CLIENTS_PER_ACCOUNT {
            return Err(ScreenRefusal::TooManyClients);
        }
        if chosen.is_some_and(|chosen| !is_usable(chosen)) {
            return Err(ScreenRefusal::BadCredentials);
        }
        if chosen.is_some_and(|chosen| self.clients.contains_key(&chosen.id)) {
            return Err(ScreenRefusal::IdTaken);
        }
        Ok(())
    }

    /// The old secret stops working with this call. Tokens obtained with it stay valid until they expire.
    pub(super) fn reissue_secret(&mut self, id: &ClientId, chosen: Option<Secret>, dice: Dice) -> Reply {
        let Some(client) = self.clients.get_mut(id) else {
            return Reply::Screen(ScreenRefusal::NoSuchClient);
        };
        let secret = chosen.unwrap_or_else(|| draw_secret(dice));
        client.secret_sha256 = sha256_hex(secret.expose().as_bytes());
        client.reissued_at = Some(self.now);
        let account = client.account.clone();
        self.effects.changed.insert(Key::Client(id.clone()));
        self.note(&account, None, Event::SecretReissued { client: id.clone() });
        Reply::ClientIssued { id: id.clone(), secret }
    }

    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values()
    }

    /// The account that was opened first, among those not closed.
    pub fn first_account(&self) -> Option<&Account> {
        self.accounts.values().find(|account| account.closed_at.is_none())
    }

    pub fn account(&self, id: &str) -> Option<&Account> {
        self.accounts.get(id)
    }

    pub fn client(&self, id: &str) -> Option<&Client> {
        self.clients.get(id)
    }

    pub fn clients_of<'a>(&'a self, account: &'a AccountId) -> impl Iterator<Item = &'a Client> {
        self.clients.values().filter(move |client| client.account == *account)
    }
}

fn is_name(name: &str) -> bool {
    (1..=NAME_CHARACTERS).contains(&name.trim().chars().count()) && !name.contains(char::is_control)
}

/// A colon would end the id in a Basic header.
fn is_usable(chosen: &Chosen) -> bool {
    let id = chosen.id.as_str();
    (1..=ID_CHARACTERS).contains(&id.chars().count())
        && !id.contains(|c: char| c == ':' || c.is_control())
        && !chosen.secret.expose().is_empty()
}

/// Base64 with its `+` and `/`, so that a client that forgets to form-encode is noticed.
fn draw_secret(dice: Dice) -> Secret {
    use base64::Engine as _;
    let bytes = dice.draw("secret", 0);
    Secret::new(base64::engine::general_purpose::STANDARD_NO_PAD.encode(bytes))
}
