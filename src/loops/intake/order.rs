//! The order in which a claim is read, compared and judged. Pure.

/// One step from the content of a claim to its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JudgeStep {
    /// Records the stamps of everything in the claim.
    Look,
    /// Reads the documents and the sidecar.
    Read,
    /// Checks that they are unchanged since they settled, and since [`Self::Look`].
    CompareDrop,
    /// Applies the rules, with the address book if it is needed.
    Judge,
    /// Checks that the address book is still the one that was used.
    CompareBook,
    /// Checks that the rules are still in force and their files unchanged.
    CompareRules,
}

/// Each comparison comes after what it compares. Those of files that others may save at any time come last.
pub const JUDGING: [JudgeStep; 6] = [
    JudgeStep::Look,
    JudgeStep::Read,
    JudgeStep::CompareDrop,
    JudgeStep::Judge,
    JudgeStep::CompareBook,
    JudgeStep::CompareRules,
];
