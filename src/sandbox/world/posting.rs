//! The calls that create, confirm, show and cancel a mail request.

use super::files::check_files;
use super::ids::{AccountId, BlobId, ContentId, Dice, MailId};
use super::ledger::Event;
use super::mail::{Content, Deletion, Mail, Phase};
use super::problem::{Code, Fault, Problem};
use super::request::{Created, CreatedContent, Payment, UploadFields};
use super::token::{Closed, Scope};
use super::{Card, Due, Key, Reply, World, tariff};
use crate::base::secret::Secret;
use crate::outside::api::wire::CreateMail;

impl From<Closed> for Reply {
    fn from(closed: Closed) -> Self {
        match closed {
            Closed::Unauthorized => Self::Unauthorized,
            Closed::Forbidden => Self::Forbidden,
            Closed::AccountGone => Self::Problem(Code::AccountNotFound.into()),
        }
    }
}

impl From<Code> for Reply {
    fn from(code: Code) -> Self {
        Self::Problem(code.into())
    }
}

pub(super) type Answer = Result<Reply, Reply>;

pub(super) fn either(answer: Answer) -> Reply {
    answer.unwrap_or_else(|refusal| refusal)
}

impl World {
    pub(super) fn read_account(&self, bearer: Option<&Secret>) -> Reply {
        either(self.authorize(bearer, Scope::AccountRead).map_err(Reply::from).and_then(|id| {
            let account = self.account(id.as_str()).ok_or(Code::AccountNotFound)?;
            let card_registered = account.card != Card::None;
            Ok(Reply::Account { id, name: account.name.clone(), card_registered })
        }))
    }

    /// Not an operation. Any valid token gets this answer.
    pub(super) fn elsewhere(&self, bearer: Option<&Secret>, problem: Problem) -> Reply {
        match self.authorize(bearer, Scope::MailsRead) {
            Err(Closed::Unauthorized) => Reply::Unauthorized,
            Ok(_) | Err(Closed::Forbidden | Closed::AccountGone) => Reply::Problem(problem),
        }
    }

    pub(super) fn create_mail(
        &mut self,
        bearer: Option<&Secret>,
        order: Result<Box<CreateMail>, Vec<Fault>>,
        dice: Dice,
    ) -> Reply {
        either(self.try_create(bearer, order, dice))
    }

    fn try_create(
        &mut self,
        bearer: Option<&Secret>,
        order: Result<Box<CreateMail>, Vec<Fault>>,
        dice: Dice,
    ) -> Answer {
        let account = self.authorize(bearer, Scope::MailsWrite)?;
        let order =
            *order.map_err(|faults| Reply::Problem(Problem { code: Code::InvalidRequest, faults }))?;
        if self.account(account.as_str()).is_none_or(|account| account.card == Card::None) {
            return Err(Code::CardNotRegistered.into());
        }
        let sheets = tariff::sheets(&order.files);
        if sheets > tariff::SHEETS_PER_MAIL {
            let message =
                format!("{sheets} sheets in all; at most {} can be posted", tariff::SHEETS_PER_MAIL);
            return Err(Reply::Problem(Problem {
                code: Code::OverWeight,
                faults: vec![Fault::at("files", message)],
            }));
        }
        let id = self.next_mail_id(dice);
        let contents: Vec<Content> = (0..order.files.len())
            .map(|n| Content { id: ContentId::new(dice.name("c", n)), upload: None })
            .collect();
        let mail = Mail {
            id: id.clone(),
            account: account.clone(),
            contents,
            created_at: self.now,
            ships_at: tariff::ship_date(self.now),
            packing_since: None,
            phase: Phase::Pending,
            previous: None,
            order,
        };
        let created = self.describe(&mail);
        self.note(&account, Some(&id), Event::Created { files: mail.contents.len(), sheets });
        self.due.extend(mail.next_due().map(|due| (due, Due::Mail(id.clone()))));
        self.effects.changed.insert(Key::Mail(id.clone()));
        self.mails.insert(id, mail);
        Ok(Reply::Created(created))
    }

    /// Ids sort by creation, also those of many mails made at one moment of a stopped clock.
    fn next_mail_id(&self, dice: Dice) -> MailId {
        let latest = self.mails.last_key_value().and_then(|(id, _)| id.number_at(self.now));
        dice.mail_id(self.now, latest.map_or(0, |number| number.saturating_add(1)))
    }

    fn describe(&self, mail: &Mail) -> Created {
        let contents = mail.contents.iter().zip(&mail.order.files).map(|(content, file)| {
            let key = format!("{}/{}", mail.id, content.id);
            let fields = self.signer.upload_fields(&key, self.now, mail.targets_expire_at());
            CreatedContent {
                id: content.id.clone(),
                file_name: file.file_name.clone(),
                fields: UploadFields(fields),
            }
        });
        Created {
            id: mail.id.clone(),
            ships_at: mail.ships_at,
            confirm_by: mail.confirm_by(),
            targets_expire_at: mail.targets_expire_at(),
            contents: contents.collect(),
        }
    }

