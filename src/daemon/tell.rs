//! Reports readiness and status to the service manager while the loops run.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::daemon::systemd::Manager;
use crate::outside::journal;
use crate::outside::store::{Store, StoreError};
use crate::words::texts::{AlertNews, Language};

/// Readiness is reported at the latest after this time: a share that hangs is not waited for longer.
const READY_AT_LATEST: Duration = Duration::from_mins(1);
/// The status is sent at most this often.
const TELLS: Duration = Duration::from_secs(5);

/// The daemon is ready once it has heard of each account and looked at every folder.
pub(super) async fn tell_ready(
    manager: Arc<Manager>,
    mut heard: watch::Receiver<bool>,
    mut watching: watch::Receiver<bool>,
) {
    let both = async {
        let heard = heard.wait_for(|heard| *heard).await.is_ok();
        heard && watching.wait_for(|watching| *watching).await.is_ok()
    };
    // A loop that ended is no reason to be ready.
    if timeout(READY_AT_LATEST, both).await != Ok(false) {
        journal::ready();
        manager.ready();
    }
}

/// Sends the status when something has changed.
pub(super) async fn tell_standing(
    manager: Arc<Manager>,
    store: Arc<Store>,
    mut looked: watch::Receiver<bool>,
) {
    while manager.is_there() && looked.changed().await.is_ok() {
        // A loop that cannot read the records ends the daemon and reports why.
        if let Ok(standing) = standing(&store) {
            manager.stands(standing);
        }
        sleep(TELLS).await;
    }
}

/// The status in one line. Troubles come first, because the line may be cut.
fn standing(store: &Store) -> Result<String, StoreError> {
    let (mut posted, mut followed, mut waits) = (0, 0, store.drops_held()?);
    for (state, count) in store.under_way()? {
        match state.as_str() {
            "confirmed" => followed += count,
            "held" => waits += count,
            _to_be_posted => posted += count,
        }
    }
    let counts =
        format!("{posted} being posted, {followed} followed until they ship, {waits} wait for a person");
    let paused = store
        .paused_accounts()?
        .into_iter()
        .map(|row| format!("account {} is paused: {}", row.account, row.pause.cause));
    let alarms = store.alarms()?.into_iter().filter(|raised| raised.fine_since.is_none());
    let alarms = alarms.map(|raised| {
        let (title, _) =
            Language::En.told(&AlertNews::Alarm { alarm: &raised.alarm, detail: &raised.detail });
        format!("{title}: {}", raised.detail)
    });
    let line = paused.chain(alarms).chain([counts]).collect::<Vec<_>>().join("; ");
    // A line end would begin another message.
    Ok(line.replace(char::is_control, " "))
}
