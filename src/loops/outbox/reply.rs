//! Answers to mails that brought documents.

use std::sync::Arc;

use super::Outbox;
use super::compose::{MOST_ITEMS, Tongue};
use super::route::Answers;
use crate::config::{Queue, Way};
use crate::domain::drop::{Undecided, showable, shown};
use crate::domain::letter::{Certainty, State};
use crate::outside::spool::Ulid;
use crate::outside::store::{EmailRow, Fate, MailedRow, News, OwedRow, StoreError};
use crate::words::message::{EmailContent, EmailKind, Item, tracking_url};

impl Outbox {
    /// Who is answered about a mail.
    pub(super) fn answers(&self, id: i64) -> Result<Option<Answers>, StoreError> {
        if let Some(to) = self.store.reply_to(id)? {
            return Ok(Some(Answers::Sender(to.address)));
        }
        // What became a drop is reported as drops are. Nobody would hear of the others.
        let is_refused = self.store.mail(id)?.is_some_and(|mail| mail.refused.is_some());
        Ok(is_refused.then_some(Answers::Operators))
    }

    /// What became of the mails that these news are about. `None` if that is different by now.
    pub(super) fn replies(
        &self,
        told: &[OwedRow],
        tongue: Tongue,
    ) -> Result<Option<EmailContent>, StoreError> {
        let mut content = EmailContent::default();
        for row in told {
            let Some(News::Mail { id, standing }) = row.news() else { continue };
            let Some(mail) = self.store.mail(id)? else { continue };
            if self.store.mail_standing(&mail)?.to_string() == standing {
                self.reply(&mail, tongue, &mut content)?;
            }
        }
        content.more = content.items.len().saturating_sub(MOST_ITEMS);
        content.items.truncate(MOST_ITEMS);
        Ok((!content.items.is_empty()).then_some(content))
    }

    /// The Message-ID that an e-mail answers. `None` if it answers none.
    pub(super) fn thread(&self, kind: EmailKind, row: &EmailRow) -> Result<Option<String>, StoreError> {
        let told = if kind == EmailKind::Reply { self.store.news_of(row.id)? } else { Vec::new() };
        let Some(News::Mail { id, .. }) = told.first().and_then(OwedRow::news) else { return Ok(None) };
        let to = self.store.reply_to(id)?.filter(|to| to.address == row.recipient);
        Ok(to.and_then(|to| to.thread))
    }

    fn reply(&self, mail: &MailedRow, tongue: Tongue, content: &mut EmailContent) -> Result<(), StoreError> {
        if let Some(refused) = &mail.refused {
            let said = tongue.language.mail_refusal(refused);
            content.items.push(Item {
                headline: tongue.language.not_posted().to_owned(),
                cause: Some(said.cause),
                remedy: Some(said.remedy),
                ..Item::default()
            });
        }
        let mailbox = self.store.mailbox_of(mail.id)?;
        let queues = Arc::clone(&super::locked(&self.in_force).queues);
        let is_of = |queue: &&Queue| queue.identity().ok() == mailbox;
        let names =
            queues.iter().find(is_of).is_some_and(|queue| matches!(&queue.way, Way::Imap(way) if way.names));
        for ulid in mail.letters.iter().flatten() {
            let (item, is_held) = self.part(ulid, tongue, names)?;
            content.held |= is_held;
            content.items.extend(item);
        }
        Ok(())
    }

    /// One letter of a mail, and whether somebody must look at it. Without `names`, nothing names its receiver.
    fn part(&self, ulid: &Ulid, tongue: Tongue, names: bool) -> Result<(Option<Item>, bool), StoreError> {
        let Some(original) = self.store.original(ulid)? else { return Ok((None, false)) };
        let shelves = self.names(&original.origin.folder, tongue);
        let mut item = Item { file: Some(showable(&shown(&original.origin.name))), ..Item::default() };
        let (said, is_held, is_unknown) = match &original.fate {
            Fate::Undecided(undecided) => {
                let mut undecided = undecided.clone();
                if let (Undecided::Waits(waiting), false) = (&mut undecided, names) {
                    *waiting = waiting.without_people();
                }
                let is_held = matches!(undecided, Undecided::Waits(_));
                (tongue.language.status_of_drop(&shelves, &undecided), is_held, false)
            }
            Fate::Letter(number) => {
                let letter = match self.store.letter(*number) {
                    Ok(Some(letter)) => letter,
                    // A damaged letter cannot be described. The start reports it.
                    Ok(None) | Err(StoreError::Damaged(_)) => return Ok((None, false)),
                    Err(error) => return Err(error),
                };
                item.letter = Some(number.to_string());
                if names {
                    let receiver = &letter.order.receiver;
                    item.receiver = Some(format!("{} {}", receiver.address.name, receiver.honorific));
                }
                if let State::Shipped { tracking, .. } = &letter.state {
                    item.tracking_url = tracking.as_deref().map(tracking_url);
                    item.tracking.clone_from(tracking);
                }
                let hold = letter.state.hold();
                let is_unknown = hold.is_some_and(|reason| reason.certainty() == Certainty::Unknown);
                (tongue.language.status(&shelves, tongue.zone, &letter), hold.is_some(), is_unknown)
            }
        };
        let mut said = said.into_iter();
        item.headline = said.next().unwrap_or_default();
        item.cause = said.next();
        // The sender of the mail need not have the folder in which it is approved, but must not send again what may be
        // posted.
        item.remedy = said.next().filter(|_| !is_held || is_unknown);
        Ok((Some(item), is_held))
    }
}
