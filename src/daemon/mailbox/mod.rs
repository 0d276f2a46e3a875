//! A queue that is a mailbox: its mails are taken, and lie where their letters do. docs/design/mailbox.md says why
//! it is so.

mod arrive;
mod follow;
mod obey;

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::{Instant, sleep};

pub use arrive::{fault_of, letter_name, letters_of, sender_of};

use crate::config::{ConfigError, MailWay, Queue, TlsStart};
use crate::daemon::taking::{NotTaken, Taking};
use crate::domain::alarm::Alarm;
use crate::domain::mailed::MailShelf;
use crate::outside::imap::{MailAccount, MailLink, MailTls, MailTrouble};
use crate::outside::journal;
use crate::outside::store::{MailNumber, RecordError, StoreError};

/// How long it waits for the server to say that something came.
const LOOK_AGAIN: Duration = Duration::from_mins(1);
/// The same while letters of mails are being decided.
const LOOK_SOON: Duration = Duration::from_secs(2);
/// How long that lasts.
const SOON_FOR: Duration = Duration::from_mins(1);
const FORGET: Duration = Duration::from_hours(1);
/// How long to wait after a trouble, the first time and at most.
const AGAIN: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(5));

/// Follows one mailbox.
#[derive(Debug)]
pub struct WatchedMailbox {
    taking: Arc<Taking>,
    queue: Queue,
    way: MailWay,
    account: MailAccount,
    /// By which records know the mailbox, whatever its queue is called.
    id: String,
    seen: Mutex<Seen>,
}

/// What this run knows of mails, so that they need not be fetched again.
#[derive(Debug, Default)]
struct Seen {
    /// Those that a person moved, by their mailbox and number: their rows, or `None` if they are unknown.
    moved: HashMap<(String, MailNumber), Option<i64>>,
    /// Mails that the server does not give, so that each is reported once.
    unread: HashSet<MailNumber>,
    /// Mailboxes in which the server puts nothing, so that each is reported once.
    refusing: HashSet<MailShelf>,
    /// Mails that were copied there and that the server does not let us remove, by their mailbox and number.
    left: HashMap<(String, MailNumber), MailShelf>,
    /// Orders that were given in this run.
    ordered: HashMap<i64, Instant>,
    /// When something was last taken or ordered.
    active: Option<Instant>,
    /// When it was last looked who is answered and need not be known any more.
    forgot: Option<Instant>,
    /// The alarm about this mailbox is not raised.
    is_calm: bool,
}

