//! Which letter is meant by a file that a person laid where letters are approved or cancelled, and what is done. Pure.

use crate::drop::Standing;
use crate::letter::Command;

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
    pub has_name: bool,
    pub has_bytes: bool,
    pub original: Whereabouts,
    /// `None`: it is a drop that waits, and no letter yet.
    pub standing: Option<Standing>,
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
    let moved = |one: &Candidate| one.has_name && one.has_bytes && one.is_away();
    if let Some(index) = candidates.iter().position(moved) {
        return Meant::Moved(index);
    }
    let is_open =
        |one: &Candidate| one.has_name && one.has_bytes && copies_count && can_be_said(hand, one.standing);
    let open: Vec<usize> =
        candidates.iter().enumerate().filter(|(_, one)| is_open(one)).map(|(index, _)| index).collect();
    match open.as_slice() {
        [] => {}
        [one] => return Meant::Copied(*one),
        _several => return Meant::Several(open),
    }
    let known = |wanted: fn(&Candidate) -> bool| {
        candidates.iter().position(|one| one.standing.is_some() && wanted(one)).map(Meant::Known)
    };
    let by_bytes = known(|one| one.has_name && one.has_bytes).or_else(|| known(|one| one.has_bytes));
    match by_bytes {
        Some(known) => known,
        None if !is_finished => Meant::NotYet,
        None => known(|one| one.has_name).unwrap_or(Meant::Nothing),
    }
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

fn can_be_said(hand: Hand, standing: Option<Standing>) -> bool {
    match (hand, standing) {
        (_, None | Some(Standing::Waits)) | (Hand::Cancel, Some(Standing::OnItsWay | Standing::Posted)) => {
            true
        }
        (Hand::Approve, Some(Standing::OnItsWay | Standing::Posted))
        | (_, Some(Standing::Shipped | Standing::NotPosted | Standing::Closed)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of name, bytes, away and moving it has, and how it stands.
    type Known = (&'static str, Option<Standing>);

    fn one(letters: &str, standing: Option<Standing>) -> Candidate {
        let has = |letter| letters.contains(letter);
        let original = match (has('m'), has('a')) {
            (true, is_away) => Whereabouts::Moving { is_away },
            (false, true) => Whereabouts::Away,
            (false, false) => Whereabouts::There,
        };
        Candidate { has_name: has('n'), has_bytes: has('b'), original, standing }
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
        use Standing::{Closed, NotPosted, OnItsWay, Posted, Shipped, Waits};
        let rows: [(&[Known], Hand, Meant); 24] = [
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
