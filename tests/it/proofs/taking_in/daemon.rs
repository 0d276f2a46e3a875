//! The model's daemon: what it remembers, and what it has in hand.

use std::collections::BTreeSet;

use mailchute::domain::drop::StandingLetter;
use mailchute::loops::intake::{ClaimRecord, KnownClaim};
use mailchute::outside::store::{Binding, Elsewhere, PlaceStanding, place_standing};

use super::disk::{Dir, Disk, Part};
use super::inputs::Watch;
use super::looks::Sighting;
use super::{Bytes, State};

/// A drop must be still for so many ticks; a book, and the files of the rules, too.
pub const SETTLE: i64 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Daemon {
    /// To which place its records are bound: by the file beside them, and by the database.
    pub bound: (Option<usize>, Option<usize>),
    /// Once it knows the folder: what was there before.
    pub was_there: Option<BTreeSet<usize>>,
    /// The marker it laid into the folder, and the first claim after that.
    pub mark: (u8, u8),
    /// The marker that it began to lay.
    pub begun: Option<u8>,
    /// The folder that its rows are of: another after a copy.
    pub folder: u8,
    /// Path and directory of the folder, as recorded.
    pub recorded: (u8, u8),
    /// The stamp of the address book that was in force last.
    pub book_in_force: Option<u8>,
    pub rows: Vec<Row>,
    /// Entries that wait for the dispatcher.
    pub spool: Vec<Entry>,
    pub up: Option<Up>,
}

/// What was read, and by what it was judged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Judged {
    pub bytes: Bytes,
    /// Drop and version.
    pub sidecar: Option<Bytes>,
    pub book: Option<u8>,
    pub rules: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    pub claim: u8,
    pub drop: u8,
    pub name: u8,
    pub judged: Judged,
    pub by_person: bool,
    /// Its folder as the daemon knows it, and which copy of the folder that is.
    pub folder: (u8, u8),
    /// Whether its name is synced: a cut takes it away otherwise.
    pub lasts: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Row {
    pub claim: u8,
    pub drop: u8,
    pub name: u8,
    pub bytes: Bytes,
    pub what: What,
    /// Where it is recorded to lie; `None` if it is gone.
    pub place: Option<Dir>,
    /// Where it was about to be moved.
    pub moving: Option<Dir>,
    pub folder: (u8, u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    Waits,
    Accepted,
    /// Cancelled while it waited, or refused.
    Over,
    Letter {
        stands: Stands,
        by_person: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stands {
    Held,
    OnItsWay,
    Posted,
    Cancelled,
}

impl Stands {
    pub fn shown(self) -> StandingLetter {
        match self {
            Self::Held => StandingLetter::Waits,
            Self::OnItsWay => StandingLetter::OnItsWay,
            Self::Posted => StandingLetter::Posted,
            Self::Cancelled => StandingLetter::NotPosted,
        }
    }
}

/// What a crash takes away.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Up {
    pub is_open: bool,
    /// The folder was away.
    pub came_back: bool,
    /// A marker that it lays: whether others may have posted what is in the folder, and the marker.
    pub marking: Option<(bool, u8)>,
    pub seen: Vec<Sighting>,
    /// To be decided: the claim, and what it looked like since when.
    pub claims: Vec<(u8, Option<(Looks, i64)>)>,
    /// What was claimed together and is to be decided: each with its part as it had settled in the folder.
    pub claimed: Vec<(u8, Looks)>,
    pub hand: Option<Hand>,
    pub book: Option<Watch>,
    /// The rules in force, and the files as they were seen last.
    pub rules: Option<u8>,
    pub rules_seen: Option<(u8, i64)>,
}

/// What everything in a claim looks like: files and versions.
pub type Looks = Vec<(usize, u8)>;

/// What a claim looked like when it was found to be finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Still {
    /// Each part as it had settled in the folder.
    Settled(Looks),
    /// As it had settled in its claim.
    Claimed(Looks),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Hand {
    Claim {
        claim: u8,
        parts: Looks,
        step: usize,
    },
    /// Files that were dropped alone: each with its claim and its version.
    ClaimTogether {
        drops: Vec<(u8, (usize, u8))>,
        step: usize,
    },
    Decide {
        claim: u8,
        still: Still,
    },
    Judge {
        claim: u8,
        still: Still,
        step: usize,
        reading: Reading,
    },
    Move(Moving),
    /// A copy has said what it says.
    Remove {
        file: usize,
    },
}

/// An original on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Moving {
    pub row: usize,
    pub files: Vec<usize>,
    pub from: Dir,
    pub to: Dir,
    pub step: usize,
    /// The copy that asked for it goes away afterwards.
    pub copy: Option<usize>,
}

/// What is known of a drop after the steps so far.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Reading {
    pub looks: Option<Looks>,
    pub read: Option<(Bytes, Option<Bytes>)>,
    pub is_judged: bool,
    pub book: Option<u8>,
    pub rules: Option<u8>,
    pub by_person: bool,
}

