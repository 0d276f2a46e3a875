//! Whether the service shows something of a letter's mail that contradicts the letter's facts.

use super::Letter;
use super::fact::Certainty;
use super::mail::Mail;
use super::outcome::{Reading, Status};
use super::state::State;

impl Letter {
    /// The contradiction, if there is one, between the letter's facts and the mail as the service shows it. A
    /// `reading` of `None` means that the service does not have the mail.
    pub fn contradicted_by(&self, mail: &Mail, reading: Option<&Reading>) -> Option<String> {
        let there = reading.map(|reading| reading.status);
        let is_posted = matches!(there, Some(Status::Confirmed | Status::Shipped));
        match &self.state {
            State::Confirmed { mail: ours, .. } | State::Shipped { mail: ours, .. } if ours.k == mail.k => {
                match there {
                    Some(Status::Confirmed | Status::Shipped) => {
                        let what = self.difference(reading?)?;
                        Some(format!("mail {} is posted, and {what}", mail.k))
                    }
                    Some(Status::Cancelled) => {
                        Some(format!("mail {} is posted by what is known here, and cancelled there", mail.k))
                    }
                    Some(Status::Pending) | None => Some(format!(
                        "mail {} is posted by what is known here, and the service does not have it confirmed (I2)",
                        mail.k
                    )),
                }
            }
            // The outcome of this mail is not known yet, so nothing contradicts it.
            State::Confirming { open, .. } | State::Withdrawing { open, .. } if open.mail.k == mail.k => None,
            State::Held { open: Some(id), reason }
                if *id == mail.id && reason.certainty() == Certainty::Unknown =>
            {
                None
            }
            State::Closed => None,
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. }
            | State::Confirmed { .. }
            | State::Shipped { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Held { .. } => is_posted.then(|| {
                format!("mail {} is posted at the service, and not by what is known here (I1, I3)", mail.k)
            }),
        }
    }
}
