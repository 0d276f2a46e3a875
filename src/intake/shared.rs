//! What every worker of intake uses.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::Bells;
use crate::address_book::{AddressBook, Columns};
use crate::clock::Clock;
use crate::config::{Book, Folder};
use crate::hot::{Hot, Registry};
use crate::journal;
use crate::pdf::Inspector;
use crate::spool::{Spool, Ulid};
use crate::store::Store;

/// By what a book is known to be as it was read: how it is read, and what its file looked like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BookStamp {
    file: PathBuf,
    columns: Columns,
    /// Inode, size and times.
    looks: (u64, u64, i64, i64),
}

impl BookStamp {
    fn of(book: &Book) -> Option<Self> {
        let meta = std::fs::metadata(&book.file).ok()?;
        let time = |seconds: i64, nanos: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos);
        let times = (time(meta.mtime(), meta.mtime_nsec()), time(meta.ctime(), meta.ctime_nsec()));
        let looks = (meta.ino(), meta.len(), times.0, times.1);
        Some(Self { file: book.file.clone(), columns: book.columns.clone(), looks })
    }
}

/// An address book as it was read last, or that there is none, or why it can't be used.
type ReadBook = Arc<Result<Option<AddressBook>, String>>;

/// What every worker uses.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Arc<Store>,
    pub(super) spool: Arc<Spool>,
    pub(super) registry: Arc<Registry>,
    pub(super) inspector: Inspector,
    pub(super) clock: Clock,
    /// Claims that are to be decided anew.
    pub(super) again: Mutex<Vec<(String, String)>>,
    books: Mutex<HashMap<String, (BookStamp, ReadBook)>>,
    /// The name that was given last.
    last_ulid: Mutex<Option<Ulid>>,
    /// An entry waits in the spool.
    pub(super) taken: Arc<Notify>,
    /// A move may be owed.
    pub(super) owed: Arc<Notify>,
}

/// How long a drop must be still in a folder.
pub(super) fn settle_time(folder: &Folder, hot: &Hot) -> Duration {
    let usual = Duration::from_secs(if hot.is_remote() { 15 } else { 5 });
    folder.settle.unwrap_or(usual)
}

impl Shared {
    pub(super) fn new(
        store: Arc<Store>,
        spool: Spool,
        registry: Arc<Registry>,
        inspector: Inspector,
        clock: Clock,
        bells: &Bells,
    ) -> Self {
        Self {
            store,
            spool: Arc::new(spool),
            registry,
            inspector,
            clock,
            again: Mutex::default(),
            books: Mutex::default(),
            last_ulid: Mutex::default(),
            taken: Arc::clone(&bells.taken),
            owed: Arc::clone(&bells.owed),
        }
    }

    /// A folder's address book as it stands now; read anew when its file has changed.
    pub(super) async fn book(&self, folder: &Arc<Folder>) -> ReadBook {
        let Some(book) = &folder.book else { return Arc::new(Ok(None)) };
        let stamp = BookStamp::of(book);
        let known = self.books.lock().unwrap_or_else(PoisonError::into_inner).get(&folder.name).cloned();
        if let Some((_, book)) = known.filter(|(read, _)| stamp.as_ref() == Some(read)) {
            return book;
        }
        let again = Arc::clone(folder);
        let read = tokio::task::spawn_blocking(move || again.book.as_ref().map(Book::read));
        let read = match read.await {
            Ok(Some(Ok((book, mistakes)))) => {
                journal::book_read(&folder.name, book.len(), mistakes.len());
                Ok(Some(book))
            }
            Ok(Some(Err(why))) => {
                journal::book_broken(&folder.name, &why);
                Err(why)
            }
            Ok(None) => Ok(None),
            Err(_panic) => Err("it can't be read".to_owned()),
        };
        let read = Arc::new(read);
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.remove(&folder.name);
        // One that was written to while it was read is read again.
        if let Some(stamp) = stamp.filter(|stamp| BookStamp::of(book).as_ref() == Some(stamp)) {
            books.insert(folder.name.clone(), (stamp, Arc::clone(&read)));
        }
        read
    }

    /// Lets a claim be decided (again).
    pub(super) fn rest(&self, folder: &str, claim: &str) {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        again.push((folder.to_owned(), claim.to_owned()));
    }

    /// What is claimed first has the lesser name, and becomes a letter first.
    pub(super) fn new_ulid(&self) -> Option<Ulid> {
        let mut last = self.last_ulid.lock().unwrap_or_else(PoisonError::into_inner);
        let new = Ulid::after(last.as_ref(), self.clock.now()).ok()?;
        *last = Some(new.clone());
        Some(new)
    }
}
