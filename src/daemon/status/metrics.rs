//! The status in the format of Prometheus. Pure: numbers and folders, without names of people or files.

use std::fmt::Write as _;

use super::Facts;
use crate::base::clock::Time;
use crate::outside::api::{Counted, Spans};

/// Lines of the text format. Each family is complete, under its own help.
#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0.push_str(name);
        for (n, (label, of)) in labels.iter().enumerate() {
            let of = of.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{}{label}=\"{of}\"", if n == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "gauge", help);
        self.sample(name, &[], value);
    }
}

fn age(since: Time, now: Time) -> i64 {
    (now - since).num_seconds().max(0)
}

pub(super) fn exposition(facts: &Facts, counted: &Counted) -> String {
    let mut text = Text::default();
    letters(&mut text, facts);
    accounts(&mut text, facts);
    folders(&mut text, facts);
    queues(&mut text, facts);
    calls(&mut text, counted);
    if let Some(live) = &facts.runs {
        text.family("mailchute_build_info", "gauge", "The running version.");
        text.sample("mailchute_build_info", &[("version", &live.version)], 1);
        text.gauge("mailchute_uptime_seconds", "How long it has run.", age(live.since, facts.now));
        text.gauge("mailchute_ready", "1 once folders are watched and accounts known.", u8::from(live.ready));
    }
    if let Some(disk) = facts.disk {
        text.gauge("mailchute_disk_free_bytes", "Free space where the records are.", disk.free);
        text.gauge("mailchute_disk_size_bytes", "Size of the disk with the records.", disk.size);
    }
    text.0
}

fn letters(text: &mut Text, facts: &Facts) {
    text.family("mailchute_letters", "gauge", "Letters by state and folder, ended ones too.");
    for count in &facts.letters {
        let labels = [("state", count.state.as_str()), ("folder", count.folder.as_str())];
        text.sample("mailchute_letters", &labels, count.letters);
    }
    let oldest = facts.oldest.as_ref().map_or(0, |oldest| age(oldest.since, facts.now));
    let since = "Since when the oldest letter has been on its way to being posted.";
    text.gauge("mailchute_oldest_unposted_seconds", since, oldest);
    let held = facts.held.first().map_or(0, |held| age(held.since, facts.now));
    text.gauge("mailchute_oldest_held_seconds", "Since when a letter has waited for a person.", held);
    let followed = facts.oldest_followed.as_ref().map_or(0, |followed| age(followed.since, facts.now));
    let since = "Since when the oldest letter that is posted and has not shipped was taken in.";
    text.gauge("mailchute_oldest_followed_seconds", since, followed);
    text.family("mailchute_drops", "gauge", "Drops that are not letters, by outcome.");
    for (state, drops) in [("rejected", facts.drops_rejected), ("held", facts.drops_held)] {
        text.sample("mailchute_drops", &[("state", state)], drops);
    }
    text.gauge("mailchute_submitted", "Entries of the spool that are not letters yet.", facts.submitted);
    text.gauge("mailchute_due", "Letters whose next look is due.", facts.due);
    text.gauge("mailchute_owed", "E-mails that must still be sent.", facts.owed);
    text.gauge("mailchute_orders", "People's commands that are not carried out yet.", facts.orders);
    text.family("mailchute_alarm", "gauge", "1 for each cause of an alarm.");
    for alarm in &facts.alarms {
        text.sample("mailchute_alarm", &[("cause", &alarm.cause)], 1);
    }
}

fn accounts(text: &mut Text, facts: &Facts) {
    let Some(live) = &facts.runs else { return };
    text.family("mailchute_account_paused", "gauge", "1 while nothing new is begun for an account.");
    for account in &live.accounts {
        let paused = facts.paused.iter().any(|paused| paused.account == account.name);
        text.sample("mailchute_account_paused", &[("account", &account.name)], u8::from(paused));
    }
    let help = "How long an account has had no answer, 0 if it answers.";
    text.family("mailchute_account_silent_seconds", "gauge", help);
    for account in &live.accounts {
        let silent = account.silent_since.map_or(0, |since| age(since, facts.now));
        text.sample("mailchute_account_silent_seconds", &[("account", &account.name)], silent);
    }
}

fn queues(text: &mut Text, facts: &Facts) {
    text.family("mailchute_queue_taken_total", "counter", "What a queue took under these records.");
    for queue in &facts.queues {
        text.sample("mailchute_queue_taken_total", &[("queue", &queue.queue)], queue.taken);
    }
    text.family("mailchute_queue_waiting", "gauge", "What a queue took and its folder does not have yet.");
    for queue in &facts.queues {
        text.sample("mailchute_queue_waiting", &[("queue", &queue.queue)], queue.waiting);
    }
    text.family("mailchute_queue_open", "gauge", "0 while what comes with an unknown key is held.");
    for queue in &facts.queues {
        text.sample("mailchute_queue_open", &[("queue", &queue.queue)], u8::from(queue.open));
    }
}

