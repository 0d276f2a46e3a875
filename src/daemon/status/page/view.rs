//! The values that the templates of the letters' pages show.

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::{Asked, Source};
use crate::base::clock::Time;
use crate::daemon::status::Delay;
use crate::domain::letter::{CancelWish, Letter, Number, Stage, State};
use crate::outside::store::{Desk, FoundLetters, LetterRow, Listed, Sought, StoreError};
use crate::words::texts::{AlertNews, Language};

/// The reader, and the time.
pub(super) struct View<'a> {
    pub(super) language: Language,
    pub(super) source: &'a Source,
    pub(super) now: Time,
}

impl View<'_> {
    pub(super) fn time(&self, time: Time) -> String {
        self.language.time(time, self.source.zone)
    }

    pub(super) fn ago(&self, since: Time) -> String {
        self.language.span((self.now - since).num_seconds())
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
                letter => row.letter.0, folder => row.from(), state => row.state, file, receiver, note,
                since => self.time(row.changed_at), tracking => row.tracking,
            });
        }
        // How far back the search went.
        let searched = found.further.filter(|_| !sought.text.is_empty());
        Ok(context! {
            root => "", asked => Serde(asked), rows, further, folders => desk.sources()?,
            searched => searched.map(|number| number.0),
            lying => if is_first { self.lying(desk, &sought.text, &(self.source.live)())? } else { Vec::new() },
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
        let live = (self.source.live)();
        let (names, _) = self.shelves(&row.source, &live);
        let hold = letter.as_ref().and_then(|letter| letter.state.hold());
        let waits = letter.as_ref().map(|letter| self.waits(desk, &row, letter)).transpose()?.flatten();
        let history = history.iter().map(|(at, fact)| {
            context! { at => self.time(*at), what => self.language.happened(fact, self.source.zone) }
        });
        Ok(Some(context! {
            root => "../", letter => number.0, folder => row.from(), state => row.state, file, receiver,
            account => row.account, taken_in => self.time(row.admitted_at), tracking => row.tracking,
            due => row.due_at.map(|due| self.time(due)),
            note => self.why(desk, number, row.note.as_deref())?,
            remedy => hold.map(|hold| self.language.hold(hold, &names).remedy),
            lies_in => self.lies_in(&row.source, desk.lies_at(number)?.as_deref(), &live),
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
        }
    }
}
