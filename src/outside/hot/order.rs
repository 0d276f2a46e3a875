//! In which order a thing is moved and its move made to last. Pure.

/// One step of a move between two directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MoveStep {
    /// The directory of the claims lasts, and so the place that was made in it.
    SyncClaims,
    Rename,
    /// Where it is now lasts.
    SyncTo,
    /// Where it was lasts, without it.
    SyncFrom,
}

/// The place lasts before anything is in it, and what is in it before its old name is forgotten.
pub const CLAIMING: [MoveStep; 4] =
    [MoveStep::SyncClaims, MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom];

/// Between directories that last already.
pub const MOVING: [MoveStep; 3] = [MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom];
