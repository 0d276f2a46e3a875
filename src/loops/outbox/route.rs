//! Who gets news, in which kind of e-mail, and by when at the latest. Pure.

use chrono::TimeDelta;

use crate::base::backoff::Backoff;
use crate::base::clock::Time;
use crate::config::{Email, Folder, HookEvent};
use crate::domain::letter::{AccountProblem, Notice};
use crate::domain::pause::Cause;
use crate::outside::store::{Addressed, DropNotice, News};
use crate::words::message::{EmailKind, Mailbox};

/// A person who drops a hundred wrong files gets one e-mail.
const GATHER: TimeDelta = TimeDelta::seconds(30);
/// Letters that operators must look at come in one e-mail.
const GATHER_LETTERS: TimeDelta = TimeDelta::minutes(5);

/// Mails that strangers send do not fill the operators' mailbox.
const GATHER_MAILS: TimeDelta = TimeDelta::hours(1);

/// What is known of the subject of news.
#[derive(Default)]
pub(super) struct About<'a> {
    /// The folder of the letter or the drop, if it came from a configured folder.
    pub(super) folder: Option<&'a Folder>,
    /// It may have been posted, and nobody knows.
    pub(super) doubtful: bool,
    /// Operators already know the cause: the account is paused, or the service does not answer. Only for news that
    /// [`may_be_told`].
    pub(super) cause_is_told: bool,
    /// The folders whose letters an account pays.
    pub(super) paid: Vec<&'a Folder>,
    /// Who hears what became of a mail.
    pub(super) answers: Option<Answers>,
}

/// Who hears what became of a mail.
pub(super) enum Answers {
    /// The sender's address.
    Sender(String),
    Operators,
}

pub(super) fn route(news: &News, about: &About<'_>, email: &Email, now: Time) -> Vec<Addressed> {
    match news {
        News::Letter { notice, .. } => letter(*notice, about, email, now),
        News::Drop { notice, .. } => {
            let Some(folder) = about.folder else { return Vec::new() };
            let notify = &folder.notify;
            let (kind, who) = match notice {
                DropNotice::Rejected => (EmailKind::Rejected, &notify.rejected),
                DropNotice::Held => (EmailKind::Held, &notify.held),
                DropNotice::Cancelled => (EmailKind::Cancelled, &notify.cancelled),
            };
            to(who, kind, &folder.name, now + GATHER)
        }
        News::AccountPaused { cause, .. } => {
            let mut all = operators(email, EmailKind::Alert, now);
            if *cause == Cause::Problem(AccountProblem::CardDeclined) {
                for folder in &about.paid {
                    all.extend(to(&folder.notify.card_declined, EmailKind::CardDeclined, "", now));
                }
            }
            all.sort_by(|a, b| (&a.recipient, a.kind).cmp(&(&b.recipient, b.kind)));
            all.dedup();
            all
        }
        News::AccountWorks { .. } | News::Alarm { .. } => operators(email, EmailKind::Alert, now),
        News::Unwanted { recipient, .. } => {
            let mut others = operators(email, EmailKind::Alert, now);
            // A person who cannot be reached cannot be told that either.
            others.retain(|addressed| addressed.recipient != *recipient);
            others
        }
        News::Mail { .. } => match &about.answers {
            Some(Answers::Sender(address)) => vec![Addressed {
                recipient: address.clone(),
                kind: EmailKind::Reply.word(),
                folder: String::new(),
                due: now,
                alone: true,
            }],
            Some(Answers::Operators) => operators(email, EmailKind::Reply, now + GATHER_MAILS),
            None => Vec::new(),
        },
        News::Digest { .. } => {
            email.digest.as_ref().map_or_else(Vec::new, |digest| to(&digest.to, EmailKind::Digest, "", now))
        }
    }
}

/// The programs of the folder that are notified, one request for each row of news.
pub(super) fn hooks(news: &News, folder: Option<&Folder>, now: Time) -> Vec<Addressed> {
    let (Some(folder), Some(event)) = (folder, event(news)) else { return Vec::new() };
    let wanted = folder.notify.hooks.iter().filter(|hook| hook.event == event);
    let addressed = wanted.map(|hook| Addressed {
        recipient: hook.id(),
        kind: event.word(),
        folder: folder.name.clone(),
        due: now,
        alone: true,
    });
    addressed.collect()
}

