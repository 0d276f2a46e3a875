//! Takes what comes to a queue, each once, and waits for what is decided about it. docs/design/queues.md says
//! why it is so.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, timeout};

use crate::base::bells::Bells;
use crate::base::clock::Clock;
use crate::config::{Accept, Folder, Queue};
use crate::domain::drop::{QueueDoubt, Refusal, Undecided, Waiting, is_pdf, showable, shown};
use crate::domain::incoming::{
    Enclosed, Incoming, JobMeans, KeyMeans, KnownPrint, MailTags, QueueStep, TAKING, again, job_means,
};
use crate::domain::letter::Letter;
use crate::loops::folders::Registry;
use crate::outside::journal;
use crate::outside::pdf::Inspector;
use crate::outside::spool::{Draft, EntryError, Spool, Ulid};
use crate::outside::store::{Fate, IncomingRow, RecordError, Store, StoreError};

/// The longest name in bytes. A number, and the ending of a sidecar, must have room after it.
const LONGEST_NAME: usize = 200;
pub(super) const USUAL_NAME: &str = "document.pdf";
/// Pieces of a document are written together, so that a slow disk is asked less often.
pub(super) const PIECE: usize = 256 << 10;
/// How long to wait before looking again, if no bell rings.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// What all queues share.
#[derive(Debug, Clone)]
pub struct Inside {
    pub store: Arc<Store>,
    pub spool: Spool,
    pub registry: Arc<Registry>,
    pub clock: Clock,
    pub bells: Bells,
    /// The directory of the records.
    pub state: PathBuf,
    /// Reads mails in processes of their own.
    pub inspector: Inspector,
}

/// The paths of folders, by their names when the queues' files were read.
type FolderPaths = BTreeMap<String, PathBuf>;

/// Whoever holds it uses the key.
type Turn = tokio::sync::Mutex<()>;

/// Takes for all queues of a configuration.
#[derive(Debug)]
pub struct Taking {
    pub(super) inside: Inside,
    paths: FolderPaths,
    /// Those who hold a key at this moment.
    turns: Mutex<HashMap<String, Weak<Turn>>>,
    last_ulid: Mutex<Option<Ulid>>,
}

/// What came to a queue, read to its end.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) ulid: Ulid,
    pub(super) draft: Draft,
    /// The hash of its key.
    pub(super) key: String,
    pub(super) content: String,
    /// The name of the drop.
    pub(super) name: String,
    pub(super) documents: Vec<Enclosed>,
    pub(super) sidecar: Option<String>,
    /// What rules may read of the mail that brought it.
    pub(super) mailed: Option<MailTags>,
}

