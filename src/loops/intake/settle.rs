//! When a drop is finished: nothing of it has changed for a while, on our own clock. Pure.
//!
//! The times of files prove nothing, because they are copied along or lie in the future. Neither does an
//! event or a size. What counts is whether two looks differ.

use std::collections::HashMap;
use std::time::Duration;

use chrono::TimeDelta;

use crate::domain::drop::Kind;

/// An empty file may be a placeholder for content that is still to come.
const EMPTY_WAITS: TimeDelta = TimeDelta::minutes(10);
/// A program that writes by linking soon removes the first name.
const LINKED_WAITS: TimeDelta = TimeDelta::minutes(1);
/// Permissions may be set at the end of a copy.
const UNREADABLE_WAITS: TimeDelta = TimeDelta::minutes(10);

pub type Name = Vec<u8>;

/// What a look shows of a name. Two equal stamps mean that nothing was written in between.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stamp {
    pub kind: Option<Kind>,
    pub inode: u64,
    pub size: u64,
    pub links: u64,
    pub readable: bool,
    /// Modification and change, in nanoseconds.
    pub times: (i64, i64),
    /// A hash of its whole content, if it is a directory.
    pub inside: u64,
}

#[derive(Debug, Clone)]
struct Sighting {
    stamp: Stamp,
    since: TimeDelta,
    /// Whether the present look shows it.
    is_there: bool,
}

/// The last stamp of each name in a folder.
#[derive(Debug, Default)]
pub struct Settling {
    seen: HashMap<Name, Sighting>,
}

/// The result of a look at a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The finished names, oldest first.
    pub ready: Vec<Name>,
    /// When the next one may be finished, by the same clock.
    pub next: Option<TimeDelta>,
}

/// How long a name must be unchanged before it counts as finished.
fn patience(stamp: &Stamp, settle: TimeDelta) -> TimeDelta {
    let file = stamp.kind.is_none();
    if file && stamp.size == 0 {
        EMPTY_WAITS.max(settle)
    } else if file && !stamp.readable {
        UNREADABLE_WAITS.max(settle)
    } else if file && stamp.links > 1 {
        LINKED_WAITS.max(settle)
    } else {
        settle
    }
}

impl Settling {
    /// Takes in what a look at the whole folder showed. `waits` returns how much longer a name must wait for
    /// what belongs to it, or `None` if it need not.
    pub fn look(
        &mut self,
        now: TimeDelta,
        settle: Duration,
        listing: Vec<(Name, Stamp)>,
        waits: impl Fn(&[u8], &Settling) -> Option<TimeDelta>,
    ) -> Look {
        let settle = TimeDelta::from_std(settle).unwrap_or(TimeDelta::MAX);
        // A map that grows step by step has its old and its new table at a time.
        self.seen.reserve(listing.len().saturating_sub(self.seen.len()));
        for (name, stamp) in listing {
            let fresh = || Sighting { stamp: stamp.clone(), since: now, is_there: true };
            let sighting = self.seen.entry(name).or_insert_with(fresh);
            if sighting.stamp != stamp {
                *sighting = fresh();
            }
            sighting.is_there = true;
        }
        self.seen.retain(|_, sighting| std::mem::take(&mut sighting.is_there));
        if self.seen.capacity() > self.seen.len() * 4 {
            self.seen.shrink_to(self.seen.len() * 2);
        }
        let mut ready = Vec::new();
        let mut look = Look::default();
        for (name, sighting) in &self.seen {
            let still = patience(&sighting.stamp, settle);
            let until = sighting.since + still + waits(name, self).unwrap_or_default();
            if until <= now {
                ready.push((sighting.since, name));
            } else {
                look.next = Some(look.next.map_or(until, |next| next.min(until)));
            }
        }
        ready.sort_unstable();
        look.ready = ready.into_iter().map(|(_, name)| name.clone()).collect();
        look
    }

    /// Since when a name has been unchanged.
    pub fn since(&self, name: &[u8]) -> Option<TimeDelta> {
        self.seen.get(name).map(|sighting| sighting.since)
    }

    /// The last stamp of a name.
    pub fn looks(&self, name: &[u8]) -> Option<&Stamp> {
        self.seen.get(name).map(|sighting| &sighting.stamp)
    }

    pub fn knows(&self, name: &[u8]) -> bool {
        self.seen.contains_key(name)
    }

    pub fn forget(&mut self, name: &[u8]) {
        self.seen.remove(name);
    }

    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.seen.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTLE: Duration = Duration::from_secs(5);

    fn stamp(size: u64, changed: i64) -> Stamp {
        Stamp { kind: None, inode: 1, size, links: 1, readable: true, times: (changed, changed), inside: 0 }
    }

    fn at(seconds: i64) -> TimeDelta {
        TimeDelta::seconds(seconds)
    }

    fn names(look: &Look) -> Vec<&str> {
        look.ready.iter().map(|name| std::str::from_utf8(name).unwrap()).collect()
    }

    #[test]
    fn a_drop_is_finished_when_it_has_been_still_on_our_clock() {
        let mut settling = Settling::default();
        let mut look = |now: i64, stamp: Stamp| {
            settling.look(at(now), SETTLE, vec![(b"x.pdf".to_vec(), stamp)], |_, _| None)
        };
        // Its own times are in the future and do not count.
        assert_eq!(look(0, stamp(100, i64::MAX)).next, Some(at(5)));
        assert_eq!(names(&look(4, stamp(100, i64::MAX))), [""; 0]);
        // It grew: the time begins again.
        assert_eq!(look(4, stamp(200, i64::MAX)).next, Some(at(9)));
        assert_eq!(names(&look(8, stamp(200, i64::MAX))), [""; 0]);
        // The same size, but written again.
        assert_eq!(look(8, stamp(200, 7)).next, Some(at(13)));
        assert_eq!(names(&look(13, stamp(200, 7))), ["x.pdf"]);
    }

    #[test]
    fn what_may_still_become_something_waits_longer() {
        let odd = [
            (Stamp { size: 0, ..stamp(0, 1) }, 600),
            (Stamp { readable: false, ..stamp(1, 1) }, 600),
            (Stamp { links: 2, ..stamp(1, 1) }, 60),
            (Stamp { kind: Some(Kind::Fifo), ..stamp(0, 1) }, 5),
        ];
        for (stamp, wait) in odd {
            let mut settling = Settling::default();
            let mut look =
                |now| settling.look(at(now), SETTLE, vec![(b"x".to_vec(), stamp.clone())], |_, _| None);
            assert_eq!(look(0).next, Some(at(wait)));
            assert_eq!(look(wait - 1).ready.len(), 0);
            assert_eq!(look(wait).ready.len(), 1);
        }
    }

    #[test]
    fn what_is_gone_is_forgotten_and_what_belongs_to_it_is_waited_for() {
        let mut settling = Settling::default();
        let one = || vec![(b"x.pdf".to_vec(), stamp(1, 1))];
        settling.look(at(0), SETTLE, one(), |_, _| None);
        settling.look(at(1), SETTLE, vec![], |_, _| None);
        assert_eq!(settling.look(at(6), SETTLE, one(), |_, _| None).next, Some(at(11)), "it is new again");
        let wait = |_: &[u8], _: &Settling| Some(TimeDelta::seconds(60));
        assert_eq!(settling.look(at(11), SETTLE, one(), wait).next, Some(at(71)));
        assert_eq!(settling.look(at(71), SETTLE, one(), wait).ready.len(), 1);
    }
}
