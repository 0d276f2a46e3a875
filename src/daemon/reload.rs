//! Reads the configuration again, when asked to or when one of its files was saved. All or nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{EventKindMask, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::base::bells::Bells;
use crate::config::{Config, ConfigError, FilesOnDisk, Folder, Problem, looser};
use crate::daemon::schedule::{Schedule, Waking};
use crate::daemon::systemd::Manager;
use crate::loops::folders::Registry;
use crate::loops::intake::{left_out, reused_in};
use crate::loops::outbox::Outbox;
use crate::outside::hot::Reach;
use crate::outside::journal;
use crate::outside::store::Store;

/// How long a saved file must be unchanged before it is put in force. Before that it may be half saved.
pub(super) const UNCHANGED: Duration = Duration::from_secs(3);
/// How long if a person asks for a reload.
const ASKED: Duration = Duration::from_millis(300);
/// How long if it asks for less than before.
const LOOSER: Duration = Duration::from_secs(30);
/// Files that keep changing for longer than this raise an alarm.
const ALARM_AFTER: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(super) struct Reloading {
    file: PathBuf,
    store: Arc<Store>,
    reach: Arc<Reach>,
    asked: Arc<Notify>,
    /// Hints that a file was saved, for as long as this exists.
    _watcher: Option<RecommendedWatcher>,
    saved: Arc<Notify>,
    /// The parts in force that only a new start can change.
    fixed: String,
}

impl Reloading {
    pub(super) fn of(config: &Config, asked: Arc<Notify>, store: &Arc<Store>, reach: &Arc<Reach>) -> Self {
        let saved = Arc::new(Notify::new());
        let tell = Arc::clone(&saved);
        let hint = move |event: notify::Result<notify::Event>| {
            if event.is_ok() {
                tell.notify_one();
            }
        };
        // Reading is no change, and we read these files ourselves.
        let changes = notify::Config::default().with_event_kinds(EventKindMask::CORE);
        let watcher = RecommendedWatcher::new(hint, changes).ok().map(|mut watcher| {
            let beside =
                config.file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            for dir in [beside.to_owned(), config.rules_dir.clone()] {
                // Where nothing can be watched, SIGHUP remains.
                drop(watcher.watch(&dir, RecursiveMode::NonRecursive));
            }
            watcher
        });
        let (file, store, reach) = (config.file.clone(), Arc::clone(store), Arc::clone(reach));
        Self { file, store, reach, asked, _watcher: watcher, saved, fixed: config.fixed() }
    }

    pub(super) async fn run(
        self,
        registry: Arc<Registry>,
        outbox: Arc<Outbox>,
        bells: Bells,
        waking: Vec<Waking>,
        manager: Arc<Manager>,
    ) {
        let mut schedule = Schedule::default();
        schedule.replace(waking);
        loop {
            let quiet = tokio::select! {
                () = self.asked.notified() => ASKED,
                () = self.saved.notified() => {
                    // Another file in the directory may be written all the time.
                    sleep(ASKED).await;
                    UNCHANGED
                }
                // A drop met files that no event reported.
                () = registry.changed() => UNCHANGED,
            };
            if quiet == UNCHANGED && registry.is_decided_by(&FilesOnDisk::look(&self.file)) {
                // Our own reading, or a state file in the same directory.
                continue;
            }
            let (on_disk, read, is_asked) = self.read_settled(quiet, &registry, &outbox).await;
            // The first reading belongs to the start and is not a reload: the service manager would take its
            // end for the end of the start.
            let is_reload = is_asked || !registry.is_unfinished();
            if is_reload {
                manager.reloading();
            }
            let wrong = match self.put_in_force(read, &registry, &outbox, &bells).await {
                Ok(waking) => {
                    schedule.replace(waking);
                    None
                }
                Err(mistakes) => Some(mistakes.join("\n")),
            };
            registry.set_has_mistakes(wrong.is_some());
            registry.decided_by(on_disk);
            // What the store cannot record now is reported at the next change.
            drop(outbox.configuration(wrong).await);
            if is_reload {
                manager.reloaded();
            }
            bells.folders.notify_one();
            bells.mails.notify_one();
        }
    }

