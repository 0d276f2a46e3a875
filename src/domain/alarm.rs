//! What is wrong around the letters: one word to the operators for each cause, and one when it is over.
//!
//! What comes and goes is one alarm: it is over only when it has been fine for a while.

use std::fmt;
use std::str::FromStr;

use chrono::TimeDelta;

use crate::base::clock::Time;

/// A cause of trouble, which is told once however much it disturbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alarm {
    /// The service has not answered an account for a quarter of an hour.
    Silent(String),
    /// A folder can't be worked on.
    Away(String),
    /// The address book of a folder keeps changing or is missing, so drops wait for it.
    Book(String),
    /// Drops in a folder can't be moved for want of a right.
    Stuck(String),
    /// A folder is a copy of another, so what lies in it is held.
    Copied(String),
    /// A folder with unfinished letters was not in the configuration at a start.
    LeftOut(String),
    /// A configuration that was saved can't be used.
    Configuration,
    /// The state's disk is nearly full.
    Disk,
}

/// An alarm that was raised, and how far it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    pub alarm: Alarm,
    pub detail: String,
    pub since: Time,
    pub told: bool,
    /// Since when it is fine again.
    pub fine_since: Option<Time>,
}

/// What is to be done about an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Tell,
    TellOver,
    /// It was over before anybody was told.
    Forget,
    Wait(Option<Time>),
}

impl Alarm {
    /// How long it must last before it is told: a share that is mounted anew is away for a moment.
    fn patience(&self) -> TimeDelta {
        match self {
            Self::Away(_) | Self::Stuck(_) => TimeDelta::minutes(1),
            Self::Book(_) => TimeDelta::minutes(5),
            // Who raises it has waited.
            Self::Silent(_) | Self::Copied(_) | Self::LeftOut(_) | Self::Configuration | Self::Disk => {
                TimeDelta::zero()
            }
        }
    }

    /// How long it must be fine before that is told.
    fn calm(&self) -> TimeDelta {
        match self {
            Self::Away(_) | Self::Silent(_) | Self::Disk => TimeDelta::minutes(5),
            Self::Configuration | Self::Book(_) | Self::Stuck(_) | Self::Copied(_) | Self::LeftOut(_) => {
                TimeDelta::zero()
            }
        }
    }
}

impl Raised {
    pub fn turn(&self, now: Time) -> Turn {
        let then = |time: Time, turn: Turn| if now >= time { turn } else { Turn::Wait(Some(time)) };
        match (self.told, self.fine_since) {
            (false, None) => then(self.since + self.alarm.patience(), Turn::Tell),
            (false, Some(_)) => Turn::Forget,
            (true, None) => Turn::Wait(None),
            (true, Some(fine)) => then(fine + self.alarm.calm(), Turn::TellOver),
        }
    }
}

/// As it is kept: `folder letters`.
impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(account) => write!(f, "account {account}"),
            Self::Away(folder) => write!(f, "folder {folder}"),
            Self::Book(folder) => write!(f, "book {folder}"),
            Self::Stuck(folder) => write!(f, "stuck {folder}"),
            Self::Copied(folder) => write!(f, "copy {folder}"),
            Self::LeftOut(folder) => write!(f, "left-out {folder}"),
            Self::Configuration => f.write_str("configuration"),
            Self::Disk => f.write_str("disk"),
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
            "left-out" => Ok(Self::LeftOut(name.to_owned())),
            "configuration" => Ok(Self::Configuration),
            "disk" => Ok(Self::Disk),
            _other => Err(()),
        }
    }
}

/// Whether so little room is left on a disk that somebody should hear of it: less than a twentieth, but
/// nobody is alarmed by 2 GB and everybody by 256 MB.
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
        assert_eq!(away.turn(noon()), Turn::Wait(Some(minutes(1))));
        assert_eq!(away.turn(minutes(1)), Turn::Tell);
        assert_eq!(Raised { fine_since: Some(noon()), ..away.clone() }.turn(noon()), Turn::Forget);
        let told = Raised { told: true, ..away };
        assert_eq!(told.turn(minutes(900)), Turn::Wait(None));
        let fine = Raised { fine_since: Some(minutes(30)), ..told };
        assert_eq!(fine.turn(minutes(31)), Turn::Wait(Some(minutes(35))));
        assert_eq!(fine.turn(minutes(35)), Turn::TellOver);
        let bad = Raised { alarm: Alarm::Configuration, told: false, fine_since: None, ..fine };
        assert_eq!(bad.turn(noon()), Turn::Tell);
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
