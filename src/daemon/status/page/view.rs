//! The values that the templates of the pages show.

use chrono::Days;
use minijinja::context;
use minijinja::value::{Serde, Value};

use super::chart::{self, bars};
use super::{Asked, Source};
use crate::base::clock::{Time, day_begins};
use crate::daemon::status::{Delay, Facts, Live};
use crate::domain::alarm::Alarm;
use crate::domain::drop::Undecided;
use crate::domain::letter::{CancelWish, Letter, Number, Stage, State};
use crate::outside::store::{Desk, FolderRow, FoundLetters, LetterRow, Listed, Lying, Sought, StoreError};
use crate::words::texts::{Advice, AlertNews, Language, Names};

/// The number of days in the chart, including today.
const DAYS: u64 = 30;
/// The number of drops without a letter that are shown at a time.
const LYING: usize = 20;

/// The reader, and the time.
pub(super) struct View<'a> {
    pub(super) language: Language,
    pub(super) source: &'a Source,
    pub(super) now: Time,
}

impl View<'_> {
    fn time(&self, time: Time) -> String {
        self.language.time(time, self.source.zone)
    }

    fn ago(&self, since: Time) -> String {
        self.language.span((self.now - since).num_seconds())
    }

    pub(super) fn front(&self, desk: &Desk, facts: &Facts) -> Result<Value, StoreError> {
        let mut held = Vec::new();
        for waiting in &facts.held {
            let why = self.why(desk, waiting.letter, waiting.why.as_deref())?;
            let since = self.ago(waiting.since);
            held.push(context! { letter => waiting.letter.0, folder => waiting.folder.clone(), since, why });
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
        Ok(context! {
            root => "", refresh => true, now => self.time(self.now),
            fine => troubles.is_empty() && !away && facts.runs.as_ref().is_some_and(is_well),
            live => facts.runs.as_ref().map(|live| self.live(live)),
            troubles, held, oldest,
            states => states.collect::<Vec<_>>(),
            lying => self.lying(desk, "")?,
            to_do => context! {
                submitted => facts.submitted, due => facts.due, owed => facts.owed, orders => facts.orders,
                rejected => facts.drops_rejected, held => facts.drops_held,
            },
            chart => self.chart(desk)?,
            folders => facts.folders.iter().map(|folder| self.folder(folder, facts)).collect::<Vec<_>>(),
            disk => facts.disk.map(|disk| context! { free => disk.free >> 20, size => disk.size >> 20 }),
        })
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

    fn folder(&self, row: &FolderRow, facts: &Facts) -> Value {
        let live = facts.runs.as_ref().and_then(|live| live.folder(&row.folder));
        let limits = facts.limits.iter().filter(|limit| limit.folder == row.folder);
        let FolderRow { folder, path, trouble } = row.clone();
        context! {
            name => folder, path, trouble,
            looked => live.and_then(|live| live.looked_at).map(|at| self.ago(at)),
            hears => live.is_some_and(|live| live.hears),
            release => live.map(|live| Serde(live.release)),
            limits => Serde(limits.cloned().collect::<Vec<_>>()),
        }
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

    /// Why a letter is in its state: a hold in the reader's language, anything else in its stored words.
    fn why(&self, desk: &Desk, letter: Number, kept: Option<&str>) -> Result<Option<String>, StoreError> {
        let reason = match desk.letter(letter) {
            Ok(letter) => letter.and_then(|letter| letter.state.hold().cloned()),
            Err(StoreError::Damaged(_)) => None,
            Err(error) => return Err(error),
        };
        Ok(reason.map(|reason| self.language.reason(&reason)).or_else(|| kept.map(str::to_owned)))
    }

    fn lying(&self, desk: &Desk, text: &str) -> Result<Vec<Value>, StoreError> {
        let names = Names::usual(self.language);
        let lying =
            desk.lying(text, LYING)?.into_iter().map(|Lying { folder, name, arrived_at, undecided }| {
                let (state, why) = match &undecided {
                    Undecided::Refused(refusal) => ("rejected", self.language.refused(refusal)),
                    Undecided::Waits(waiting) => {
                        ("held", self.language.waiting(&waiting.without_people(), &names).cause)
                    }
                    Undecided::Cancelled => ("cancelled", String::new()),
                    Undecided::Accepted { .. } => ("admitted", String::new()),
                };
                context! { folder, name, since => self.time(arrived_at), state, why }
            });
        Ok(lying.collect())
    }

    fn chart(&self, desk: &Desk) -> Result<Value, StoreError> {
        let zone = self.source.zone;
        let today = self.now.with_timezone(&zone).date_naive();
        let day = |ago: u64| today.checked_sub_days(Days::new(ago)).unwrap_or(today);
        let begins: Vec<Time> = (0..DAYS).rev().map(|ago| day_begins(day(ago), zone)).collect();
        let counts = desk.taken_in(&begins)?;
        let days = (0..DAYS).rev().map(|ago| day(ago).format("%m-%d").to_string());
        let total = counts.iter().sum::<u64>();
        let bars = bars(days.zip(counts).collect());
        Ok(context! { bars => Serde(bars), total, width => chart::WIDTH, height => chart::HEIGHT })
    }

    pub(super) fn letters(
        &self,
        desk: &Desk,
        asked: &Asked,
        sought: &Sought,
        found: FoundLetters,
    ) -> Result<Value, StoreError> {
        let is_first = sought.before.is_none() && sought.state.is_none() && sought.folder.is_none();
        let further = found.further.map(|before| {
            let asked = Asked { before: Some(before.0), ..asked.clone() };
            asked.query()
        });
        let mut rows = Vec::new();
        for Listed { row, file, receiver, .. } in found.letters {
            let note = match row.state.as_str() {
                "held" => self.why(desk, row.letter, row.note.as_deref())?,
                _moves => row.note.clone(),
            };
            rows.push(context! {
                letter => row.letter.0, state => row.state, folder => row.source, file, receiver, note,
                since => self.time(row.changed_at), tracking => row.tracking,
            });
        }
        // How far back the search went.
        let searched = found.further.filter(|_| !sought.text.is_empty());
        Ok(context! {
            root => "", asked => Serde(asked), rows, further, folders => desk.sources()?,
            searched => searched.map(|number| number.0),
            lying => if is_first { self.lying(desk, &sought.text)? } else { Vec::new() },
            states => Stage::ALL.map(Stage::word), show_names => self.source.show_names,
        })
    }

    pub(super) fn letter(&self, desk: &Desk, number: Number) -> Result<Option<Value>, StoreError> {
        let Some(Listed { row, file, receiver, .. }) = desk.known_as(number, self.source.show_names)? else {
            return Ok(None);
        };
        let (letter, history) = match (desk.letter(number), desk.history(number)) {
            (Ok(letter), Ok(history)) => (letter, history),
            (Err(StoreError::Damaged(_)), _) | (_, Err(StoreError::Damaged(_))) => (None, Vec::new()),
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        let waits = letter.as_ref().map(|letter| self.waits(desk, &row, letter)).transpose()?.flatten();
        let history = history.iter().map(|(at, fact)| {
            context! { at => self.time(*at), what => self.language.happened(fact, self.source.zone) }
        });
        Ok(Some(context! {
            root => "../", letter => number.0, state => row.state, folder => row.source, file, receiver,
            account => row.account, taken_in => self.time(row.admitted_at), tracking => row.tracking,
            due => row.due_at.map(|due| self.time(due)),
            note => self.why(desk, number, row.note.as_deref())?,
            waits,
            pictures => self.source.pictures.is_some() && letter.as_ref().is_some_and(|letter| !letter.order.is_anonymous()),
            more => letter.as_ref().map(|letter| self.more(letter)),
            history => history.collect::<Vec<_>>(),
        }))
    }

    /// Why nothing happens to it at present, with the remedy if there is one.
    fn waits(&self, desk: &Desk, row: &LetterRow, letter: &Letter) -> Result<Option<Value>, StoreError> {
        let (paused, live) = (desk.paused()?, (self.source.live)());
        Ok(Delay::of(row, letter, &paused, Some(&live), self.now).map(|why| match why {
            Delay::Paused { since, cause } => {
                let (title, advice) = self.language.told(&AlertNews::Paused { account: &row.account, cause });
                context! { title, since => self.time(since), remedy => advice.remedy }
            }
            Delay::Silent { since, why } => {
                context! { word => "silent", since => self.time(since), detail => why }
            }
            Delay::NotRunning | Delay::Unread => context! { word => "unread" },
            Delay::UnknownAccount => context! { word => "unknown_account" },
            Delay::Until(time) => context! { word => "until", until => self.time(time) },
        }))
    }

    /// What only its facts contain.
    fn more(&self, letter: &Letter) -> Value {
        let order = &letter.order;
        let (ships, cancel_until, shipped) = match &letter.state {
            State::Confirmed { mail, seen, wish, .. } => {
                let can = seen.is_none_or(|seen| seen.cancellable) && !matches!(wish, CancelWish::Refused(_));
                (Some(seen.map_or(mail.ships_at, |seen| seen.ships_at)), can.then_some(mail.confirm_by), None)
            }
            State::Shipped { at, .. } => (None, None, Some(*at)),
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => (None, None, None),
        };
        let time = |time: Option<Time>| time.map(|time| self.time(time));
        let not_before = letter.not_before.filter(|_| letter.state == State::Admitted);
        let documents = order.documents.iter().map(|document| {
            context! { name => document.name.clone(), pages => document.pages, kb => document.size.div_ceil(1000) }
        });
        context! {
            documents => documents.collect::<Vec<_>>(), sheets => order.sheets(),
            shipping => Serde(order.shipping.clone()), cost_centre => order.cost_centre.clone(),
            mail => letter.state.mail().map(|mail| mail.id.clone()),
            ships => time(ships), cancel_until => time(cancel_until), shipped => time(shipped),
            not_before => time(not_before), struck => order.is_anonymous(),
            certainty => letter.state.hold().map(|reason| self.language.certainty(reason.certainty())),
        }
    }
}
