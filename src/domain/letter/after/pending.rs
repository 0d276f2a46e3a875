//! Before an intent, when nothing can have been posted: create, upload and check.

use crate::domain::letter::Letter;
use crate::domain::letter::change::{AccountNews, Change, Due};
use crate::domain::letter::fact::{Abandonment, Fact, Reason};
use crate::domain::letter::mail::Mail;
use crate::domain::letter::next_step::Moment;
use crate::domain::letter::outcome::{CreateAnswer, ReadAnswer, Status, UploadAnswer};
use crate::domain::letter::state::State;

/// After this many mails whose uploads failed, the failure is not transient.
const MAILS_REFUSED: u32 = 5;

impl Letter {
    pub(super) fn after_create(&self, answer: &CreateAnswer) -> Change {
        let State::Admitted = &self.state else { return self.out_of_step() };
        match answer {
            CreateAnswer::Made(mail) => Change::facts([Fact::Created(mail.clone())])
                .attempts(self.attempts)
                .account(AccountNews::CanCreate),
            CreateAnswer::Refused(why) => self.hold(Reason::Refused(why.clone())),
        }
    }

    pub(super) fn after_upload(&self, answer: &UploadAnswer, moment: &Moment) -> Change {
        let State::Created { mail, .. } = &self.state else { return self.out_of_step() };
        match answer {
            UploadAnswer::Taken { document } => {
                Change::facts([Fact::Uploaded { mail: mail.k, document: *document }]).attempts(self.attempts)
            }
            UploadAnswer::TargetsLost => self.let_go(mail, Abandonment::TargetsLost),
            UploadAnswer::Refused(why) if mail.k > MAILS_REFUSED => {
                self.hold(Reason::UploadRefused(why.clone()))
            }
            UploadAnswer::Refused(why) => {
                let wait = moment.retry.ordinary(mail.k, moment.jitter);
                self.let_go(mail, Abandonment::UploadRefused).due(Due::At(moment.now + wait)).trouble(why)
            }
            UploadAnswer::Damaged { document } => self.hold(Reason::DocumentDamaged(*document)),
        }
    }

    fn let_go(&self, mail: &Mail, why: Abandonment) -> Change {
        Change::facts([Fact::Abandoned { mail: mail.k, why }]).attempts(self.attempts)
    }

    /// The mail at the service must be what was ordered. Only then the intent follows.
    pub(super) fn after_check(&self, mail: &Mail, answer: &ReadAnswer, moment: &Moment) -> Change {
        let reading = match answer {
            ReadAnswer::Found(reading) => reading,
            // It may not be visible yet. If it stays so, the deadline abandons it.
            ReadAnswer::NotFound(_) => {
                return self.try_again(moment).trouble("the new mail can't be read yet");
            }
        };
        let difference = self.difference(reading);
        match (reading.status, difference) {
            (Status::Pending, Some(difference)) => self.hold(Reason::NotAsMeant(difference)),
            (Status::Confirmed | Status::Shipped, Some(difference)) => {
                self.hold(Reason::PostedOtherwise(difference))
            }
            (Status::Cancelled, _) => {
                self.hold(Reason::NotAsMeant("it is cancelled before it was confirmed".to_owned()))
            }
            // It is confirmed already, although we have no intent. A second confirm will report that.
            (Status::Pending | Status::Confirmed | Status::Shipped, None) => {
                let window = (reading.confirm_by - reading.created_at).num_seconds();
                Change::facts([Fact::Intended { mail: mail.k, window }])
            }
        }
    }
}
