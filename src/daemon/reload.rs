//! The configuration read again: when asked to, or when one of its files was saved. All or nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use crate::config::{Config, Problem};
use crate::hot::Registry;
use crate::journal;

/// Editors save in several steps.
const SAVED: Duration = Duration::from_millis(300);

#[derive(Debug)]
pub(super) struct Reloading {
    file: PathBuf,
    asked: Arc<Notify>,
    /// Hints that a file was saved end with it.
    _watcher: Option<RecommendedWatcher>,
    saved: Arc<Notify>,
    /// What only a new start can change, as it is in force.
    fixed: String,
    /// What the files looked like when they were read.
    before: Vec<FileStamp>,
}

type FileStamp = (PathBuf, Option<std::time::SystemTime>, u64);

impl Reloading {
    pub(super) fn of(config: &Config, asked: Arc<Notify>) -> Self {
        let saved = Arc::new(Notify::new());
        let tell = Arc::clone(&saved);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !event.kind.is_access() || event.need_rescan()) {
                tell.notify_one();
            }
        });
        let watcher = watcher.ok().map(|mut watcher| {
            let beside =
                config.file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            for dir in [beside.to_owned(), config.rules_dir.clone()] {
                // Where nothing can be watched, SIGHUP is left.
                drop(watcher.watch(&dir, RecursiveMode::NonRecursive));
            }
            watcher
        });
        Self {
            file: config.file.clone(),
            asked,
            _watcher: watcher,
            saved,
            fixed: config.fixed(),
            before: stamps(&config.file),
        }
    }

    pub(super) async fn run(mut self, registry: Arc<Registry>, hint: Arc<Notify>) {
        loop {
            tokio::select! {
                () = self.asked.notified() => {}
                () = self.saved.notified() => {
                    tokio::time::sleep(SAVED).await;
                    let now = stamps(&self.file);
                    if now == self.before {
                        continue;
                    }
                    self.before = now;
                }
            }
            self.reload(&registry);
            hint.notify_one();
        }
    }

    fn reload(&self, registry: &Registry) {
        match Config::read(&self.file) {
            Ok(config) => {
                if config.fixed() != self.fixed {
                    journal::restart_needed();
                }
                journal::reloaded(config.folders.len());
                registry.replace(config.folders);
            }
            Err(wrong) => {
                let problems: Vec<String> = wrong
                    .problems
                    .iter()
                    .filter(|problem| problem.is_error())
                    .map(Problem::in_a_line)
                    .collect();
                journal::not_reloaded(&problems);
            }
        }
    }
}

/// What the files looked like, so that our own reading or a state file beside them is no change.
fn stamps(main: &Path) -> Vec<FileStamp> {
    let mut files = vec![main.to_owned()];
    files.extend(Config::files_of(main));
    let stamp = |file: PathBuf| {
        let meta = std::fs::metadata(&file).ok();
        let time = meta.as_ref().and_then(|meta| meta.modified().ok());
        (file, time, meta.map_or(0, |meta| meta.len()))
    };
    files.into_iter().map(stamp).collect()
}
