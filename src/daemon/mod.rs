//! The daemon put together: opened, started, stopped in order.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::api::Client;
use crate::clock::{Clock, Time};
use crate::config::Config;
use crate::dispatch::{Account, Dispatch};
use crate::hot::Registry;
use crate::intake::{self, Bells, Intake};
use crate::journal;
use crate::keep::Keeper;
use crate::owed::Outbox;
use crate::pdf::Inspector;
use crate::shelf;
use crate::spool::Spool;
use crate::store::{Bell, Store};

mod reload;

/// What is under way when the daemon is asked to end has this long.
const LAST_REQUESTS: Duration = Duration::from_secs(8);
const LAST_REVOCATION: Duration = Duration::from_secs(1);
/// At least this often everything is looked at, whether anybody knocked or not.
const LOOKS: Duration = Duration::from_secs(30);
/// What is kept is looked at this often, whether anybody knocked or not.
const KEEPS: Duration = Duration::from_mins(10);
const LOOKS_WITHOUT_BELL: Duration = Duration::from_secs(2);
/// Between two looks, however much is due.
const BREATH: Duration = Duration::from_millis(5);
/// Folders have threads of their own: a share that hangs must not hold up what is being posted.
const FOLDER_THREADS: usize = 4;

/// What a daemon is run with besides its configuration.
#[derive(Debug)]
pub struct Run {
    pub clock: Clock,
    /// The records were put back from a backup.
    pub after_restore: bool,
    /// The program whose child counts pages.
    pub inspector: Inspector,
    /// Told when the configuration is to be read again.
    pub reload: Arc<Notify>,
}

/// Runs until `stop` resolves.
pub async fn run(mut config: Config, run: Run, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
    let Run { clock, after_restore, inspector, reload } = run;
    let accounts = accounts(&config, &clock)?;
    let (store, report) = Store::open(&config.state, clock.now(), after_restore)?;
    journal::recovered(&report);
    intake::no_older_records(&store, &config.folders).await?;
    let store = Arc::new(store);
    let spool = Spool::open(&store.home().spool())?;
    let bell = Bell::hang(store.home());
    if let Err(error) = &bell {
        journal::no_bell(error);
    }
    journal::started(env!("CARGO_PKG_VERSION"), &config.state);
    for (account, letters) in store.going_on()? {
        if !config.accounts.iter().any(|known| known.name == account) {
            journal::account_missing(&account, letters);
        }
    }
    let keeping = spool.clone();
    let mut dispatch = Dispatch::new(
        Arc::clone(&store),
        spool.clone(),
        accounts,
        clock.clone(),
        config.retry,
        config.letters_at_once,
    );
    let bells = Bells { owed: dispatch.owed(), ..Bells::default() };
    let reloading = reload::Reloading::of(&config, reload);
    let waking = reload::times(&config, &bells);
    let registry = Arc::new(Registry::new(std::mem::take(&mut config.folders)));
    let outbox = Arc::new(Outbox::new(Arc::clone(&store), Arc::clone(&registry), clock.clone(), &mut config));
    let intake =
        Intake::new(Arc::clone(&store), spool, Arc::clone(&registry), inspector, clock.clone(), &bells);
    let (stopping, stopped) = watch::channel(false);
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(FOLDER_THREADS)
        .thread_name("folders")
        .enable_all()
        .build()?;
    let taking_in = threads.spawn(take_in(intake, clock.clone(), bells.clone(), stopped.clone()));
    let putting = threads.spawn(put_away(
        Arc::clone(&store),
        Arc::clone(&registry),
        clock.clone(),
        bells.clone(),
        stopped.clone(),
    ));
    let telling =
        tokio::spawn(tell(Arc::clone(&outbox), clock.clone(), Arc::clone(&bells.told), stopped.clone()));
    // What this run began with is right, whatever an earlier one was given.
    outbox.configuration(None).await?;
    let keeper = Keeper::new(
        Arc::clone(&store),
        Arc::clone(&registry),
        keeping,
        clock.clone(),
        clients(&config, &clock)?,
    );
    let keeping = threads.spawn(keep(keeper, clock.clone(), Arc::clone(&bells.kept), stopped));
    let reloads = tokio::spawn(reloading.run(registry, outbox, bells.clone(), waking));
    let loops = Loops { taking_in, putting, telling, keeping };
    let ended = work(&mut dispatch, &store, &clock, bell.ok().as_ref(), &bells.taken, loops, stop).await;
    // Whatever ended it: nothing more is begun, what is durable stays, the database is closed properly.
    reloads.abort();
    stopping.send_replace(true);
    dispatch.stop();
    let _ = timeout(LAST_REVOCATION, dispatch.revoke()).await;
    drop(dispatch);
    // What a folder's thread is in the middle of is found again at the next start.
    threads.shutdown_background();
    let closing = Arc::clone(&store);
    tokio::task::spawn_blocking(move || closing.close()).await?;
    journal::stopped();
    ended
}

