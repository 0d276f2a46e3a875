//! Which letter a file in `Approve` or `Cancel` means. Pure.

use super::obeyed::Instruction;
use crate::domain::drop::StandingLetter;

/// A letter or a waiting drop that has the file's name or its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    pub name: Name,
    pub file: Itself,
    pub has_bytes: bool,
    pub original: Whereabouts,
    /// It waits for a person's decision, as a letter or as a drop.
    pub is_waiting: bool,
    /// `None` if it is a drop that is not a letter yet.
    pub standing: Option<StandingLetter>,
}

/// Whether a file is the original itself, by its inode, which a rename keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Itself {
    Yes,
    /// It is a copy, or was moved from one file system to another.
    No,
    /// The inode of the original is not recorded.
    Unknown,
}

/// Which of a candidate's names a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// The name of its original on the shelf. Of several drops with one name, each has its own.
    Shelved,
    /// The name with which it was dropped.
    Dropped,
    Another,
}

/// Where the original of a candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// Where we put it.
    There,
    Away,
    /// We were about to move it, and the move is not recorded yet. These are its present places.
    Moving {
        is_away: bool,
    },
    /// Another has got its place, or it was removed. Its inode may belong to another file by now.
    WithoutPlace,
}

impl Candidate {
    fn is_away(self) -> bool {
        match self.original {
            Whereabouts::Away | Whereabouts::WithoutPlace => true,
            Whereabouts::Moving { is_away } => is_away,
            Whereabouts::There => false,
        }
    }

    /// Whether the file may be its original, or a copy of it. The name that an original without a place had on the shelf
    /// is not recorded any more, so its inode is enough while a command can still change what becomes of it.
    fn fits(self) -> bool {
        let is_open = self.standing.map_or(self.is_waiting, |standing| !standing.has_ended());
        self.has_bytes && (self.name != Name::Another || is_open && self.has_lost_its_place())
    }

    /// Whether the file has the inode of an original whose place another has got.
    fn has_lost_its_place(self) -> bool {
        self.original == Whereabouts::WithoutPlace && self.file == Itself::Yes
    }

    /// Whether the command can change anything. What became no letter can be approved or cancelled while it waits.
    fn may_get(self, instruction: Instruction) -> bool {
        match (instruction, self.standing) {
            (_, None) => self.is_waiting,
            (_, Some(StandingLetter::Waits))
            | (Instruction::Cancel, Some(StandingLetter::OnItsWay | StandingLetter::Posted)) => true,
            (Instruction::Approve, Some(StandingLetter::OnItsWay | StandingLetter::Posted))
            | (_, Some(StandingLetter::Shipped | StandingLetter::NotPosted | StandingLetter::Closed)) => {
                false
            }
        }
    }

    fn is_moving(self) -> bool {
        matches!(self.original, Whereabouts::Moving { .. })
    }
}

/// The candidate that is meant, by its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// Its original itself was moved here.
    Moved(usize),
    /// The file is a copy of its original.
    Copied(usize),
    Several(Vec<usize>),
    /// It is known, but the file cannot approve or cancel it.
    Known(usize),
    /// The file may still be being written, or one of the candidates is being moved.
    NotYet,
    Nothing,
}

impl Meant {
    /// Whether candidates of other names cannot change it.
    pub fn is_by_name(&self) -> bool {
        match self {
            Self::Moved(_) | Self::Copied(_) | Self::Several(_) => true,
            Self::Known(_) | Self::NotYet | Self::Nothing => false,
        }
    }
}

