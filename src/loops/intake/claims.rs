//! What is done with a claim, by what is known of it. Pure.

/// What is known of a claim that is taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownClaim {
    /// Whether the drop is (still) in it; a sidecar alone is none.
    pub holds_drop: bool,
    pub record: Option<ClaimRecord>,
    /// Whether the spool has its entry.
    pub in_spool: bool,
    /// Whether it lay in the folder before its drops counted.
    pub was_there: bool,
}

/// What the store says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimRecord {
    /// Whether a person has accepted it, and nothing is decided since.
    pub accepted: bool,
    /// Whether it is recorded where it is: in its claim.
    pub in_claim: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Next {
    /// It is read, inspected and decided.
    Judge,
    /// A person has accepted it, and not all of it is back yet: the rest of it, and then what is next.
    BringAlong,
    /// It waits until a person has looked.
    Hold,
    /// A crash came after a person had moved it and before that was recorded.
    BackToShelf,
    /// Nothing is in it: what came with its drop goes back into the folder.
    Clear,
    /// It is decided: what is left is the dispatcher's, or the shelf's.
    Leave,
}

/// A drop is decided once, and anew only if a person accepts it.
pub fn next(known: KnownClaim) -> Next {
    let KnownClaim { holds_drop, record, in_spool, was_there } = known;
    match record {
        // What is left of it goes where the shelf has laid the original, or it is about to be taken back.
        Some(_) if !holds_drop => Next::Leave,
        None if !holds_drop => Next::Clear,
        Some(ClaimRecord { accepted: false, in_claim: true }) => Next::Leave,
        Some(ClaimRecord { accepted: false, in_claim: false }) => Next::BackToShelf,
        Some(ClaimRecord { accepted: true, in_claim: false }) => Next::BringAlong,
        // Decided before a crash: it is about to be admitted.
        Some(ClaimRecord { accepted: true, in_claim: true }) | None if in_spool => Next::Leave,
        None if was_there => Next::Hold,
        Some(ClaimRecord { accepted: true, in_claim: true }) | None => Next::Judge,
    }
}

/// Whether a claim found in a folder that is opened was made with these records, so that it is gone on
/// with. What they do not know may be another's, and posted already, if it was claimed before they laid
/// their marker into the folder, or no lock keeps the folder for us.
pub fn is_ours(is_known: bool, was_claimed_since_our_marker: bool, folder_is_locked: bool) -> bool {
    is_known || (folder_is_locked && was_claimed_since_our_marker)
}
