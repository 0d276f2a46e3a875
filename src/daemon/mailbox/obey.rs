//! A mail that a person moves to where it is approved or cancelled is obeyed, for all its letters. It is done as if the
//! person had moved the PDFs in their folders, so that folders decide as they always do.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::{NotFollowed, WatchedMailbox};
use crate::domain::letter::{Command, Number};
use crate::domain::mailed::{MailShelf, MailStanding, MailedPart};
use crate::outside::imap::{LARGEST_MAIL, MailLink, MailSection, mail_hash};
use crate::outside::journal;
use crate::outside::store::{Desk, Fate, MailNumber, MailPlace, MailedRow, Original, OriginalPlace};

/// How long an order may take before the mail goes back to what is held.
const ORDER_TAKES: Duration = Duration::from_secs(30);

/// What a person wants of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Approve,
    Cancel,
}

impl Wish {
    fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Cancel => "cancel",
        }
    }
}

impl WatchedMailbox {
    pub(super) async fn obey(&self, link: &mut MailLink) -> Result<(), NotFollowed> {
        let shelves = &self.way.shelves;
        for (wish, name) in [(Wish::Approve, &shelves.approve), (Wish::Cancel, &shelves.cancel)] {
            let opened = link.open(name).await?;
            // A mail that lies there twice gives one order: the last of its numbers is recorded.
            for (uid, size) in link.mails().await?.into_iter().rev() {
                let number = MailNumber { validity: opened.validity, uid };
                let visit = format!("{} {} {}", wish.word(), number.validity, number.uid);
                let Some(mail) = self.moved(link, (name, number), size, &visit).await? else { continue };
                self.obey_one(link, &mail, (wish, visit), (name, number)).await?;
            }
        }
        Ok(())
    }

    /// The mail that a person moved. `None` if we never took it.
    async fn moved(
        &self,
        link: &mut MailLink,
        (name, number): (&str, MailNumber),
        size: u64,
        visit: &str,
    ) -> Result<Option<MailedRow>, NotFollowed> {
        let store = &self.taking.inside.store;
        let key = (name.to_owned(), number);
        let known = self.seen().moved.get(&key).copied();
        if let Some(known) = known {
            return Ok(known.map(|id| store.mail(id)).transpose()?.flatten());
        }
        let wanted = if size > LARGEST_MAIL { MailSection::Header } else { MailSection::Whole };
        let Some(raw) = link.fetch((number.uid, size), wanted).await? else { return Ok(None) };
        let mut mails = store.mails_of_bytes(&self.id, &mail_hash(&raw))?;
        if mails.len() > 1 && !mails.iter().any(|mail| is_recorded(mail.visit.as_deref(), visit)) {
            mails = self.taken_away(link, mails).await?;
            link.open(name).await?;
        }
        let found = self.meant(mails, visit)?;
        if found.as_ref().is_none_or(|mail| mail.letters.is_none()) {
            journal::mail_unknown(&self.queue.name, name);
        }
        self.seen().moved.insert(key, found.as_ref().map(|mail| mail.id));
        Ok(found)
    }

    /// Of mails with the same bytes, those that do not lie where they should: a person moved one of them. If none is
    /// missing, those that a person took away before; and all, if there are none.
    async fn taken_away(
        &self,
        link: &mut MailLink,
        mails: Vec<MailedRow>,
    ) -> Result<Vec<MailedRow>, NotFollowed> {
        let mut away = Vec::new();
        let mut by_place: BTreeMap<MailPlace, Vec<MailedRow>> = BTreeMap::new();
        for mail in &mails {
            by_place.entry(mail.place).or_default().push(mail.clone());
        }
        for (place, of_place) in by_place {
            let name = match place {
                MailPlace::Watched => self.way.mailbox.as_str(),
                MailPlace::Shelf(of) => self.shelf_name(of),
                MailPlace::Gone => continue,
            };
            link.open(name).await?;
            let there = link.mails().await?;
            if self.copies(link, &there, &of_place[0]).await?.len() < of_place.len() {
                away.extend(of_place);
            }
        }
        if away.is_empty() {
            let is_gone = |mail: &&MailedRow| mail.place == MailPlace::Gone && mail.visit.is_none();
            away = mails.iter().filter(is_gone).cloned().collect();
        }
        Ok(if away.is_empty() { mails } else { away })
    }

