//! What only the running daemon knows about its state.

use std::sync::Arc;
use std::time::Duration;

use super::loops::Loops;
use super::pulse::Pulse;
use crate::base::clock::{Clock, Time};
use crate::daemon::status::{Live, LiveAccount, LiveFolder, LivePostalData, ReleaseMode};
use crate::daemon::systemd::Manager;
use crate::domain::limits::Terms;
use crate::loops::dispatch::Account;
use crate::loops::folders::{Registered, Registry};

/// A wait longer than this is reported.
const LONG: Duration = Duration::from_secs(30);

pub(super) struct LiveSources {
    since: Time,
    pub(super) clock: Clock,
    manager: Arc<Manager>,
    accounts: Vec<Arc<Account>>,
    registry: Arc<Registry>,
    pulses: Vec<Pulse>,
}

impl LiveSources {
    pub(super) fn new(
        clock: Clock,
        manager: &Arc<Manager>,
        accounts: &[Arc<Account>],
        registry: &Arc<Registry>,
        loops: &Loops,
    ) -> Self {
        Self {
            since: clock.now(),
            clock,
            manager: Arc::clone(manager),
            accounts: accounts.to_vec(),
            registry: Arc::clone(registry),
            pulses: loops.pulses.clone(),
        }
    }

    pub(super) fn live(&self) -> Live {
        let now = self.clock.now();
        let account = |account: &Arc<Account>| LiveAccount {
            name: account.name.clone(),
            known: account.is_known(),
            token_until: account.client.token_until(),
            silent_since: account.silent_since(),
            silent_why: account.silent_why(),
            rests_until: account.rests(now),
        };
        let folders = self.registry.all().into_iter().map(|Registered { folder, looks, .. }| {
            let Terms { approval, letters_per_day, sheets_per_day, day_began, .. } = folder.terms(now);
            let release = match (approval, folder.posting_times()) {
                (true, _) => ReleaseMode::Approval,
                (false, Some(_)) => ReleaseMode::PostingTimes,
                (false, None) => ReleaseMode::Automatic,
            };
            LiveFolder {
                name: folder.name.clone(),
                shown_as: folder.shown_as(),
                shelves: Some(folder.names.clone()),
                looked_at: looks.last,
                looks: looks.count,
                look_seconds: looks.took.as_seconds_f64(),
                lacking: looks.lacking,
                hears: looks.hears,
                release,
                letters_per_day,
                sheets_per_day,
                day_began,
            }
        });
        let postal_data = self.registry.postal_data().map(|list| LivePostalData {
            file: list.file,
            as_of: list.good.as_ref().map(|data| data.as_of()),
            codes: list.good.as_ref().map_or(0, |data| data.codes()),
            is_recent: list.good.is_some_and(|data| data.is_recent(now.date_naive())),
            trouble: list.trouble,
        });
        let busy = self.pulses.iter().map(|pulse| (pulse.name, pulse.at_it_for()));
        let busy =
            busy.filter(|(_, long)| *long > LONG).map(|(name, long)| (name.to_owned(), long.as_secs()));
        Live {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            since: self.since,
            ready: self.manager.is_ready(),
            accounts: self.accounts.iter().map(account).collect(),
            folders: folders.collect(),
            postal_data,
            busy: busy.collect(),
        }
    }
}
