//! Mails lie where their letters do. Our records decide, never the mailbox: a mail that somebody took away is left
//! alone, and where it lies changes nothing about its letters.

use std::collections::BTreeMap;

use super::{NotFollowed, WatchedMailbox};
use crate::domain::mailed::MailShelf;
use crate::outside::imap::{LARGEST_MAIL, MailLink, MailSection, MailTrouble, Put, mail_hash};
use crate::outside::journal;
use crate::outside::store::{MailNumber, MailPlace, MailedRow};

/// The mails that must be moved out of one place, each with where it belongs.
type Moves = BTreeMap<MailPlace, Vec<(MailedRow, MailShelf)>>;

impl WatchedMailbox {
    pub(super) fn shelf_name(&self, of: MailShelf) -> &str {
        let shelves = &self.way.shelves;
        match of {
            MailShelf::Held => &shelves.held,
            MailShelf::Sent => &shelves.sent,
            MailShelf::Rejected => &shelves.rejected,
            MailShelf::Cancelled => &shelves.cancelled,
        }
    }

    /// Puts mails where they belong, and owes the news of it.
    pub(super) async fn put_away(&self, link: &mut MailLink) -> Result<(), NotFollowed> {
        let store = &self.taking.inside.store;
        let mut moves = Moves::new();
        for mail in store.open_mails(&self.id)? {
            if mail.letters.is_none() {
                continue;
            }
            let standing = store.mail_standing(&mail)?;
            let is_refused = mail.refused.is_some();
            let Some(target) = (if is_refused { Some(MailShelf::Rejected) } else { standing.shelf() }) else {
                continue;
            };
            let said = standing.to_string();
            if mail.told.as_ref() != Some(&said) {
                store.owe_mail(mail.id, said, self.taking.inside.clock.now()).await?;
                self.taking.inside.bells.mails.notify_one();
            }
            let is_there = mail.place == MailPlace::Shelf(target) || mail.place == MailPlace::Gone;
            if !is_there {
                moves.entry(mail.place).or_default().push((mail, target));
            } else if standing.is_final {
                store.close_mail(mail.id).await?;
            }
        }
        for (from, mails) in moves {
            self.empty(link, from, mails).await?;
        }
        Ok(())
    }

    /// Moves mails out of one place.
    async fn empty(
        &self,
        link: &mut MailLink,
        from: MailPlace,
        mails: Vec<(MailedRow, MailShelf)>,
    ) -> Result<(), NotFollowed> {
        let name = match from {
            MailPlace::Watched => self.way.mailbox.as_str(),
            MailPlace::Shelf(of) => self.shelf_name(of),
            MailPlace::Gone => return Ok(()),
        };
        let store = &self.taking.inside.store;
        let opened = link.open(name).await?;
        let there = link.mails().await?;
        'mails: for (mail, target) in mails {
            let is_by_number = from == MailPlace::Watched && mail.number.validity == opened.validity;
            let found = if is_by_number {
                there.contains_key(&mail.number.uid).then_some(mail.number.uid).into_iter().collect()
            } else {
                self.copies(link, &there, &mail).await?
            };
            let mut found: Vec<u32> = found;
            if !is_by_number {
                // What others with the same bytes have there stays.
                let is_other = |other: &MailedRow| other.id != mail.id && other.place == from;
                let others = store
                    .mails_of_bytes(&self.id, &mail.bytes)?
                    .iter()
                    .filter(|other| is_other(other))
                    .count();
                found.truncate(found.len().saturating_sub(others));
            }
            let mut is_moved = false;
            for uid in found {
                let number = MailNumber { validity: opened.validity, uid };
                if !self.put(link, (name, number), target).await? {
                    continue 'mails;
                }
                is_moved = true;
            }
            let place = if is_moved || self.is_in(link, target, &mail).await? {
                MailPlace::Shelf(target)
            } else {
                MailPlace::Gone
            };
            store.mail_lies(mail.id, place).await?;
            link.open(name).await?;
        }
        Ok(())
    }

    /// Moves a mail out of the open mailbox. Returns `false` if the server refuses that: one mailbox may be full, and the
    /// others not.
    pub(super) async fn put(
        &self,
        link: &mut MailLink,
        (from, number): (&str, MailNumber),
        target: MailShelf,
    ) -> Result<bool, NotFollowed> {
        let key = (from.to_owned(), number);
        if self.seen().left.get(&key) == Some(&target) {
            return Ok(true);
        }
        let name = self.shelf_name(target);
        match link.put(number.uid, name).await {
            Ok(put) => {
                let mut seen = self.seen();
                seen.refusing.remove(&target);
                if let Put::Copied(words) = put {
                    if seen.left.is_empty() {
                        journal::mail_unmarked(&self.queue.name, &words);
                    }
                    seen.left.insert(key, target);
                }
                Ok(true)
            }
            Err(MailTrouble::No(words)) => {
                if self.seen().refusing.insert(target) {
                    journal::mail_not_moved(&self.queue.name, name, &words);
                }
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether it lies there already: its last move may have ended unheard.
    async fn is_in(
        &self,
        link: &mut MailLink,
        target: MailShelf,
        mail: &MailedRow,
    ) -> Result<bool, NotFollowed> {
        link.open(self.shelf_name(target)).await?;
        let there = link.mails().await?;
        Ok(!self.copies(link, &there, mail).await?.is_empty())
    }

    /// The numbers of a mail in the open mailbox, of which `there` are all mails. A move whose answer was lost leaves two.
    pub(super) async fn copies(
        &self,
        link: &mut MailLink,
        there: &BTreeMap<u32, u64>,
        mail: &MailedRow,
    ) -> Result<Vec<u32>, NotFollowed> {
        let wanted = if mail.size > LARGEST_MAIL { MailSection::Header } else { MailSection::Whole };
        let mut found = Vec::new();
        for (uid, _) in there.iter().filter(|(_, size)| **size == mail.size) {
            if link.fetch((*uid, mail.size), wanted).await?.is_some_and(|raw| mail_hash(&raw) == mail.bytes) {
                found.push(*uid);
            }
        }
        Ok(found)
    }
}
