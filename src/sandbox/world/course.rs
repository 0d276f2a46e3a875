//! The phases of a mail request, by a call or by time alone.

use super::ids::MailId;
use super::ledger::Event;
use super::mail::{Deletion, Mail, Phase};
use super::{Due, Key, Reply, ScreenRefusal, World, tariff};

impl World {
    /// Shipping progress that ends `cancellable` before its time is over.
    pub(super) fn begin_packing(&mut self, id: &MailId) -> Reply {
        let found = self.mails.get(id).filter(|mail| matches!(mail.phase, Phase::Confirmed { .. }));
        let Some(account) = found.map(|mail| mail.account.clone()) else {
            return Reply::Screen(ScreenRefusal::NoSuchMail);
        };
        let now = self.now;
        self.alter(id, |mail| mail.packing_since = Some(now));
        self.note(&account, Some(id), Event::PackingBegan);
        Reply::ScreenDone
    }

    pub(super) fn mail_is_due(&mut self, id: &MailId) {
        let Some(mail) = self.mails.get(id) else { return };
        let (account, at) = (mail.account.clone(), self.now);
        match mail.phase.clone() {
            Phase::Pending => self.delete(id, Deletion::ConfirmByPassed),
            Phase::Confirmed { at: confirmed_at, amount } => {
                let tracking_number = tariff::trackable(&mail.order).then(|| tariff::tracking_number(id));
                self.note(&account, Some(id), Event::Shipped { tracking_number: tracking_number.clone() });
                self.enter(id, Phase::Shipped { confirmed_at, at, amount, tracking_number, billed_at: None });
            }
            Phase::Shipped { amount, .. } => {
                self.note(&account, Some(id), Event::Charged { amount });
                self.alter(id, |mail| {
                    if let Phase::Shipped { billed_at, .. } = &mut mail.phase {
                        *billed_at = Some(at);
                    }
                });
            }
            Phase::Deleted { .. } => {
                self.mails.remove(id);
                self.effects.changed.insert(Key::Mail(id.clone()));
            }
            Phase::Cancelled { .. } => {}
        }
    }

    pub(super) fn delete(&mut self, id: &MailId, why: Deletion) {
        let at = self.now;
        self.enter(id, Phase::Deleted { at, why });
        let mut lost = Vec::new();
        self.alter(id, |mail| {
            lost = mail.blobs();
            mail.contents.iter_mut().for_each(|content| content.upload = None);
        });
        self.effects.discarded.extend(lost);
        if let Some(account) = self.mails.get(id).map(|mail| mail.account.clone()) {
            self.note(&account, Some(id), Event::Deleted { why });
        }
    }

    pub(super) fn enter(&mut self, id: &MailId, phase: Phase) {
        self.alter(id, |mail| mail.previous = Some(std::mem::replace(&mut mail.phase, phase)));
    }

    /// The only way in which a mail changes. It also updates the mail's next due time.
    pub(super) fn alter(&mut self, id: &MailId, change: impl FnOnce(&mut Mail)) {
        let Some(mail) = self.mails.get_mut(id) else { return };
        let before = mail.next_due();
        change(mail);
        let after = mail.next_due();
        if before != after {
            before.map(|due| self.due.remove(&(due, Due::Mail(id.clone()))));
            self.due.extend(after.map(|due| (due, Due::Mail(id.clone()))));
        }
        self.effects.changed.insert(Key::Mail(id.clone()));
    }
}
