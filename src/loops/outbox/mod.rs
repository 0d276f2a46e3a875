//! News for people: rows of the store become e-mails, each of which is sent at least once.
//!
//! The current configuration decides who gets them. They are collected for a while and sent with a Message-ID
//! that stays the same. A mail server that does not answer costs only time. A person whom it rejects costs
//! nobody else their e-mail.

mod compose;
mod digest;
mod disk;
mod hooks;
mod mailer;
mod over;
mod pictures;
mod recipients;
mod reply;
mod route;
mod smtp;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;

use compose::Tongue;
pub use mailer::reach;
use mailer::{Envelope, HandedIn, MailLine, Mailer};
use pictures::Drawer;

use crate::base::clock::{Clock, Time};
use crate::config::{Config, Email, Queue};
use crate::domain::alarm::Alarm;
use crate::loops::folders::Registry;
use crate::outside::journal;
use crate::outside::pdf::Inspector;
use crate::outside::spool::sha256_of;
use crate::outside::store::{EmailEnd, EmailRow, OwedRow, RecordError, Store, StoreError};
use crate::words::message::{EmailKind, Mailbox};

/// How often the disk is checked.
const DISK_LOOK: TimeDelta = TimeDelta::minutes(1);
/// After this time of sending, alarms and new news are looked at, before more is sent.
const LONGEST_ROUND: TimeDelta = TimeDelta::seconds(10);

#[derive(Debug)]
pub struct Outbox {
    store: Arc<Store>,
    registry: Arc<Registry>,
    clock: Clock,
    mailer: Mailer,
    inspector: Inspector,
    in_force: Mutex<InForce>,
    known: Mutex<ServerRest>,
}

/// The current configuration.
#[derive(Debug, Clone)]
struct InForce {
    email: Option<Arc<Email>>,
    tongue: Tongue,
    /// `page_font`
    font: Option<PathBuf>,
    queues: Arc<[Queue]>,
}

/// What one e-mail means for the others.
enum Round {
    GoesOn,
    /// A rule of the server refuses it. It is not known yet whether that is about its recipient.
    Refused(String),
    /// None can be handed in at present.
    Ends,
}

/// What is remembered between two rounds.
#[derive(Debug, Default)]
struct ServerRest {
    /// How often in a row the mail server could not be used, and until when it is left alone.
    failures: u32,
    rests: Option<Time>,
    disk_looked: Option<Time>,
    /// When the server last accepted an e-mail.
    accepted: Option<Time>,
    /// E-mails that a rule of the server refuses: perhaps their recipients, perhaps every e-mail. Since when.
    refused: BTreeMap<i64, Time>,
    /// Whether this run knows that the alarm about the server is not raised.
    is_calm: bool,
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

impl InForce {
    fn of(config: &mut Config) -> Self {
        let tongue = Tongue { language: config.language, zone: config.zone };
        let email = config.email.take().map(Arc::new);
        Self { email, tongue, font: config.page_font.clone(), queues: config.queues.clone().into() }
    }
}

impl Outbox {
    /// Takes the `email` section of the configuration.
    pub fn new(
        store: &Arc<Store>,
        registry: &Arc<Registry>,
        clock: &Clock,
        inspector: Inspector,
        config: &mut Config,
    ) -> Self {
        Self {
            store: Arc::clone(store),
            registry: Arc::clone(registry),
            clock: clock.clone(),
            mailer: Mailer::default(),
            inspector,
            in_force: Mutex::new(InForce::of(config)),
            known: Mutex::default(),
        }
    }

    /// Sets the time limit for an answer of the mail server.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { mailer: Mailer::with_patience(patience), ..self }
    }

    /// Puts another configuration in force. A mail server that rests is tried immediately.
    pub fn replace(&self, config: &mut Config) {
        *locked(&self.in_force) = InForce::of(config);
        locked(&self.known).rests = None;
    }

    /// Whether a saved configuration cannot be used, and why.
    pub async fn configuration(&self, wrong: Option<String>) -> Result<(), RecordError> {
        let now = self.clock.now();
        match wrong {
            Some(why) => self.store.raise(Alarm::Configuration, why, now).await,
            None => self.store.calm(Alarm::Configuration, now).await,
        }
    }

    /// Assigns and sends what is due. Returns when there will be more.
    pub async fn tick(&self) -> Result<Option<Time>, RecordError> {
        match self.round().await {
            // Nothing can be written at present.
            Err(RecordError::NotWritten(_)) => Ok(None),
            next => next,
        }
    }

