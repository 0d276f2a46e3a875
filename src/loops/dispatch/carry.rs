//! Takes one letter through its steps until it must wait: decide, perform, record.

use std::sync::atomic::Ordering;

use chrono::TimeDelta;
use tokio::sync::futures::Notified;

use super::account::Account;
use super::{DispatchError, Shared, perform};
use crate::base::clock::Time;
use crate::domain::letter::{
    Answer, Change, Due, Fact, Letter, Moment, Number, Outcome, Realm, Start, State,
};
use crate::domain::pause::{Cause, Pause};
use crate::outside::journal;
use crate::outside::store::{BeforeStep, Record, RecordError, StoreError};

/// Letters of a paused account are looked at after this time, and when the account works again.
const PAUSED_LOOK: TimeDelta = TimeDelta::minutes(1);
/// The wait after a change that could not be recorded for a reason that will not go away.
const UNRECORDABLE: TimeDelta = TimeDelta::hours(1);

/// Why work on a letter stopped.
#[derive(Debug)]
pub(super) enum PutDown {
    Waits,
    /// Nothing can be written at present.
    DiskFull,
    /// The process must end.
    Ends(DispatchError),
}

impl From<RecordError> for PutDown {
    fn from(error: RecordError) -> Self {
        match error {
            // Another worker or a command changed it, so it is loaded again.
            RecordError::Stale(_) => Self::Waits,
            RecordError::NotWritten(_) => Self::DiskFull,
            RecordError::Sqlite(error) if RecordError::is_full(&error) => Self::DiskFull,
            RecordError::Halted(halted) => Self::Ends(halted.into()),
            RecordError::Read(error) => Self::Ends(error.into()),
            RecordError::Sqlite(error) if !RecordError::refuses(&error) => {
                Self::Ends(StoreError::from(error).into())
            }
            error @ (RecordError::Contradiction(..) | RecordError::Json(_) | RecordError::Sqlite(_)) => {
                Self::Ends(DispatchError::Unrecordable(error))
            }
        }
    }
}

impl Shared {
    /// `probe` says that it may continue although its account is paused, to see whether the account works
    /// again.
    pub(super) async fn carry(&self, number: Number, probe: bool) -> PutDown {
        let put_down = match self.try_to_carry(number, probe).await {
            Ok(()) => return PutDown::Waits,
            Err(error) => PutDown::from(error),
        };
        let PutDown::Ends(DispatchError::Unrecordable(error)) = put_down else { return put_down };
        // One letter that cannot be recorded must not hold up the others.
        journal::unrecordable(number, &error);
        let until = self.clock.now() + UNRECORDABLE;
        match self.store.put_off(number, until, error.to_string()).await {
            Ok(()) => PutDown::Waits,
            Err(error) => error.into(),
        }
    }

    async fn try_to_carry(&self, number: Number, probe: bool) -> Result<(), RecordError> {
        let mut commands = self.permits.next_commands();
        let Some((mut letter, mut before)) = self.store.letter_before_step(number)? else {
            return self.refuse_orders(number).await;
        };
        let account_name = letter.order.account.clone();
        let account = self.accounts.get(&account_name).map(AsRef::as_ref);
        let mut is_commanded = false;
        let mut kept_permit = None;
        let mut upload_place = None;
        loop {
            let order = before.order;
            is_commanded |= order.is_some();
            let needs_place = letter.state == State::Admitted && self.permits.uploads_are_slow();
            if needs_place && !is_commanded && upload_place.is_none() {
                upload_place = self.permits.acquire_upload(commands).await;
                // The wait may have been long, and a command may have come.
                (commands, before) = self.look(number, &account_name)?;
                continue;
            }
            // The decision depends on the time, so the permit comes first.
            let permit = match (order, kept_permit.take()) {
                (Some(_), _) => None,
                (None, None) => {
                    let permit = self.permits.acquire(is_commanded, commands).await;
                    // The wait may have been long, and the loop may not have seen a new command yet.
                    (commands, before) = self.look(number, &account_name)?;
                    if permit.is_none() || before.order.is_some() {
                        continue;
                    }
                    permit
                }
                (None, kept) => kept,
            };
            let ends = self.stopping.load(Ordering::SeqCst) || self.store.is_halted();
            if ends || (!probe && !is_commanded && self.rests(&letter, account)) {
                return Ok(());
            }
            let Some((outcome, moment)) = self.next(&letter, &before, account, probe).await? else {
                return Ok(());
            };
            let mut change = letter.after(&outcome, &moment);
            if change.facts.is_empty() && change.due == Due::Now && order.is_none() {
                // It had no effect, so it is not repeated immediately.
                change.due = Due::At(moment.now + moment.retry.quickest);
            }
            // There is little time between an intent and its confirmation, so that does not wait for a permit again.
            kept_permit = permit.filter(|_| intends(&change));
            let goes_on = change.due == Due::Now;
            let by_command = order.map(|_| "a person's command came first");
            let silence = by_command.or_else(|| perform::silence(&outcome)).map(str::to_owned);
            letter = self.record(letter, change, moment.now, order.map(|(id, _)| id)).await?;
            upload_place = upload_place.filter(|_| waits_for_upload(&letter));
            if let Some(account) = account.filter(|_| probe && !goes_on) {
                self.probed(account, silence.as_deref()).await?;
            }
            self.memory.look_after(&letter);
            if !goes_on {
                return Ok(());
            }
            // Otherwise commands since the last look end the wait for the permit, which is followed by another look.
            if order.is_some() || kept_permit.is_some() {
                (commands, before) = self.look(number, &account_name)?;
            }
        }
    }

