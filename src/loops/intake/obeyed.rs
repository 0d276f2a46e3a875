//! What a person asks by putting an original into `Approve` or `Cancel`, and what is done. Pure.

use crate::domain::letter::Command;

/// What a person asks by putting a file there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    Approve,
    Cancel,
}

impl Instruction {
    pub fn command(self) -> Command {
        match self {
            Self::Approve => Command::Release,
            Self::Cancel => Command::Cancel,
        }
    }
}

/// What is done when the original itself was put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obeyed {
    /// The letter gets this command.
    Order(Command),
    /// A waiting drop is accepted as it is, and decided.
    Accepted,
    /// A waiting drop is cancelled.
    Cancelled,
    /// It goes back to its shelf without effect, because nobody can know who moved it, or to which address it is to go.
    PutBack,
    /// Nothing waits there, so nothing is approved.
    NothingWaits,
}

/// `is_letter` says that it is the original of a letter, otherwise of a drop, which may wait (`is_held`).
/// `is_sure` says that no address beside it is another than its letter's and, where that is required, that another person
/// than the one who dropped it has certainly moved it.
pub fn obeyed(instruction: Instruction, is_letter: bool, is_held: bool, is_sure: bool) -> Obeyed {
    match (instruction, is_letter) {
        (Instruction::Approve, true) if !is_sure => Obeyed::PutBack,
        (instruction, true) => Obeyed::Order(instruction.command()),
        (Instruction::Approve, false) if is_held => Obeyed::Accepted,
        (Instruction::Approve, false) => Obeyed::NothingWaits,
        (Instruction::Cancel, false) => Obeyed::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_original_that_was_moved_does_what_its_place_says() {
        use Instruction::{Approve, Cancel};
        let order = |instruction: Instruction| Obeyed::Order(instruction.command());
        for (instruction, is_letter, is_held, is_sure, expected) in [
            (Approve, true, true, true, order(Approve)),
            (Approve, true, false, true, order(Approve)),
            (Approve, true, true, false, Obeyed::PutBack),
            (Approve, true, false, false, Obeyed::PutBack),
            // Who cancels is never checked.
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
            let found = obeyed(instruction, is_letter, is_held, is_sure);
            assert_eq!(found, expected, "{instruction:?} {is_letter} {is_held} {is_sure}");
        }
    }
}
