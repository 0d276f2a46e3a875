//! A posted letter: it is followed until it has shipped and, if it is trackable, has its tracking number.

use chrono::TimeDelta;

use crate::base::clock::Time;
use crate::domain::letter::Letter;
use crate::domain::letter::change::{Change, Due, Notice};
use crate::domain::letter::fact::{BEING_PACKED, Fact};
use crate::domain::letter::mail::Mail;
use crate::domain::letter::next_step::Moment;
use crate::domain::letter::outcome::{ReadAnswer, Reading, Status};
use crate::domain::letter::state::{CancelWish, ShipForecast, State};

/// The delay after the ship date, chosen so that one look is usually enough.
const AFTER_SHIP_DATE: TimeDelta = TimeDelta::minutes(10);
/// A letter that has not shipped this long after its date is reported to operators.
const OVERDUE: TimeDelta = TimeDelta::days(3);
/// The intervals between looks after the ship date. They grow.
const LATER_LOOKS: [TimeDelta; 5] = [
    TimeDelta::minutes(30),
    TimeDelta::hours(2),
    TimeDelta::hours(6),
    TimeDelta::hours(12),
    TimeDelta::hours(24),
];

impl Letter {
    pub(super) fn after_following(&self, mail: &Mail, answer: &ReadAnswer, moment: &Moment) -> Change {
        let is_asked = matches!(self.state, State::Confirmed { wish: CancelWish::Asked, .. });
        let reading = match answer {
            ReadAnswer::Found(reading) => reading,
            ReadAnswer::NotFound(_) => {
                let ships_at = self.ships_at(mail);
                let later = if is_asked {
                    self.cancel_again(ships_at, moment)
                } else {
                    self.look_later(ships_at, moment)
                };
                return later.trouble("the posted mail can't be read");
            }
        };
        match (&self.state, reading.status) {
            (State::Confirmed { .. }, Status::Shipped) if is_asked => {
                self.too_late(mail.k, BEING_PACKED, moment)
            }
            (State::Confirmed { .. }, Status::Shipped) => self.has_left(mail, reading, moment),
            (State::Confirmed { .. }, Status::Cancelled) => {
                let notice = if is_asked { Notice::Cancelled } else { Notice::CancelledElsewhere };
                Change::facts([Fact::Cancelled { mail: mail.k, by_us: is_asked }])
                    .due(Due::Never)
                    .owing(notice)
            }
            // A status of "pending" is stale here: confirm was already answered.
            (State::Confirmed { seen, .. }, Status::Confirmed | Status::Pending) => {
                let now = ShipForecast { ships_at: reading.ships_at, cancellable: reading.cancellable };
                let news =
                    (*seen != Some(now) && reading.status == Status::Confirmed).then_some(Fact::Seen {
                        mail: mail.k,
                        ships_at: now.ships_at,
                        cancellable: now.cancellable,
                    });
                let later = if is_asked {
                    self.cancel_again(reading.ships_at, moment).trouble("it is not cancelled yet")
                } else {
                    self.look_later(reading.ships_at, moment)
                };
                Change { facts: news.into_iter().collect(), ..later }
            }
            (State::Shipped { at, .. }, _any) => match &reading.tracking {
                Some(number) => {
                    let fact = Fact::Tracked { mail: mail.k, tracking: number.clone() };
                    Change::facts([fact]).due(Due::Never).owing(Notice::Shipped)
                }
                None => self.look_later(*at, moment),
            },
            (
                State::Admitted
                | State::Created { .. }
                | State::Uploaded { .. }
                | State::Confirming { .. }
                | State::Withdrawing { .. }
                | State::Cancelled { .. }
                | State::Withdrawn
                | State::Closed
                | State::Held { .. },
                _any,
            ) => self.out_of_step(),
        }
    }

    fn ships_at(&self, mail: &Mail) -> Time {
        match &self.state {
            State::Confirmed { seen: Some(seen), .. } => seen.ships_at,
            State::Confirmed { seen: None, .. }
            | State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. }
            | State::Shipped { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => mail.ships_at,
        }
    }

    fn has_left(&self, mail: &Mail, reading: &Reading, moment: &Moment) -> Change {
        let at = reading.shipped_at.unwrap_or(moment.now);
        let tracking = reading.tracking.clone();
        let complete = tracking.is_some() || !self.order.shipping.is_trackable();
        let change = Change::facts([Fact::Shipped { mail: mail.k, at, tracking }]);
        if complete {
            change.due(Due::Never).owing(Notice::Shipped)
        } else {
            change.due(Due::At(moment.now + LATER_LOOKS[0])).trouble("its tracking number is not there yet")
        }
    }

    /// Repeats a cancel that had no definite answer, after a read that shows no end.
    fn cancel_again(&self, ships_at: Time, moment: &Moment) -> Change {
        let again = self.try_again(moment);
        if moment.now >= ships_at + OVERDUE { again.owing(Notice::Overdue) } else { again }
    }

    /// Looks around the ship date, then at growing intervals, at least once a day.
    fn look_later(&self, ships_at: Time, moment: &Moment) -> Change {
        let first = ships_at + AFTER_SHIP_DATE;
        if moment.now < first {
            return Change::none(Due::At(first));
        }
        let index = usize::try_from(self.attempts).unwrap_or(usize::MAX).min(LATER_LOOKS.len() - 1);
        let change = Change::none(Due::At(moment.now + LATER_LOOKS[index])).attempts(self.attempts + 1);
        if moment.now >= ships_at + OVERDUE {
            change.owing(Notice::Overdue).trouble("it should have shipped by now")
        } else {
            change
        }
    }
}
