//! The six loops, each a task of its own, so one that hangs holds up no other.

use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::LOOKS;
use super::pulse::Pulse;
use super::ticker::{Rhythm, Ticker, run};
use crate::base::bells::Bells;
use crate::base::clock::Clock;
use crate::loops::dispatch::Dispatch;
use crate::loops::intake::Intake;
use crate::loops::names::NamesIndexer;
use crate::loops::originals::Shelves;
use crate::loops::retention::Retention;

/// Folders have threads of their own, because a share that hangs must not hold up what is being posted.
const FOLDER_THREADS: usize = 8;
/// What becomes due in a burst within this time is done together.
const TOGETHER: Duration = Duration::from_millis(25);
/// Retention looks this often, even if its bell does not ring.
const KEEPS: Duration = Duration::from_mins(10);
/// Letters can be found without the index of names, so a burst does not wait for it.
const AFTER_A_BURST: Duration = Duration::from_secs(5);
/// Only its bell wakes it.
const NEVER: Duration = Duration::from_hours(24);
/// Without a bell, commands are noticed within this time.
const LOOKS_WITHOUT_BELL: Duration = Duration::from_secs(2);
/// How long a running call may take when the daemon is asked to end. A call without an answer by then is
/// asked about at the next start.
const LAST_REQUESTS: Duration = Duration::from_secs(8);

/// What the loops work on.
pub(super) struct Tickers<M> {
    pub(super) dispatch: Dispatch,
    pub(super) intake: Intake,
    pub(super) shelves: Shelves,
    pub(super) outbox: M,
    pub(super) keeper: Retention,
    pub(super) names: NamesIndexer,
}

/// They end only with the daemon, or because something is wrong.
pub(super) struct Loops {
    letters: JoinHandle<anyhow::Result<()>>,
    beside: JoinSet<anyhow::Result<()>>,
    threads: Runtime,
    stopping: watch::Sender<bool>,
    /// True once every account has answered or is known not to.
    pub(super) heard: watch::Receiver<bool>,
    /// True once every folder has been looked at.
    pub(super) watching: watch::Receiver<bool>,
    /// Changed by each look at the e-mails, which follows whatever happens to letters and alarms.
    pub(super) mailed: watch::Receiver<bool>,
    /// The first is that of the dispatch loop.
    pub(super) pulses: Vec<Pulse>,
}

impl Loops {
    pub(super) fn start<M: Ticker + 'static>(
        tickers: Tickers<M>,
        bells: &Bells,
        clock: &Clock,
        commands_ring: bool,
    ) -> io::Result<Self> {
        let Tickers { dispatch, intake, shelves, outbox, keeper, names } = tickers;
        let threads = Builder::new_multi_thread()
            .worker_threads(FOLDER_THREADS)
            .thread_name("folders")
            .enable_all()
            .build()?;
        let (stopping, stopped) = watch::channel(false);
        let mut pulses = Vec::new();
        let mut rhythm = |name, bell: &std::sync::Arc<_>, gather, longest| {
            let (looked, looks) = watch::channel(false);
            let pulse = Pulse::new(name);
            pulses.push(pulse.clone());
            let (clock, bell, stopped) = (clock.clone(), std::sync::Arc::clone(bell), stopped.clone());
            (Rhythm { clock, bell, gather, longest, pulse, looked, stopped }, looks)
        };
        let (main, folders) = (Handle::current(), threads.handle());
        let mut beside = JoinSet::new();
        let longest = if commands_ring { LOOKS } else { LOOKS_WITHOUT_BELL };
        let (times, heard) = rhythm("letters", &bells.letters, Duration::ZERO, longest);
        let letters = main.spawn(run(dispatch, times));
        let (times, watching) = rhythm("folders", &bells.folders, Duration::ZERO, LOOKS);
        beside.spawn_on(run(intake, times), folders);
        let (times, _) = rhythm("shelves", &bells.originals, TOGETHER, LOOKS);
        beside.spawn_on(run(shelves, times), folders);
        let (times, mailed) = rhythm("mails", &bells.mails, TOGETHER, LOOKS);
        beside.spawn_on(run(outbox, times), &main);
        let (times, _) = rhythm("kept", &bells.kept, TOGETHER, KEEPS);
        beside.spawn_on(run(keeper, times), folders);
        let (times, _) = rhythm("names", &bells.names, AFTER_A_BURST, NEVER);
        beside.spawn_on(run(names, times), folders);
        Ok(Self { letters, beside, threads, stopping, heard, watching, mailed, pulses })
    }

    /// Resolves when one of them ends, with the reason.
    pub(super) async fn ended(&mut self) -> anyhow::Result<()> {
        tokio::select! {
            ended = &mut self.letters => ended?,
            Some(ended) = self.beside.join_next() => ended?,
        }
    }

    /// Begins nothing more. If `is_well`, letters reach the end of their present step. What the other loops
    /// were doing is resumed at the next start.
    pub(super) async fn end(mut self, is_well: bool) -> anyhow::Result<()> {
        self.stopping.send_replace(true);
        let mut ended = Ok(());
        if is_well && let Ok(finished) = timeout(LAST_REQUESTS, &mut self.letters).await {
            ended = finished?;
        }
        self.letters.abort();
        self.threads.shutdown_background();
        ended
    }
}