    async fn round(&self) -> Result<Option<Time>, RecordError> {
        let InForce { email, tongue, .. } = locked(&self.in_force).clone();
        self.look_at_disk().await?;
        self.forget_folders().await?;
        let alarms = self.store.report_alarms(self.clock.now()).await?;
        let digest = match &email {
            Some(email) => self.look_at_digest(email, tongue).await?,
            None => None,
        };
        self.pass_on(email.as_deref()).await?;
        let ends = self.clock.steady() + LONGEST_ROUND;
        let mails = async {
            match &email {
                Some(email) => self.send(email, tongue, ends).await,
                None => self.server_works().await.map(|()| None),
            }
        };
        // A program that does not answer holds up no e-mail, and the other way round.
        let (mail, hooks) = tokio::join!(mails, self.call_hooks(ends));
        Ok([alarms, digest, mail?, hooks?].into_iter().flatten().min())
    }

    /// Assigns each row of news to e-mails of the people it is for. The journal gets all of them.
    async fn pass_on(&self, email: Option<&Email>) -> Result<(), RecordError> {
        loop {
            let rows = self.store.owed()?;
            if rows.is_empty() {
                return Ok(());
            }
            let folders: Vec<_> = self.registry.all().into_iter().map(|known| known.folder).collect();
            let mut passed_on = Vec::new();
            for row in rows {
                let now = self.clock.now();
                let (mut to, mut programs) = (Vec::new(), Vec::new());
                if let Some(news) = row.news() {
                    let about = self.about(&news, &folders)?;
                    to = email.map_or_else(Vec::new, |email| route::route(&news, &about, email, now));
                    programs = route::hooks(&news, about.folder, now);
                }
                journal::owed(&row, to.len(), programs.len());
                to.extend(programs);
                passed_on.push(self.store.pass_on(row.id, to, now));
            }
            for passed_on in passed_on {
                passed_on.await?;
            }
        }
    }

