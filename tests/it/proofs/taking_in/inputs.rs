//! What decides besides the drop: the address book and the rules, which a clerk edits in place.

use chrono::TimeDelta;
use mailchute::loops::intake::book_patience;

use super::State;
use super::daemon::SETTLE;

/// A file that is edited; odd while it is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Input {
    pub version: u8,
    /// For how many ticks it has been so.
    pub pause: u8,
}

impl Input {
    pub fn write(&mut self) {
        self.version += 1;
        self.pause = 0;
    }

    pub fn is_being_written(self) -> bool {
        self.version % 2 == 1
    }
}

/// What a daemon knows of the address book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Watch {
    version: u8,
    since: i64,
    was_read: bool,
}

impl State {
    /// The address book, if it has settled.
    pub fn book(&mut self, index: usize) -> Option<u8> {
        let (version, now) = (self.book.version, self.now);
        let daemon = &mut self.daemons[index];
        let is_known = daemon.book_in_force == Some(version);
        let watch = &mut daemon.up().book;
        if watch.is_none_or(|watch| watch.version != version) {
            *watch = Some(Watch { version, since: now, was_read: false });
        }
        let watch = watch.as_mut()?;
        // What is half written may end with a line.
        let patience = book_patience(TimeDelta::seconds(SETTLE), true, Some(true));
        let still = TimeDelta::seconds(now - watch.since);
        if !watch.was_read && !is_known && still < patience {
            return None;
        }
        watch.was_read = true;
        daemon.book_in_force = Some(version);
        Some(version)
    }

    /// The daemon reads the rules when their files have been unchanged for long enough.
    pub fn reload(&mut self, index: usize) {
        let (version, now) = (self.rules.version, self.now);
        let up = self.daemons[index].up();
        match up.rules_seen {
            Some((seen, since)) if seen == version => {
                if now - since >= SETTLE {
                    up.rules = Some(version);
                }
            }
            Some(_) | None => up.rules_seen = Some((version, now)),
        }
    }

    /// Whether drops may be decided by the rules in force: their files are as they were read.
    pub fn are_rules_in_force(&mut self, index: usize) -> bool {
        let version = self.rules.version;
        self.daemons[index].up().rules == Some(version)
    }
}