    /// Which of several mails with the same bytes is meant: the one that was already, else one that waits for a person,
    /// else the newest whose letters can still be cancelled. They have the same documents.
    fn meant(&self, mails: Vec<MailedRow>, visit: &str) -> Result<Option<MailedRow>, NotFollowed> {
        let mut best: Option<(u8, MailedRow)> = None;
        for mail in mails {
            let standing = self.taking.inside.store.mail_standing(&mail)?;
            let rank = if is_recorded(mail.visit.as_deref(), visit) {
                3
            } else if standing.parts.iter().any(|(part, _)| *part == MailedPart::Held) {
                2
            } else {
                u8::from(!standing.is_final)
            };
            let is_better =
                best.as_ref().is_none_or(|(known, _)| rank > *known || rank == *known && rank < 2);
            if is_better {
                best = Some((rank, mail));
            }
        }
        Ok(best.map(|(_, mail)| mail))
    }

    async fn obey_one(
        &self,
        link: &mut MailLink,
        mail: &MailedRow,
        (wish, visit): (Wish, String),
        from: (&str, MailNumber),
    ) -> Result<(), NotFollowed> {
        let store = &self.taking.inside.store;
        if !was_given(mail.visit.as_deref(), &visit) {
            if !self.can_be_ordered(mail)? {
                // Without letters it waits until its folder takes something in again, and that may be long.
                if mail.letters.is_some() {
                    self.seen().active = Some(Instant::now());
                }
                return Ok(());
            }
            store.visit_mail(mail.id, recorded(mail.visit.as_deref(), &visit)).await?;
            journal::mail_obeyed(&self.queue.name, mail.id, wish.word());
            self.order(mail, wish).await?;
            let now = Instant::now();
            let mut seen = self.seen();
            seen.ordered.insert(mail.id, now);
            seen.active = Some(now);
            return Ok(());
        }
        let is_new = self.seen().ordered.get(&mail.id).is_some_and(|at| at.elapsed() < ORDER_TAKES);
        let standing = store.mail_standing(mail)?;
        let target = if mail.refused.is_some() { Some(MailShelf::Rejected) } else { standing.shelf() };
        // What the person wants may not be done yet.
        if let Some(target) = target.filter(|_| !(is_new && is_still_to_do(&standing, wish)))
            && self.put(link, from, target).await?
        {
            store.mail_lies(mail.id, MailPlace::Shelf(target)).await?;
        }
        Ok(())
    }

