//! Address books settle as drops do: a book counts only if it has been unchanged for a while on our own
//! clock, and was the same before and after it was read. Until then the drops that need it wait.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;

use super::IntakeError;
use super::shared::Shared;
use crate::config::{Book, Folder};
use crate::domain::address_book::{AddressBook, Columns};
use crate::domain::alarm::Alarm;
use crate::outside::hot::Reach;
use crate::outside::journal;

/// The settle time of a missing book, or of one whose last line has no line end: it may still be being saved.
const UNFINISHED: TimeDelta = TimeDelta::minutes(1);

/// The settings by which a book is read, and its file's stat. Equal stamps mean that nothing was written in
/// between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp<'a> {
    file: &'a Path,
    columns: &'a Columns,
    /// Inode, size and times. `None` if the file does not exist.
    looks: Option<(u64, u64, i64, i64)>,
}

/// A book that was read, or why it cannot be used.
pub(super) type ReadBook = Arc<Result<AddressBook, String>>;

/// A folder's address book at this moment.
pub(super) enum BookNow {
    /// The folder has no book.
    None,
    /// It is being written, or may be.
    Unsettled,
    Settled(ReadBook),
}

#[derive(Debug)]
struct Watch {
    file: PathBuf,
    columns: Columns,
    looks: Option<(u64, u64, i64, i64)>,
    /// When this stamp was first seen, by the monotonic clock.
    since: TimeDelta,
    read: Option<ReadBook>,
}

#[derive(Debug, Default)]
pub(super) struct Books(Mutex<HashMap<String, Watch>>);

impl<'a> Stamp<'a> {
    /// `None` if the file system does not answer.
    fn of(reach: &Reach, book: &'a Book) -> Option<Self> {
        let looks = match reach.stat(&book.file) {
            Ok(stat) => Some((stat.inode, stat.size, stat.modified, stat.changed)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return None,
            Err(_) => None,
        };
        Some(Self { file: &book.file, columns: &book.columns, looks })
    }

    /// The form in which it is stored.
    fn words(&self) -> String {
        format!("{self:?}")
    }
}

/// How long a book must be unchanged before it counts. `ends` says whether its last line has a line end, once
/// it was read.
pub fn patience(settle: TimeDelta, is_there: bool, ends: Option<bool>) -> TimeDelta {
    if !is_there || ends == Some(false) { UNFINISHED.max(settle) } else { settle }
}

impl Watch {
    fn stamp(&self) -> Stamp<'_> {
        Stamp { file: &self.file, columns: &self.columns, looks: self.looks }
    }
}

impl Books {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Watch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at a folder's book. Returns since when it has been unchanged, and what was read of it since.
    fn look(&self, folder: &str, stamp: Stamp<'_>, now: TimeDelta) -> (TimeDelta, Option<ReadBook>) {
        let mut books = self.lock();
        if let Some(watch) = books.get(folder).filter(|watch| watch.stamp() == stamp) {
            return (watch.since, watch.read.clone());
        }
        let Stamp { file, columns, looks } = stamp;
        let (file, columns) = (file.to_owned(), columns.clone());
        books.insert(folder.to_owned(), Watch { file, columns, looks, since: now, read: None });
        (now, None)
    }

    fn was_read(&self, folder: &str, stamp: Stamp<'_>, read: &ReadBook) {
        if let Some(watch) = self.lock().get_mut(folder).filter(|watch| watch.stamp() == stamp) {
            watch.read = Some(Arc::clone(read));
        }
    }
}

/// Whether drops of a folder wait for its book, and whether operators are told of it.
#[derive(Debug, Default)]
pub(super) struct BookAlarm {
    drops_wait: bool,
    /// `None` until it is known whether an earlier run raised it.
    is_raised: Option<bool>,
}

impl BookAlarm {
    /// A drop met a book that had not settled.
    pub(super) fn drop_waits(&mut self) {
        self.drops_wait = true;
    }

    /// Notices a change of the book, so that its settle time begins before a drop needs it. Raises the alarm
    /// while drops wait, and ends it when the book has settled.
    pub(super) async fn look(&mut self, shared: &Shared, folder: &Arc<Folder>) -> Result<(), IntakeError> {
        let Some(book) = &folder.book else {
            // Otherwise the alarm of a book that is no longer configured would stay.
            *self = Self::default();
            return Ok(());
        };
        let alarm = Alarm::Book(folder.name.clone());
        if self.is_raised.is_none() {
            // An earlier run may have raised it.
            let is_raised = shared.store.alarms()?.iter().any(|raised| raised.alarm == alarm);
            *self = Self { drops_wait: is_raised || self.drops_wait, is_raised: Some(is_raised) };
        }
        if !self.drops_wait {
            if let Some(stamp) = Stamp::of(&shared.reach, book) {
                shared.books.look(&folder.name, stamp, shared.clock.steady());
            }
            return Ok(());
        }
        let is_unsettled = matches!(shared.book(folder).await, BookNow::Unsettled);
        let now = shared.clock.now();
        if is_unsettled && self.is_raised != Some(true) {
            let file = book.file.file_name().unwrap_or_default().to_string_lossy();
            let why =
                format!("{file} is missing, does not answer, keeps changing, or its last line has no end.");
            shared.store.raise(alarm, why, now).await?;
            self.is_raised = Some(true);
        } else if !is_unsettled {
            self.drops_wait = false;
            if self.is_raised != Some(false) {
                shared.store.calm(alarm, now).await?;
                self.is_raised = Some(false);
            }
        }
        Ok(())
    }
}

