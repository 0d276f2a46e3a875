//! Alarms: each cause is reported to operators once, and once more when it is over.
//!
//! A trouble that comes and goes is one alarm. It is over only after it has stayed away for a while.

use std::fmt;
use std::str::FromStr;

use chrono::TimeDelta;

use crate::base::clock::Time;

/// A cause of trouble. It is reported once, however often it occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alarm {
    /// The service has not answered for an account for 15 minutes.
    Silent(String),
    /// A folder cannot be used.
    Away(String),
    /// A folder's address book keeps changing or is missing, so drops wait for it.
    Book(String),
    /// Drops in a folder cannot be moved because a permission is missing.
    Stuck(String),
    /// A folder is a copy of another one, so everything in it is held.
    Copied(String),
    /// A folder with unfinished letters was not in the configuration at a start.
    LeftOut(String),
    /// A saved configuration cannot be used.
    Configuration,
    /// The disk of the state directory is nearly full.
    Disk,
    /// A queue's mailbox can't be read.
    Mailbox(String),
    /// No e-mail can be sent. It is shown, and never mailed.
    Mail,
}

/// An alarm that was raised, and how far it was reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    pub alarm: Alarm,
    pub detail: String,
    pub since: Time,
    pub told: bool,
    /// The time since when the trouble is away.
    pub fine_since: Option<Time>,
}

/// What must be done about an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlarmStep {
    Tell,
    TellOver,
    /// It was over before anybody was told of it.
    Forget,
    Wait(Option<Time>),
}

impl Alarm {
    /// How long the trouble must last before it is reported. A share that is mounted again is away for a
    /// moment only.
    fn patience(&self) -> TimeDelta {
        match self {
            Self::Away(_) | Self::Stuck(_) => TimeDelta::minutes(1),
            Self::Book(_) | Self::Mailbox(_) => TimeDelta::minutes(5),
            // Whoever raises these has already waited.
            Self::Silent(_)
            | Self::Copied(_)
            | Self::LeftOut(_)
            | Self::Configuration
            | Self::Disk
            | Self::Mail => TimeDelta::zero(),
        }
    }

    /// How long the trouble must stay away before that is reported.
    fn calm(&self) -> TimeDelta {
        match self {
            Self::Away(_) | Self::Silent(_) | Self::Disk => TimeDelta::minutes(5),
            Self::Configuration
            | Self::Book(_)
            | Self::Stuck(_)
            | Self::Copied(_)
            | Self::LeftOut(_)
            | Self::Mailbox(_)
            | Self::Mail => TimeDelta::zero(),
        }
    }
}

impl Raised {
    pub fn next_step(&self, now: Time) -> AlarmStep {
        // A clock that was set back may have been ahead for hours. Nobody waits until it is there again.
        let then = |since: Time, wait: TimeDelta, next_step: AlarmStep| {
            let is_over = now >= since + wait || now < since - wait;
            if is_over { next_step } else { AlarmStep::Wait(Some(since + wait)) }
        };
        match (self.told, self.fine_since) {
            // While it lasts nobody can be mailed, and afterwards it is old.
            (false, None) if self.alarm == Alarm::Mail => AlarmStep::Wait(None),
            (false, None) => then(self.since, self.alarm.patience(), AlarmStep::Tell),
            (false, Some(_)) => AlarmStep::Forget,
            (true, None) => AlarmStep::Wait(None),
            (true, Some(fine)) => then(fine, self.alarm.calm(), AlarmStep::TellOver),
        }
    }
}

/// The form in which it is stored: `folder letters`.
impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(account) => write!(f, "account {account}"),
            Self::Away(folder) => write!(f, "folder {folder}"),
            Self::Book(folder) => write!(f, "book {folder}"),
            Self::Stuck(folder) => write!(f, "stuck {folder}"),
            Self::Copied(folder) => write!(f, "copy {folder}"),
            Self::LeftOut(folder) => write!(f, "left-out {folder}"),
            Self::Mailbox(queue) => write!(f, "mailbox {queue}"),
            Self::Configuration => f.write_str("configuration"),
            Self::Disk => f.write_str("disk"),
            Self::Mail => f.write_str("mail"),
        }
    }
}

