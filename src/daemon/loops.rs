//! The loops beside the dispatcher: drops are taken in, originals put away, people told, what is kept
//! looked after. Each has its own tasks; what hangs in one holds up no other.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use super::pulse::Pulse;
use super::{LOOKS, wait};
use crate::clock::{Clock, Time};
use crate::hot::Registry;
use crate::intake::{Bells, Intake};
use crate::keep::Keeper;
use crate::owed::Outbox;
use crate::shelf::Shelves;
use crate::store::Store;

/// Folders have threads of their own: a share that hangs must not hold up what is being posted.
const FOLDER_THREADS: usize = 8;
/// In a burst whoever knocks is not alone: what becomes owed within this is done together.
const TOGETHER: Duration = Duration::from_millis(25);
/// What is kept is looked at this often, whether anybody knocked or not.
const KEEPS: Duration = Duration::from_mins(10);

/// What every loop works with.
pub(super) struct Working {
    pub(super) store: Arc<Store>,
    pub(super) registry: Arc<Registry>,
    pub(super) clock: Clock,
    pub(super) bells: Bells,
    pub(super) stopped: watch::Receiver<bool>,
}

/// They end only with the daemon, or because something is wrong.
pub(super) struct Loops {
    taking_in: JoinHandle<anyhow::Result<()>>,
    putting: JoinHandle<anyhow::Result<()>>,
    telling: JoinHandle<anyhow::Result<()>>,
    keeping: JoinHandle<anyhow::Result<()>>,
    threads: tokio::runtime::Runtime,
    /// True once every folder has been looked at.
    pub(super) watching: watch::Receiver<bool>,
    pub(super) pulses: Vec<Pulse>,
}

impl Loops {
    pub(super) fn start(
        working: &Working,
        intake: Intake,
        outbox: Arc<Outbox>,
        keeper: Keeper,
    ) -> io::Result<Self> {
        let threads = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(FOLDER_THREADS)
            .thread_name("folders")
            .enable_all()
            .build()?;
        let Working { store, registry, clock, bells, stopped } = working;
        let (looked, watching) = watch::channel(false);
        let pulses = ["folders", "shelves", "mails", "kept"].map(Pulse::new);
        let times = |longest, pulse: usize| Times {
            clock: clock.clone(),
            longest,
            stopped: stopped.clone(),
            pulse: pulses[pulse].clone(),
        };
        let taking_in = threads.spawn(take_in(intake, bells.clone(), times(LOOKS, 0), looked));
        let (told, kept) = (Arc::clone(&bells.told), Arc::clone(&bells.kept));
        let shelves =
            Shelves::new(Arc::clone(store), Arc::clone(registry), clock.clone(), Arc::clone(&bells.owed));
        // Puts originals where they belong, whenever something may have become owed.
        let put_away = move || {
            // The same wakes those who write mails and who fetch what was sealed.
            told.notify_one();
            kept.notify_one();
            let shelves = shelves.clone();
            async move { Ok(shelves.tick().await?) }
        };
        let putting = threads.spawn(again(put_away, Arc::clone(&bells.owed), times(LOOKS, 1)));
        // Tells people what is owed. A mail that is cut off is sent again under the same name.
        let tell = move || {
            let outbox = Arc::clone(&outbox);
            async move { Ok(outbox.tick().await?) }
        };
        let telling = tokio::spawn(again(tell, Arc::clone(&bells.told), times(LOOKS, 2)));
        // Fetches sealed PDFs, and removes what was kept long enough.
        let keeper = Arc::new(keeper);
        let keep = move || {
            let keeper = Arc::clone(&keeper);
            async move { Ok(keeper.tick().await?) }
        };
        let keeping = threads.spawn(again(keep, Arc::clone(&bells.kept), times(KEEPS, 3)));
        Ok(Self { taking_in, putting, telling, keeping, threads, watching, pulses: pulses.to_vec() })
    }

    /// Resolves when one of them ends, and says why.
    pub(super) async fn ended(&mut self) -> anyhow::Result<()> {
        tokio::select! {
            ended = &mut self.taking_in => ended?,
            ended = &mut self.putting => ended?,
            ended = &mut self.telling => ended?,
            ended = &mut self.keeping => ended?,
        }
    }

    /// What they are in the middle of is found again at the next start.
    pub(super) fn let_go(self) {
        self.threads.shutdown_background();
    }
}

async fn take_in(
    mut intake: Intake,
    bells: Bells,
    times: Times,
    looked: watch::Sender<bool>,
) -> anyhow::Result<()> {
    let Times { clock, longest, mut stopped, pulse } = times;
    loop {
        pulse.begins();
        let next = intake.tick().await?;
        pulse.rests();
        looked.send_if_modified(|looked| !std::mem::replace(looked, true));
        let wait = sleep_until(Instant::now() + wait(&clock, next, longest));
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            joined = intake.joined() => joined?,
            () = bells.hint.notified() => {}
            () = wait => {}
        }
    }
}

/// When a loop looks again, and when it ends.
struct Times {
    clock: Clock,
    longest: Duration,
    stopped: watch::Receiver<bool>,
    pulse: Pulse,
}

/// One look after another: when something is due, when the bell rings, and now and then anyway. What is
/// cut off at the end of the daemon is done once more at the next start.
async fn again<F>(mut look: impl FnMut() -> F, bell: Arc<Notify>, times: Times) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<Option<Time>>>,
{
    let Times { clock, longest, mut stopped, pulse } = times;
    loop {
        pulse.begins();
        let next = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            next = look() => next?,
        };
        pulse.rests();
        let wait = sleep_until(Instant::now() + wait(&clock, next, longest));
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            () = rung(&bell) => {}
            () = wait => {}
        }
    }
}

async fn rung(bell: &Notify) {
    bell.notified().await;
    sleep(TOGETHER).await;
}
