//! Which letter is meant by a file that a person laid where letters are approved or cancelled, and what is done. Pure.

use crate::domain::drop::StandingLetter;
use crate::domain::letter::Command;

/// What a person asks by laying a file there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    Approve,
    Cancel,
}

impl Hand {
    pub fn command(self) -> Command {
        match self {
            Self::Approve => Command::Release,
            Self::Cancel => Command::Cancel,
        }
    }
}

/// A letter, or a drop that waits, that has the file's name or its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    pub name: Name,
    pub file: Itself,
    pub has_bytes: bool,
    pub original: Whereabouts,
    /// It waits for a person's decision, as a letter or as a drop.
    pub is_waiting: bool,
    /// `None`: it is a drop, and no letter yet.
    pub standing: Option<StandingLetter>,
}

/// Whether a file is the original itself, by its inode: a rename keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Itself {
    Yes,
    /// It is a copy, or was moved from one file system to another.
    No,
    /// The inode of the original is not recorded.
    Unknown,
}

/// Which name of a candidate a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// That under which its original was laid on a shelf: of several of a name, each has its own.
    Shelved,
    /// That with which it was dropped.
    Dropped,
    Another,
}

/// Where the original of a candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// Where we put it.
    There,
    Away,
    /// We were about to move it, and that is not recorded yet; this is how it looks now.
    Moving {
        is_away: bool,
    },
}

impl Candidate {
    fn is_away(self) -> bool {
        matches!(self.original, Whereabouts::Away | Whereabouts::Moving { is_away: true })
    }

    /// Whether the file may be its original, or a copy of it.
    fn fits(self) -> bool {
        self.name != Name::Another && self.has_bytes
    }

    fn is_moving(self) -> bool {
        matches!(self.original, Whereabouts::Moving { .. })
    }
}

/// Which one is meant, by its place among the candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// Its original itself was moved here.
    Moved(usize),
    /// This is a copy of it.
    Copied(usize),
    Several(Vec<usize>),
    /// It is known, and can't be approved or cancelled by this.
    Known(usize),
    /// It may be being written, or one of the candidates is being moved.
    NotYet,
    Nothing,
}

/// Candidates come newest first. `is_finished`: it has been unchanged long enough to be judged by what it lacks.
pub fn meant(candidates: &[Candidate], hand: Hand, copies_count: bool, is_finished: bool) -> Meant {
    if !is_finished && candidates.iter().any(|one| one.is_moving()) {
        // Where it lies is not certain before.
        return Meant::NotYet;
    }
    if let Some(moved) = moved(candidates, hand) {
        return moved;
    }
    let is_open = |one: &Candidate| one.fits() && copies_count && can_be_said(hand, one.standing);
    let open = those(candidates, is_open);
    match open.as_slice() {
        [] => {}
        [one] => return Meant::Copied(*one),
        _several => return Meant::Several(open),
    }
    let known = |wanted: fn(&Candidate) -> bool| {
        candidates.iter().position(|one| one.standing.is_some() && wanted(one)).map(Meant::Known)
    };
    let by_bytes = known(|one| one.fits()).or_else(|| known(|one| one.has_bytes));
    match by_bytes {
        Some(known) => known,
        None if !is_finished => Meant::NotYet,
        None => known(|one| one.name != Name::Another).unwrap_or(Meant::Nothing),
    }
}

/// Whose original the file is, if it may be one: the one with its inode; then those that were laid on a shelf under this
/// very name, before those that were dropped with it. Of several, the one of which the order makes sense; if that is
/// not one, nothing is done.
fn moved(candidates: &[Candidate], hand: Hand) -> Option<Meant> {
    let may_be_said = |one: &Candidate| match one.standing {
        None => one.is_waiting,
        Some(_) => can_be_said(hand, one.standing),
    };
    if let [one, ..] =
        those(candidates, |one| one.fits() && one.is_away() && one.file == Itself::Yes).as_slice()
    {
        return Some(Meant::Moved(*one));
    }
    let exact = those(candidates, |one| one.fits() && one.is_away() && one.name == Name::Shelved);
    let away = those(candidates, |one| one.fits() && one.is_away());
    let from = if exact.is_empty() { &away } else { &exact };
    let newest = *from.first()?;
    // If the file may as well be a copy of what is called so and lies on its shelf, that one is among them.
    let others = those(candidates, |one| one.fits() && one.name == Name::Shelved && !one.is_away());
    let is_copy = from.iter().all(|index| candidates[*index].file == Itself::No);
    let others = if exact.is_empty() || is_copy { others } else { Vec::new() };
    let mut open: Vec<usize> = from.iter().chain(&others).copied().collect();
    open.retain(|index| may_be_said(&candidates[*index]));
    open.sort_unstable();
    Some(match open.as_slice() {
        [] => Meant::Moved(newest),
        [one] if from.contains(one) => Meant::Moved(*one),
        [_one_that_is_there] => return None,
        _several => Meant::Several(open),
    })
}

