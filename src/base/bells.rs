//! Who wakes which loop. A bell carries no news: what is due stands in the store or lies in the folders.
//!
//! ```text
//! inotify, reload ──folders──▶ intake ──letters──▶ dispatch
//!                                │                    │
//!                                └─────originals──────┴──▶ shelf ──mails──▶ owed
//!                                                            └─────kept───▶ keep
//! commands, posting times ──letters──▶ dispatch
//! reload, time of the digest ──mails──▶ owed
//! ```

use std::sync::Arc;

use tokio::sync::Notify;

/// One for each loop, named by what it looks at.
#[derive(Debug, Clone, Default)]
pub struct Bells {
    pub folders: Arc<Notify>,
    pub letters: Arc<Notify>,
    pub originals: Arc<Notify>,
    pub mails: Arc<Notify>,
    pub kept: Arc<Notify>,
}