/// Why a look at a mailbox ended early.
#[derive(Debug, thiserror::Error)]
pub enum NotFollowed {
    #[error(transparent)]
    Server(#[from] MailTrouble),
    #[error(transparent)]
    Records(#[from] RecordError),
    #[error(transparent)]
    Taking(#[from] NotTaken),
    #[error("it can't be written to the disk")]
    Disk(#[from] std::io::Error),
    /// The panic itself was reported before.
    #[error("mailchute has a defect, which is in the journal; please report it")]
    Defect,
}

/// Makes a panic an error. A mail by which a defect is met then stops only its mailbox, and raises an alarm.
async fn without_panic<T>(follow: impl Future<Output = Result<T, NotFollowed>>) -> Result<T, NotFollowed> {
    AssertUnwindSafe(follow).catch_unwind().await.unwrap_or(Err(NotFollowed::Defect))
}

impl From<StoreError> for NotFollowed {
    fn from(error: StoreError) -> Self {
        Self::Records(error.into())
    }
}

/// Checks whether a mailbox can be used, by logging in and out.
pub async fn reach(queue: &str, way: &MailWay) -> anyhow::Result<()> {
    account(queue, way)?.connect().await?.leave().await;
    Ok(())
}

fn account(queue: &str, way: &MailWay) -> Result<MailAccount, ConfigError> {
    Ok(MailAccount {
        host: way.host.clone(),
        port: way.port,
        tls: match way.tls {
            Some(TlsStart::AtOnce) => MailTls::AtOnce,
            Some(TlsStart::BeforeAnythingIsSaid) => MailTls::Starttls,
            None => MailTls::Never,
        },
        ca: way.ca.clone(),
        user: way.user.clone(),
        password: way.password(queue)?,
    })
}

impl WatchedMailbox {
    pub fn of(taking: Arc<Taking>, queue: Queue, way: MailWay) -> anyhow::Result<Self> {
        let account = account(&queue.name, &way)?;
        let id = queue.identity()?;
        Ok(Self { taking, queue, way, account, id, seen: Mutex::default() })
    }

    /// Follows it until it is dropped.
    pub(super) async fn serve(self) {
        let mut failures = 0;
        loop {
            let Err(error) = without_panic(self.follow(&mut failures)).await;
            self.is_away(&error, failures).await;
            sleep(AGAIN.0.saturating_mul(1 << failures.min(6)).min(AGAIN.1)).await;
            failures += 1;
        }
    }

    /// Looks again and again on one connection.
    async fn follow(&self, failures: &mut u32) -> Result<std::convert::Infallible, NotFollowed> {
        let mut link = self.connect().await?;
        loop {
            self.look(&mut link).await?;
            self.works(std::mem::take(failures)).await;
            link = self.wait(link).await?;
        }
    }

    /// Logs in, and makes the mailboxes in which mails are put.
    pub async fn connect(&self) -> Result<MailLink, NotFollowed> {
        let mut link = self.account.connect().await?;
        for name in self.way.shelves.all() {
            link.make(name).await?;
        }
        Ok(link)
    }

    /// Looks once: takes what came, does what people want, and puts mails where their letters are.
    pub async fn look(&self, link: &mut MailLink) -> Result<(), NotFollowed> {
        self.arrived(link).await?;
        self.obey(link).await?;
        self.put_away(link).await?;
        if self.seen().forgot.is_none_or(|forgot| forgot.elapsed() >= FORGET) {
            self.taking.inside.store.forget_mails(self.id.clone()).await?;
            self.seen().forgot = Some(Instant::now());
        }
        Ok(())
    }

    /// Waits until there is something to look at.
    async fn wait(&self, mut link: MailLink) -> Result<MailLink, NotFollowed> {
        let is_soon = self.seen().active.is_some_and(|active| active.elapsed() < SOON_FOR);
        if is_soon || !link.can_idle {
            sleep(if is_soon { LOOK_SOON } else { LOOK_AGAIN }).await;
            return Ok(link);
        }
        link.open(&self.way.mailbox).await?;
        Ok(link.idle(LOOK_AGAIN, self.taking.inside.bells.decided.notified()).await?)
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn works(&self, failures: u32) {
        if failures > 0 {
            journal::mailbox_works(&self.queue.name);
        }
        if self.seen().is_calm {
            return;
        }
        let alarm = Alarm::Mailbox(self.queue.name.clone());
        // If it can't be written now, the next look does it.
        let calmed = self.taking.inside.store.calm(alarm, self.taking.inside.clock.now()).await;
        self.seen().is_calm = calmed.is_ok();
    }

    async fn is_away(&self, error: &NotFollowed, failures: u32) {
        self.seen().is_calm = false;
        if failures == 0 {
            journal::mailbox_away(&self.queue.name, error);
        }
        let alarm = Alarm::Mailbox(self.queue.name.clone());
        let _ =
            self.taking.inside.store.raise(alarm, error.to_string(), self.taking.inside.clock.now()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_trouble_of_its_mailbox_and_not_its_end() {
        let trouble = without_panic::<()>(async { panic!("a defect") }).await.unwrap_err();
        assert!(matches!(trouble, NotFollowed::Defect), "{trouble}");
        assert!(without_panic(async { Ok(1) }).await.is_ok());
    }
}
