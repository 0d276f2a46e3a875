//! `mailchute status`: the status on one screen.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use super::config::ConfigPath;
use super::table;
use crate::base::clock::{Clock, Time};
use crate::config::Config;
use crate::daemon::status::{Facts, Live, ReleaseMode, ask};
use crate::outside::store::{Bell, Desk};

const WATCH_EVERY: Duration = Duration::from_secs(2);
/// The number of waiting letters and drops that are shown.
const SHOWN: usize = 5;

/// Show the status: letters by state, folders, accounts, what waits and why
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// One JSON object
    #[arg(long, conflicts_with = "watch")]
    json: bool,
    /// Show it anew every two seconds, until Ctrl-C
    #[arg(long)]
    watch: bool,
}

pub(super) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let config = arguments.place.config()?;
    loop {
        let (facts, silent) = facts(&config)?;
        if arguments.json {
            return table::json(&facts);
        }
        let text = lines(&facts, silent).join("\n");
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
fn facts(config: &Config) -> anyhow::Result<(Facts, String)> {
    let silent = match ask(&config.state) {
        Ok(Some(facts)) => return Ok((facts, String::new())),
        Ok(None) if Bell::ring(Desk::open(&config.state)?.home()) => {
            "the daemon runs but does not report its status".to_owned()
        }
        Ok(None) => "the daemon does not run: `mailchute run` starts it".to_owned(),
        Err(error) => format!("the daemon does not answer: {error}"),
    };
    Ok((Facts::gather(&Desk::open(&config.state)?, None, Clock::system().now())?, silent))
}

fn lines(facts: &Facts, silent: String) -> Vec<String> {
    let mut lines = match &facts.runs {
        Some(live) => running(live, facts),
        None => vec![silent],
    };
    for paused in &facts.paused {
        let tried = paused.tried_at.map_or_else(String::new, |at| format!("; tried at {}", table::time(at)));
        let since = table::time(paused.since);
        lines.push(format!("account {} is paused since {since}: {}{tried}", paused.account, paused.why));
    }
    lines.extend(facts.folders.iter().map(|folder| {
        let looked = looked(facts, &folder.folder);
        let how = folder.trouble.as_ref().map_or(looked, |why| format!("AWAY: {why}"));
        format!("folder {}: {how}", folder.folder)
    }));
    lines.extend(facts.by_state().iter().map(|(state, letters)| format!("{letters:>9} {state}")));
    let waiting = [
        (facts.drops_rejected, "drop(s) rejected"),
        (facts.drops_held, "drop(s) held that are not letters yet"),
        (facts.submitted, "submitted, not taken in yet"),
        (facts.due, "letter(s) due now"),
        (facts.owed, "message(s) owed"),
        (facts.orders, "order(s) waiting"),
    ];
    let waiting = waiting.into_iter().filter(|(count, _)| *count > 0);
    lines.extend(waiting.map(|(count, what)| format!("{count:>9} {what}")));
    if let Some(oldest) = &facts.oldest {
        let why = oldest.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let age = age(oldest.since, facts.now);
        lines.push(format!("the oldest on its way is {}, {} since {age}{why}", oldest.letter, oldest.state));
    }
    for held in facts.held.iter().take(SHOWN) {
        let why = held.why.as_deref().unwrap_or("no reason is known");
        lines.push(format!(
            "waits for a person since {}: {}, {why}",
            age(held.since, facts.now),
            held.letter
        ));
    }
    let alarms = facts.alarms.iter();
    lines.extend(alarms.map(|alarm| {
        let since = table::time(alarm.since);
        format!("ALARM since {since}: {}: {}", alarm.cause, alarm.detail)
    }));
    if let Some(disk) = facts.disk {
        lines.push(format!("disk of the records: {} MB free of {} MB", disk.free >> 20, disk.size >> 20));
    }
    lines
}

fn running(live: &Live, facts: &Facts) -> Vec<String> {
    let since = age(live.since, facts.now);
    let ready = if live.ready { "" } else { ", not ready yet" };
    let mut lines = vec![format!("the daemon runs: {}, since {since}{ready}", live.version)];
    for (name, seconds) in &live.busy {
        lines.push(format!("STALLED: the loop `{name}` has been busy with one thing for {seconds} s"));
    }
    for account in &live.accounts {
        let how = match (account.silent_since, account.rests_until, account.known) {
            (Some(since), Some(until), _) => {
                let (since, until) = (table::time(since), table::time(until));
                format!("NO ANSWER since {since}; tried again at {until}")
            }
            (Some(since), None, _) => format!("NO ANSWER since {}", table::time(since)),
            (None, _, false) => "not read yet".to_owned(),
            (None, _, true) => match account.token_until {
                Some(until) => format!("answers; its token is good until {}", table::time(until)),
                None => "answers".to_owned(),
            },
        };
        lines.push(format!("account {}: {how}", account.name));
    }
    lines
}

fn looked(facts: &Facts, folder: &str) -> String {
    let Some(live) = &facts.runs else { return "not watched".to_owned() };
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
    let limits = facts.limits.iter().filter(|limit| limit.folder == folder);
    let left = limits.map(|limit| format!("; {} of {} {} left today", limit.left, limit.of, limit.what));
    format!("{how}, {release}; last look {} ago{}", age(at, facts.now), left.collect::<String>())
}

fn age(since: Time, now: Time) -> String {
    let seconds = (now - since).num_seconds().max(0).unsigned_abs();
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}