/// Candidates come newest first. `is_finished` says that the file has been unchanged long enough to be judged
/// by what it lacks.
pub fn meant(
    candidates: &[Candidate],
    instruction: Instruction,
    copies_count: bool,
    is_finished: bool,
) -> Meant {
    if !is_finished && candidates.iter().any(|one| one.is_moving()) {
        // Before that its place is not certain.
        return Meant::NotYet;
    }
    let candidates = &by_present_inodes(candidates);
    if let Some(moved) = moved(candidates, instruction) {
        return moved;
    }
    let is_open = |one: &Candidate| one.fits() && copies_count && one.may_get(instruction);
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

/// An inode that is recorded with a place is not that of an older original without one any more. But what was handed back
/// keeps its inode, in the record of the refusal.
fn by_present_inodes(candidates: &[Candidate]) -> Vec<Candidate> {
    let has_both = |one: &Candidate| {
        let is_refusal = one.standing.is_none() && !one.is_waiting;
        !is_refusal && one.file == Itself::Yes && one.is_away() && one.original != Whereabouts::WithoutPlace
    };
    // The newest come first.
    let used_again = candidates.iter().position(has_both).unwrap_or(candidates.len());
    let mut candidates = candidates.to_vec();
    for stale in candidates.iter_mut().skip(used_again + 1).filter(|one| one.has_lost_its_place()) {
        stale.file = Itself::No;
    }
    candidates
}

/// The candidate whose original the file may be: the one with its inode; then those on a shelf under exactly
/// this name, before those dropped with it. Of several, the one for which the command makes sense. If that is
/// not exactly one, nothing is done.
fn moved(candidates: &[Candidate], instruction: Instruction) -> Option<Meant> {
    // If the file may also be a copy of a candidate that lies on its shelf under this name, that candidate
    // counts too.
    let lying = those(candidates, |one| one.fits() && one.name == Name::Shelved && !one.is_away());
    let with_its_inode = those(candidates, |one| one.fits() && one.is_away() && one.file == Itself::Yes);
    // The newest, unless that is only the record of a refusal, which can't be approved.
    let is_open = |index: &&usize| candidates[**index].standing.is_some() || candidates[**index].is_waiting;
    if let Some(one) = with_its_inode.iter().find(is_open).or(with_its_inode.first()) {
        let has_place = candidates[*one].original != Whereabouts::WithoutPlace;
        // An original that a person deleted may have left its inode to a copy of one that lies there, or, if its place is
        // not recorded, to one that is away.
        let is_another = |other: &Candidate| other.fits() && other.is_away() && other.file != Itself::Yes;
        let mut others = lying.clone();
        others.extend(those(candidates, |other| !has_place && is_another(other)));
        others.retain(|index| candidates[*index].may_get(instruction));
        if candidates[*one].name == Name::Shelved || others.is_empty() {
            return Some(Meant::Moved(*one));
        }
        if has_place || candidates[*one].may_get(instruction) {
            others.push(*one);
            others.sort_unstable();
            return Some(Meant::Several(others));
        }
    }
    let exact = those(candidates, |one| one.fits() && one.is_away() && one.name == Name::Shelved);
    let away = those(candidates, |one| one.fits() && one.is_away());
    let from = if exact.is_empty() { &away } else { &exact };
    let newest = *from.first()?;
    let is_copy = from.iter().all(|index| candidates[*index].file == Itself::No);
    let others = if exact.is_empty() || is_copy { lying } else { Vec::new() };
    let mut open: Vec<usize> = from.iter().chain(&others).copied().collect();
    open.retain(|index| candidates[*index].may_get(instruction));
    open.sort_unstable();
    Some(match open.as_slice() {
        [] => Meant::Moved(newest),
        [one] if from.contains(one) => Meant::Moved(*one),
        [_one_that_is_there] => return None,
        _several => Meant::Several(open),
    })
}

/// The indices of the candidates for which `wanted` is true.
fn those(candidates: &[Candidate], wanted: impl Fn(&Candidate) -> bool) -> Vec<usize> {
    candidates.iter().enumerate().filter(|(_, one)| wanted(one)).map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these it has: name (`n`, or `d` for its drop's), bytes (`b`), away (`a`), moving (`m`), and
    /// its condition. A drop (no condition) waits if it has `w`. `i`: the file has its inode, `c`: it has
    /// another. `l`: another has got its place.
    type Known = (&'static str, Option<StandingLetter>);

    fn one(letters: &str, standing: Option<StandingLetter>) -> Candidate {
        let has = |letter| letters.contains(letter);
        let original = match (has('m'), has('a')) {
            _ if has('l') => Whereabouts::WithoutPlace,
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

    fn all(known: &[Known]) -> Vec<Candidate> {
        known.iter().map(|(letters, standing)| one(letters, *standing)).collect()
    }

    #[test]
    fn a_copy_is_as_good_as_a_move_and_what_is_not_sure_is_not_done() {
        use Instruction::{Approve, Cancel};
        use StandingLetter::{Closed, NotPosted, OnItsWay, Posted, Shipped, Waits};
        let rows: [(&[Known], Instruction, Meant); 46] = [
            (&[], Cancel, Meant::Nothing),
            (&[("nba", Some(Waits))], Approve, Meant::Moved(0)),
            (&[("nba", Some(Shipped))], Cancel, Meant::Moved(0)),
            (&[("nba", None)], Approve, Meant::Moved(0)),
            (&[("nb", Some(Waits)), ("nba", Some(Waits))], Cancel, Meant::Moved(1)),
            (&[("nb", Some(Waits))], Approve, Meant::Copied(0)),
            (&[("nbw", None)], Cancel, Meant::Copied(0)),
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
            (&[("nbmw", None)], Approve, Meant::Copied(0)),
            (&[("nba", Some(Waits)), ("nm", None)], Cancel, Meant::Moved(0)),
            (&[("na", None)], Cancel, Meant::Nothing),
            // Two with the same bytes, one of them dropped with the name that the other has on its shelf.
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
            // But a deleted original may have left its inode to a copy of the one that lies there.
            (&[("dbai", Some(Waits)), ("nbc", Some(Waits))], Approve, Meant::Several(vec![0, 1])),
            (&[("nbc", Some(Waits)), ("nbai", Some(Posted))], Cancel, Meant::Moved(1)),
            (&[("dbai", Some(Waits)), ("nbc", Some(Shipped))], Approve, Meant::Moved(0)),
            (&[("nbc", Some(Waits)), ("nbac", Some(Posted))], Cancel, Meant::Several(vec![0, 1])),
            (&[("nbc", Some(Waits)), ("nbac", Some(Posted))], Approve, Meant::Copied(0)),
            (&[("nbc", Some(Waits)), ("nba", Some(Posted))], Cancel, Meant::Moved(1)),
            (&[("nbac", Some(Waits)), ("nbc", Some(Shipped))], Approve, Meant::Moved(0)),
            (&[("nbai", None), ("nbai", Some(Posted)), ("dbaiw", None)], Approve, Meant::Moved(1)),
        ];
        for (letters, instruction, expected) in rows {
            let candidates = all(letters);
            assert_eq!(meant(&candidates, instruction, true, true), expected, "{letters:?} {instruction:?}");
            // While it may still be being written, only complete bytes count, and none while one is being moved.
            let by_bytes =
                candidates.iter().any(|one| one.has_bytes) && !candidates.iter().any(|one| one.is_moving());
            let early = if by_bytes { expected } else { Meant::NotYet };
            assert_eq!(meant(&candidates, instruction, true, false), early, "{letters:?} {instruction:?}");
        }
        // With four eyes the owner of the copy decides, which is not checked here.
        assert_eq!(meant(&[one("nb", Some(Waits))], Approve, false, true), Meant::Known(0));
    }

    #[test]
    fn what_was_refused_and_dropped_again_is_known_by_what_waits() {
        let again = [one("nb", Some(StandingLetter::Waits)), one("nbac", None)];
        assert_eq!(meant(&again, Instruction::Approve, true, true), Meant::Copied(0));
        assert_eq!(meant(&[one("nb", None)], Instruction::Cancel, true, true), Meant::Nothing);
    }

    /// Another has got its place. Its inode is enough, unless that may belong to another file by now.
    #[test]
    fn an_original_without_a_place_is_known_by_its_inode_unless_another_may_have_it() {
        use Instruction::{Approve, Cancel};
        use StandingLetter::{Posted, Shipped, Waits};
        let rows: [(&[Known], Instruction, Meant); 13] = [
            (&[("bli", Some(Waits))], Approve, Meant::Moved(0)),
            (&[("bliw", None)], Cancel, Meant::Moved(0)),
            (&[("bli", Some(Shipped))], Cancel, Meant::Known(0)),
            (&[("bl", Some(Waits))], Approve, Meant::Known(0)),
            (&[("bli", Some(Waits)), ("nbc", Some(Waits))], Approve, Meant::Several(vec![0, 1])),
            (&[("bli", Some(Posted)), ("nbc", Some(Waits))], Approve, Meant::Copied(1)),
            (&[("dbli", Some(Shipped)), ("nbc", Some(Waits))], Cancel, Meant::Copied(1)),
            (&[("dbli", Some(Posted)), ("nbac", Some(Waits))], Approve, Meant::Moved(1)),
            (&[("dbli", Some(Posted)), ("nbac", Some(Waits))], Cancel, Meant::Several(vec![0, 1])),
            (&[("dbli", Some(Shipped)), ("nbac", Some(Waits))], Cancel, Meant::Moved(1)),
            // A newer one has it on record.
            (&[("bai", Some(Waits)), ("bli", Some(Posted))], Cancel, Meant::Known(0)),
            (&[("bliw", None), ("nbai", Some(Posted))], Approve, Meant::Moved(0)),
            (&[("nbai", None), ("bli", Some(Waits))], Approve, Meant::Moved(1)),
        ];
        for (letters, instruction, expected) in rows {
            let candidates = all(letters);
            assert_eq!(meant(&candidates, instruction, true, true), expected, "{letters:?} {instruction:?}");
        }
    }

    /// Every candidate with one of these names.
    fn all_candidates(names: &[Name]) -> Vec<Candidate> {
        use StandingLetter::{OnItsWay, Posted, Shipped, Waits};
        let places = [Whereabouts::There, Whereabouts::Away, Whereabouts::Moving { is_away: true }];
        let standings = [None, Some(Waits), Some(OnItsWay), Some(Posted), Some(Shipped)];
        let files = [Itself::Yes, Itself::No, Itself::Unknown];
        let files = files.into_iter().flat_map(|file| [(file, false), (file, true)]);
        let mut all = Vec::new();
        for name in names {
            for (file, has_bytes) in files.clone() {
                for original in places {
                    for standing in standings {
                        let is_waiting = standing.is_none_or(|standing| standing == Waits);
                        all.push(Candidate { name: *name, file, has_bytes, original, is_waiting, standing });
                    }
                }
            }
        }
        all
    }

    #[test]
    fn what_candidates_of_the_name_decide_is_changed_by_no_other() {
        let later = |meant: &Meant| match meant {
            Meant::Moved(index) => Meant::Moved(index + 1),
            Meant::Copied(index) => Meant::Copied(index + 1),
            Meant::Several(_) | Meant::Known(_) | Meant::NotYet | Meant::Nothing => panic!("{meant:?}"),
        };
        let (named, others) =
            (all_candidates(&[Name::Shelved, Name::Dropped]), all_candidates(&[Name::Another]));
        for instruction in [Instruction::Approve, Instruction::Cancel] {
            for (copies_count, is_finished) in [(true, true), (true, false), (false, true), (false, false)] {
                let of = |candidates: &[Candidate]| meant(candidates, instruction, copies_count, is_finished);
                let decided: Vec<_> = named.iter().filter(|one| of(&[**one]).is_by_name()).collect();
                assert!(decided.len() > 10);
                // One that is being moved would be waited for, though it can't be what is meant.
                for other in others.iter().filter(|other| is_finished || !other.is_moving()) {
                    for one in &decided {
                        let alone = of(&[**one]);
                        assert_eq!(of(&[**one, *other]), alone, "{one:?} {other:?}");
                        assert_eq!(of(&[*other, **one]), later(&alone), "{other:?} {one:?}");
                    }
                }
            }
        }
    }
}