fn folders(text: &mut Text, facts: &Facts) {
    text.family("mailchute_folder_away", "gauge", "1 while nothing can be taken from a folder.");
    for folder in &facts.folders {
        let away = u8::from(folder.trouble.is_some());
        text.sample("mailchute_folder_away", &[("folder", &folder.folder)], away);
    }
    text.family("mailchute_limit", "gauge", "What a folder posts in a day without approval.");
    for limit in &facts.limits {
        text.sample("mailchute_limit", &[("folder", &limit.folder), ("of", &limit.what)], limit.of);
    }
    text.family("mailchute_limit_left", "gauge", "How much of a folder's limit is left today.");
    for limit in &facts.limits {
        text.sample("mailchute_limit_left", &[("folder", &limit.folder), ("of", &limit.what)], limit.left);
    }
    let Some(live) = &facts.runs else { return };
    text.family("mailchute_folder_looks_total", "counter", "Looks at a folder.");
    for folder in &live.folders {
        text.sample("mailchute_folder_looks_total", &[("folder", &folder.name)], folder.looks);
    }
    text.family(
        "mailchute_folder_look_seconds",
        "gauge",
        "How long the last successful look at a folder took.",
    );
    for folder in live.folders.iter().filter(|folder| folder.looked_at.is_some()) {
        text.sample("mailchute_folder_look_seconds", &[("folder", &folder.name)], folder.look_seconds);
    }
    text.family("mailchute_folder_looked_seconds", "gauge", "How long ago a folder was looked at.");
    for folder in &live.folders {
        if let Some(looked) = folder.looked_at {
            let labels = [("folder", folder.name.as_str())];
            text.sample("mailchute_folder_looked_seconds", &labels, age(looked, facts.now));
        }
    }
}

fn calls(text: &mut Text, counted: &Counted) {
    const NAME: &str = "mailchute_call_duration_seconds";
    text.family(NAME, "histogram", "Calls of the service by outcome.");
    for ((call, outcome), spans) in &counted.calls {
        let labels = [("call", *call), ("outcome", *outcome)];
        let mut all = 0;
        for (n, within) in spans.within.iter().enumerate() {
            all += within;
            let bound = Spans::BOUNDS.get(n).map_or_else(|| "+Inf".to_owned(), ToString::to_string);
            let labels = [labels[0], labels[1], ("le", bound.as_str())];
            text.sample(&format!("{NAME}_bucket"), &labels, all);
        }
        text.sample(&format!("{NAME}_sum"), &labels, spans.seconds);
        text.sample(&format!("{NAME}_count"), &labels, all);
    }
    text.family("mailchute_uploaded_bytes_total", "counter", "Bytes of documents that were sent.");
    text.sample("mailchute_uploaded_bytes_total", &[], counted.uploaded);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value is a different number, so that each one is seen in its place.
    #[test]
    fn each_figure_is_told_of_what_it_counts() {
        let since = |seconds: i64, letter: u64, state: &str| {
            let since = Time::UNIX_EPOCH + chrono::TimeDelta::seconds(1000 - seconds);
            serde_json::json!({"letter": letter, "folder": "a", "state": state, "since": since, "why": null})
        };
        let time = |seconds: i64| Time::UNIX_EPOCH + chrono::TimeDelta::seconds(seconds);
        let facts: Facts = serde_json::from_value(serde_json::json!({
            "now": time(1000),
            "runs": {
                "version": "9.9", "since": time(989), "ready": true, "busy": [],
                "accounts": [{"name": "main", "known": true, "token_until": null, "silent_since": time(988),
                              "rests_until": null}],
                "folders": [{"name": "a \"b\"", "looked_at": time(987), "looks": 14, "look_seconds": 0.25, "hears": true,
                             "release": "automatic", "letters_per_day": 15, "sheets_per_day": null,
                             "day_began": time(0)}],
            },
            "letters": [{"state": "held", "folder": "a", "letters": 16}],
            "drops_rejected": 17, "drops_held": 18, "submitted": 19, "due": 20, "owed": 21, "orders": 22,
            "paused": [{"account": "main", "why": "x", "since": time(0), "tried_at": null}],
            "folders": [{"folder": "a", "path": "/a", "trouble": "x"}],
            "limits": [{"folder": "a", "what": "letters", "of": 15, "left": 23}],
            "oldest": since(24, 1, "created"), "oldest_followed": since(25, 2, "confirmed"),
            "held": [since(26, 3, "held")],
            "alarms": [{"cause": "disk", "detail": "x", "since": time(0)}],
            "disk": {"free": 27, "size": 28},
        }))
        .unwrap();
        let text = exposition(&facts, &Counted::default());
        let figures: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            figures,
            [
                "mailchute_letters{state=\"held\",folder=\"a\"} 16",
                "mailchute_oldest_unposted_seconds 24",
                "mailchute_oldest_held_seconds 26",
                "mailchute_oldest_followed_seconds 25",
                "mailchute_drops{state=\"rejected\"} 17",
                "mailchute_drops{state=\"held\"} 18",
                "mailchute_submitted 19",
                "mailchute_due 20",
                "mailchute_owed 21",
                "mailchute_orders 22",
                "mailchute_alarm{cause=\"disk\"} 1",
                "mailchute_account_paused{account=\"main\"} 1",
                "mailchute_account_silent_seconds{account=\"main\"} 12",
                "mailchute_folder_away{folder=\"a\"} 1",
                "mailchute_limit{folder=\"a\",of=\"letters\"} 15",
                "mailchute_limit_left{folder=\"a\",of=\"letters\"} 23",
                "mailchute_folder_looks_total{folder=\"a \\\"b\\\"\"} 14",
                "mailchute_folder_look_seconds{folder=\"a \\\"b\\\"\"} 0.25",
                "mailchute_folder_looked_seconds{folder=\"a \\\"b\\\"\"} 13",
                "mailchute_uploaded_bytes_total 0",
                "mailchute_build_info{version=\"9.9\"} 1",
                "mailchute_uptime_seconds 11",
                "mailchute_ready 1",
                "mailchute_disk_free_bytes 27",
                "mailchute_disk_size_bytes 28",
            ]
        );
    }
}
