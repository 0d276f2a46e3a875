//! The order of the steps that move a thing and make the move durable. Pure.

/// One step of a move between two directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MoveStep {
    /// Makes the directory of the claims durable, and with it the claim created in it.
    SyncClaims,
    Rename,
    /// Makes the new place durable.
    SyncTo,
    /// Makes the old place durable, without the thing.
    SyncFrom,
}

/// The claim is durable before anything is in it, and its content before its old name is removed.
pub const CLAIMING: [MoveStep; 4] =
    [MoveStep::SyncClaims, MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom];

/// A file that was dropped alone goes straight among the claims, whose directory is durable.
pub const CLAIMING_ALONE: [MoveStep; 3] = [MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom];

/// A move between directories that are already durable.
pub const MOVING: [MoveStep; 3] = [MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom];
