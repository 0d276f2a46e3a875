//! How long this daemon's last lives were. The service manager starts it again at once; after three short lives in a
//! row it waits itself, so that a cause that stays does not fill the journal. One crash in a while costs a second.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::base::clock::Time;

/// A life that ended by itself within this time was short.
const SHORT: TimeDelta = TimeDelta::minutes(1);
/// So many short lives in a row are followed by a wait.
const IN_A_ROW: usize = 3;
pub(super) const WAIT: Duration = Duration::from_mins(2);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Life {
    began: Time,
    /// When it had certainly ended: asked to, or found dead by the next one.
    over: Option<Time>,
    /// Whether it was asked to end.
    asked: bool,
}

impl Life {
    fn was_short(&self) -> bool {
        let lasted = self.over.map(|over| over - self.began);
        !self.asked && lasted.is_some_and(|lasted| (TimeDelta::zero()..SHORT).contains(&lasted))
    }
}

/// Whether the next life must wait.
fn must_wait(lives: &[Life]) -> bool {
    lives.len() >= IN_A_ROW && lives.iter().rev().take(IN_A_ROW).all(Life::was_short)
}

/// The last lives, in a file beside the records. What cannot be read or written costs only the wait.
#[derive(Debug)]
pub(super) struct Lives {
    file: PathBuf,
    lives: Vec<Life>,
}

impl Lives {
    /// The lives before this one, the last of which has ended by now.
    pub(super) fn before(state: &Path, now: Time) -> Self {
        let file = state.join("lives");
        let text = std::fs::read(&file).unwrap_or_default();
        let mut lives: Vec<Life> = serde_json::from_slice(&text).unwrap_or_default();
        if let Some(last) = lives.last_mut() {
            last.over.get_or_insert(now);
        }
        Self { file, lives }
    }

    pub(super) fn must_wait(&self) -> bool {
        must_wait(&self.lives)
    }

    /// This life begins.
    pub(super) fn begins(&mut self, now: Time) {
        self.lives.push(Life { began: now, over: None, asked: false });
        let beyond = self.lives.len().saturating_sub(IN_A_ROW);
        self.lives.drain(..beyond);
        self.write();
    }

    /// It was asked to end.
    pub(super) fn ends(&mut self, now: Time) {
        if let Some(last) = self.lives.last_mut() {
            (last.over, last.asked) = (Some(now), true);
        }
        self.write();
    }

    fn write(&self) {
        let dir = self.file.parent().unwrap_or(Path::new(""));
        let written = tempfile::NamedTempFile::new_in(dir).and_then(|file| {
            serde_json::to_writer(&file, &self.lives)?;
            file.persist(&self.file).map_err(|error| error.error).map(drop)
        });
        if let Err(error) = written {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the file of the last lives can't be written"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_short_lives_in_a_row_are_followed_by_a_wait() {
        let dir = tempfile::tempdir().unwrap();
        let at = |seconds: i64| Time::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let must_wait = |now: i64| Lives::before(dir.path(), at(now)).must_wait();
        let begins = |now: i64| Lives::before(dir.path(), at(now)).begins(at(now));
        for now in [0, 2, 4] {
            begins(now);
            assert!(!must_wait(now) || now == 4, "{now}");
        }
        let mut next = Lives::before(dir.path(), at(6));
        assert!(next.must_wait());
        assert!(!must_wait(4 + 60), "the last one was long");
        assert!(!must_wait(3), "the clock was set back, so nothing is known");
        // It waits each time while the cause stays, and no more after a long life.
        next.begins(at(126));
        assert!(must_wait(127));
        assert!(!must_wait(500));
        // One that was asked to end is no crash.
        begins(501);
        begins(502);
        let mut lives = Lives::before(dir.path(), at(503));
        lives.begins(at(503));
        lives.ends(at(504));
        assert!(!must_wait(505));
        std::fs::write(dir.path().join("lives"), "[{").unwrap();
        assert!(!must_wait(506));
    }
}
