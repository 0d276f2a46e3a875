//! The history of a letter in words: one line for each fact, for readers of `mailchute show`.

use std::fmt;

use super::fact::{Abandonment, Certainty, Fact, GoneAnswer, Kept, Limit, Reason};
use super::order::Shipping;
use super::outcome::AccountProblem;
use crate::domain::address::Misplaced;

impl Fact {
    /// Its name in a table.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Admitted { .. } => "admitted",
            Self::Created(_) => "created",
            Self::Uploaded { .. } => "uploaded",
            Self::Abandoned { .. } => "abandoned",
            Self::Intended { .. } => "intended",
            Self::FilesMissing { .. } => "files_missing",
            Self::UploadedAgain { .. } => "uploaded_again",
            Self::Gone { .. } => "gone",
            Self::Reappeared { .. } => "reappeared",
            Self::Confirmed { .. } => "confirmed",
            Self::Dead { .. } => "dead",
            Self::NeverPostable { .. } => "never_postable",
            Self::WithdrawalAsked => "withdrawal_asked",
            Self::NotWithdrawn { .. } => "not_withdrawn",
            Self::Cancelled { .. } => "cancelled",
            Self::Withdrawn => "withdrawn",
            Self::Closed => "closed",
            Self::Seen { .. } => "seen",
            Self::Shipped { .. } => "shipped",
            Self::Tracked { .. } => "tracked",
            Self::Held(_) => "held",
            Self::Released => "released",
            Self::Discarded(_) => "discarded",
        }
    }
}

/// Without names and addresses: a letter has its number.
impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Admitted { order, .. } => {
                let (documents, sheets) = (order.documents.len(), order.sheets());
                write!(f, "taken in: {documents} document(s), {sheets} sheet(s), from {}", order.source)
            }
            Self::Created(mail) => write!(f, "mail {} created at the service: {}", mail.k, mail.id),
            Self::Uploaded { mail, document } => write!(f, "mail {mail}: document {} uploaded", document + 1),
            // The hold that follows says what is certain.
            Self::Abandoned { mail, why: why @ Abandonment::Held } => {
                write!(f, "mail {mail} abandoned: {why}")
            }
            Self::Abandoned { mail, why } => write!(f, "mail {mail} abandoned, unposted: {why}"),
            Self::Intended { mail, .. } => write!(f, "mail {mail} is as ordered and will be confirmed"),
            Self::FilesMissing { mail } => write!(f, "mail {mail}: the service lacks a document"),
            Self::UploadedAgain { mail } => write!(f, "mail {mail}: documents sent once more"),
            Self::Gone { mail, answer, late } => {
                let word = match answer {
                    GoneAnswer::Declined => "the card was declined",
                    GoneAnswer::NotFound => "the service does not know it",
                };
                let weight = if *late {
                    "its deadline has passed, so one read will prove it"
                } else {
                    "not proved yet"
                };
                write!(f, "mail {mail}: {word} ({weight})")
            }
            Self::Reappeared { mail } => write!(f, "mail {mail} exists after all"),
            Self::Confirmed { mail } => write!(f, "mail {mail} confirmed: it is posted"),
            Self::Dead { mail } => write!(f, "mail {mail} proved deleted: it was never posted"),
            Self::NeverPostable { mail, why } => write!(f, "mail {mail} can never be posted: {why}"),
            Self::WithdrawalAsked => f.write_str("a person asked to cancel it"),
            Self::NotWithdrawn { why, .. } => write!(f, "it can't be cancelled: {why}; it is posted"),
            Self::Cancelled { by_us: true, .. } => f.write_str("cancelled: nothing is posted"),
            Self::Cancelled { by_us: false, .. } => {
                f.write_str("cancelled at the service, not by mailchute: nothing is posted")
            }
            Self::Withdrawn => f.write_str("withdrawn: nothing was or will be posted"),
            Self::Closed => f.write_str("closed by a person; whether it was posted is not known"),
            Self::Seen { ships_at, cancellable, .. } => {
                let can = if *cancellable { "can still be cancelled" } else { "can't be cancelled any more" };
                write!(f, "ships on {}; {can}", ships_at.format("%Y-%m-%d %H:%M UTC"))
            }
            Self::Shipped { at, tracking, .. } => {
                write!(f, "shipped on {}", at.format("%Y-%m-%d %H:%M UTC"))?;
                tracking.as_ref().map_or(Ok(()), |number| write!(f, ", tracking number {number}"))
            }
            Self::Tracked { tracking, .. } => write!(f, "tracking number {tracking}"),
            Self::Held(reason) => write!(f, "held: {reason}. {}", reason.certainty()),
            Self::Released => f.write_str("released by a person"),
            Self::Discarded(Kept::Documents) => {
                f.write_str("mailchute's own copies of its documents were removed")
            }
            Self::Discarded(Kept::Original) => f.write_str("its original was removed from the folder"),
            Self::Discarded(Kept::Receiver) => {
                f.write_str("the receiver and the names of files were removed")
            }
        }
    }
}

