//! The composed daemon: opened, started and stopped in order.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::base::bells::Bells;
use crate::base::clock::Clock;
use crate::base::tasks::panicked;
use crate::config::Config;
use crate::daemon::doors::Doors;
use crate::daemon::status::{Pictures, Source, serve};
use crate::daemon::systemd::Manager;
use crate::daemon::taking::Inside;
use crate::loops::dispatch::{Account, Dispatch};
use crate::loops::folders::Registry;
use crate::loops::intake::{self, Intake};
use crate::loops::names::NamesIndexer;
use crate::loops::originals::Shelves;
use crate::loops::outbox::Outbox;
use crate::loops::retention::Retention;
use crate::outside::api::{Client, Meter};
use crate::outside::hot::Reach;
use crate::outside::journal;
use crate::outside::pdf::Inspector;
use crate::outside::spool::Spool;
use crate::outside::store::{Bell, Desk, Home, Store};
use live::LiveSources;
use lives::Lives;
use loops::{Loops, Tickers};
use pulse::keep_alive;

/// Wakes the loops at configured times.
pub mod schedule;

/// Listens on an address of this machine or on a socket.
pub mod listening;

/// The status over HTTP.
pub mod status;

/// What comes to a queue is taken, each once.
pub mod taking;

/// Letters by HTTP, for programs.
pub mod door;

/// What a printing system prints.
pub mod printer;

/// What comes to a mailbox by mail.
pub mod mailbox;

/// The ways in of all queues.
pub mod doors;

/// Messages to the service manager.
pub mod systemd;

mod live;
mod lives;
mod loops;
mod pulse;
mod reload;
mod tell;
mod ticker;

const LAST_REVOCATION: Duration = Duration::from_secs(1);
/// The longest time between two looks, whether a bell rang or not.
const LOOKS: Duration = Duration::from_secs(30);

/// How a daemon is run, besides its configuration.
#[derive(Debug)]
pub struct Run {
    pub clock: Clock,
    /// The records were restored from a backup.
    pub after_restore: bool,
    /// The configuration may have been half saved when it was read. Its files must have been unchanged for a
    /// while before drops are decided by it.
    pub may_be_half_saved: bool,
    /// The program whose child counts pages.
    pub inspector: Inspector,
    /// Notified when the configuration must be read again.
    pub reload: Arc<Notify>,
    pub manager: Manager,
}

