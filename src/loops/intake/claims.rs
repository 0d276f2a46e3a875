//! What to do with a claim, depending on what is known of it. Pure.

/// What is known of a claim when work on it begins or resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownClaim {
    /// Whether the drop is in it. A sidecar alone is not a drop.
    pub holds_drop: bool,
    pub record: Option<ClaimRecord>,
    /// Whether the spool has its entry.
    pub in_spool: bool,
    /// Whether it lay in the folder before the folder's drops counted.
    pub was_there: bool,
}

/// What the store has recorded of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimRecord {
    /// Whether a person has accepted it, and nothing was decided since.
    pub accepted: bool,
    /// Whether it is recorded as being in its claim.
    pub in_claim: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Next {
    /// Read, inspect and decide it.
    Judge,
    /// A person has accepted it, and not all of it is back yet: bring the rest, then look again.
    BringAlong,
    /// Hold it until a person has looked.
    Hold,
    /// A crash came after a person had moved it and before that was recorded: put it back on its shelf.
    BackToShelf,
    /// It is empty: put what came with its drop back into the folder.
    Clear,
    /// It is decided. The rest is the dispatcher's or the shelf's work.
    Leave,
}

/// A drop is decided once, and again only if a person accepts it.
pub fn next(known: KnownClaim) -> Next {
    let KnownClaim { holds_drop, record, in_spool, was_there } = known;
    match record {
        // What is left in it goes where the shelf has put the original, or it is about to be taken back.
        Some(_) if !holds_drop => Next::Leave,
        None if !holds_drop => Next::Clear,
        Some(ClaimRecord { accepted: false, in_claim: true }) => Next::Leave,
        Some(ClaimRecord { accepted: false, in_claim: false }) => Next::BackToShelf,
        Some(ClaimRecord { accepted: true, in_claim: false }) => Next::BringAlong,
        // It was decided before a crash and is about to be admitted.
        Some(ClaimRecord { accepted: true, in_claim: true }) | None if in_spool => Next::Leave,
        None if was_there => Next::Hold,
        Some(ClaimRecord { accepted: true, in_claim: true }) | None => Next::Judge,
    }
}

/// Whether a claim found in a folder was made with these records, so that work on it resumes. Claims that the
/// records do not know may belong to others and be posted already, if they are older than our marker in the
/// folder, or if no lock protects the folder.
pub fn is_ours(is_known: bool, was_claimed_since_our_marker: bool, folder_is_locked: bool) -> bool {
    is_known || (folder_is_locked && was_claimed_since_our_marker)
}