    pub(super) fn confirm_mail(&mut self, bearer: Option<&Secret>, id: &MailId, payment: Payment) -> Reply {
        let account = match self.authorize(bearer, Scope::MailsWrite) {
            Ok(account) => account,
            Err(closed) => return closed.into(),
        };
        let result = self.try_confirm(&account, id, payment);
        let outcome = match &result {
            Ok(_) => "confirmed",
            Err(problem) => problem.code.as_str(),
        };
        let owned = self.mails.get(id).is_some_and(|mail| mail.account == account);
        self.note(&account, owned.then_some(id), Event::ConfirmAttempted { outcome: outcome.to_owned() });
        match result {
            Ok(amount) => {
                let at = self.now;
                self.note(&account, Some(id), Event::Authorized { amount });
                self.enter(id, Phase::Confirmed { at, amount });
                let sealed: Vec<BlobId> = self.mails.get(id).map(Mail::blobs).unwrap_or_default();
                self.effects.sealed.extend(sealed);
                Reply::Done
            }
            Err(problem) => {
                if problem.code == Code::CardDeclined {
                    self.delete(id, Deletion::CardDeclined);
                }
                Reply::Problem(problem)
            }
        }
    }

    /// The amount to authorize, or why not.
    fn try_confirm(&self, account: &AccountId, id: &MailId, payment: Payment) -> Result<u32, Problem> {
        let mail = self.owned(account, id).ok_or(Code::MailNotFound)?;
        match mail.phase {
            Phase::Pending => {}
            Phase::Confirmed { .. } | Phase::Cancelled { .. } | Phase::Shipped { .. } => {
                return Err(Code::MailAlreadyConfirmed.into());
            }
            Phase::Deleted { .. } => return Err(Code::MailNotFound.into()),
        }
        check_files(mail)?;
        let card = self.account(account.as_str()).map_or(Card::None, |account| account.card);
        match (payment, card) {
            (Payment::InProgress, _) => Err(Code::PaymentInProgress.into()),
            (Payment::Declined, _) | (Payment::AsTheCardSays, Card::Declining | Card::None) => {
                Err(Code::CardDeclined.into())
            }
            (Payment::AsTheCardSays, Card::Ok) => Ok(tariff::amount(&mail.order)),
        }
    }

    pub(super) fn read_mail(&self, bearer: Option<&Secret>, id: &MailId, stale: bool) -> Reply {
        either(self.authorize(bearer, Scope::MailsRead).map_err(Reply::from).and_then(|account| {
            let mail = self.owned(&account, id).and_then(|mail| mail.view(self.now, stale));
            Ok(Reply::Mail(Box::new(mail.ok_or(Code::MailNotFound)?)))
        }))
    }

    pub(super) fn cancel_mail(&mut self, bearer: Option<&Secret>, id: &MailId) -> Reply {
        let account = match self.authorize(bearer, Scope::MailsWrite) {
            Ok(account) => account,
            Err(closed) => return closed.into(),
        };
        let result = self.try_cancel(&account, id);
        let outcome = result.as_ref().map_or_else(|code| code.as_str(), |_| "cancelled");
        let owned = self.mails.get(id).is_some_and(|mail| mail.account == account);
        self.note(&account, owned.then_some(id), Event::CancelAttempted { outcome: outcome.to_owned() });
        match result {
            Ok((phase, amount)) => {
                self.enter(id, phase);
                self.note(&account, Some(id), Event::Released { amount });
                Reply::Done
            }
            Err(code) => code.into(),
        }
    }

    fn try_cancel(&self, account: &AccountId, id: &MailId) -> Result<(Phase, u32), Code> {
        let mail = self.owned(account, id).ok_or(Code::MailNotFound)?;
        match &mail.phase {
            Phase::Deleted { .. } => Err(Code::MailNotFound),
            Phase::Cancelled { .. } => Err(Code::MailAlreadyCancelled),
            Phase::Pending | Phase::Shipped { .. } => Err(Code::MailNotCancellable),
            Phase::Confirmed { .. } if mail.packing_since.is_some() => Err(Code::MailNotCancellable),
            Phase::Confirmed { .. } if self.now >= mail.cancel_until() => {
                Err(Code::CancellationWindowExpired)
            }
            Phase::Confirmed { at, amount } => {
                Ok((Phase::Cancelled { confirmed_at: *at, at: self.now }, *amount))
            }
        }
    }

    pub(super) fn owned(&self, account: &AccountId, id: &MailId) -> Option<&Mail> {
        self.mails.get(id).filter(|mail| mail.account == *account)
    }
}
