//! `mailchute status`: the status on one screen.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use chrono_tz::Tz;

use super::config::RecordsPath;
use super::table;
use crate::base::clock::{Clock, Time};
use crate::daemon::status::{Facts, Live, LiveAccount, ReleaseMode, ask};
use crate::domain::alarm::Alarm;
use crate::outside::store::{Bell, Desk, QueueRow};
use crate::words::texts::{AlertNews, Language};

const WATCH_EVERY: Duration = Duration::from_secs(2);
/// The number of waiting letters and drops that are shown.
const SHOWN: usize = 5;

/// Show the status: letters by state, folders, accounts, what waits and why
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: RecordsPath,
    /// One JSON object
    #[arg(long, conflicts_with = "watch")]
    json: bool,
    /// Show it anew every two seconds, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Only whether the daemon runs and is ready: exit status 0, otherwise 1
    #[arg(long, conflicts_with_all = ["json", "watch"])]
    ready: bool,
}

pub(super) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let records = arguments.place.find()?;
    if arguments.ready {
        let facts = ask(&records.state).context("the daemon does not answer")?;
        let live = facts.and_then(|facts| facts.runs).context("the daemon does not run")?;
        anyhow::ensure!(live.ready, "the daemon has started and is not ready yet");
        return Ok(super::say("ready")?);
    }
    loop {
        let (facts, silent) = facts(&records.state)?;
        if arguments.json {
            return table::json(&facts);
        }
        let lines = Lines { facts: &facts, zone: records.zone }.all(silent);
        let text = lines.iter().map(|line| table::wrapped(line)).collect::<Vec<_>>().join("\n");
        if !arguments.watch {
            return Ok(super::say(&text)?);
        }
        let mut out = std::io::stdout().lock();
        if out.is_terminal() {
            // Moves the cursor home and clears the rest.
            out.write_all(b"\x1b[H\x1b[J")?;
        }
        writeln!(out, "{text}")?;
        out.flush()?;
        drop(out);
        tokio::time::sleep(WATCH_EVERY).await;
    }
}

/// The daemon's facts, or those of the records while no daemon answers, with the reason.
fn facts(state: &Path) -> anyhow::Result<(Facts, String)> {
    let silent = match ask(state) {
        Ok(Some(facts)) => return Ok((facts, String::new())),
        Ok(None) if Bell::ring(Desk::open(state)?.home()) => {
            "the daemon runs but does not report its status".to_owned()
        }
        Ok(None) => "the daemon does not run: `mailchute run` starts it".to_owned(),
        Err(error) => format!("the daemon does not answer: {error}"),
    };
    Ok((Facts::gather(&Desk::open(state)?, None, Clock::system().now())?, silent))
}

/// The facts as lines for people in one time zone.
struct Lines<'a> {
    facts: &'a Facts,
    zone: Tz,
}