impl fmt::Display for Abandonment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TargetsExpired => "the time for uploading was over",
            Self::TargetsLost => "mailchute was restarted before everything was uploaded",
            Self::UploadRefused => "an upload was refused",
            Self::DeadlineNear => "the time for confirming was nearly over",
            Self::OtherAccount => "the account is another now",
            Self::NotFound => "it could not be read",
            Self::NotAsMeant => "it was not what was ordered",
            Self::Held => "the letter is held",
            Self::Withdrawn => "the letter is withdrawn",
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByPerson => f.write_str("a person asked for it"),
            Self::OwnerNotProved => f.write_str(
                "the owner is not proved: others may write this file, so nobody knows who dropped it",
            ),
            Self::Approval => f.write_str("each letter of this folder waits for a person's approval"),
            Self::Duplicate(earlier) => {
                write!(f, "letter {earlier} had the same documents and the same receiver")
            }
            Self::Limit(limit) => write!(f, "{limit}"),
            // The journal never says where somebody lives.
            Self::Elsewhere(_) => f.write_str("the receiver's postal code belongs to another prefecture"),
            Self::Misplaced(Misplaced::UnknownCode) => f.write_str("the receiver's postal code is unknown"),
            Self::Misplaced(Misplaced::OtherCity(_) | Misplaced::OtherTown(_)) => {
                f.write_str("the receiver's postal code belongs to another city")
            }
            Self::Refused(why) => write!(f, "the service refuses to create it: {why}"),
            Self::UploadRefused(why) => write!(f, "the upload is refused again and again: {why}"),
            Self::DocumentDamaged(document) => {
                write!(f, "document {} in the spool is not what was taken in", document + 1)
            }
            Self::NotAsMeant(why) => write!(f, "what the service shows is not what was ordered: {why}"),
            Self::PostedOtherwise(why) => {
                write!(f, "somebody else confirmed it, and it is not as ordered: {why}")
            }
            Self::NeverPostable(why) => write!(f, "the service can't post its documents: {why}"),
            Self::TooManyIntents => f.write_str("it was confirmed three times and never accepted"),
            Self::NoAnswer => f.write_str("no definite answer from the service for a day; it is still asked"),
            Self::ProvedAfterDoubt => f.write_str("after a long doubt it is proved that nothing was posted"),
            Self::OtherAccount => f.write_str(
                "it was to be confirmed under another account; with that account's credentials it continues",
            ),
            Self::NoFolder => f.write_str("its folder is not in the configuration any more"),
            Self::Restored => f.write_str("mailchute's own records were lost or went back in time"),
        }
    }
}

/// A span of time in its largest unit that loses nothing: the number, and the unit (0 days, 1 hours, 2
/// minutes, 3 seconds).
pub fn largest_unit(seconds: u64) -> (u64, usize) {
    let whole = |(length, unit)| {
        (seconds >= length && seconds.is_multiple_of(length)).then(|| (seconds / length, unit))
    };
    [86_400, 3_600, 60].into_iter().zip(0..).find_map(whole).unwrap_or((seconds, 3))
}

/// As a person writes it in a rule: `normal trackable`.
impl fmt::Display for Shipping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method.word())?;
        self.options.iter().try_for_each(|option| write!(f, " {}", option.word()))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LettersPerDay(limit) => write!(f, "the folder's limit of {limit} letters a day is reached"),
            Self::SheetsPerDay(limit) => write!(f, "the folder's limit of {limit} sheets a day is reached"),
            Self::Burst { letters, seconds, usually } => {
                let (count, unit) = largest_unit(*seconds);
                let unit = ["days", "hours", "minutes", "seconds"][unit];
                write!(f, "more than {letters} letters came within {count} {unit}")?;
                match usually {
                    Some((usually, now)) => write!(f, " (usually {usually} a day, now {now})"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NothingPosted => "Nothing was posted; cancel it before it is sent again",
            Self::Unknown => "It may have been posted: do not send it again",
        })
    }
}

impl fmt::Display for AccountProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CardDeclined => f.write_str("the card was declined"),
            Self::CardNotRegistered => f.write_str("no card is registered for the account"),
            Self::AccountNotFound => f.write_str("the account does not exist any more"),
            Self::NotAllowed(why) => write!(f, "the credentials are not accepted: {why}"),
            Self::OtherPayment(code) => write!(f, "payment is refused: {code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_the_largest_unit_without_a_fraction() {
        let spans =
            [(0, (0, 3)), (90, (90, 3)), (600, (10, 2)), (7200, (2, 1)), (86_400, (1, 0)), (90_000, (25, 1))];
        for (seconds, told) in spans {
            assert_eq!(largest_unit(seconds), told);
        }
    }
}