fn accounts(config: &Config, clock: &Clock) -> anyhow::Result<Vec<Account>> {
    let mut accounts = Vec::new();
    for account in &config.accounts {
        let credentials = account.credentials()?;
        let client = Client::new(account.places.clone(), credentials, config.patience, clock.clone())
            .context("the HTTP client can't be made")?;
        accounts.push(Account::new(account.name.clone(), client));
    }
    Ok(accounts)
}

/// Clients of their own for those who fetch sealed PDFs: whatever hangs there holds up no letter.
fn clients(config: &Config, clock: &Clock) -> anyhow::Result<BTreeMap<String, Client>> {
    Ok(accounts(config, clock)?.into_iter().map(|account| (account.name, account.client)).collect())
}

/// The loops that work in folders; they end only with the daemon, or because something is wrong.
struct Loops {
    taking_in: JoinHandle<anyhow::Result<()>>,
    putting: JoinHandle<anyhow::Result<()>>,
    telling: JoinHandle<anyhow::Result<()>>,
    keeping: JoinHandle<anyhow::Result<()>>,
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

async fn work(
    dispatch: &mut Dispatch,
    store: &Arc<Store>,
    clock: &Clock,
    bell: Option<&Bell>,
    taken: &Notify,
    mut loops: Loops,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    tokio::pin!(stop);
    let longest = if bell.is_some() { LOOKS } else { LOOKS_WITHOUT_BELL };
    loop {
        let next = dispatch.tick().await?;
        let wait = sleep_until(Instant::now() + wait(clock, next, longest));
        tokio::select! {
            biased;
            () = &mut stop => break,
            () = store.halted() => anyhow::bail!(crate::store::Halted),
            joined = dispatch.joined() => joined?,
            ended = &mut loops.taking_in => return ended?,
            ended = &mut loops.putting => return ended?,
            ended = &mut loops.telling => return ended?,
            ended = &mut loops.keeping => return ended?,
            () = rung(bell) => {}
            () = taken.notified() => {}
            () = wait => {}
        }
    }
    journal::stopping();
    dispatch.stop();
    let deadline = Instant::now() + LAST_REQUESTS;
    while !dispatch.is_idle() {
        match timeout_at(deadline, dispatch.joined()).await {
            Ok(joined) => joined?,
            // What has no answer by now is asked about again at the next start.
            Err(_elapsed) => break,
        }
    }
    Ok(())
}

async fn rung(bell: Option<&Bell>) {
    match bell {
        Some(bell) => bell.rung().await,
        None => std::future::pending().await,
    }
}

fn wait(clock: &Clock, next: Option<Time>, longest: Duration) -> Duration {
    let due = next.and_then(|next| clock.real_wait(next)).unwrap_or(longest);
    due.clamp(BREATH, longest)
}