/// The places of those candidates.
fn those(candidates: &[Candidate], wanted: impl Fn(&Candidate) -> bool) -> Vec<usize> {
    candidates.iter().enumerate().filter(|(_, one)| wanted(one)).map(|(index, _)| index).collect()
}

/// What is done when the original itself was laid there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obeyed {
    /// The letter gets this order.
    Order(Command),
    /// A drop that waits is accepted as it is, and decided.
    Accepted,
    /// A drop that waits is cancelled.
    Cancelled,
    /// It goes back to its shelf and says nothing: nobody can tell who moved it.
    PutBack,
    /// Nothing waits there, so nothing is approved.
    NothingWaits,
}

/// `is_letter`: it is the original of a letter; else of a drop, which may wait (`is_held`). `is_proved`: whether it is
/// certain that another person than who dropped it has moved it, where that is asked for.
pub fn obeyed(hand: Hand, is_letter: bool, is_held: bool, is_proved: bool) -> Obeyed {
    match (hand, is_letter) {
        (Hand::Approve, true) if !is_proved => Obeyed::PutBack,
        (hand, true) => Obeyed::Order(hand.command()),
        (Hand::Approve, false) if is_held => Obeyed::Accepted,
        (Hand::Approve, false) => Obeyed::NothingWaits,
        (Hand::Cancel, false) => Obeyed::Cancelled,
    }
}

