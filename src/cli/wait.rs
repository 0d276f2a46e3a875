//! `mailchute submit --wait`: shows what becomes of what was submitted.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Submitted;
use crate::domain::letter::Number;
use crate::outside::spool::Ulid;
use crate::outside::store::{Bell, Desk};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often to check whether the daemon still runs.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Until {
    /// It is a letter and has its number
    Admitted,
    /// It was handed over to the post, with its tracking number if it has one
    Shipped,
}

/// What is waited for.
#[derive(Debug)]
pub(super) enum Subject {
    /// An entry of the spool.
    Entry(Ulid),
    /// A drop of this name, taken in after that.
    Drop { folder: String, name: String, after: Ulid },
}

/// Its present state.
struct SubjectState {
    letter: Option<Number>,
    state: String,
    note: Option<String>,
    tracking: Option<String>,
    trackable: bool,
}

impl Subject {
    fn look(&self, desk: &Desk) -> anyhow::Result<Option<SubjectState>> {
        let number = match self {
            Self::Entry(ulid) => desk.number_of(ulid.as_str())?,
            Self::Drop { folder, name, after } => {
                let Some(row) = desk.dropped(folder, name.as_bytes(), after)? else { return Ok(None) };
                if row.letter.is_none() {
                    let (state, note) = (row.state, row.why);
                    return Ok(Some(SubjectState {
                        letter: None,
                        state,
                        note,
                        tracking: None,
                        trackable: false,
                    }));
                }
                row.letter
            }
        };
        let Some(number) = number else { return Ok(None) };
        let (Some(row), Some(letter)) = (desk.row(number)?, desk.letter(number)?) else { return Ok(None) };
        let (state, note, tracking) = (row.state, row.note, row.tracking);
        let trackable = letter.order.shipping.is_trackable();
        Ok(Some(SubjectState { letter: Some(number), state, note, tracking, trackable }))
    }
}

impl SubjectState {
    /// `Some` once there is nothing more to wait for: whether it ended well.
    fn end(&self, until: Until) -> Option<bool> {
        match self.state.as_str() {
            "shipped" if self.trackable && self.tracking.is_none() && until == Until::Shipped => None,
            "shipped" => Some(true),
            // It waits for a person, or has ended.
            "rejected" | "held" | "cancelled" | "withdrawn" | "closed" => {
                Some(until == Until::Admitted && self.letter.is_some())
            }
            "accepted" => None,
            _on_its_way => (until == Until::Admitted).then_some(true),
        }
    }

    fn text(&self) -> String {
        let name = self.letter.map_or_else(|| "no letter".to_owned(), |number| format!("letter {number}"));
        let more = match (&self.tracking, &self.note) {
            (Some(tracking), _) => format!(", tracking number {tracking}"),
            (None, Some(note)) => format!(" ({note})"),
            (None, None) => String::new(),
        };
        format!("{name}: {}{more}", self.state)
    }
}

/// Waits for all of them, which were submitted. An error if one did not get as far as it should.
pub(super) async fn wait(state: &Path, subjects: Vec<Subject>, until: Until) -> anyhow::Result<()> {
    let desk = Desk::open(state).context(Submitted)?;
    let mut failed = 0;
    for subject in subjects {
        let stand = one(&desk, &subject, until).await.context(Submitted)?;
        let text = match (until, stand.letter) {
            (Until::Admitted, Some(number)) if stand.state != "held" => format!("letter {number}"),
            (Until::Admitted | Until::Shipped, _) => stand.text(),
        };
        super::say(&text)?;
        failed += u32::from(stand.end(until) != Some(true));
    }
    if failed > 0 {
        bail!("{failed} of them did not reach the state that was waited for");
    }
    Ok(())
}

async fn one(desk: &Desk, subject: &Subject, until: Until) -> anyhow::Result<SubjectState> {
    // Shown on a terminal only. Elsewhere only the outcome counts.
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template("{spinner} {msg} ({elapsed})")?);
    bar.set_message("waits to be taken in");
    let mut asked = None;
    loop {
        if let Some(stand) = subject.look(desk)? {
            bar.set_message(stand.text());
            if stand.end(until).is_some() {
                bar.finish_and_clear();
                return Ok(stand);
            }
        }
        bar.tick();
        if asked.is_none_or(|asked: Instant| asked.elapsed() > ASK_EVERY) {
            asked = Some(Instant::now());
            if !Bell::ring(desk.home()) {
                bar.finish_and_clear();
                bail!("the daemon does not run: it continues when `mailchute run` is started");
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