impl Row {
    /// The shelf where its original belongs; until something is decided it stays where it is.
    pub fn belongs(&self) -> Option<Dir> {
        match self.what {
            What::Waits | What::Letter { stands: Stands::Held, .. } => Some(Dir::Held),
            What::Over | What::Letter { stands: Stands::Posted | Stands::Cancelled, .. } => Some(Dir::Done),
            What::Accepted | What::Letter { stands: Stands::OnItsWay, .. } => None,
        }
    }

    /// Whether its original must be moved.
    pub fn is_due(&self, daemon: &Daemon) -> bool {
        self.folder.0 == daemon.folder
            && self.place.is_some_and(|place| self.belongs().is_some_and(|to| place != to))
    }

    pub fn may_go(&self) -> bool {
        matches!(self.what, What::Letter { stands: Stands::OnItsWay, .. })
    }

    pub fn is_letter(&self) -> bool {
        matches!(self.what, What::Letter { .. })
    }

    /// Whether a person may still say something about it.
    pub fn is_open(&self) -> bool {
        matches!(self.what, What::Waits | What::Letter { stands: Stands::Held | Stands::OnItsWay, .. })
    }
}

/// The drop in a claim.
pub fn held(disk: &Disk, claim: u8) -> Option<usize> {
    disk.lying(Dir::Claim(claim)).find(|(_, file)| file.part == Part::Pdf).map(|(file, _)| file)
}

pub fn looks_of(disk: &Disk, claim: u8) -> Looks {
    disk.lying(Dir::Claim(claim)).map(|(file, found)| (file, found.version)).collect()
}

impl Daemon {
    /// Its records, at this place: bound to it, or refused.
    pub fn start(&mut self, place: usize) {
        let binding = |bound: Option<usize>| match bound {
            None => Binding::Missing,
            Some(bound) if bound == place => Binding::Matches,
            Some(_) => Binding::Differs(Elsewhere::Copy),
        };
        match place_standing(binding(self.bound.0), binding(self.bound.1)) {
            PlaceStanding::Bound | PlaceStanding::Unbound => {
                self.bound = (Some(place), Some(place));
                self.up = Some(Up::default());
            }
            PlaceStanding::Copied(_) | PlaceStanding::Moved(_) => {}
        }
    }

    /// The server of its share was cut off; perhaps that is noticed.
    pub fn lose_sight(&mut self, noticed: bool) {
        let Some(up) = self.up.as_mut().filter(|up| up.is_open && noticed) else { return };
        (up.is_open, up.came_back, up.hand) = (false, true, None);
        up.claimed.clear();
    }

    /// Its folder is another directory, or has another path. What was begun goes on where the directory is the same.
    pub fn lose_folder(&mut self, is_same: bool) {
        let Some(up) = self.up.as_mut() else { return };
        up.is_open = false;
        up.hand = up.hand.take().filter(|_| is_same);
        up.seen.clear();
        up.claims.clear();
        up.claimed.clear();
    }

    pub fn has_bytes_of(&self, drop: u8) -> bool {
        self.rows.iter().any(|row| row.drop == drop && row.is_letter())
            || self.spool.iter().any(|entry| entry.drop == drop)
    }

    pub fn has_claim_due(&self, state: &State) -> bool {
        let is_due = |(claim, looks): &(u8, Option<(Looks, i64)>)| match looks {
            Some((seen, since)) => looks_of(&state.disk, *claim) != *seen || state.now - since >= SETTLE,
            None => true,
        };
        self.up.as_ref().is_some_and(|up| !up.claimed.is_empty() || up.claims.iter().any(is_due))
    }

    pub fn row_of(&self, claim: u8) -> Option<usize> {
        self.rows.iter().position(|row| row.claim == claim)
    }

    pub fn knows(&self, disk: &Disk, claim: u8) -> KnownClaim {
        let record = self.row_of(claim).map(|row| ClaimRecord {
            accepted: self.rows[row].what == What::Accepted,
            in_claim: self.rows[row].place == Some(Dir::Claim(claim)),
        });
        KnownClaim {
            holds_drop: held(disk, claim).is_some(),
            record,
            in_spool: self.spool.iter().any(|entry| entry.claim == claim),
            was_there: disk.was_there.contains(&claim),
        }
    }

    pub fn up(&mut self) -> &mut Up {
        self.up.as_mut().unwrap()
    }

    pub fn record(&mut self, row: Row) {
        match self.row_of(row.claim) {
            Some(known) => self.rows[known] = row,
            None => self.rows.push(row),
        }
    }
}
