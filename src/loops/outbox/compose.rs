//! The content of e-mails from pending news. It is looked up now, so that nobody is asked to do what is done
//! already.

use std::sync::Arc;

use chrono_tz::Tz;

use super::Outbox;
use super::route::{About, may_be_told};
use crate::base::clock::Time;
use crate::config::Folder;
use crate::domain::alarm::{Alarm, Raised};
use crate::domain::drop::{Undecided, showable, shown};
use crate::domain::letter::{Certainty, Notice, Number, POSTED_ELSEWHERE, Reason, State};
use crate::outside::spool::Ulid;
use crate::outside::store::{DropNotice, EmailRow, News, OwedRow, StoreError, Tally, Waits};
use crate::words::message::{
    self, Alert, DigestNote, DigestRow, EmailContent, EmailKind, Item, tracking_url,
};
use crate::words::texts::{AlertNews, Language, Names};

/// The maximum number of entries. Nobody reads more in an e-mail.
pub(super) const MOST_ITEMS: usize = 50;

/// The language and time zone of an e-mail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tongue {
    pub(super) language: Language,
    pub(super) zone: Tz,
}

impl Tongue {
    fn time(self, time: Time) -> String {
        self.language.time(time, self.zone)
    }
}

impl Outbox {
    /// The subject of news, as far as it decides who is told.
    pub(super) fn about<'a>(&self, news: &News, all: &'a [Arc<Folder>]) -> Result<About<'a>, StoreError> {
        Ok(match news {
            News::Letter { number, notice } => {
                let letter = match self.store.letter(*number) {
                    Ok(Some(letter)) => letter,
                    // A damaged letter cannot be described. The start reports it.
                    Ok(None) | Err(StoreError::Damaged(_)) => return Ok(About::default()),
                    Err(error) => return Err(error),
                };
                let unknown = |reason: &Reason| reason.certainty() == Certainty::Unknown;
                About {
                    folder: self.called(&letter.order.source, all)?,
                    doubtful: letter.state.hold().is_some_and(unknown),
                    cause_is_told: may_be_told(*notice) && self.is_told(&letter.order.account)?,
                    ..About::default()
                }
            }
            News::Drop { ulid, .. } => {
                let original = self.store.original(ulid)?;
                let folder = match original {
                    Some(original) => self.called(&original.origin.folder, all)?,
                    None => None,
                };
                About { folder, ..About::default() }
            }
            News::AccountPaused { account, .. } => {
                let paid = all.iter().map(AsRef::as_ref).filter(|folder| folder.rules.account == *account);
                About { paid: paid.collect(), ..About::default() }
            }
            News::Mail { id, .. } => About { answers: self.answers(*id)?, ..About::default() },
            News::AccountWorks { .. } | News::Alarm { .. } | News::Unwanted { .. } | News::Digest { .. } => {
                About::default()
            }
        })
    }

    /// The folder that has this name, or had it when the letter was taken in. Until a folder whose file was
    /// renamed is opened under its new name, its path identifies it.
    pub(super) fn called<'a>(
        &self,
        name: &str,
        all: &'a [Arc<Folder>],
    ) -> Result<Option<&'a Folder>, StoreError> {
        let folders = || all.iter().map(AsRef::as_ref);
        if let Some(known) = self.registry.get(name) {
            return Ok(folders().find(|folder| folder.name == known.folder.name));
        }
        let recorded = self.store.known_folders()?.into_iter().find(|known| known.name == name);
        Ok(recorded.and_then(|known| folders().find(|folder| folder.path.as_os_str() == known.path.as_str())))
    }

    /// Whether operators already know why an account's letters do not continue.
    fn is_told(&self, account: &str) -> Result<bool, StoreError> {
        let silent = Alarm::Silent(account.to_owned());
        let alarmed = self.store.alarms()?.iter().any(|raised| raised.alarm == silent);
        Ok(alarmed || self.store.paused(account)?.is_some())
    }

    /// The content of an e-mail. `None` if nothing of it is true any more.
    pub(super) fn compose(
        &self,
        kind: EmailKind,
        row: &EmailRow,
        tongue: Tongue,
    ) -> Result<Option<EmailContent>, StoreError> {
        let told = self.store.news_of(row.id)?;
        let place = self.registry.get(&row.folder).map(|known| known.folder.shown_as());
        let mut content = EmailContent { folder: row.folder.clone(), place, ..EmailContent::default() };
        match kind {
            EmailKind::Shipped
            | EmailKind::Held
            | EmailKind::Rejected
            | EmailKind::Cancelled
            | EmailKind::Letters => {
                for row in &told {
                    content.items.extend(self.item(row, tongue, kind == EmailKind::Letters)?);
                }
                // In the order in which people dropped them. One letter may be pending twice.
                content.items.sort_by_key(|item| item.number);
                content.items.dedup();
                content.orders = content.items.iter().any(|item| item.is_order);
                content.more = content.items.len().saturating_sub(MOST_ITEMS);
                content.items.truncate(MOST_ITEMS);
                Ok((!content.items.is_empty()).then_some(content))
            }
            EmailKind::Alert | EmailKind::CardDeclined => {
                content.alert = told.first().and_then(|row| alert(row, tongue));
                Ok(content.alert.is_some().then_some(content))
            }
            EmailKind::Reply => self.replies(&told, tongue),
            EmailKind::Digest => {
                let Some((row, News::Digest { since })) =
                    told.first().and_then(|row| Some((row, row.news()?)))
                else {
                    return Ok(None);
                };
                content.digest = Some(self.digest(since, row.at, tongue)?);
                Ok(Some(content))
            }
        }
    }

    fn item(&self, row: &OwedRow, tongue: Tongue, bare: bool) -> Result<Option<Item>, StoreError> {
        match row.news() {
            Some(News::Letter { number, notice }) => self.letter(number, notice, tongue, bare),
            Some(News::Drop { ulid, notice }) => self.drop(&ulid, notice, tongue),
            Some(
                News::AccountPaused { .. }
                | News::AccountWorks { .. }
                | News::Alarm { .. }
                | News::Unwanted { .. }
                | News::Digest { .. }
                | News::Mail { .. },
            )
            | None => Ok(None),
        }
    }

    pub(super) fn names(&self, folder: &str, tongue: Tongue) -> Names {
        let known = self.registry.get(folder);
        known.map_or_else(|| Names::usual(tongue.language), |known| known.folder.names.clone())
    }

    /// `bare`: without names, for operators.
    fn letter(
        &self,
        number: Number,
        notice: Notice,
        tongue: Tongue,
        bare: bool,
    ) -> Result<Option<Item>, StoreError> {
        let letter = match self.store.letter(number) {
            Ok(Some(letter)) => letter,
            // A damaged letter cannot be described. The start reports it.
            Ok(None) | Err(StoreError::Damaged(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let elsewhere =
            || Ok::<_, StoreError>(self.store.trouble(number)?.as_deref() == Some(POSTED_ELSEWHERE));
        if !is_so(notice, &letter.state)
            || (letter.state.is_posted() && notice == Notice::Stuck && !elsewhere()?)
        {
            return Ok(None);
        }
        let folder = letter.order.source.clone();
        let mut said = tongue.language.status(&self.names(&folder, tongue), tongue.zone, &letter).into_iter();
        let headline = said.next().unwrap_or_default();
        let mut item = Item {
            number: Some(number.0),
            letter: Some(number.to_string()),
            folder,
            headline,
            cause: said.next(),
            remedy: said.next(),
            ..Item::default()
        };
        if bare {
            if let Some(said) = tongue.language.lasting(notice, letter.state.is_posted()) {
                (item.headline, item.cause, item.remedy) = (said.cause, None, Some(said.remedy));
            }
            return Ok(Some(item));
        }
        let original = self.store.original_of(number)?;
        let dropped = original.map(|original| showable(&shown(&original.origin.name)));
        let first = || letter.order.documents.first().map(|document| document.name.clone());
        item.file = dropped.or_else(first);
        let receiver = &letter.order.receiver;
        item.receiver = Some(format!("{} {}", receiver.address.name, receiver.honorific));
        item.pages = Some(letter.order.documents.iter().map(|document| document.pages).sum());
        if let State::Shipped { at, tracking, .. } = &letter.state {
            item.shipped = Some(tongue.time(*at));
            item.tracking_url = tracking.as_deref().map(tracking_url);
            item.tracking.clone_from(tracking);
        }
        Ok(Some(item))
    }

    fn drop(&self, ulid: &Ulid, notice: DropNotice, tongue: Tongue) -> Result<Option<Item>, StoreError> {
        let Some(original) = self.store.original(ulid)? else { return Ok(None) };
        let Some(undecided) = original.fate.undecided() else { return Ok(None) };
        let names = self.names(&original.origin.folder, tongue);
        let so = match (notice, undecided) {
            (DropNotice::Rejected, Undecided::Refused(_))
            | (DropNotice::Held, Undecided::Waits(_))
            | (DropNotice::Cancelled, Undecided::Cancelled) => true,
            (DropNotice::Rejected | DropNotice::Held | DropNotice::Cancelled, _) => false,
        };
        let mut said = tongue.language.status_of_drop(&names, undecided).into_iter();
        let headline = said.next().unwrap_or_default();
        Ok(so.then(|| Item {
            drop: Some(ulid.as_str().to_owned()),
            is_order: matches!(undecided, Undecided::Refused(refusal) if refusal.is_of_an_order()),
            folder: original.origin.folder.clone(),
            file: Some(showable(&shown(&original.origin.name))),
            headline,
            cause: said.next(),
            remedy: said.next(),
            ..Item::default()
        }))
    }

    fn digest(&self, since: Time, until: Time, tongue: Tongue) -> Result<message::Digest, StoreError> {
        let folders: Vec<DigestRow> =
            self.store.happened(since, until)?.into_iter().map(digest_row).collect();
        let mut total = DigestRow::default();
        for row in &folders {
            total.add(row);
        }
        let waiting = self.store.waiting()?;
        let more = waiting.len().saturating_sub(MOST_ITEMS);
        let mut items = Vec::new();
        for waits in waiting.into_iter().take(MOST_ITEMS) {
            items.extend(match waits {
                Waits::Letter(number) => self.letter(number, Notice::Held, tongue, false)?,
                Waits::Drop(ulid) => self.drop(&ulid, DropNotice::Held, tongue)?,
            });
        }
        let mut notes = Vec::new();
        for letter in self.store.noted(since, until, MOST_ITEMS)? {
            let original = self.store.original_of(letter.number)?;
            let first = letter.order.documents.first().map(|document| document.name.clone());
            let file = original.map(|original| shown(&original.origin.name)).or(first).unwrap_or_default();
            notes.push(DigestNote {
                folder: letter.order.source.clone(),
                letter: letter.number.to_string(),
                file: showable(&file),
                note: tongue.language.print_notes(&letter.order.print_notes),
            });
        }
        let alarms = self.store.alarms()?;
        let alarms = alarms.iter().filter(|raised| raised.told && raised.fine_since.is_none());
        Ok(message::Digest {
            from: tongue.time(since),
            to: tongue.time(until),
            folders,
            total,
            waiting: items,
            more,
            notes,
            alarms: alarms.map(|raised| standing(raised, tongue)).collect(),
        })
    }
}

fn digest_row(tally: Tally) -> DigestRow {
    let Tally { folder, posted, sheets, shipped, held, rejected, cancelled } = tally;
    DigestRow { folder, posted, sheets, shipped, held, rejected, cancelled }
}

/// Whether news are still true.
fn is_so(notice: Notice, state: &State) -> bool {
    match notice {
        Notice::Held => state.hold().is_some(),
        Notice::Shipped => matches!(state, State::Shipped { .. }),
        // A letter that was posted under other credentials cannot be followed, and says so.
        Notice::Stuck => {
            matches!(state, State::Confirming { .. } | State::Withdrawing { .. }) || state.is_posted()
        }
        Notice::Delayed => {
            matches!(state, State::Admitted | State::Created { .. } | State::Uploaded { .. })
        }
        Notice::Overdue => matches!(state, State::Confirmed { .. }),
        Notice::SealedOtherwise
        | Notice::NotWithdrawn
        | Notice::Cancelled
        | Notice::CancelledElsewhere
        | Notice::Withdrawn => true,
    }
}

fn standing(raised: &Raised, tongue: Tongue) -> Alert {
    let told = AlertNews::Alarm { alarm: &raised.alarm, detail: &raised.detail };
    said(&told, raised.since, false, tongue)
}

fn alert(row: &OwedRow, tongue: Tongue) -> Option<Alert> {
    Some(match row.news()? {
        News::AccountPaused { account, cause } => {
            said(&AlertNews::Paused { account: &account, cause: &cause }, row.at, false, tongue)
        }
        News::AccountWorks { account } => {
            said(&AlertNews::Works { account: &account }, row.at, false, tongue)
        }
        News::Alarm { alarm, detail, over } => {
            let alarm = alarm.parse().ok()?;
            let told = if over {
                AlertNews::Over { alarm: &alarm }
            } else {
                AlertNews::Alarm { alarm: &alarm, detail: &detail }
            };
            said(&told, row.at, over, tongue)
        }
        News::Unwanted { recipient, code } => {
            said(&AlertNews::Unwanted { recipient: &recipient, code: &code }, row.at, false, tongue)
        }
        News::Letter { .. } | News::Drop { .. } | News::Digest { .. } | News::Mail { .. } => return None,
    })
}

fn said(told: &AlertNews<'_>, since: Time, over: bool, tongue: Tongue) -> Alert {
    let (title, said) = tongue.language.told(told);
    Alert { over, title, cause: said.cause, remedy: said.remedy, since: tongue.time(since) }
}