impl Lines<'_> {
    fn time(&self, time: Time) -> String {
        table::time(time, self.zone)
    }

    fn age(&self, since: Time) -> String {
        let seconds = (self.facts.now - since).num_seconds().max(0).unsigned_abs();
        humantime::format_duration(Duration::from_secs(seconds)).to_string()
    }

    fn all(&self, silent: String) -> Vec<String> {
        let facts = self.facts;
        let mut lines = match &facts.runs {
            Some(live) => self.running(live),
            None => vec![silent],
        };
        // Of an account that is live, its own line says it.
        let is_live = |name: &str| {
            facts.runs.as_ref().is_some_and(|live| live.accounts.iter().any(|account| account.name == name))
        };
        let others = facts.paused.iter().filter(|paused| !is_live(&paused.account));
        lines.extend(others.filter_map(|paused| self.paused(&paused.account)));
        lines.extend(facts.folders.iter().map(|folder| {
            let looked = self.looked(&folder.folder);
            let how = folder.trouble.as_ref().map_or(looked, |why| format!("AWAY: {why}"));
            format!("folder {}: {how}", folder.folder)
        }));
        lines.extend(facts.queues.iter().map(of_queue));
        lines.extend(facts.by_state().iter().map(|(state, letters)| format!("{letters:>9} {state}")));
        let lacking = facts.runs.as_ref().map_or(0, |live| live.folders.iter().map(|one| one.lacking).sum());
        let waiting = [
            (facts.drops_rejected, "drop(s) rejected"),
            (facts.drops_held, "drop(s) held that are not letters yet"),
            (lacking, "drop(s) waiting for their sidecar"),
            (facts.submitted, "submitted, not taken in yet"),
            (facts.due, "letter(s) due now"),
            (facts.owed, "message(s) owed"),
            (facts.orders, "order(s) waiting"),
        ];
        let waiting = waiting.into_iter().filter(|(count, _)| *count > 0);
        lines.extend(waiting.map(|(count, what)| format!("{count:>9} {what}")));
        if let Some(oldest) = &facts.oldest {
            let why = oldest.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            let (letter, state, age) = (oldest.letter, &oldest.state, self.age(oldest.since));
            lines.push(format!("the oldest on its way is {letter}, {state} since {age}{why}"));
        }
        for held in facts.held.iter().take(SHOWN) {
            let why = held.why.as_deref().unwrap_or("no reason is known");
            lines.push(format!("waits for a person since {}: {}, {why}", self.age(held.since), held.letter));
        }
        let held =
            facts.by_state().into_iter().find(|(state, _)| *state == "held").map_or(0, |(_, held)| held);
        let more = held.saturating_sub(facts.held.len().min(SHOWN) as u64);
        if more > 0 {
            lines.push(format!("and {more} more: `mailchute list --state held`"));
        }
        lines.extend(facts.alarms.iter().map(|alarmed| {
            let title = alarmed.cause.parse::<Alarm>().map_or_else(
                |()| alarmed.cause.clone(),
                |alarm| Language::En.told(&AlertNews::Alarm { alarm: &alarm, detail: "" }).0,
            );
            format!("ALARM since {}: {title}: {}", self.time(alarmed.since), alarmed.detail)
        }));
        if let Some(disk) = facts.disk {
            lines.push(format!("disk of the records: {} MB free of {} MB", disk.free >> 20, disk.size >> 20));
        }
        lines
    }

    fn running(&self, live: &Live) -> Vec<String> {
        let since = self.age(live.since);
        let ready = if live.ready { "" } else { ", not ready yet" };
        let mut lines = vec![format!("the daemon runs: {}, since {since}{ready}", live.version)];
        for (name, seconds) in &live.busy {
            lines.push(format!("STALLED: the loop `{name}` has been busy with one thing for {seconds} s"));
        }
        lines.extend(live.accounts.iter().map(|account| {
            self.paused(&account.name)
                .unwrap_or_else(|| format!("account {}: {}", account.name, self.answers(account)))
        }));
        lines.extend(live.postal_data.iter().map(|list| match list.remedy() {
            Some(remedy) => format!("{list}; {remedy}"),
            None => list.to_string(),
        }));
        lines
    }

    fn paused(&self, account: &str) -> Option<String> {
        let paused = self.facts.paused.iter().find(|paused| paused.account == account)?;
        let tried = paused.tried_at.map_or_else(String::new, |at| format!("; tried at {}", self.time(at)));
        Some(format!("account {account}: PAUSED since {}: {}{tried}", self.time(paused.since), paused.why))
    }

    fn answers(&self, account: &LiveAccount) -> String {
        let Some(since) = account.silent_since else {
            return match account.token_until {
                _ if !account.known => "not read yet".to_owned(),
                Some(until) => format!("answers; its token is good until {}", self.time(until)),
                None => "answers".to_owned(),
            };
        };
        let why = account.silent_why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let again =
            account.rests_until.map_or_else(String::new, |at| format!("; tried again at {}", self.time(at)));
        format!("NO ANSWER since {}{why}{again}", self.time(since))
    }

    fn looked(&self, folder: &str) -> String {
        let Some(live) = &self.facts.runs else { return "not watched".to_owned() };
        let Some((live, at, hears)) =
            live.folder(folder).and_then(|live| Some((live, live.looked_at?, live.hears)))
        else {
            return "not looked at yet, or not in the configuration any more".to_owned();
        };
        let how = if hears { "watched" } else { "polled at intervals" };
        let release = match live.release {
            ReleaseMode::Automatic => "posts immediately",
            ReleaseMode::Approval => "waits for approval",
            ReleaseMode::PostingTimes => "posts at its times",
        };
        let limits = self.facts.limits.iter().filter(|limit| limit.folder == folder);
        let left = limits.map(|limit| format!("; {} of {} {} left today", limit.left, limit.of, limit.what));
        format!("{how}, {release}; last look {} ago{}", self.age(at), left.collect::<String>())
    }
}

fn of_queue(queue: &QueueRow) -> String {
    let QueueRow { queue, open, taken, .. } = queue;
    if *open {
        return format!("queue {queue}: {taken} taken");
    }
    format!(
        "queue {queue}: CLOSED, what comes with an unknown key is held; once its programs know what was posted: \
         mailchute queue open {queue}"
    )
}