impl Shared {
    /// A folder's address book, if it has settled.
    pub(super) async fn book(&self, folder: &Arc<Folder>) -> BookNow {
        let Some(book) = &folder.book else { return BookNow::None };
        let Some(stamp) = Stamp::of(&self.reach, book) else { return BookNow::Unsettled };
        let (since, read) = self.books.look(&folder.name, stamp, self.clock.steady());
        if let Some(read) = read {
            return BookNow::Settled(read);
        }
        let settle = TimeDelta::from_std(book.settle).unwrap_or(TimeDelta::MAX);
        let still = self.clock.steady() - since;
        let words = stamp.words();
        // A start does not wait for a book that was already in force.
        let is_known =
            self.store.book_in_force(&folder.name).is_ok_and(|known| known.as_ref() == Some(&words));
        if !is_known && still < patience(settle, stamp.looks.is_some(), None) {
            return BookNow::Unsettled;
        }
        let (again, reach) = (Arc::clone(folder), Arc::clone(&self.reach));
        let read = tokio::task::spawn_blocking(move || {
            let book = again.book.as_ref()?;
            Some(
                reach
                    .read(&book.file)
                    .map_err(|error| error.to_string())
                    .and_then(|bytes| book.parse(&bytes)),
            )
        });
        // There is no answer only when the daemon is ending.
        let Ok(Some(read)) = read.await else { return BookNow::Unsettled };
        let ends = read.as_ref().is_ok_and(|(book, _)| book.ends_with_a_line());
        let changed = Stamp::of(&self.reach, book) != Some(stamp);
        if changed || (!is_known && still < patience(settle, stamp.looks.is_some(), Some(ends))) {
            return BookNow::Unsettled;
        }
        let read = match read {
            Ok((book, mistakes)) => {
                journal::book_read(&folder.name, book.len(), mistakes.len());
                // If it cannot be stored, the next start waits for the book again.
                drop(self.store.keep_book_in_force(&folder.name, words).await);
                Ok(book)
            }
            Err(why) => {
                journal::book_broken(&folder.name, &why);
                Err(why)
            }
        };
        let read = Arc::new(read);
        self.books.was_read(&folder.name, stamp, &read);
        BookNow::Settled(read)
    }

    /// Whether a folder's book is unchanged since it was read.
    pub(super) async fn is_book_the_same(&self, folder: &Arc<Folder>, read: &BookNow) -> bool {
        match (self.book(folder).await, read) {
            (BookNow::Settled(now), BookNow::Settled(read)) => Arc::ptr_eq(&now, read),
            (BookNow::None, BookNow::None) => true,
            (BookNow::None | BookNow::Unsettled | BookNow::Settled(_), _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_that_may_not_be_finished_is_waited_for_longer() {
        let (ten, minute) = (TimeDelta::seconds(10), TimeDelta::minutes(1));
        for (is_there, ends, waits) in [
            (true, None, ten),
            (true, Some(true), ten),
            (true, Some(false), minute),
            (false, None, minute),
            (false, Some(true), minute),
        ] {
            assert_eq!(patience(ten, is_there, ends), waits, "{is_there} {ends:?}");
        }
        assert_eq!(patience(minute * 2, false, None), minute * 2);
    }

    #[test]
    fn every_change_of_a_book_begins_its_settle_time_anew() {
        let columns = Columns {
            key: String::new(),
            postal_code: String::new(),
            state: String::new(),
            city: String::new(),
            address1: String::new(),
            name: String::new(),
            honorific: String::new(),
        };
        let stamp =
            |size| Stamp { file: Path::new("book.csv"), columns: &columns, looks: Some((1, size, 0, 0)) };
        let at = TimeDelta::seconds;
        let (books, read) = (Books::default(), Arc::new(Err(String::new())));
        assert_eq!(books.look("a", stamp(1), at(3)).0, at(3));
        books.was_read("a", stamp(1), &read);
        let (since, known) = books.look("a", stamp(1), at(9));
        assert!(since == at(3) && known.is_some_and(|known| Arc::ptr_eq(&known, &read)));
        // A book that changed while it was read is not what is there now.
        assert!(books.look("a", stamp(2), at(10)).1.is_none());
        books.was_read("a", stamp(1), &read);
        assert_eq!(books.look("a", stamp(2), at(11)).0, at(10));
        assert!(books.look("a", stamp(2), at(12)).1.is_none());
        assert_eq!(books.look("b", stamp(2), at(12)).0, at(12));
    }
}
