//! The configuration read again: when asked to, or when one of its files was saved. All or nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use crate::config::{Config, Problem};
use crate::hot::Registry;
use crate::intake::Bells;
use crate::journal;
use crate::owed::Outbox;
use crate::schedule::{Schedule, Waking};
use crate::systemd::Manager;

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

    pub(super) async fn run(
        mut self,
        registry: Arc<Registry>,
        outbox: Arc<Outbox>,
        bells: Bells,
        waking: Vec<Waking>,
        manager: Arc<Manager>,
    ) {
        let mut schedule = Schedule::default();
        keep_time(&mut schedule, waking).await;
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
            manager.reloading();
            let wrong = match self.reload(&registry, &outbox, &bells) {
                Ok(waking) => {
                    keep_time(&mut schedule, waking).await;
                    None
                }
                Err(mistakes) => Some(mistakes.join("\n")),
            };
            // What the store can't take now is said at the next change.
            drop(outbox.configuration(wrong).await);
            manager.reloaded();
            bells.hint.notify_one();
            bells.told.notify_one();
        }
    }

    /// Gives the times that come again, or all mistakes.
    fn reload(
        &self,
        registry: &Registry,
        outbox: &Outbox,
        bells: &Bells,
    ) -> Result<Vec<Waking>, Vec<String>> {
        match Config::read(&self.file) {
            Ok(mut config) => {
                if config.fixed() != self.fixed {
                    journal::restart_needed();
                }
                journal::reloaded(config.folders.len());
                let waking = times(&config, bells);
                registry.replace(std::mem::take(&mut config.folders));
                outbox.replace(&mut config);
                Ok(waking)
            }
            Err(wrong) => {
                let problems: Vec<String> = wrong
                    .problems
                    .iter()
                    .filter(|problem| problem.is_error())
                    .map(Problem::in_a_line)
                    .collect();
                journal::not_reloaded(&problems);
                Err(problems)
            }
        }
    }
}

/// The times that come again: when the digest is due, and when letters wait to be posted together.
pub(super) fn times(config: &Config, bells: &Bells) -> Vec<Waking> {
    let digest = config.email.as_ref().and_then(|email| email.digest.as_ref());
    let digest = digest.map(|digest| (digest.at.clone(), config.zone, Arc::clone(&bells.told)));
    let posting = config
        .folders
        .iter()
        .filter_map(|folder| Some((folder.posting_times()?.clone(), folder.zone, Arc::clone(&bells.taken))));
    digest.into_iter().chain(posting).collect()
}

/// Without it the loops still look every half minute.
async fn keep_time(schedule: &mut Schedule, waking: Vec<Waking>) {
    if let Err(error) = schedule.replace(waking).await {
        journal::no_schedule(&error);
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
