//! In which order a claim is read, compared and judged. Pure.

/// One step from what a claim holds to what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JudgeStep {
    /// What everything in the claim looks like is taken down.
    Look,
    /// The documents and the sidecar are read.
    Read,
    /// Nothing of them has changed since they had settled, nor since [`Self::Look`].
    CompareDrop,
    /// The rules say what is to be done, with the address book if it is needed.
    Judge,
    /// The address book is still the one that was used.
    CompareBook,
    /// The rules are still in force, and their files are as they were read.
    CompareRules,
}

/// A comparison comes after what it compares, and the comparisons of what others may save at any time come last.
pub const JUDGING: [JudgeStep; 6] = [
    JudgeStep::Look,
    JudgeStep::Read,
    JudgeStep::CompareDrop,
    JudgeStep::Judge,
    JudgeStep::CompareBook,
    JudgeStep::CompareRules,
];