/// Why something was not taken.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    #[error("its key stands for something else")]
    KeyUsed,
    #[error(transparent)]
    Spool(#[from] EntryError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a task of the program ended early")]
    Stopped(#[from] JoinError),
}

/// How something that a queue took stands.
#[derive(Debug)]
pub(super) enum StandingNow {
    /// It is not decided yet.
    Pending,
    Refused(Refusal),
    /// A person must look.
    Waits(Waiting),
    /// A person has cancelled it before it was a letter.
    Cancelled,
    Letter(Box<Letter>),
}

impl Taking {
    pub fn new(inside: Inside) -> Self {
        let paths = inside.registry.all().into_iter().map(|known| known.folder);
        let paths = paths.map(|folder| (folder.name.clone(), folder.path.clone())).collect();
        Self { inside, paths, turns: Mutex::default(), last_ulid: Mutex::default() }
    }

    /// The folder of a queue, if it takes anything in at present.
    pub(super) fn folder(&self, queue: &Queue) -> Option<Arc<Folder>> {
        self.meant(queue).filter(|folder| folder.accept == Accept::Yes)
    }

    /// The folder that its queue's file means. That counts until the next start, but a folder's name may be given to another
    /// meanwhile, whose rules and sender are not meant.
    fn meant(&self, queue: &Queue) -> Option<Arc<Folder>> {
        let registry = &self.inside.registry;
        let path = self.paths.get(&queue.into);
        let is_there = |folder: &Arc<Folder>| path.is_some_and(|path| folder.path == *path);
        let mut folders = registry.all().into_iter().map(|known| known.folder);
        folders.find(is_there).or_else(|| registry.get(&queue.into).map(|known| known.folder))
    }

    pub(super) fn new_ulid(&self) -> io::Result<Ulid> {
        let mut last = self.last_ulid.lock().unwrap_or_else(PoisonError::into_inner);
        let new = Ulid::after(last.as_ref(), self.inside.clock.now())?;
        *last = Some(new.clone());
        Ok(new)
    }

    /// One at a time uses a key. The others wait.
    fn turn(&self, key: &str) -> Arc<Turn> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        let known = turns.get(key).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let turn = Arc::default();
            turns.insert(key.to_owned(), Arc::downgrade(&turn));
            turn
        })
    }

    /// Takes it, unless its key was used. Returns what was taken under the key.
    pub(super) async fn take(&self, queue: &Queue, offer: Offer) -> Result<Ulid, NotTaken> {
        let turn = self.turn(&format!("{} {}", queue.name, offer.key));
        let _turn = turn.lock().await;
        let known = self.inside.store.incoming_by(&queue.name, &offer.key)?;
        match again(known.as_ref().map(|known| (&known.ulid, known.content.as_str())), &offer.content) {
            KeyMeans::Same(before) => Ok(before.clone()),
            KeyMeans::Another => Err(NotTaken::KeyUsed),
            KeyMeans::New => self.take_new(queue, offer, None).await,
        }
    }

    /// Takes what a print job hands in, which is `offer.key`. If it is not certain that it is the same again,
    /// somebody must look. `run` is this run of the backend; `look` is why somebody must look at a new one.
    pub(super) async fn take_printed(
        &self,
        queue: &Queue,
        offer: Offer,
        (run, look): (&str, Option<QueueDoubt>),
    ) -> Result<Ulid, NotTaken> {
        let turn = self.turn(&offer.key);
        let _turn = turn.lock().await;
        // The later ones of a job have keys of their own.
        let key = |n: usize| if n == 0 { offer.key.clone() } else { format!("{} {n}", offer.key) };
        let mut rows: Vec<IncomingRow> = Vec::new();
        while let Some(row) = self.inside.store.incoming_of_any(&key(rows.len()))? {
            rows.push(row);
        }
        let known: Vec<KnownPrint<'_, &Ulid>> = rows
            .iter()
            .map(|row| KnownPrint {
                taken: &row.ulid,
                content: &row.content,
                is_answered: row.acknowledged.as_deref().is_some_and(|by| by != run),
            })
            .collect();
        let look = match job_means(&known, &offer.content) {
            JobMeans::Same(before) => return Ok(before.clone()),
            JobMeans::New => look,
            JobMeans::Again => Some(QueueDoubt::PrintedAgain),
        };
        let key = key(rows.len());
        self.take_new(queue, Offer { key, ..offer }, look).await
    }

    /// Whether an offer's key was used for something else.
    pub(super) fn is_used_otherwise(&self, queue: &Queue, offer: &Offer) -> Result<bool, StoreError> {
        let known = self.inside.store.incoming_by(&queue.name, &offer.key)?;
        Ok(known.is_some_and(|known| known.content != offer.content))
    }

    /// Takes what a mail brought, which is `offer.key`. The bytes of a mail never change, so if it was taken as
    /// something else, it was looked at in another way, and somebody must look.
    pub(super) async fn take_mailed(
        &self,
        queue: &Queue,
        offer: Offer,
        look: Option<QueueDoubt>,
    ) -> Result<Ulid, NotTaken> {
        let turn = self.turn(&format!("{} {}", queue.name, offer.key));
        let _turn = turn.lock().await;
        let known = self.inside.store.incoming_by(&queue.name, &offer.key)?;
        match again(known.as_ref().map(|known| (&known.ulid, known.content.as_str())), &offer.content) {
            KeyMeans::Same(before) => Ok(before.clone()),
            KeyMeans::New => self.take_new(queue, offer, look).await,
            KeyMeans::Another => {
                let key = format!("{} {}", offer.key, offer.content);
                if let Some(known) = self.inside.store.incoming_by(&queue.name, &key)? {
                    return Ok(known.ulid);
                }
                self.take_new(queue, Offer { key, ..offer }, Some(QueueDoubt::MailedAgain)).await
            }
        }
    }

    async fn take_new(
        &self,
        queue: &Queue,
        offer: Offer,
        look: Option<QueueDoubt>,
    ) -> Result<Ulid, NotTaken> {
        let Offer { ulid, draft, key, content, name, documents, sidecar, mailed } = offer;
        let store = &self.inside.store;
        let is_trusted = store.is_queue_open(&queue.name)? || look == Some(QueueDoubt::NotProved);
        let look = if is_trusted { look } else { Some(QueueDoubt::Lost) };
        let folder = self.meant(queue).map_or_else(|| queue.into.clone(), |folder| folder.name.clone());
        let incoming = Incoming {
            queue: queue.name.clone(),
            key,
            content,
            folder: folder.clone(),
            name,
            owner: queue.owner,
            look,
            mailed,
            documents,
            sidecar,
        };
        let mut draft = Some(draft);
        for step in TAKING {
            match step {
                QueueStep::Keep => {
                    let Some(draft) = draft.take() else { continue };
                    let incoming = incoming.clone();
                    spawn_blocking(move || draft.keep(&incoming)).await??;
                }
                QueueStep::Record => {
                    let at = self.inside.clock.now();
                    let recorded = store.take_incoming(ulid.clone(), incoming.clone(), at).await;
                    self.forget_copy(&ulid, &recorded).await;
                    if !recorded? {
                        return Err(NotTaken::KeyUsed);
                    }
                }
                // Intake takes these steps.
                QueueStep::Lay | QueueStep::Mark | QueueStep::Remove => {}
            }
        }
        journal::taken_by_queue(&queue.name, &folder, &ulid);
        self.inside.bells.folders.notify_one();
        Ok(ulid)
    }

    /// Removes the copy of what was certainly not taken. The next start would take it, long after it was refused.
    async fn forget_copy(&self, ulid: &Ulid, recorded: &Result<bool, RecordError>) {
        match recorded {
            // It was taken, or may have been.
            Ok(true) | Err(RecordError::Halted(_) | RecordError::Read(_)) => return,
            Ok(false)
            | Err(
                RecordError::NotWritten(_)
                | RecordError::Sqlite(_)
                | RecordError::Json(_)
                | RecordError::Stale(_)
                | RecordError::Contradiction(..),
            ) => {}
        }
        let (spool, copy) = (self.inside.spool.clone(), ulid.clone());
        let removed = spawn_blocking(move || spool.remove_incoming(&copy)).await;
        if let Err(error) = removed.map_err(io::Error::other).flatten() {
            journal::copy_left(ulid, &error);
        }
    }

    pub(super) fn standing(&self, ulid: &Ulid) -> Result<StandingNow, StoreError> {
        let store = &self.inside.store;
        let Some(original) = store.original(ulid)? else { return Ok(StandingNow::Pending) };
        Ok(match original.fate {
            Fate::Letter(number) => match store.letter(number)? {
                None => StandingNow::Pending,
                Some(letter) => StandingNow::Letter(Box::new(letter)),
            },
            Fate::Undecided(Undecided::Refused(refusal)) => StandingNow::Refused(refusal),
            Fate::Undecided(Undecided::Waits(waiting)) => StandingNow::Waits(waiting),
            Fate::Undecided(Undecided::Cancelled) => StandingNow::Cancelled,
            Fate::Undecided(Undecided::Accepted { .. }) => StandingNow::Pending,
        })
    }

    /// How it stands once it is decided, or at the deadline.
    pub(super) async fn decided(&self, ulid: &Ulid, deadline: Instant) -> Result<StandingNow, StoreError> {
        loop {
            let mut rung = std::pin::pin!(self.inside.bells.decided.notified());
            rung.as_mut().enable();
            let standing = self.standing(ulid)?;
            if !matches!(standing, StandingNow::Pending) || Instant::now() >= deadline {
                return Ok(standing);
            }
            let _ = timeout(LOOK_AGAIN, rung).await;
        }
    }
}