fn event(news: &News) -> Option<HookEvent> {
    match news {
        News::Letter { notice, .. } => match notice {
            Notice::Shipped => Some(HookEvent::Shipped),
            Notice::Held => Some(HookEvent::Held),
            Notice::Cancelled | Notice::CancelledElsewhere | Notice::Withdrawn | Notice::NotWithdrawn => {
                Some(HookEvent::Cancelled)
            }
            Notice::Stuck | Notice::Delayed | Notice::Overdue | Notice::SealedOtherwise => None,
        },
        News::Drop { notice, .. } => Some(match notice {
            DropNotice::Rejected => HookEvent::Rejected,
            DropNotice::Held => HookEvent::Held,
            DropNotice::Cancelled => HookEvent::Cancelled,
        }),
        News::AccountPaused { .. }
        | News::AccountWorks { .. }
        | News::Alarm { .. }
        | News::Unwanted { .. }
        | News::Digest { .. }
        | News::Mail { .. } => None,
    }
}

/// Whether operators may already know why such news came.
pub(super) fn may_be_told(notice: Notice) -> bool {
    matches!(notice, Notice::Stuck | Notice::Delayed)
}

fn letter(notice: Notice, about: &About<'_>, email: &Email, now: Time) -> Vec<Addressed> {
    if may_be_told(notice) && about.cause_is_told {
        return Vec::new();
    }
    let to_operators = || operators(email, EmailKind::Letters, now + GATHER_LETTERS);
    let Some(folder) = about.folder else {
        // From a command, or of a folder that is gone: nobody else would hear that it waits.
        return match notice {
            Notice::Held | Notice::Stuck | Notice::Delayed | Notice::Overdue | Notice::SealedOtherwise => {
                to_operators()
            }
            Notice::NotWithdrawn
            | Notice::Cancelled
            | Notice::CancelledElsewhere
            | Notice::Withdrawn
            | Notice::Shipped => Vec::new(),
        };
    };
    let notify = &folder.notify;
    let together = TimeDelta::from_std(email.together).unwrap_or_default();
    match notice {
        Notice::Shipped => {
            let mut to = to(&notify.shipped, EmailKind::Shipped, &folder.name, now + together);
            for addressed in &mut to {
                addressed.alone = together.is_zero();
            }
            to
        }
        Notice::Held => {
            let mut all = to(&notify.held, EmailKind::Held, &folder.name, now + GATHER);
            if about.doubtful {
                all.extend(to_operators());
            }
            all
        }
        Notice::Cancelled | Notice::CancelledElsewhere | Notice::Withdrawn | Notice::NotWithdrawn => {
            to(&notify.cancelled, EmailKind::Cancelled, &folder.name, now + GATHER)
        }
        Notice::Stuck | Notice::Delayed | Notice::Overdue | Notice::SealedOtherwise => to_operators(),
    }
}

fn operators(email: &Email, kind: EmailKind, due: Time) -> Vec<Addressed> {
    let mut all = to(&email.operators, kind, "", due);
    // Two alerts are two e-mails.
    for addressed in &mut all {
        addressed.alone = kind == EmailKind::Alert;
    }
    all
}

fn to(who: &[Mailbox], kind: EmailKind, folder: &str, due: Time) -> Vec<Addressed> {
    let addressed = |mailbox: &Mailbox| Addressed {
        recipient: mailbox.to_string(),
        kind: kind.word(),
        folder: folder.to_owned(),
        due,
        alone: matches!(kind, EmailKind::CardDeclined | EmailKind::Digest),
    };
    who.iter().map(addressed).collect()
}

/// How long an e-mail waits after this number of attempts.
pub(super) fn again(attempts: u32) -> TimeDelta {
    Backoff::new(TimeDelta::minutes(1), TimeDelta::hours(1)).wait(attempts)
}

pub(super) const LONGEST_REST: TimeDelta = TimeDelta::minutes(15);

/// How long a server is left alone that could not be used this often in a row.
pub(super) fn rest(failures: u32) -> TimeDelta {
    Backoff::new(TimeDelta::seconds(30), LONGEST_REST).wait(failures)
}

/// A temporary refusal that lasts this long counts as final.
pub(super) const GIVEN_UP_AFTER: TimeDelta = TimeDelta::days(5);
/// And only after this number of attempts.
pub(super) const GIVEN_UP_TRIES: u32 = 8;
