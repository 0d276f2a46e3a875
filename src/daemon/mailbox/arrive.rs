//! What comes to a mailbox is taken, each mail once.

use std::collections::HashSet;

use chrono::TimeDelta;
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::{NotFollowed, WatchedMailbox};
use crate::config::{Folder, LetterKind, MailLetter, MailWay};
use crate::daemon::taking::{NotTaken, Offer, PIECE, USUAL_NAME, add, named};
use crate::domain::drop::QueueDoubt;
use crate::domain::incoming::{Enclosed, MailTags, content_of};
use crate::domain::letter::LARGEST_DOCUMENT;
use crate::domain::mailed::{
    MailMeans, MailRefusal, MailSeen, MailedPart, SenderSeen, is_like_it, is_proved, mail_means,
};
use crate::loops::intake::may_be_dropped;
use crate::outside::imap::{AttachedPdf, LARGEST_MAIL, MailLink, MailMessage, MailSection, mail_hash};
use crate::outside::journal;
use crate::outside::spool::Ulid;
use crate::outside::store::{MailNumber, NewMail, ReplyTo};

const MOST_DOCUMENTS: usize = 50;
/// For how long the same documents of the same sender are the same letters.
const SAME_FOR: TimeDelta = TimeDelta::days(30);

/// A mail that is seen for the first time, or of which not all letters were taken.
struct Arrived {
    message: MailMessage,
    sender: SenderSeen,
    mail: NewMail,
    fault: Option<MailRefusal>,
    was_there: bool,
}

impl WatchedMailbox {
    /// Takes the mails that are new. While their folder takes nothing in, they stay.
    pub(super) async fn arrived(&self, link: &mut MailLink) -> Result<(), NotFollowed> {
        let Some(folder) = self.taking.folder(&self.queue) else { return Ok(()) };
        let store = &self.taking.inside.store;
        let opened = link.open(&self.way.mailbox).await?;
        let first = store.know_mailbox(self.id.clone(), opened.validity, opened.next).await?;
        for (uid, size) in link.mails().await? {
            let number = MailNumber { validity: opened.validity, uid };
            if store.mail_numbered(&self.id, number)?.is_some_and(|mail| mail.letters.is_some()) {
                continue;
            }
            let wanted = if size > LARGEST_MAIL { MailSection::Header } else { MailSection::Whole };
            let Some(raw) = link.fetch((uid, size), wanted).await? else {
                if self.seen().unread.insert(number) {
                    journal::mail_unread(&self.queue.name, number);
                }
                continue;
            };
            let too_large = (wanted == MailSection::Header).then_some(MailRefusal::TooLarge { size });
            let message = MailMessage::read_apart(&self.taking.inside.inspector, &raw).await?;
            let hash = spawn_blocking(move || mail_hash(&raw)).await.map_err(NotTaken::from)?;
            let arrived = self.arrived_mail((message, hash), (number, size), too_large, uid < first);
            self.take(&folder, arrived).await?;
        }
        Ok(())
    }

    fn arrived_mail(
        &self,
        (message, bytes): (MailMessage, String),
        (number, size): (MailNumber, u64),
        too_large: Option<MailRefusal>,
        was_there: bool,
    ) -> Arrived {
        let sender = sender_of(&self.way, &message);
        let reply_to = message.sender.clone().filter(|_| sender.is_answered());
        let mut content = Sha256::new();
        content.update(message.from.join(" "));
        for pdf in &message.pdfs {
            content.update(Sha256::digest(&pdf.bytes));
        }
        let mail = NewMail {
            mailbox: self.id.clone(),
            number,
            message_id: message.message_id.as_deref().map(|id| mail_hash(id.as_bytes())),
            bytes,
            size,
            content: hex::encode(content.finalize()),
            reply_to: reply_to.map(|address| ReplyTo { address, thread: message.message_id.clone() }),
        };
        let fault = too_large.or_else(|| fault_of(&message));
        Arrived { message, sender, mail, fault, was_there }
    }