    /// Reads the configuration once its files have been unchanged for `quiet`, and uses it only if they were
    /// the same before and after. A configuration that asks for less must be unchanged for longer, unless a
    /// person asks for the reload. The boolean says whether one did.
    async fn read_settled(
        &self,
        mut quiet: Duration,
        registry: &Registry,
        outbox: &Outbox,
    ) -> (FilesOnDisk, Result<Config, ConfigError>, bool) {
        let mut alarm_at = Instant::now() + ALARM_AFTER;
        let mut is_reported = false;
        let mut before = FilesOnDisk::look(&self.file);
        loop {
            tokio::select! {
                () = sleep(quiet) => {}
                () = self.asked.notified() => {
                    quiet = ASKED;
                    continue;
                }
            }
            let now = FilesOnDisk::look(&self.file);
            if now == before {
                let read = Config::read(&self.file);
                before = FilesOnDisk::look(&self.file);
                let less = read.as_ref().map_or_else(|_| Vec::new(), |config| asks_less(registry, config));
                if now == before && (quiet != UNCHANGED || less.is_empty()) {
                    return (now, read, quiet == ASKED);
                }
                if now == before {
                    journal::looser(&less, LOOSER);
                    quiet = LOOSER.saturating_sub(UNCHANGED);
                    // It is unchanged and only waits.
                    alarm_at = Instant::now() + LOOSER + ALARM_AFTER;
                    continue;
                }
            }
            before = now;
            quiet = quiet.min(UNCHANGED);
            if Instant::now() > alarm_at && !std::mem::replace(&mut is_reported, true) {
                journal::configuration_unsettled();
                drop(outbox.configuration(Some("its files keep changing".to_owned())).await);
            }
        }
    }

    /// Returns the recurring times, or all mistakes.
    async fn put_in_force(
        &self,
        read: Result<Config, ConfigError>,
        registry: &Registry,
        outbox: &Outbox,
        bells: &Bells,
    ) -> Result<Vec<Waking>, Vec<String>> {
        match read {
            Ok(config) => {
                let (reach, store, present) =
                    (Arc::clone(&self.reach), Arc::clone(&self.store), registry.all());
                // Some folder may not answer.
                let asked = tokio::task::spawn_blocking(move || {
                    let present: Vec<&str> = present.iter().map(|known| known.folder.name.as_str()).collect();
                    let left_out = left_out(&reach, &store, &present, &config.folders);
                    let mut wrong = left_out.unwrap_or_else(|error| vec![error.to_string()]);
                    wrong.extend(reused_in(&reach, &store, &config.folders));
                    (config, wrong)
                });
                let (mut config, wrong) = asked.await.map_err(|error| vec![error.to_string()])?;
                if !wrong.is_empty() {
                    journal::not_reloaded(&wrong);
                    return Err(wrong);
                }
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

/// Where a configuration asks for less than the one in force, folder by folder.
fn asks_less(registry: &Registry, new: &Config) -> Vec<String> {
    let present = registry.all();
    let before = |folder: &Folder| {
        let named = present.iter().find(|known| known.folder.name == folder.name);
        named.or_else(|| present.iter().find(|known| known.folder.path == folder.path))
    };
    let less = |folder: &Folder| before(folder).map(|known| looser(&known.folder, folder));
    new.folders.iter().filter_map(less).flatten().collect()
}

/// The recurring times: the digest, and posting times.
pub(super) fn times(config: &Config, bells: &Bells) -> Vec<Waking> {
    let digest = config.email.as_ref().and_then(|email| email.digest.as_ref());
    let digest = digest.map(|digest| (digest.at.clone(), config.zone, Arc::clone(&bells.mails)));
    let posting = config.folders.iter().filter_map(|folder| {
        Some((folder.posting_times()?.clone(), folder.zone, Arc::clone(&bells.letters)))
    });
    digest.into_iter().chain(posting).collect()
}
