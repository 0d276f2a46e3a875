//! Letters and drops as people search for them.

mod index;

use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use unicode_normalization::UnicodeNormalization as _;

pub use index::SearchIndex;
pub(super) use index::remove as remove_index;

use self::index::Candidates;
use super::desk::{ROW, letter_row};
use super::{Desk, LetterRow, StoreError, millis, originals, read, signed, time};
use crate::base::clock::Time;
use crate::domain::drop::{Undecided, showable, shown};
use crate::domain::letter::Number;

/// How long the search continues for more results, and how long for the first one.
const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(1);
/// The range of numbers searched at a time.
const WINDOW: u64 = 2000;
/// The number of candidates that are read from the index at a time.
const AT_ONCE: usize = 200;
/// The minimum length. Shorter parts occur in too many tracking numbers.
const TRACKING: usize = 4;
/// The maximum number of drops without a letter that are searched.
const DROPS: u32 = 5000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sought {
    /// Part of a file name, a number, a tracking number or the name of a queue. Empty for all.
    pub text: String,
    pub state: Option<String>,
    pub folder: Option<String>,
    /// Only letters before this one.
    pub before: Option<Number>,
    /// Whether receivers' names are searched and returned too.
    pub names: bool,
}

/// A letter with the names by which people know it.
#[derive(Debug, Clone)]
pub struct Listed {
    pub row: LetterRow,
    /// The name of the drop, or of the first document. Empty once names were removed.
    pub file: String,
    pub receiver: Option<String>,
    /// Every name by which it is found.
    names: String,
}

#[derive(Debug, Clone, Default)]
pub struct FoundLetters {
    /// The newest first.
    pub letters: Vec<Listed>,
    /// Everything before this number was not searched yet.
    pub further: Option<Number>,
}

/// Which part of a search is wanted.
#[derive(Clone, Copy)]
struct Page {
    before: u64,
    most: usize,
    /// The letter whose number is sought, which is on the first page.
    exact: Option<Number>,
    began: Instant,
}

/// A drop that is not a letter and lies where people see it.
#[derive(Debug, Clone)]
pub struct Lying {
    pub folder: String,
    pub name: String,
    /// Where it lies, below its folder.
    pub shelved: Option<String>,
    pub arrived_at: Time,
    pub undecided: Undecided,
}

/// Unifies what people write in different ways: width, case, spaces, composed or not.
fn plain(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).filter(|c| !c.is_whitespace()).collect()
}

fn number(text: &str) -> Option<Number> {
    text.strip_prefix('#').unwrap_or(text).parse().ok().map(Number)
}

impl Listed {
    fn is_called(&self, text: &str) -> bool {
        let tracked = |tracking: &str| plain(tracking).replace('-', "").contains(&text.replace('-', ""));
        let tracking = self.row.tracking.as_deref().filter(|_| text.len() >= TRACKING);
        tracking.is_some_and(tracked) || plain(&self.names).contains(text)
    }
}

impl Desk {
    /// The newest matches, at most `most`. It continues for as long as somebody who began at `began` waits.
    pub fn search(&self, sought: &Sought, most: usize, began: Instant) -> Result<FoundLetters, StoreError> {
        let text = plain(&sought.text);
        let exact = number(&text);
        let mut found = FoundLetters::default();
        if let (Some(exact), None) = (exact, sought.before) {
            found.letters.extend(self.one(sought, exact.0)?);
        }
        let sql = "SELECT coalesce(max(number), 0) + 1 FROM letter";
        let end = self.db().query_row(sql, [], |row| read::count(row, 0))?;
        let mut before = sought.before.map_or(end, |before| before.0.min(end));
        // The index does not know queues, which may get other names.
        if !self.is_in_a_queue(&text)?
            && let Some(candidates) = Candidates::of(self.home(), self.db(), &text)
        {
            let page = Page { before, most, exact, began };
            if let Some(found) = self.search_candidates(sought, &text, &candidates, found.clone(), page)? {
                return Ok(found);
            }
        }
        // If everything matches, no more is read than is shown.
        let at_once = if text.is_empty() { most.saturating_add(1) } else { usize::MAX };
        while before > 1 {
            let from = before.saturating_sub(WINDOW).max(1);
            for listed in listed(self.db(), sought, from, before, at_once)? {
                if Some(listed.row.letter) == exact || !listed.is_called(&text) {
                    continue;
                }
                if found.letters.len() >= most {
                    found.further = Some(Number(listed.row.letter.0 + 1));
                    return Ok(found);
                }
                found.letters.push(listed);
            }
            before = from;
            let patience = if found.letters.is_empty() { LONG } else { SHORT };
            if began.elapsed() >= patience {
                found.further = (before > 1).then_some(Number(before));
                return Ok(found);
            }
        }
        Ok(found)
    }