fn can_be_said(hand: Hand, standing: Option<StandingLetter>) -> bool {
    match (hand, standing) {
        (_, None | Some(StandingLetter::Waits))
        | (Hand::Cancel, Some(StandingLetter::OnItsWay | StandingLetter::Posted)) => true,
        (Hand::Approve, Some(StandingLetter::OnItsWay | StandingLetter::Posted))
        | (_, Some(StandingLetter::Shipped | StandingLetter::NotPosted | StandingLetter::Closed)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of name (`n`, or `d` for that of its drop), bytes, away and moving it has, and how it stands. A drop (no
    /// standing) waits if it has `w`. `i`: the file has its inode, `c`: it has another.
    type Known = (&'static str, Option<StandingLetter>);

    fn one(letters: &str, standing: Option<StandingLetter>) -> Candidate {
        let has = |letter| letters.contains(letter);
        let original = match (has('m'), has('a')) {
            (true, is_away) => Whereabouts::Moving { is_away },
            (false, true) => Whereabouts::Away,
            (false, false) => Whereabouts::There,
        };
        let name = match (has('n'), has('d')) {
            (true, _) => Name::Shelved,
            (false, true) => Name::Dropped,
            (false, false) => Name::Another,
        };
        let is_waiting = standing.map_or(has('w'), |standing| standing == StandingLetter::Waits);
        let file = match (has('i'), has('c')) {
            (true, _) => Itself::Yes,
            (false, true) => Itself::No,
            (false, false) => Itself::Unknown,
        };
        Candidate { name, file, has_bytes: has('b'), original, is_waiting, standing }
    }

    #[test]
    fn an_original_that_was_moved_does_what_its_place_says() {
        use Hand::{Approve, Cancel};
        let order = |hand: Hand| Obeyed::Order(hand.command());
        for (hand, is_letter, is_held, is_proved, expected) in [
            (Approve, true, true, true, order(Approve)),
            (Approve, true, false, true, order(Approve)),
            (Approve, true, true, false, Obeyed::PutBack),
            (Approve, true, false, false, Obeyed::PutBack),
            // Who cancels is never asked.
            (Cancel, true, true, true, order(Cancel)),
            (Cancel, true, true, false, order(Cancel)),
            (Cancel, true, false, true, order(Cancel)),
            (Cancel, true, false, false, order(Cancel)),
            (Approve, false, true, true, Obeyed::Accepted),
            (Approve, false, true, false, Obeyed::Accepted),
            (Approve, false, false, true, Obeyed::NothingWaits),
            (Approve, false, false, false, Obeyed::NothingWaits),
            (Cancel, false, true, true, Obeyed::Cancelled),
            (Cancel, false, true, false, Obeyed::Cancelled),
            (Cancel, false, false, true, Obeyed::Cancelled),
            (Cancel, false, false, false, Obeyed::Cancelled),
        ] {
            let found = obeyed(hand, is_letter, is_held, is_proved);
            assert_eq!(found, expected, "{hand:?} {is_letter} {is_held} {is_proved}");
        }
    }

    #[test]
    fn a_copy_is_as_good_as_a_move_and_what_is_not_sure_is_not_done() {
        use Hand::{Approve, Cancel};
        use StandingLetter::{Closed, NotPosted, OnItsWay, Posted, Shipped, Waits};
        let rows: [(&[Known], Hand, Meant); 42] = [
            (&[], Cancel, Meant::Nothing),
            (&[("nba", Some(Waits))], Approve, Meant::Moved(0)),
            (&[("nba", Some(Shipped))], Cancel, Meant::Moved(0)),
            (&[("nba", None)], Approve, Meant::Moved(0)),
            (&[("nb", Some(Waits)), ("nba", Some(Waits))], Cancel, Meant::Moved(1)),
            (&[("nb", Some(Waits))], Approve, Meant::Copied(0)),
            (&[("nb", None)], Cancel, Meant::Copied(0)),
            (&[("nb", Some(OnItsWay))], Cancel, Meant::Copied(0)),
            (&[("nb", Some(Posted))], Cancel, Meant::Copied(0)),
            (&[("nb", Some(OnItsWay))], Approve, Meant::Known(0)),
            (&[("nb", Some(Posted))], Approve, Meant::Known(0)),
            (&[("nb", Some(Shipped))], Cancel, Meant::Known(0)),
            (&[("nb", Some(NotPosted))], Approve, Meant::Known(0)),
            (&[("nb", Some(Closed))], Cancel, Meant::Known(0)),
            (&[("nb", Some(Waits)), ("nb", Some(Waits))], Cancel, Meant::Several(vec![0, 1])),
            (&[("nb", Some(Posted)), ("nb", Some(Waits))], Approve, Meant::Copied(1)),
            (&[("b", Some(Waits))], Approve, Meant::Known(0)),
            (&[("n", Some(Posted)), ("b", Some(Waits))], Cancel, Meant::Known(1)),
            (&[("na", Some(Waits))], Cancel, Meant::Known(0)),
            (&[("n", Some(Posted))], Cancel, Meant::Known(0)),
            (&[("n", None)], Approve, Meant::Nothing),
            (&[("nbm", None)], Approve, Meant::Copied(0)),
            (&[("nba", Some(Waits)), ("nm", None)], Cancel, Meant::Moved(0)),
            (&[("na", None)], Cancel, Meant::Nothing),
            // Two of the same bytes, one of them dropped with the name that the other has on its shelf.
            (&[("dba", Some(Waits)), ("nba", Some(Waits))], Approve, Meant::Moved(1)),
            (&[("dba", Some(Waits)), ("nba", Some(Waits))], Cancel, Meant::Moved(1)),
            (&[("dbaw", None), ("nbaw", None)], Approve, Meant::Moved(1)),
            (&[("dba", Some(Waits)), ("nb", Some(Waits))], Approve, Meant::Several(vec![0, 1])),
            (&[("dba", Some(Waits)), ("nb", Some(Shipped))], Approve, Meant::Moved(0)),
            (&[("dba", Some(Shipped)), ("nb", Some(Waits))], Cancel, Meant::Copied(1)),
            (&[("db", Some(Waits)), ("dba", Some(Waits))], Approve, Meant::Moved(1)),
            (&[("dba", Some(Waits)), ("dba", Some(Waits))], Approve, Meant::Several(vec![0, 1])),
            // One of them was taken from its shelf by a person, who keeps it.
            (&[("nba", Some(Waits)), ("nba", Some(Shipped))], Cancel, Meant::Moved(0)),
            (&[("nba", Some(Waits)), ("nba", Some(Posted))], Approve, Meant::Moved(0)),
            (&[("nba", Some(Waits)), ("nba", Some(Posted))], Cancel, Meant::Several(vec![0, 1])),
            (&[("nba", None), ("nbaw", None)], Approve, Meant::Moved(1)),
            // The inode says which one was moved, and that a file is a copy.
            (&[("nbac", Some(Waits)), ("dbai", Some(Waits))], Approve, Meant::Moved(1)),
            (&[("nbai", Some(Waits)), ("nbac", Some(Posted))], Cancel, Meant::Moved(0)),
            (&[("nbc", Some(Waits)), ("nbac", Some(Posted))], Cancel, Meant::Several(vec![0, 1])),
            (&[("nbc", Some(Waits)), ("nbac", Some(Posted))], Approve, Meant::Copied(0)),
            (&[("nbc", Some(Waits)), ("nba", Some(Posted))], Cancel, Meant::Moved(1)),
            (&[("nbac", Some(Waits)), ("nbc", Some(Shipped))], Approve, Meant::Moved(0)),
        ];
        for (letters, hand, expected) in rows {
            let candidates: Vec<Candidate> =
                letters.iter().map(|(letters, standing)| one(letters, *standing)).collect();
            assert_eq!(meant(&candidates, hand, true, true), expected, "{letters:?} {hand:?}");
            // While it may be being written, only whole bytes say something, and nothing while one is being moved.
            let by_bytes =
                candidates.iter().any(|one| one.has_bytes) && !candidates.iter().any(|one| one.is_moving());
            let early = if by_bytes { expected } else { Meant::NotYet };
            assert_eq!(meant(&candidates, hand, true, false), early, "{letters:?} {hand:?}");
        }
        // With four eyes, whose copy it is decides, and not here.
        assert_eq!(meant(&[one("nb", Some(Waits))], Approve, false, true), Meant::Known(0));
    }
}