impl FromStr for Alarm {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (word, name) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "account" => Ok(Self::Silent(name.to_owned())),
            "folder" => Ok(Self::Away(name.to_owned())),
            "book" => Ok(Self::Book(name.to_owned())),
            "stuck" => Ok(Self::Stuck(name.to_owned())),
            "copy" => Ok(Self::Copied(name.to_owned())),
            "mailbox" => Ok(Self::Mailbox(name.to_owned())),
            "left-out" => Ok(Self::LeftOut(name.to_owned())),
            "configuration" => Ok(Self::Configuration),
            "disk" => Ok(Self::Disk),
            "mail" => Ok(Self::Mail),
            _other => Err(()),
        }
    }
}

/// Whether a disk is nearly full: less than one twentieth is free. With 2 GB or more free it never is; with
/// less than 256 MB it always is.
pub fn is_nearly_full(free: u64, size: u64) -> bool {
    const MB: u64 = 1 << 20;
    free < (size / 20).clamp(256 * MB, 2048 * MB)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Time {
        "2026-11-20T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn an_alarm_is_told_once_and_is_over_only_after_a_while() {
        let minutes = |n| noon() + TimeDelta::minutes(n);
        let away = Raised {
            alarm: Alarm::Away("letters".to_owned()),
            detail: String::new(),
            since: noon(),
            told: false,
            fine_since: None,
        };
        assert_eq!(away.next_step(noon()), AlarmStep::Wait(Some(minutes(1))));
        assert_eq!(away.next_step(minutes(1)), AlarmStep::Tell);
        assert_eq!(Raised { fine_since: Some(noon()), ..away.clone() }.next_step(noon()), AlarmStep::Forget);
        let told = Raised { told: true, ..away };
        assert_eq!(told.next_step(minutes(900)), AlarmStep::Wait(None));
        let fine = Raised { fine_since: Some(minutes(30)), ..told };
        assert_eq!(fine.next_step(minutes(31)), AlarmStep::Wait(Some(minutes(35))));
        assert_eq!(fine.next_step(minutes(35)), AlarmStep::TellOver);
        let mail = Raised { alarm: Alarm::Mail, told: false, fine_since: None, ..fine.clone() };
        assert_eq!(mail.next_step(minutes(900)), AlarmStep::Wait(None));
        assert_eq!(Raised { fine_since: Some(noon()), ..mail }.next_step(noon()), AlarmStep::Forget);
        let bad = Raised { alarm: Alarm::Configuration, told: false, fine_since: None, ..fine };
        assert_eq!(bad.next_step(noon()), AlarmStep::Tell);
    }

    #[test]
    fn an_alarm_does_not_wait_until_a_clock_that_was_set_back_is_there_again() {
        let before = |n| noon() - TimeDelta::minutes(n);
        let raised = |alarm, told, fine_since| Raised {
            alarm,
            detail: String::new(),
            since: noon(),
            told,
            fine_since,
        };
        let away = |told, fine| raised(Alarm::Away("letters".to_owned()), told, fine);
        assert_eq!(away(false, None).next_step(before(1)), AlarmStep::Wait(Some(before(-1))));
        assert_eq!(away(false, None).next_step(before(2)), AlarmStep::Tell);
        assert_eq!(away(true, Some(noon())).next_step(before(5)), AlarmStep::Wait(Some(before(-5))));
        assert_eq!(away(true, Some(noon())).next_step(before(6)), AlarmStep::TellOver);
        assert_eq!(raised(Alarm::Disk, false, None).next_step(before(1)), AlarmStep::Tell);
        assert_eq!(raised(Alarm::Mail, false, None).next_step(before(900)), AlarmStep::Wait(None));
    }

    #[test]
    fn alarms_are_kept_by_their_words() {
        let alarms = [
            Alarm::Silent("main".to_owned()),
            Alarm::Away("送付状 2".to_owned()),
            Alarm::Book("送付状 2".to_owned()),
            Alarm::Stuck("送付状 2".to_owned()),
            Alarm::Configuration,
            Alarm::Disk,
            Alarm::Mail,
        ];
        for alarm in alarms {
            assert_eq!(alarm.to_string().parse(), Ok(alarm));
        }
    }

    #[test]
    fn a_disk_is_nearly_full_by_its_size() {
        let gb = |n: u64| n << 30;
        assert!(is_nearly_full(gb(1), gb(100)) && !is_nearly_full(gb(3), gb(1000)));
        assert!(is_nearly_full(200 << 20, gb(1)) && !is_nearly_full(300 << 20, gb(1)));
    }
}