/// Runs until `stop` resolves.
pub async fn run(mut config: Config, run: Run, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
    let Run { clock, after_restore, may_be_half_saved, inspector, reload, manager } = run;
    let manager = Arc::new(manager);
    let mut stop = std::pin::pin!(stop);
    let Some(mut lives) = begun(&config, &manager, &clock, &mut stop).await else { return Ok(()) };
    let (meter, bells) = (Meter::default(), Bells::default());
    let accounts = accounts(&config, &clock, &meter)?;
    let (reach, draws) = (Arc::new(Reach::of(inspector.program())), Inspector::of(inspector.program()));
    let store = open(&config, &reach, &clock, after_restore).await?;
    let spool = Spool::open(&store.home().spool())?;
    let bell = Bell::hang(store.home()).inspect_err(journal::no_bell).ok();
    let (retry, at_once) = (config.retry, config.letters_at_once);
    let dispatch =
        Dispatch::new(Arc::clone(&store), spool.clone(), accounts, clock.clone(), retry, at_once, &bells);
    let accounts = dispatch.accounts();
    let reloading = reload::Reloading::of(&config, reload, &store, &reach);
    let waking = reload::times(&config, &bells);
    let registry = registry(&mut config, may_be_half_saved);
    let outbox = Arc::new(Outbox::new(&store, &registry, &clock, draws.clone(), &mut config));
    let clients = clients(&config, &clock, &meter)?;
    let keeper =
        Retention::new(Arc::clone(&store), Arc::clone(&registry), spool.clone(), clock.clone(), clients);
    let doors = doors(&mut config, &store, &spool, &registry, (&clock, &bells, &draws)).await?;
    let (records, folders) = (Arc::clone(&store), Arc::clone(&registry));
    let intake = Intake::new(records, spool, folders, inspector, reach, clock.clone(), &bells);
    // The configuration of this start is valid, whatever an earlier run had.
    outbox.configuration(None).await?;
    let shelves = Shelves::new(Arc::clone(&store), Arc::clone(&registry), clock.clone(), bells.clone());
    let names = NamesIndexer::new(Arc::clone(&store), clock.clone());
    let tickers = Tickers { dispatch, intake, shelves, outbox: Arc::clone(&outbox), keeper, names };
    let mut loops = Loops::start(tickers, &bells, &clock, bell.is_some())?;
    let knowing = LiveSources::new(clock.clone(), &manager, &accounts, &registry, &loops);
    let (heard, watching, mailed) = (loops.heard.clone(), loops.watching.clone(), loops.mailed.clone());
    let (tells, reloads, rings) =
        (tell(knowing, &config, meter, draws, doors), Arc::clone(&manager), bells.clone());
    let mut beside = JoinSet::new();
    beside.spawn(tells);
    beside.spawn(reloading.run(registry, outbox, bells, waking, reloads));
    beside.spawn(keep_alive(Arc::clone(&manager), Arc::clone(&store), vec![loops.pulses[0].clone()]));
    beside.spawn(tell::tell_ready(Arc::clone(&manager), heard, watching));
    beside.spawn(tell::tell_standing(Arc::clone(&manager), Arc::clone(&store), mailed));
    beside.spawn(pass_on(bell, rings));
    let ended = supervise(&mut loops, &mut beside, &store, stop).await;
    // Whatever ended it: nothing more is begun, what is durable stays, and the database is closed properly.
    if ended.is_ok() {
        journal::stopping();
        lives.ends(clock.now());
    }
    manager.stopping();
    beside.abort_all();
    let is_well = ended.is_ok();
    let ended = ended.and(loops.end(is_well).await);
    let _ = timeout(LAST_REVOCATION, revoke(&accounts)).await;
    tokio::task::spawn_blocking(move || store.close()).await?;
    journal::stopped();
    ended
}

/// A new life begins, at once or after a wait. `None` if it was asked to end meanwhile. Without a service manager a
/// person starts it, who need not wait.
async fn begun(
    config: &Config,
    manager: &Manager,
    clock: &Clock,
    stop: &mut (impl Future<Output = ()> + Unpin),
) -> Option<Lives> {
    // At the very first start there is no directory yet. Whether it can be used is said when it is opened.
    drop(Home::make(&config.state));
    let mut lives = Lives::before(&config.state, clock.now());
    if manager.is_there() && lives.must_wait() {
        journal::short_lives(lives::WAIT);
        manager.stands("waits for 2 minutes, because its last three lives were short".to_owned());
        tokio::select! {
            () = tokio::time::sleep(lives::WAIT) => {}
            () = stop => return None,
        }
    }
    lives.begins(clock.now());
    Some(lives)
}

/// Passes the bell that commands ring on to the dispatch loop.
async fn pass_on(bell: Option<Bell>, bells: Bells) {
    let Some(bell) = bell else { return };
    loop {
        bell.rung().await;
        bells.letters.notify_one();
    }
}

/// Lets the loops run until somebody asks for the end, one of them fails or a task beside them panics, or the records
/// are found to be damaged.
async fn supervise(
    loops: &mut Loops,
    beside: &mut JoinSet<()>,
    store: &Store,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let ended = tokio::select! {
        biased;
        () = stop => Ok(()),
        halted = store.halted() => Err(halted.into()),
        ended = loops.ended() => ended,
        panic = panicked(beside) => Err(panic.into()),
        () = found_damaged(store.home().clone()) => {
            Err(anyhow!("the records are damaged; at the next start they are made anew from the ledger"))
        }
    };
    if ended.is_err() {
        store.home().doubt()?;
    }
    ended
}

/// Revokes the accounts' tokens.
async fn revoke(accounts: &[Arc<Account>]) {
    for account in accounts {
        account.client.revoke().await;
    }
}

