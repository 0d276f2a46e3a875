//! The bells: each wakes one loop. A bell carries no data; the loop looks at the store or at the folders.
//! ```text
//! inotify, reload ──folders──▶ intake ──letters──▶ dispatch
//!                                │                    │
//!                                └─────originals──────┴──▶ originals ──mails──▶ outbox
//!                                                              ├──────kept───▶ retention
//!                                                              └─────names───▶ names
//! commands, posting times ──letters──▶ dispatch
//! reload, time of the digest ──mails──▶ outbox
//! ```

use std::sync::Arc;

use tokio::sync::Notify;

/// One bell for each loop, named after what that loop looks at.
#[derive(Debug, Clone, Default)]
pub struct Bells {
    pub folders: Arc<Notify>,
    pub letters: Arc<Notify>,
    pub originals: Arc<Notify>,
    pub mails: Arc<Notify>,
    pub kept: Arc<Notify>,
    pub names: Arc<Notify>,
    /// Wakes everybody who waits for a drop to be decided.
    pub decided: Arc<Notify>,
}
