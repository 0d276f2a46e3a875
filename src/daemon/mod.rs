//! The daemon put together: opened, started, stopped in order.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::api::Client;
use crate::clock::{Clock, Time};
use crate::config::Config;
use crate::dispatch::{Account, Dispatch};
use crate::journal;
use crate::owed;
use crate::spool::Spool;
use crate::store::{Bell, Store};

/// What is under way when the daemon is asked to end has this long.
const LAST_REQUESTS: Duration = Duration::from_secs(8);
const LAST_REVOCATION: Duration = Duration::from_secs(1);
/// At least this often everything is looked at, whether anybody knocked or not.
const LOOKS: Duration = Duration::from_secs(30);
const LOOKS_WITHOUT_BELL: Duration = Duration::from_secs(2);
/// Between two looks, however much is due.
const BREATH: Duration = Duration::from_millis(5);

/// Runs until `stop` resolves. `after_restore`: the records were put back from a backup.
pub async fn run(
    config: Config,
    clock: Clock,
    after_restore: bool,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let mut accounts = Vec::new();
    for account in &config.accounts {
        let credentials = account.credentials()?;
        let client = Client::new(account.places.clone(), credentials, config.patience, clock.clone())
            .context("the HTTP client can't be made")?;
        accounts.push(Account::new(account.name.clone(), client));
    }
    let (store, report) = Store::open(&config.state, clock.now(), after_restore)?;
    journal::recovered(&report);
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
    let mut dispatch = Dispatch::new(
        Arc::clone(&store),
        spool,
        accounts,
        clock.clone(),
        config.retry,
        config.letters_at_once,
    );
    let ended = work(&mut dispatch, &store, &clock, bell.ok().as_ref(), stop).await;
    // Whatever ended it: nothing more is begun, what is durable stays, the database is closed properly.
    dispatch.stop();
    let _ = timeout(LAST_REVOCATION, dispatch.revoke()).await;
    drop(dispatch);
    let closing = Arc::clone(&store);
    tokio::task::spawn_blocking(move || closing.close()).await?;
    journal::stopped();
    ended
}

async fn work(
    dispatch: &mut Dispatch,
    store: &Arc<Store>,
    clock: &Clock,
    bell: Option<&Bell>,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let owing = dispatch.owed();
    let telling = async {
        loop {
            owed::tick(store, clock).await?;
            owing.notified().await;
        }
    };
    tokio::pin!(stop, telling);
    loop {
        let next = dispatch.tick().await?;
        let wait = sleep_until(Instant::now() + wait(clock, next, bell.is_some()));
        tokio::select! {
            biased;
            () = &mut stop => break,
            () = store.halted() => anyhow::bail!(crate::store::Halted),
            joined = dispatch.joined() => joined?,
            told = &mut telling => return told,
            () = rung(bell) => {}
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

fn wait(clock: &Clock, next: Option<Time>, bell: bool) -> Duration {
    let longest = if bell { LOOKS } else { LOOKS_WITHOUT_BELL };
    let due = next.and_then(|next| clock.real_wait(next)).unwrap_or(longest);
    due.clamp(BREATH, longest)
}