/// Checks a database that was too large for a check at the start. Returns only if it is damaged.
async fn found_damaged(home: Home) {
    let look = move || match home.is_large() {
        Ok(true) => !matches!(Desk::open(home.dir()).and_then(|desk| desk.soundness()), Ok(None)),
        Ok(false) | Err(_) => false,
    };
    if !matches!(tokio::task::spawn_blocking(look).await, Ok(true)) {
        std::future::pending::<()>().await;
    }
}

/// Opens the records, and compares them with this configuration.
async fn open(
    config: &Config,
    reach: &Arc<Reach>,
    clock: &Clock,
    after_restore: bool,
) -> anyhow::Result<Arc<Store>> {
    let (store, report) = Store::open(&config.state, clock.now(), after_restore)?;
    journal::recovered(&report);
    intake::no_other_records(reach, &store, &config.folders).await?;
    journal::started(env!("CARGO_PKG_VERSION"), &config.state);
    intake::hold_left_out(reach, &store, &config.folders, clock.now()).await?;
    for (account, letters) in store.going_on()? {
        if !config.accounts.iter().any(|known| known.name == account) {
            journal::account_missing(&account, letters);
        }
    }
    Ok(Arc::new(store))
}

/// The folders in force. Drops wait if the files may be unfinished.
fn registry(config: &mut Config, may_be_half_saved: bool) -> Arc<Registry> {
    let registry = Registry::new(std::mem::take(&mut config.folders));
    let on_disk = std::mem::take(&mut config.on_disk);
    if may_be_half_saved && on_disk.is_younger_than(reload::UNCHANGED, Clock::system().now()) {
        registry.decided_by_unfinished();
    } else {
        registry.decided_by(on_disk);
    }
    Arc::new(registry)
}

/// The doors of the configured queues.
async fn doors(
    config: &mut Config,
    store: &Arc<Store>,
    spool: &Spool,
    registry: &Arc<Registry>,
    (clock, bells, inspector): (&Clock, &Bells, &Inspector),
) -> anyhow::Result<Doors> {
    let inside = Inside {
        store: Arc::clone(store),
        spool: spool.clone(),
        registry: Arc::clone(registry),
        clock: clock.clone(),
        bells: bells.clone(),
        state: config.state.clone(),
        inspector: inspector.clone(),
    };
    Doors::of(&inside, std::mem::take(&mut config.queues)).await
}

/// Serves the status and the doors.
fn tell(
    knowing: LiveSources,
    config: &Config,
    meter: Meter,
    inspector: Inspector,
    mut doors: Doors,
) -> impl Future<Output = ()> + use<> {
    let status = config.status.clone();
    let source = Source {
        state: config.state.clone(),
        clock: knowing.clock.clone(),
        meter,
        live: Arc::new(move || knowing.live()),
        language: config.language,
        zone: config.zone,
        show_names: status.as_ref().is_some_and(|status| status.show_names),
        pictures: status
            .as_ref()
            .filter(|status| status.show_pages)
            .map(|_| Arc::new(Pictures::new(inspector, config.page_font.clone()))),
        turn: Arc::default(),
    };
    let beside = doors.beside_status();
    let status = serve(source, status.map(|status| status.listen), beside);
    async {
        tokio::join!(status, doors.serve());
    }
}

fn accounts(config: &Config, clock: &Clock, meter: &Meter) -> anyhow::Result<Vec<Account>> {
    let mut accounts = Vec::new();
    for account in &config.accounts {
        let credentials = account.credentials()?;
        let client = Client::new(account.places.clone(), credentials, config.patience, clock.clone())
            .context("the HTTP client can't be made; the system needs certificates of authorities (Debian: ca-certificates)")?
            .counted_by(meter);
        accounts.push(Account::new(account.name.clone(), client));
    }
    Ok(accounts)
}

/// Separate clients for sealed PDFs, so that a download that hangs holds up no letter.
fn clients(config: &Config, clock: &Clock, meter: &Meter) -> anyhow::Result<BTreeMap<String, Client>> {
    Ok(accounts(config, clock, meter)?.into_iter().map(|account| (account.name, account.client)).collect())
}
