//! The service's rules, pure: clock, I/O and randomness are passed in.
//!
//! [`World::handle`] is the only way to change anything: it lets time pass up to `now`, answers the request,
//! and says what must be durable before the answer leaves ([`Effects`]). The bytes of PDFs stay outside; the
//! world knows their size, hash and page count.

mod account;
mod course;
mod files;
mod ids;
mod ledger;
mod mail;
mod posting;
mod problem;
mod request;
mod reset;
mod store_error;
mod target;
mod tariff;
mod token;

use std::collections::{BTreeMap, BTreeSet};

use chrono::SubsecRound;

pub use account::{Account, CLIENTS_PER_ACCOUNT, Card, Chosen, Client, ScreenRefusal};
pub use ids::{AccountId, BlobId, ClientId, ContentId, Dice, MailId, TokenHash, sha256_hex};
pub use ledger::{Entry, Event};
pub use mail::{Content, Deletion, Mail, Phase, Reading, Standing, Stored};
pub use problem::{Code, Fault, Problem};
pub use request::{Created, CreatedContent, Document, Payment, Received, Reply, Request, UploadFields};
pub use store_error::{FormError, StoreError};
pub use target::{DOWNLOAD_LIFE, LARGEST_FILE, SMALLEST_FILE, Signer};
pub use tariff::{SHEETS_PER_MAIL, amount, sheets, trackable};
pub use token::{Credentials, OAuthError, Scope, TOKEN_LIFE, Token};

use crate::base::clock::Time;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct World {
    now: Time,
    signer: Signer,
    accounts: BTreeMap<AccountId, Account>,
    clients: BTreeMap<ClientId, Client>,
    tokens: BTreeMap<TokenHash, Token>,
    mails: BTreeMap<MailId, Mail>,
    /// What time alone will change, soonest first. Derived from the rest.
    due: BTreeSet<(Time, Due)>,
    effects: Effects,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Due {
    Mail(MailId),
    Token(TokenHash),
}

/// What a call changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Effects {
    /// Records to write again, or to remove if [`World::record`] no longer has them.
    pub changed: BTreeSet<Key>,
    pub entries: Vec<Entry>,
    /// All earlier entries are forgotten.
    pub begins_anew: bool,
    /// Documents that cannot change any more.
    pub sealed: Vec<BlobId>,
    /// Documents that nobody can ask for any more.
    pub discarded: Vec<BlobId>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Account(AccountId),
    Client(ClientId),
    Token(TokenHash),
    Mail(MailId),
}

/// One thing of the world, as it is stored.
#[derive(Debug, Clone)]
pub enum Record {
    Account(Account),
    Client(Client),
    Token(Token),
    Mail(Box<Mail>),
}

impl World {
    pub fn new(signer: Signer, now: Time) -> Self {
        Self {
            now: now.trunc_subsecs(3),
            signer,
            accounts: BTreeMap::new(),
            clients: BTreeMap::new(),
            tokens: BTreeMap::new(),
            mails: BTreeMap::new(),
            due: BTreeSet::new(),
            effects: Effects::default(),
        }
    }

    /// Puts back what [`World::record`] once returned.
    pub fn restore(&mut self, record: Record) {
        match record {
            Record::Account(account) => {
                self.accounts.insert(account.id.clone(), account);
            }
            Record::Client(client) => {
                self.clients.insert(client.id.clone(), client);
            }
            Record::Token(token) => {
                self.due.insert((token.expires_at, Due::Token(token.hash.clone())));
                self.tokens.insert(token.hash.clone(), token);
            }
            Record::Mail(mail) => {
                self.due.extend(mail.next_due().map(|due| (due, Due::Mail(mail.id.clone()))));
                self.mails.insert(mail.id.clone(), *mail);
            }
        }
    }

    /// The present state of a thing. `None` if it is gone.
    pub fn record(&self, key: &Key) -> Option<Record> {
        match key {
            Key::Account(id) => self.accounts.get(id).cloned().map(Record::Account),
            Key::Client(id) => self.clients.get(id).cloned().map(Record::Client),
            Key::Token(hash) => self.tokens.get(hash).cloned().map(Record::Token),
            Key::Mail(id) => self.mails.get(id).cloned().map(Box::new).map(Record::Mail),
        }
    }

    /// Lets time pass up to `now`, then carries out the request. A `now` before the latest one counts as that
    /// one, because time does not go back here.
    pub fn handle(&mut self, request: Request, now: Time, dice: Dice) -> (Reply, Effects) {
        self.effects = Effects::default();
        self.pass_time(now.trunc_subsecs(3));
        let reply = self.answer(request, dice);
        (reply, std::mem::take(&mut self.effects))
    }