    /// First the mail is recorded, then its letters are taken. Until all are, the mail counts as one that may be posted,
    /// so that it is held if it comes under another number, or to another mailbox. A record is never removed: the spool
    /// may have more of a mail than the records.
    async fn take(&self, folder: &Folder, arrived: Arrived) -> Result<(), NotFollowed> {
        let Arrived { message, sender, mail, fault, was_there } = arrived;
        let (store, now, number) = (&self.taking.inside.store, self.taking.inside.clock.now(), mail.number);
        let id = store.begin_mail(mail, now).await?;
        let came_before = self.came_before(id)?;
        match mail_means(MailSeen { sender, fault, was_there, came_before }) {
            MailMeans::Reject(refusal) => {
                journal::mail_rejected(&self.queue.name, number, &refusal);
                // The configuration may have been another when some of its letters were taken.
                store.take_mail(id, self.taken(number)?, Some(refusal)).await?;
            }
            MailMeans::Take(look) => {
                let letters = self.take_letters(folder, number, message, look).await?;
                store.take_mail(id, letters, None).await?;
            }
        }
        self.seen().active = Some(Instant::now());
        Ok(())
    }

    async fn take_letters(
        &self,
        folder: &Folder,
        number: MailNumber,
        message: MailMessage,
        mut look: Option<QueueDoubt>,
    ) -> Result<Vec<Ulid>, NotFollowed> {
        let MailMessage { subject, to, pdfs, .. } = message;
        let tags = MailTags { subject, to };
        let (mut letters, mut before) = (Vec::new(), HashSet::new());
        for letter in letters_of(&self.way, folder, pdfs) {
            let hashes: Vec<_> = letter.iter().map(|(_, bytes)| Sha256::digest(bytes)).collect();
            let offer = self.offer(folder, self.key(number, letters.len()), letter, &tags).await?;
            if self.taking.is_used_otherwise(&self.queue, &offer)? {
                // Its PDFs were grouped or named otherwise before, so that any of them may be posted already.
                look = look.or(Some(QueueDoubt::MailedAgain));
            }
            let look = look.or((!before.insert(hashes)).then_some(QueueDoubt::MailedTwice));
            letters.push(self.taking.take_mailed(&self.queue, offer, look).await?);
        }
        let before = self.taken(number)?.into_iter().filter(|ulid| !letters.contains(ulid));
        letters.extend(before.collect::<Vec<_>>());
        Ok(letters)
    }

