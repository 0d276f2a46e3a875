//! The loops beside the dispatcher: drops are taken in, originals put away, people told, what is kept
//! looked after. Each has its own tasks; what hangs in one holds up no other.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::{LOOKS, wait};
use crate::clock::Clock;
use crate::hot::Registry;
use crate::intake::{Bells, Intake};
use crate::keep::Keeper;
use crate::owed::Outbox;
use crate::shelf;
use crate::store::Store;

/// Folders have threads of their own: a share that hangs must not hold up what is being posted.
const FOLDER_THREADS: usize = 4;
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
        let taking_in = threads.spawn(take_in(intake, clock.clone(), bells.clone(), stopped.clone()));
        let (store, registry) = (Arc::clone(store), Arc::clone(registry));
        let putting = threads.spawn(put_away(store, registry, clock.clone(), bells.clone(), stopped.clone()));
        let telling = tokio::spawn(tell(outbox, clock.clone(), Arc::clone(&bells.told), stopped.clone()));
        let keeping = threads.spawn(keep(keeper, clock.clone(), Arc::clone(&bells.kept), stopped.clone()));
        Ok(Self { taking_in, putting, telling, keeping, threads })
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
    clock: Clock,
    bells: Bells,
    mut stopped: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    loop {
        let next = intake.tick().await?;
        let wait = sleep_until(Instant::now() + wait(&clock, next, LOOKS));
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            joined = intake.joined() => joined?,
            () = bells.hint.notified() => {}
            () = wait => {}
        }
    }
}

/// Puts originals where they belong, whenever something may have become owed.
async fn put_away(
    store: Arc<Store>,
    registry: Arc<Registry>,
    clock: Clock,
    bells: Bells,
    mut stopped: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    loop {
        // The same wakes those who write mails and who fetch what was sealed.
        bells.told.notify_one();
        bells.kept.notify_one();
        let next = shelf::tick(&store, &registry, &clock).await?;
        let wait = sleep_until(Instant::now() + wait(&clock, next, LOOKS));
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            () = bells.owed.notified() => {}
            () = wait => {}
        }
    }
}

/// Tells people what is owed. A mail server that hangs holds up nothing else.
async fn tell(
    outbox: Arc<Outbox>,
    clock: Clock,
    told: Arc<Notify>,
    mut stopped: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    loop {
        let next = tokio::select! {
            biased;
            // A mail that is cut off is sent again under the same name.
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            next = outbox.tick() => next?,
        };
        let wait = sleep_until(Instant::now() + wait(&clock, next, LOOKS));
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            () = told.notified() => {}
            () = wait => {}
        }
    }
}

/// Fetches sealed PDFs, and removes what was kept long enough.
async fn keep(
    keeper: Keeper,
    clock: Clock,
    kept: Arc<Notify>,
    mut stopped: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    loop {
        let next = tokio::select! {
            biased;
            // What is cut off is done once more at the next start.
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            next = keeper.tick() => next?,
        };
        let wait = sleep_until(Instant::now() + wait(&clock, next, KEEPS));
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(()),
            () = kept.notified() => {}
            () = wait => {}
        }
    }
}
