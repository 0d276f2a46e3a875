//! Whether a letter may go immediately, or a person must look at it first.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::clock::Time;
use crate::domain::address::Misplaced;
use crate::domain::letter::{Limit, Number, Reason};

/// What a folder posts without approval. Decided when a drop is taken in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Terms {
    /// Every letter waits for a person.
    #[serde(default)]
    pub approval: bool,
    /// Approval depends on who dropped it, and others than the file's owner could have written it.
    #[serde(default)]
    pub owner_not_proved: bool,
    /// A letter with the same documents and receiver since then makes it wait.
    #[serde(default)]
    pub duplicates_since: Option<Time>,
    #[serde(default)]
    pub letters_per_day: Option<u32>,
    #[serde(default)]
    pub sheets_per_day: Option<u32>,
    /// The maximum number of letters in a number of seconds.
    #[serde(default)]
    pub burst: Option<(u32, u64)>,
    /// The start of its day in the folder's time zone.
    #[serde(default)]
    pub day_began: Time,
}

/// What came before the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub duplicate_of: Option<Number>,
    pub letters_today: u32,
    pub sheets_today: u32,
    /// Within the period of the burst limit.
    pub letters_lately: u32,
    /// The usual number in a day, and the number in the last day.
    pub usually: Option<(u32, u32)>,
}

/// What counts of the letter itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Weighed {
    pub sheets: u32,
    /// The other prefecture to which the receiver's postal code belongs.
    pub elsewhere: Option<String>,
    /// What is wrong with the receiver's postal code by a recent list.
    pub misplaced: Option<Misplaced>,
}

impl Terms {
    /// The start of the period in which letters count for the burst limit.
    pub fn lately(&self, now: Time) -> Option<Time> {
        let (_, seconds) = self.burst?;
        now.checked_sub_signed(chrono::TimeDelta::from_std(Duration::from_secs(seconds)).ok()?)
    }

    /// Why a letter waits for a person, if it does.
    pub fn hold(&self, counts: &Counts, letter: &Weighed) -> Option<Reason> {
        let over = |limit: Option<u32>, found: u32| limit.filter(|limit| found > *limit);
        let letters = over(self.letters_per_day, counts.letters_today.saturating_add(1));
        let sheets = over(self.sheets_per_day, counts.sheets_today.saturating_add(letter.sheets));
        let burst = self.burst.filter(|(letters, _)| counts.letters_lately >= *letters);
        let duplicate = counts.duplicate_of.map(Reason::Duplicate);
        duplicate
            .or(letters.map(|limit| Reason::Limit(Limit::LettersPerDay(limit))))
            .or(sheets.map(|limit| Reason::Limit(Limit::SheetsPerDay(limit))))
            .or(burst.map(|(letters, seconds)| {
                Reason::Limit(Limit::Burst { letters, seconds, usually: counts.usually })
            }))
            .or(letter.elsewhere.clone().map(Reason::Elsewhere))
            .or(letter.misplaced.clone().map(Reason::Misplaced))
            .or(self.owner_not_proved.then_some(Reason::OwnerNotProved))
            .or(self.approval.then_some(Reason::Approval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_holds_what_is_beyond_it_and_nothing_else() {
        let free = Terms::default();
        let of = |sheets| Weighed { sheets, ..Weighed::default() };
        let many =
            Counts { letters_today: 900, sheets_today: 9000, letters_lately: 900, ..Counts::default() };
        assert_eq!(free.hold(&many, &of(995)), None);
        let duplicate = Counts { duplicate_of: Some(Number(3)), ..Counts::default() };
        assert_eq!(free.hold(&duplicate, &of(1)), Some(Reason::Duplicate(Number(3))));
        let terms = Terms {
            letters_per_day: Some(2),
            sheets_per_day: Some(10),
            burst: Some((5, 600)),
            ..Terms::default()
        };
        let counts = |letters_today, sheets_today, letters_lately| Counts {
            letters_today,
            sheets_today,
            letters_lately,
            usually: Some((5, 60)),
            duplicate_of: None,
        };
        assert_eq!(terms.hold(&counts(1, 9, 4), &of(1)), None);
        assert_eq!(terms.hold(&counts(2, 0, 0), &of(1)), Some(Reason::Limit(Limit::LettersPerDay(2))));
        assert_eq!(terms.hold(&counts(0, 9, 0), &of(2)), Some(Reason::Limit(Limit::SheetsPerDay(10))));
        let burst = Limit::Burst { letters: 5, seconds: 600, usually: Some((5, 60)) };
        assert_eq!(terms.hold(&counts(0, 0, 5), &of(1)), Some(Reason::Limit(burst)));
        let approval = Terms { approval: true, ..Terms::default() };
        assert_eq!(approval.hold(&Counts::default(), &of(1)), Some(Reason::Approval));
        let not_proved = Terms { owner_not_proved: true, ..approval.clone() };
        assert_eq!(not_proved.hold(&Counts::default(), &of(1)), Some(Reason::OwnerNotProved));
        let elsewhere = Weighed { elsewhere: Some("東京都".to_owned()), ..of(1) };
        let reason = approval.hold(&Counts::default(), &elsewhere);
        assert_eq!(reason, Some(Reason::Elsewhere("東京都".to_owned())), "whoever approves must see it");
    }
}
