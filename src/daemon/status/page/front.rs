//! The values that the first page shows: what is wrong, what waits, what comes next, and how much there was.

use chrono::{Datelike as _, Days, NaiveDate, TimeDelta};
use minijinja::context;
use minijinja::value::{Serde, Value};

use super::chart::chart;
use super::view::View;
use crate::base::clock::{Time, day_begins};
use crate::daemon::status::{Facts, Live};
use crate::domain::alarm::Alarm;
use crate::domain::drop::Undecided;
use crate::domain::letter::{Number, Reason};
use crate::outside::store::{Desk, FolderRow, Listed, Lying, NextLook, Since, StoreError, Took};
use crate::words::texts::{Advice, AlertNews, Names};

/// The number of days in the chart, including today.
const DAYS: u64 = 30;
/// The number of drops without a letter that are shown at a time.
const LYING: usize = 20;
/// The number of letters whose next look is shown.
const NEXT: usize = 5;

impl View<'_> {
    pub(super) fn front(&self, desk: &Desk, facts: &Facts) -> Result<Value, StoreError> {
        let nobody = Live::default();
        let live = facts.runs.as_ref().unwrap_or(&nobody);
        let mut held = Vec::new();
        for waiting in &facts.held {
            held.push(self.held(desk, waiting, live)?);
        }
        let oldest = facts.oldest.as_ref().map(|oldest| {
            let (letter, state, since) = (oldest.letter.0, &oldest.state, self.ago(oldest.since));
            context! { letter, state, since, why => oldest.why.clone() }
        });
        let states = facts.by_state();
        let states = states.iter().map(|&(state, letters)| context! { state, letters });
        let troubles = self.troubles(desk, facts)?;
        let is_well = |live: &Live| {
            live.ready
                && live.busy.is_empty()
                && live.accounts.iter().all(|account| account.silent_since.is_none())
        };
        let away = facts.folders.iter().any(|folder| folder.trouble.is_some());
        let mut folders = Vec::new();
        for folder in &facts.folders {
            folders.push(self.folder(desk, folder, facts)?);
        }
        Ok(context! {
            root => "", refresh => true, show_names => self.source.show_names, now => self.time(self.now),
            fine => troubles.is_empty() && !away && facts.runs.as_ref().is_some_and(is_well),
            live => facts.runs.as_ref().map(|live| self.live(live)),
            troubles, held, oldest,
            states => states.collect::<Vec<_>>(),
            lying => self.lying(desk, "", live)?,
            to_do => context! {
                submitted => facts.submitted, due => facts.due, owed => facts.owed, orders => facts.orders,
                rejected => facts.drops_rejected, held => facts.drops_held,
            },
            next => self.next(desk)?,
            chart => self.chart(desk)?,
            took => self.took(desk)?,
            folders,
            disk => facts.disk.map(|disk| context! { free => disk.free >> 20, size => disk.size >> 20 }),
        })
    }

    /// A letter that waits for a person: which one, why, what to do, and where it lies.
    fn held(&self, desk: &Desk, waiting: &Since, live: &Live) -> Result<Value, StoreError> {
        let Since { letter: number, folder, why, .. } = waiting;
        let known = desk.known_as(*number, self.source.show_names)?;
        let (file, receiver) =
            known.map_or_else(Default::default, |Listed { file, receiver, .. }| (file, receiver));
        let letter = match desk.letter(*number) {
            Ok(letter) => letter,
            Err(StoreError::Damaged(_)) => None,
            Err(error) => return Err(error),
        };
        let (names, _) = self.shelves(folder, live);
        let hold = letter.as_ref().and_then(|letter| letter.state.hold());
        let receiver = receiver.map(|name| {
            let honorific = letter.as_ref().map_or("", |letter| letter.order.receiver.honorific.as_str());
            format!("{name} {honorific}").trim_end().to_owned()
        });
        let is_drawn = letter.as_ref().is_some_and(|letter| !letter.order.is_anonymous());
        Ok(context! {
            letter => number.0, folder, file, receiver, since => self.ago(waiting.since),
            why => hold.map(|hold| self.cause(hold, &names)).or_else(|| why.clone()),
            remedy => hold.map(|hold| self.language.hold(hold, &names).remedy),
            lies_in => self.lies_in(folder, desk.lies_at(*number)?.as_deref(), live),
            picture => self.source.pictures.is_some() && is_drawn,
        })
    }

    /// Why a letter waits, without where its receiver lives unless receivers may be shown.
    pub(super) fn cause(&self, hold: &Reason, names: &Names) -> String {
        if self.source.show_names {
            self.language.hold(hold, names).cause
        } else {
            self.language.reason(hold)
        }
    }

    /// The names of a folder's shelves, and its path as people know it.
    pub(super) fn shelves(&self, folder: &str, live: &Live) -> (Names, Option<String>) {
        let known = live.folder(folder);
        let names = known.and_then(|known| known.shelves.clone());
        let path = known.map(|known| known.shown_as.clone()).filter(|path| !path.is_empty());
        (names.unwrap_or_else(|| Names::usual(self.language)), path)
    }

    /// The directory in which something lies, as people know it.
    pub(super) fn lies_in(&self, folder: &str, shelved: Option<&str>, live: &Live) -> Option<String> {
        let (_, path) = self.shelves(folder, live);
        Some(beside(&path?, shelved?))
    }

    fn live(&self, live: &Live) -> Value {
        let accounts = live.accounts.iter().map(|account| {
            context! {
                name => account.name.clone(), known => account.known,
                token_until => account.token_until.map(|until| self.time(until)),
                silent => account.silent_since.map(|since| self.time(since)),
                rests_until => account.rests_until.map(|until| self.time(until)),
            }
        });
        let busy = live.busy.iter().map(|(name, seconds)| {
            context! { name, span => self.language.span(i64::try_from(*seconds).unwrap_or(i64::MAX)) }
        });
        context! {
            version => live.version.clone(), since => self.ago(live.since), ready => live.ready,
            accounts => accounts.collect::<Vec<_>>(), busy => busy.collect::<Vec<_>>(),
        }
    }

    fn folder(&self, desk: &Desk, row: &FolderRow, facts: &Facts) -> Result<Value, StoreError> {
        let live = facts.runs.as_ref().and_then(|live| live.folder(&row.folder));
        let limits = facts.limits.iter().filter(|limit| limit.folder == row.folder);
        let FolderRow { folder, path, trouble } = row.clone();
        let month = self.today().with_day(1).unwrap_or_else(|| self.today());
        let (letters, sheets) = desk.sent_since(&folder, day_begins(month, self.source.zone))?;
        let shown_as = live.map(|live| live.shown_as.clone()).filter(|path| !path.is_empty());
        Ok(context! {
            name => folder, path => shown_as.unwrap_or(path), trouble, letters, sheets,
            looked => live.and_then(|live| live.looked_at).map(|at| self.ago(at)),
            hears => live.is_some_and(|live| live.hears),
            release => live.map(|live| Serde(live.release)),
            limits => Serde(limits.cloned().collect::<Vec<_>>()),
        })
    }

    /// What needs a person's attention, with the remedy.
    fn troubles(&self, desk: &Desk, facts: &Facts) -> Result<Vec<Value>, StoreError> {
        let trouble = |told: &AlertNews<'_>, since: Time| {
            let (title, Advice { cause, remedy }) = self.language.told(told);
            context! { title, cause, remedy, since => self.time(since) }
        };
        let paused = desk.paused()?;
        let paused = paused.iter().map(|row| {
            trouble(&AlertNews::Paused { account: &row.account, cause: &row.pause.cause }, row.pause.since)
        });
        let alarms = facts.alarms.iter().filter_map(|alarmed| {
            let alarm: Alarm = alarmed.cause.parse().ok()?;
            Some(trouble(&AlertNews::Alarm { alarm: &alarm, detail: &alarmed.detail }, alarmed.since))
        });
        Ok(paused.chain(alarms).collect())
    }

    /// Drops that are not letters, with what to do about each.
    pub(super) fn lying(&self, desk: &Desk, text: &str, live: &Live) -> Result<Vec<Value>, StoreError> {
        let lying = desk.lying(text, LYING)?.into_iter().map(|drop| {
            let Lying { folder, name, shelved, arrived_at, undecided } = drop;
            let (names, _) = self.shelves(&folder, live);
            let (state, advice) = match &undecided {
                Undecided::Refused(refusal) => {
                    let remedy = self.language.refusal(refusal).remedy;
                    ("rejected", Some(Advice { cause: self.language.refused(refusal), remedy }))
                }
                Undecided::Waits(waiting) => {
                    let shown =
                        if self.source.show_names { waiting.clone() } else { waiting.without_people() };
                    ("held", Some(self.language.waiting(&shown, &names)))
                }
                Undecided::Cancelled => ("cancelled", None),
                Undecided::Accepted { .. } => ("admitted", None),
            };
            let (why, remedy) = advice.map(|Advice { cause, remedy }| (cause, remedy)).unzip();
            let lies_in = self.lies_in(&folder, shelved.as_deref(), live);
            context! { folder, name, since => self.time(arrived_at), state, why, remedy, lies_in }
        });
        Ok(lying.collect())
    }

    fn today(&self) -> NaiveDate {
        self.now.with_timezone(&self.source.zone).date_naive()
    }

    fn chart(&self, desk: &Desk) -> Result<Value, StoreError> {
        let (zone, today) = (self.source.zone, self.today());
        let day = |ago: u64| today.checked_sub_days(Days::new(ago)).unwrap_or(today);
        let begins: Vec<Time> = (0..DAYS).rev().map(|ago| day_begins(day(ago), zone)).collect();
        let counts = desk.taken_in(&begins)?;
        let days = (0..DAYS).rev().map(|ago| day(ago).format("%m-%d").to_string());
        let total = counts.iter().sum::<u64>();
        Ok(context! { total, ..Value::from(Serde(chart(days.zip(counts).collect()))) })
    }

    fn took(&self, desk: &Desk) -> Result<Value, StoreError> {
        let span = |time: TimeDelta| self.language.span(time.num_seconds());
        let shown = |Took { letters, half, most }: Took| {
            context! { letters, half => span(half), most => span(most) }
        };
        let (posted, shipped) = desk.took()?;
        Ok(context! { posted => posted.map(shown), shipped => shipped.map(shown) })
    }

    /// What happens next by itself.
    fn next(&self, desk: &Desk) -> Result<Value, StoreError> {
        let looks = desk.next_looks(self.now, NEXT)?.into_iter().map(|look| {
            let NextLook { letter: Number(letter), state, at } = look;
            context! { letter, state, at => self.time(at) }
        });
        // A digest that is not configured any more is due no more.
        let digest = desk.next_digest()?.filter(|at| *at > self.now).map(|at| self.time(at));
        Ok(context! { looks => looks.collect::<Vec<_>>(), digest })
    }
}

/// The directory of a file below a path that people know, written as that path is.
fn beside(path: &str, file: &str) -> String {
    let dir = file.rsplit_once('/').map_or("", |(dir, _)| dir);
    let separator = if path.contains('\\') { "\\" } else { "/" };
    let path = path.trim_end_matches(['/', '\\']);
    if dir.is_empty() { path.to_owned() } else { format!("{path}{separator}{}", dir.replace('/', separator)) }
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn a_directory_is_written_as_people_know_it() {
        assert_eq!(beside(r"\\files\post\invoices", "Held/2026/a.pdf"), r"\\files\post\invoices\Held\2026");
        assert_eq!(beside("/srv/post/", "Held/a.pdf"), "/srv/post/Held");
        assert_eq!(beside("P:", "a.pdf"), "P:");
    }
}