    /// Whether it is known what became of each of its PDFs, so that an order has something to act on.
    fn can_be_ordered(&self, mail: &MailedRow) -> Result<bool, NotFollowed> {
        let Some(letters) = &mail.letters else { return Ok(false) };
        for ulid in letters {
            let is_known = self.taking.inside.store.original(ulid)?.is_some_and(|original| {
                original.place != OriginalPlace::Claim || matches!(original.fate, Fate::Letter(_))
            });
            if !is_known {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn order(&self, mail: &MailedRow, wish: Wish) -> Result<(), NotFollowed> {
        let store = &self.taking.inside.store;
        for ulid in mail.letters.iter().flatten() {
            let Some(original) = store.original(ulid)? else { continue };
            match (original.place, &original.fate, wish) {
                (OriginalPlace::Held, ..) => self.move_file(&original, wish).await,
                (_, Fate::Letter(number), Wish::Cancel) => self.cancel(*number).await?,
                (_, Fate::Letter(_) | Fate::Undecided(_), Wish::Approve)
                | (_, Fate::Undecided(_), Wish::Cancel) => {}
            }
        }
        self.taking.inside.bells.folders.notify_one();
        Ok(())
    }

    /// Moves a PDF to where people move it. If that fails, the mail goes back to what is held.
    async fn move_file(&self, original: &Original, wish: Wish) {
        let Some(known) = self.taking.inside.registry.get(&original.origin.folder) else { return };
        let (Some(hot), Some(shelved)) = (known.hot, original.shelved.clone()) else { return };
        let names = &known.folder.names;
        if names.by_copy && wish == Wish::Approve {
            let why = "in this folder somebody else than the owner must approve, with a copy of the PDF";
            return journal::mail_not_obeyed(&self.queue.name, &io::Error::other(why));
        }
        let dir = match wish {
            Wish::Approve => names.approve.clone(),
            Wish::Cancel => names.cancel.clone(),
        };
        let moved = spawn_blocking(move || {
            let from = Path::new(OsStr::from_bytes(&shelved));
            hot.shelve(from, &Path::new(&dir).join(from.file_name().unwrap_or_default()))
        });
        if let Err(error) = moved.await.map_err(io::Error::other).flatten() {
            journal::mail_not_obeyed(&self.queue.name, &error);
        }
    }

    async fn cancel(&self, number: Number) -> Result<(), NotFollowed> {
        let (state, now) = (self.taking.inside.state.clone(), self.taking.inside.clock.now());
        let ordered = spawn_blocking(move || Desk::open(&state)?.order(number, Command::Cancel, now));
        ordered.await.map_err(io::Error::other)??;
        self.taking.inside.bells.letters.notify_one();
        Ok(())
    }
}

fn is_still_to_do(standing: &MailStanding, wish: Wish) -> bool {
    let is = |part: &MailedPart| match wish {
        Wish::Approve => *part == MailedPart::Held,
        Wish::Cancel => *part != MailedPart::Cancelled,
    };
    standing.parts.iter().any(|(part, _)| is(part))
}

/// The orders that were given, the last of each kind.
fn orders(recorded: Option<&str>) -> impl Iterator<Item = &str> {
    recorded.into_iter().flat_map(|orders| orders.split(", "))
}

/// What is recorded of a mail's orders from now on.
fn recorded(before: Option<&str>, visit: &str) -> String {
    let word = |order: &str| order.split(' ').next().unwrap_or_default().to_owned();
    let others = orders(before).filter(|order| word(order) != word(visit));
    others.chain([visit]).collect::<Vec<_>>().join(", ")
}

fn is_recorded(before: Option<&str>, visit: &str) -> bool {
    orders(before).any(|order| order == visit)
}

/// Whether an order was given before: at this number, or at a later one of the same mailbox. A mail that lies there
/// twice gives one order.
fn was_given(recorded: Option<&str>, visit: &str) -> bool {
    let parts = |text: &str| {
        let (place, uid) = text.rsplit_once(' ')?;
        Some((place.to_owned(), uid.parse::<u32>().ok()?))
    };
    let Some((place, uid)) = parts(visit) else { return false };
    orders(recorded).filter_map(parts).any(|(before, last)| before == place && uid <= last)
}

#[cfg(test)]
mod tests {
    use super::{recorded, was_given};

    #[test]
    fn a_mail_that_lies_twice_where_orders_are_given_gives_one() {
        assert!(
            was_given(Some("approve 7 6"), "approve 7 5") && was_given(Some("approve 7 6"), "approve 7 6")
        );
        assert!(!was_given(Some("approve 7 6"), "approve 7 7"));
        assert!(!was_given(Some("approve 7 6"), "cancel 7 6"));
        assert!(!was_given(Some("approve 7 6"), "approve 8 6"));
        assert!(!was_given(None, "approve 7 6"));
    }

    #[test]
    fn a_mail_that_lies_where_it_is_approved_and_where_it_is_cancelled_gives_each_order_once() {
        let approved = recorded(None, "approve 7 6");
        let both = recorded(Some(&approved), "cancel 3 1");
        assert_eq!(both, "approve 7 6, cancel 3 1");
        assert!(was_given(Some(&both), "approve 7 6") && was_given(Some(&both), "cancel 3 1"));
        assert_eq!(recorded(Some(&both), "approve 7 8"), "cancel 3 1, approve 7 8");
    }
}