    /// What may prevent the next step now, and a signal of commands that come after this.
    fn look(&self, number: Number, account: &str) -> Result<(Notified<'_>, BeforeStep), StoreError> {
        let commands = self.permits.next_commands();
        Ok((commands, self.store.before_step(number, account)?))
    }

    /// Whether the service stopped answering while a letter that is not urgent waited for its permit.
    fn rests(&self, letter: &Letter, account: Option<&Account>) -> bool {
        letter.state.urgency() > 0 && account.is_some_and(|account| account.rests(self.clock.now()).is_some())
    }

    /// The outcome of the next step. `None` if nothing can be done now.
    async fn next(
        &self,
        letter: &Letter,
        before: &BeforeStep,
        account: Option<&Account>,
        probe: bool,
    ) -> Result<Option<(Outcome, Moment)>, RecordError> {
        if let Some((_, command)) = before.order {
            // While the realm is unknown, only steps that need no answer are possible.
            let realm = account.and_then(Account::realm).unwrap_or(Realm(String::new()));
            let moment = self.moment(letter, realm, Start::Go);
            return Ok(Some((Outcome::Asked(command), moment)));
        }
        let Some((account, realm)) = account.and_then(|account| Some((account, account.realm()?))) else {
            return Ok(None);
        };
        let start = self.start(letter, before.pause.as_ref(), probe);
        let step = letter.next_step(&self.moment(letter, realm.clone(), start));
        let (asked, outcome) = self.perform(letter, step, account, &realm).await;
        let moment = self.moment(letter, realm, start);
        let silence = perform::silence(&outcome);
        match silence.filter(|_| asked) {
            Some(why) => account.does_not_answer(moment.now, why),
            None if asked => account.answers(moment.now),
            None => {}
        }
        Ok(Some((outcome, moment)))
    }

    fn moment(&self, letter: &Letter, realm: Realm, start: Start) -> Moment {
        Moment { now: self.clock.now(), jitter: jitter(letter), realm, start, retry: self.retry }
    }

    /// Whether something that costs money may be begun.
    fn start(&self, letter: &Letter, pause: Option<&Pause>, probe: bool) -> Start {
        let begins = matches!(letter.state, State::Admitted | State::Uploaded { .. });
        // A person may have paused it while the letter that probes it waited for its permit.
        let goes = !begins || pause.is_none_or(|pause| probe && pause.cause != Cause::ByPerson);
        if goes { Start::Go } else { Start::WaitUntil(self.clock.now() + PAUSED_LOOK) }
    }

    async fn record(
        &self,
        letter: Letter,
        change: Change,
        at: Time,
        order: Option<i64>,
    ) -> Result<Letter, RecordError> {
        let (facts, trouble) = (change.facts.clone(), change.trouble.clone());
        let letter = self.store.record(Record { letter, change, at, order }).await?;
        journal::recorded(&letter, &facts, trouble.as_deref());
        self.bells.originals.notify_one();
        Ok(letter)
    }

    async fn refuse_orders(&self, number: Number) -> Result<(), RecordError> {
        while let Some((id, _)) = self.store.order_for(number)? {
            let answer = Answer::Refused(format!("there is no letter {number}"));
            self.store.answer_order(id, answer, self.clock.now()).await?;
        }
        Ok(())
    }
}

fn intends(change: &Change) -> bool {
    change.facts.iter().any(|fact| matches!(fact, Fact::Intended { .. }))
}

/// Whether its targets for uploads are known, or will be: they expire within minutes.
fn waits_for_upload(letter: &Letter) -> bool {
    matches!(letter.state, State::Admitted | State::Created { .. })
}

/// Spreads the waits of letters that began together. It is not random, so that a run can be repeated.
fn jitter(letter: &Letter) -> u8 {
    let mixed = (letter.number.0 << 8 | u64::from(letter.attempts & 255)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed.to_be_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_disk_in_doubt_is_called_that_and_every_other_end_keeps_its_cause() {
        let json = || serde_json::from_str::<u8>("x").unwrap_err();
        assert!(matches!(PutDown::from(RecordError::Stale(Number(1))), PutDown::Waits));
        assert!(matches!(PutDown::from(RecordError::NotWritten(String::new())), PutDown::DiskFull));
        let PutDown::Ends(error) = PutDown::from(RecordError::Json(json())) else { panic!("it went on") };
        assert!(matches!(error, DispatchError::Unrecordable(_)), "{error}");
        assert!(format!("{:#}", anyhow::Error::from(error)).contains(&json().to_string()));
        let broken = PutDown::from(RecordError::Read(StoreError::Broken));
        assert!(matches!(broken, PutDown::Ends(DispatchError::Store(StoreError::Broken))));
    }
}