    /// One letter as it is listed.
    pub fn known_as(&self, letter: Number, names: bool) -> Result<Option<Listed>, StoreError> {
        self.one(&Sought { names, ..Sought::default() }, letter.0)
    }

    /// A letter, if it is of the wanted state and folder.
    fn one(&self, sought: &Sought, number: u64) -> Result<Option<Listed>, StoreError> {
        Ok(listed(self.db(), sought, number, number.saturating_add(1), 1)?.pop())
    }

    /// Continues with the letters that may match, the newest first. `None` if the index cannot be read.
    fn search_candidates(
        &self,
        sought: &Sought,
        text: &str,
        candidates: &Candidates,
        mut found: FoundLetters,
        page: Page,
    ) -> Result<Option<FoundLetters>, StoreError> {
        let Page { mut before, most, exact, began } = page;
        // Each page compares at least one letter, or it would be the same page again.
        let mut is_first = true;
        loop {
            let Ok(some) = candidates.before(before, AT_ONCE) else { return Ok(None) };
            let is_last = some.len() < AT_ONCE;
            let from = if is_last { 0 } else { some.last().copied().unwrap_or_default() };
            let new = candidates.not_followed.iter().copied();
            let mut numbers: Vec<u64> =
                new.filter(|number| (from..before).contains(number)).chain(some).collect();
            numbers.sort_unstable_by(|one, other| other.cmp(one));
            numbers.dedup();
            for number in numbers.into_iter().filter(|number| Some(Number(*number)) != exact) {
                let patience = if found.letters.is_empty() { LONG } else { SHORT };
                if began.elapsed() >= patience && !std::mem::take(&mut is_first) {
                    found.further = Some(Number(number + 1));
                    return Ok(Some(found));
                }
                is_first = false;
                let Some(listed) = self.one(sought, number)?.filter(|listed| listed.is_called(text)) else {
                    continue;
                };
                if found.letters.len() >= most {
                    found.further = Some(Number(number + 1));
                    return Ok(Some(found));
                }
                found.letters.push(listed);
            }
            if is_last {
                return Ok(Some(found));
            }
            before = from;
        }
    }

    /// Whether a text is a part of a queue's name.
    fn is_in_a_queue(&self, text: &str) -> Result<bool, StoreError> {
        let mut statement = self.db().prepare_cached("SELECT name FROM queue")?;
        let queues = statement.query_map([], |row| row.get::<_, String>(0))?;
        let queues: Vec<String> = queues.collect::<Result<_, _>>()?;
        Ok(queues.iter().any(|queue| plain(queue).contains(text)))
    }

    /// Drops that are not letters, rejected or waiting, the newest first.
    pub fn lying(&self, text: &str, most: usize) -> Result<Vec<Lying>, StoreError> {
        let text = plain(text);
        let sql = "SELECT folder, name, shelved, arrived_at, undecided FROM original
                   WHERE letter IS NULL AND place IN ('rejected', 'held') ORDER BY ulid DESC LIMIT ?1";
        let mut statement = self.db().prepare_cached(sql)?;
        let rows = statement.query_map([DROPS], |row| {
            let undecided: String = row.get("undecided")?;
            Ok(Lying {
                folder: row.get("folder")?,
                name: showable(&shown(&row.get::<_, Vec<u8>>("name")?)),
                shelved: row.get::<_, Option<Vec<u8>>>("shelved")?.map(|shelved| showable(&shown(&shelved))),
                arrived_at: time(row.get("arrived_at")?),
                undecided: originals::readable(&undecided),
            })
        })?;
        let fits = |lying: &rusqlite::Result<Lying>| {
            lying.as_ref().map_or(true, |lying| plain(&lying.name).contains(&text))
        };
        Ok(rows.filter(fits).take(most).collect::<Result<_, _>>()?)
    }