    fn answer(&mut self, request: Request, dice: Dice) -> Reply {
        match request {
            Request::IssueToken { credentials, grant_type, scope } => {
                self.issue_token(&credentials, grant_type.as_deref(), scope.as_deref(), dice)
            }
            Request::RevokeToken { credentials, token } => {
                self.revoke_token(&credentials, token.as_ref().map(crate::base::secret::Secret::expose))
            }
            Request::ReadAccount { bearer } => self.read_account(bearer.as_ref()),
            Request::CreateMail { bearer, order } => self.create_mail(bearer.as_ref(), order, dice),
            Request::ConfirmMail { bearer, mail, payment } => {
                self.confirm_mail(bearer.as_ref(), &mail, payment)
            }
            Request::ReadMail { bearer, mail, stale } => self.read_mail(bearer.as_ref(), &mail, stale),
            Request::CancelMail { bearer, mail } => self.cancel_mail(bearer.as_ref(), &mail),
            Request::ReadPdf { bearer, mail, content } => self.read_pdf(bearer.as_ref(), &mail, &content),
            Request::Elsewhere { bearer, problem } => self.elsewhere(bearer.as_ref(), problem),
            Request::Upload { fields, file } => self.upload(&fields, file),
            Request::Download { key, query } => self.download(&key, &query),
            Request::OpenAccount { name, card } => self.open_account(name, card, dice),
            Request::CloseAccount { account } => self.close_account(&account),
            Request::SetCard { account, card } => self.set_card(&account, card),
            Request::IssueClient { account, name, terms_agreed, chosen } => {
                self.issue_client(&account, &name, terms_agreed, chosen, dice)
            }
            Request::ReissueSecret { client, chosen } => self.reissue_secret(&client, chosen, dice),
            Request::BeginPacking { mail } => self.begin_packing(&mail),
            Request::Reset { client, secret, card } => self.reset(&client, secret.as_ref(), card),
            Request::PassTime => Reply::TimePassed,
        }
    }

    /// Everything that became due up to `now`, in the order of its time.
    fn pass_time(&mut self, now: Time) {
        while self.due.first().is_some_and(|(when, _)| *when <= now) {
            let Some((when, due)) = self.due.pop_first() else { break };
            self.now = self.now.max(when);
            match due {
                Due::Mail(id) => self.mail_is_due(&id),
                Due::Token(hash) => self.drop_token(&hash),
            }
        }
        self.now = self.now.max(now);
    }

    pub fn now(&self) -> Time {
        self.now
    }

    /// When time alone changes something next.
    pub fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(when, _)| *when)
    }

    /// When something happens to a mail by itself next.
    pub fn next_due_mail(&self) -> Option<Time> {
        self.due.iter().find(|(_, due)| matches!(due, Due::Mail(_))).map(|(when, _)| *when)
    }

    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Forgets the oldest mail with which nothing can happen any more. Returns its id, and its documents among
    /// the discarded. `None` if there is no such mail.
    pub fn forget_oldest(&mut self) -> Option<(MailId, Vec<BlobId>)> {
        let id = self.mails.iter().find(|(_, mail)| mail.has_ended()).map(|(id, _)| id.clone())?;
        let mail = self.mails.remove(&id)?;
        Some((id, mail.blobs()))
    }

    pub fn mail_count(&self) -> usize {
        self.mails.len()
    }

    /// Mails in the order of their creation, including those deleted within the last day: all, or those
    /// before one of them.
    pub fn mails_before(&self, limit: Option<&MailId>) -> impl DoubleEndedIterator<Item = &Mail> {
        use std::ops::Bound::{Excluded, Unbounded};
        self.mails.range::<MailId, _>((Unbounded, limit.map_or(Unbounded, Excluded))).map(|(_, mail)| mail)
    }

    pub fn mail(&self, id: &str) -> Option<&Mail> {
        self.mails.get(id)
    }

    /// Every document that cannot change any more.
    pub fn sealed(&self) -> impl Iterator<Item = &BlobId> {
        let sealed = self.mails.values().filter(|mail| mail.phase != Phase::Pending);
        let contents = sealed.flat_map(|mail| &mail.contents);
        contents.filter_map(|content| Some(&content.upload.as_ref()?.blob))
    }

    /// Every document that the world still knows.
    pub fn blobs(&self) -> impl Iterator<Item = &BlobId> {
        let contents = self.mails.values().flat_map(|mail| &mail.contents);
        contents.filter_map(|content| Some(&content.upload.as_ref()?.blob))
    }

    fn note(&mut self, account: &AccountId, mail: Option<&MailId>, event: Event) {
        self.effects.entries.push(Entry {
            at: self.now,
            account: account.clone(),
            mail: mail.cloned(),
            event,
        });
    }
}