/// Writes a piece of a document to the disk.
pub(super) async fn add(mut draft: Draft, piece: Vec<u8>) -> io::Result<Draft> {
    let written = spawn_blocking(move || draft.add(&piece).map(|()| draft)).await;
    written.map_err(io::Error::other).flatten()
}

/// A file name without a path and without what people cannot see. It ends in `.pdf`.
pub(super) fn named(sent: &str) -> String {
    let last = sent.rsplit(['/', '\\']).next().unwrap_or_default();
    // What Windows cannot show in a folder is not used either.
    let last = last.replace(['<', '>', ':', '"', '|', '?', '*'], "_");
    let last = shown(showable(&last).trim().as_bytes());
    let stem = if is_pdf(last.as_bytes()) { &last[..last.len() - 4] } else { last.as_str() };
    let mut end = stem.len().min(LONGEST_NAME);
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    if stem.is_empty() { USUAL_NAME.to_owned() } else { format!("{}.pdf", &stem[..end]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_usable() {
        for (sent, name) in [
            ("INV-000123.pdf", "INV-000123.pdf"),
            ("C:\\out\\INV 1.PDF", "INV 1.pdf"),
            ("../../etc/passwd", "passwd.pdf"),
            ("か\u{3099}.pdf", "が.pdf"),
            ("a\u{0}b\u{202e}.pdf", "ab.pdf"),
            ("", USUAL_NAME),
            (".pdf", ".pdf.pdf"),
            ("dir/", USUAL_NAME),
            ("12:30?.pdf", "12_30_.pdf"),
        ] {
            assert_eq!(named(sent), name, "{sent:?}");
        }
        let long = named(&"あ".repeat(200));
        assert!(long.len() <= LONGEST_NAME + 4 && long.ends_with("あ.pdf"));
    }
}