    /// Sends e-mails until none is due or the round ends, by the monotonic clock. Returns when there will be more.
    async fn send(
        &self,
        email: &Email,
        tongue: Tongue,
        ends: TimeDelta,
    ) -> Result<Option<Time>, RecordError> {
        // A clock that was set back must not make it rest for longer.
        let now = self.clock.now();
        let rests = |until: &Time| now < *until && *until <= now + route::LONGEST_REST;
        if let Some(until) = locked(&self.known).rests.filter(rests) {
            return Ok(Some(until));
        }
        let mut line = MailLine::default();
        let mut refused = None;
        let next = 'round: loop {
            let (due, next) = self.store.due_emails(self.clock.now())?;
            if due.is_empty() {
                break next;
            }
            for row in due {
                if self.clock.steady() >= ends {
                    // Others were not tried yet, so what was refused says nothing about the server.
                    line.close().await;
                    return Ok(Some(self.clock.now()));
                }
                match self.send_one(email, tongue, &mut line, row).await? {
                    Round::GoesOn => {}
                    Round::Refused(code) => refused = Some(code),
                    Round::Ends => break 'round locked(&self.known).rests,
                }
            }
        };
        line.close().await;
        let accepted = locked(&self.known).accepted.is_some_and(|accepted| accepted >= now);
        match refused {
            // Nothing was accepted, so it is not about the recipients as far as anybody knows.
            Some(code) if !accepted => {
                self.server_rests(&code, self.clock.now()).await?;
                Ok(locked(&self.known).rests)
            }
            Some(_) | None => Ok(next),
        }
    }

    /// Hands in one e-mail.
    async fn send_one(
        &self,
        email: &Email,
        tongue: Tongue,
        line: &mut MailLine,
        row: EmailRow,
    ) -> Result<Round, RecordError> {
        let now = self.clock.now();
        let end = |end: EmailEnd| self.store.end_email(&row, end, now);
        let letter = match self.written(email, tongue, &row).await? {
            Some(Ok(letter)) => letter,
            Some(Err(why)) => {
                journal::mail_unmade(row.id, &why);
                self.store.email_later(row.id, now + route::again(row.attempts), why).await?;
                return Ok(Round::GoesOn);
            }
            None => {
                end(EmailEnd::Obsolete).await?;
                return Ok(Round::GoesOn);
            }
        };
        self.store.begin_email(row.id, now).await?;
        let verdict = self.mailer.hand_in(email, line, &letter).await;
        if matches!(verdict, HandedIn::Sent | HandedIn::Refused(_) | HandedIn::Later(_)) {
            self.server_works().await?;
        }
        let tried_enough =
            now - row.first_at >= route::GIVEN_UP_AFTER && row.attempts >= route::GIVEN_UP_TRIES;
        match verdict {
            HandedIn::Sent => {
                journal::mail_sent(row.id, &row.kind);
                locked(&self.known).accepted = Some(now);
                end(EmailEnd::Sent).await?;
            }
            HandedIn::Stopped(code) if !tried_enough => {
                // Another one is tried first the next time.
                self.store.email_later(row.id, now + route::again(row.attempts), code.clone()).await?;
                self.server_rests(&code, now).await?;
                return Ok(Round::Ends);
            }
            HandedIn::Later(code) if !tried_enough => {
                journal::mail_later(row.id, &code);
                self.store.email_later(row.id, now + route::again(row.attempts), code).await?;
            }
            HandedIn::ByRule { code, is_final } if !(tried_enough || is_final && self.is_about_it(&row)) => {
                locked(&self.known).refused.entry(row.id).or_insert(now);
                self.store.email_later(row.id, now + route::again(row.attempts), code.clone()).await?;
                return Ok(Round::Refused(code));
            }
            HandedIn::Refused(code)
            | HandedIn::Later(code)
            | HandedIn::Stopped(code)
            | HandedIn::ByRule { code, .. } => {
                journal::mail_refused(row.id, &code);
                locked(&self.known).refused.remove(&row.id);
                end(EmailEnd::Refused(code)).await?;
            }
            HandedIn::Server(why) => {
                self.server_rests(&why, now).await?;
                return Ok(Round::Ends);
            }
        }
        Ok(Round::GoesOn)
    }

    /// The e-mail as it is handed in, or why it can't be made. `None` if nothing of it is true any more, or it is for nobody.
    async fn written(
        &self,
        email: &Email,
        tongue: Tongue,
        row: &EmailRow,
    ) -> Result<Option<Result<Envelope, String>>, StoreError> {
        let Some(kind) = EmailKind::of(&row.kind) else { return Ok(None) };
        if self.is_taken_out(email, row)? {
            journal::mail_taken_out(row.id, &row.kind);
            return Ok(None);
        }
        let Some(mut content) = self.compose(kind, row, tongue)? else { return Ok(None) };
        let id = self.name_of(row)?;
        let pictures = if email.pictures && kind == EmailKind::Held {
            let drawer =
                Drawer { inspector: self.inspector.clone(), font: locked(&self.in_force).font.clone() };
            self.pictures(&drawer, &mut content, &format!("{id}@{}", email.from.domain)).await
        } else {
            Vec::new()
        };
        let thread = self.thread(kind, row)?;
        let made = email.templates.render(kind, &content).map_err(|mistake| mistake.what);
        Ok(Some(made.and_then(|message| {
            let to: Mailbox = row.recipient.parse().map_err(|()| "its address can't be read".to_owned())?;
            Envelope::new(
                email,
                &to,
                (&message, pictures),
                (&id, thread.as_deref()),
                (row.first_at, tongue.zone),
            )
            .ok_or_else(|| "its address can't be used".to_owned())
        })))
    }

    /// Whether an e-mail that a rule of the server refuses is refused for its recipient: another one was accepted
    /// since.
    fn is_about_it(&self, row: &EmailRow) -> bool {
        let known = locked(&self.known);
        known.refused.get(&row.id).is_some_and(|since| known.accepted.is_some_and(|at| at >= *since))
    }

    async fn server_works(&self) -> Result<(), RecordError> {
        let (had_failed, is_calm) = {
            let mut known = locked(&self.known);
            let failures = std::mem::take(&mut known.failures);
            known.rests = None;
            (failures > 0, std::mem::replace(&mut known.is_calm, true))
        };
        if had_failed {
            journal::mail_server_works();
        }
        if is_calm { Ok(()) } else { self.store.calm(Alarm::Mail, self.clock.now()).await }
    }

    async fn server_rests(&self, why: &str, now: Time) -> Result<(), RecordError> {
        let is_first = {
            let mut known = locked(&self.known);
            known.rests = Some(now + route::rest(known.failures));
            known.failures = known.failures.saturating_add(1);
            known.is_calm = false;
            known.failures == 1
        };
        if is_first {
            journal::mail_server_away(why);
        }
        self.store.raise(Alarm::Mail, why.to_owned(), now).await
    }

    /// The same for the same news to the same person, whatever becomes of the database. The name of the records is a
    /// part of it, so two installations never give one name to different e-mails.
    fn name_of(&self, row: &EmailRow) -> Result<String, StoreError> {
        let keys: Vec<String> = self.store.news_of(row.id)?.iter().map(OwedRow::key).collect();
        let (records, _) = self.store.names()?;
        let told = format!("{records}\n{}\n{}\n{}", row.recipient, row.kind, keys.join("\n"));
        let mut name = sha256_of(told.as_bytes());
        name.truncate(32);
        Ok(name)
    }
}