    /// The number of letters taken in from each of these times until the next.
    pub fn taken_in(&self, times: &[Time]) -> Result<Vec<u64>, StoreError> {
        let mut counts = vec![0; times.len()];
        let Some(first) = times.first() else { return Ok(counts) };
        let sql = "SELECT admitted_at FROM letter INDEXED BY letter_arrived
                   WHERE source = ?1 AND admitted_at >= ?2";
        let mut statement = self.db().prepare_cached(sql)?;
        for source in self.sources()? {
            let mut rows = statement.query(params![source, millis(*first)])?;
            while let Some(row) = rows.next()? {
                let at = time(row.get(0)?);
                let span = times.partition_point(|time| *time <= at);
                counts[span.saturating_sub(1)] += 1;
            }
        }
        Ok(counts)
    }

    /// The sources of letters: folders and commands. Each is looked up in an index, whatever the number of
    /// letters.
    pub fn sources(&self) -> Result<Vec<String>, StoreError> {
        let sql = "WITH RECURSIVE found (source) AS (
                       SELECT min(source) FROM letter UNION ALL
                       SELECT (SELECT min(source) FROM letter WHERE source > found.source) FROM found
                       WHERE source IS NOT NULL)
                   SELECT source FROM found WHERE source IS NOT NULL";
        let mut statement = self.db().prepare_cached(sql)?;
        let sources = statement.query_map([], |row| row.get(0))?;
        Ok(sources.collect::<Result<_, _>>()?)
    }
}

/// Letters in a range of numbers, optionally of a state and of a folder, the newest first.
fn listed(
    db: &Connection,
    sought: &Sought,
    from: u64,
    before: u64,
    most: usize,
) -> Result<Vec<Listed>, StoreError> {
    let receiver = if sought.names {
        "(SELECT json_extract(line, '$.fact.admitted.order.receiver.address.name')
          FROM fact WHERE fact.letter = number AND n = 0)"
    } else {
        "NULL"
    };
    let sql = format!(
        "{ROW}, (SELECT name FROM original WHERE original.letter = number),
            (SELECT group_concat(name, char(10) ORDER BY n) FROM document WHERE document.letter = number),
            {receiver}
         FROM letter WHERE number >= ?1 AND number < ?2
            AND (?3 IS NULL OR +state = ?3) AND (?4 IS NULL OR +source = ?4) ORDER BY number DESC
         LIMIT ?5"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let values =
        params![signed(from), signed(before), sought.state, sought.folder, i64::try_from(most).unwrap_or(-1)];
    let rows = statement.query_map(values, |row| {
        let dropped = row.get::<_, Option<Vec<u8>>>(10)?.map(|name| showable(&shown(&name)));
        let documents: String = row.get::<_, Option<String>>(11)?.unwrap_or_default();
        let receiver: Option<String> = row.get(12)?;
        let receiver = receiver.filter(|name| !name.is_empty());
        let first = showable(documents.lines().next().unwrap_or_default());
        let file = dropped.clone().filter(|name| !name.is_empty()).unwrap_or(first);
        let row = letter_row(row)?;
        let names = [dropped.as_deref(), Some(&documents), receiver.as_deref(), row.queue.as_deref()];
        let names = names.into_iter().flatten().collect::<Vec<_>>().join("\n");
        Ok(Listed { row, file, receiver, names })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_found_however_it_is_written() {
        for (written, sought) in [
            ("請求書　株式会社ヤマダ.pdf", "ﾔﾏﾀﾞ"),
            ("INV-000123.pdf", "inv-000１23"),
            ("か\u{3099}いとう.pdf", "がいとう"),
            ("山田　太郎", "山田 太郎"),
        ] {
            assert!(plain(written).contains(&plain(sought)), "{sought} in {written}");
        }
        assert!(!plain("INV-1").contains(&plain("INV-2")));
        assert_eq!(number(&plain("＃１７")), Some(Number(17)));
        assert_eq!(number(&plain("17a")), None);
    }
}
