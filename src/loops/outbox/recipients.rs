//! Whether somebody who is to get an e-mail is still configured for it.
//!
//! An e-mail may wait for days while a mail server does not accept it. A recipient who was taken out of the
//! configuration meanwhile must get neither receivers nor pictures of their pages.

use std::sync::Arc;

use super::Outbox;
use super::route::Answers;
use crate::config::{Email, Folder};
use crate::outside::store::{EmailRow, News, OwedRow, StoreError};
use crate::words::message::{EmailKind, Mailbox};

impl Outbox {
    pub(super) fn is_taken_out(&self, email: &Email, row: &EmailRow) -> Result<bool, StoreError> {
        let (Some(kind), Ok(recipient)) = (EmailKind::of(&row.kind), row.recipient.parse::<Mailbox>()) else {
            return Ok(false);
        };
        let all: Vec<_> = self.registry.all().into_iter().map(|known| known.folder).collect();
        let folder = self.called(&row.folder, &all)?;
        if kind == EmailKind::Reply && !self.is_to_operators(row)? {
            return Ok(false);
        }
        let is_in = |list: &[Mailbox]| list.iter().any(|mailbox| mailbox.address() == recipient.address());
        Ok(lists(kind, folder, &all, email).is_some_and(|lists| !lists.into_iter().any(is_in)))
    }

    /// Whether an e-mail reports mails to operators. Otherwise it answers the sender of one.
    fn is_to_operators(&self, row: &EmailRow) -> Result<bool, StoreError> {
        let told = self.store.news_of(row.id)?;
        let Some(News::Mail { id, .. }) = told.first().and_then(OwedRow::news) else { return Ok(false) };
        Ok(matches!(self.answers(id)?, Some(Answers::Operators)))
    }
}

/// Those who get such e-mails now. `None` if the configuration does not say it: from a folder that is not configured at
/// present nobody was taken out.
fn lists<'a>(
    kind: EmailKind,
    folder: Option<&'a Folder>,
    all: &'a [Arc<Folder>],
    email: &'a Email,
) -> Option<Vec<&'a [Mailbox]>> {
    let list: &[Mailbox] = match kind {
        EmailKind::Shipped => &folder?.notify.shipped,
        EmailKind::Held => &folder?.notify.held,
        EmailKind::Rejected => &folder?.notify.rejected,
        EmailKind::Cancelled => &folder?.notify.cancelled,
        EmailKind::CardDeclined => {
            return Some(all.iter().map(|folder| folder.notify.card_declined.as_slice()).collect());
        }
        EmailKind::Alert | EmailKind::Letters | EmailKind::Reply => &email.operators,
        EmailKind::Digest => email.digest.as_ref().map_or(&[], |digest| &digest.to),
    };
    Some(vec![list])
}