    /// Whether a mail like it was recorded before, and may have been posted.
    fn came_before(&self, id: i64) -> Result<bool, NotFollowed> {
        let (store, now) = (&self.taking.inside.store, self.taking.inside.clock.now());
        for before in store.mails_like(id, now - SAME_FOR)? {
            let parts: Vec<MailedPart> =
                store.mail_standing(&before)?.parts.into_iter().map(|(part, _)| part).collect();
            let parts = before.letters.is_some().then_some(parts.as_slice());
            if is_like_it(parts) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The key of a mail's letter. `n` counts the letters of the mail.
    fn key(&self, MailNumber { validity, uid }: MailNumber, n: usize) -> String {
        hex::encode(Sha256::digest(format!("mail {}\n{validity} {uid} {n}", self.way.place())))
    }

    /// The letters of a mail that were taken.
    fn taken(&self, number: MailNumber) -> Result<Vec<Ulid>, NotFollowed> {
        let mut taken = Vec::new();
        while let Some(known) =
            self.taking.inside.store.incoming_by(&self.queue.name, &self.key(number, taken.len()))?
        {
            taken.push(known.ulid);
        }
        Ok(taken)
    }

    /// Writes a letter's documents.
    async fn offer(
        &self,
        folder: &Folder,
        key: String,
        pdfs: Vec<(String, Vec<u8>)>,
        tags: &MailTags,
    ) -> Result<Offer, NotFollowed> {
        let ulid = self.taking.new_ulid()?;
        let mut draft = self.taking.inside.spool.begin_incoming(&ulid)?;
        let mut documents: Vec<Enclosed> = Vec::new();
        let letter = letter_name(folder, &pdfs);
        for (name, bytes) in pdfs {
            let sha256 = hex::encode(Sha256::digest(&bytes));
            documents.push(Enclosed { name, size: bytes.len() as u64, sha256 });
            for piece in bytes.chunks(PIECE) {
                draft = add(draft, piece.to_vec()).await?;
            }
        }
        Ok(Offer {
            ulid,
            draft,
            key,
            content: content_of(&documents, None),
            name: letter,
            documents,
            sidecar: None,
            mailed: Some(tags.clone()),
        })
    }
}

/// Who a mail says it is from, and whether that is believed.
pub fn sender_of(way: &MailWay, message: &MailMessage) -> SenderSeen {
    let domain = message.sender.as_deref().and_then(|sender| sender.rsplit_once('@')).map(|(_, of)| of);
    let is_proved = match (&way.authenticated_by, domain) {
        (Some(server), Some(domain)) => is_proved(&message.header, server, domain),
        (None, _) | (_, None) => false,
    };
    let is_ours = message.from.iter().any(|from| from.eq_ignore_ascii_case(&way.user));
    SenderSeen {
        is_listed: message.from.iter().any(|from| way.from.iter().any(|may| may.is(from))),
        is_proved,
        is_automatic: message.is_automatic || is_ours,
    }
}

/// The PDFs of each letter of a mail, under the names that they have in the folder.
pub fn letters_of(way: &MailWay, folder: &Folder, pdfs: Vec<AttachedPdf>) -> Vec<Vec<(String, Vec<u8>)>> {
    let is_together = way.letter == MailLetter::Mail && folder.letter == LetterKind::Subfolder;
    let mut letters: Vec<Vec<(String, Vec<u8>)>> = Vec::new();
    for AttachedPdf { name, bytes } in pdfs {
        let usable = Some(named(&name)).filter(|name| may_be_dropped(folder, name.as_bytes()));
        let name = usable.unwrap_or_else(|| USUAL_NAME.to_owned());
        match letters.last_mut() {
            Some(letter) if is_together => letter.push((apart(name, letter), bytes)),
            Some(_) | None => letters.push(vec![(name, bytes)]),
        }
    }
    letters
}

/// The name of a letter of a mail: that of its first PDF, or of the subfolder that it would be.
pub fn letter_name(folder: &Folder, pdfs: &[(String, Vec<u8>)]) -> String {
    let first = pdfs.first().map_or(USUAL_NAME, |(name, _)| name.as_str());
    let name = match folder.letter {
        LetterKind::Subfolder => first.strip_suffix(".pdf").unwrap_or(first),
        LetterKind::File => first,
    };
    name.to_owned()
}

/// A name that no other document of the letter has.
fn apart(name: String, others: &[(String, Vec<u8>)]) -> String {
    let is_taken = |name: &str| others.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    let stem = name.strip_suffix(".pdf").unwrap_or(&name).to_owned();
    let numbered = (2..).map(|n| format!("{stem} ({n}).pdf"));
    std::iter::once(name).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

/// Why a mail can't be posted, whoever sent it.
pub fn fault_of(message: &MailMessage) -> Option<MailRefusal> {
    if let Some(name) = message.unfit.clone() {
        return Some(MailRefusal::Unfit { name });
    }
    let found = message.pdfs.len();
    match message.pdfs.iter().map(|pdf| pdf.bytes.len() as u64).max() {
        None => Some(MailRefusal::NoPdf),
        Some(size) if size > LARGEST_DOCUMENT => Some(MailRefusal::TooLarge { size }),
        Some(_) => (found > MOST_DOCUMENTS).then_some(MailRefusal::TooManyDocuments { found }),
    }
}
