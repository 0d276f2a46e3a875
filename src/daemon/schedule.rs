//! Wakes the loops at times that are configured as cron lines. What is due is in the store.
//!
//! The scheduler looks twice a second, and an idle daemon should be idle. So it runs only around the next time, and in a
//! runtime of its own: it leaves tasks behind that end with it.

use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use tokio::runtime;
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

use crate::base::clock::{Clock, CronLine, Time};
use crate::outside::journal;

/// A recurring time, and whom it wakes.
pub type Waking = (CronLine, Tz, Arc<Notify>);

/// How long before a time the scheduler starts, and how long after it ends.
const EARLY: Duration = Duration::from_secs(3);
const LATE: Duration = Duration::from_secs(2);
/// Somebody may set the clock of the machine.
const LONGEST: Duration = Duration::from_hours(1);

/// Ends when it is dropped.
#[derive(Debug, Default)]
pub struct Schedule(Option<watch::Sender<()>>);

impl Schedule {
    /// Replaces the times.
    pub fn replace(&mut self, times: Vec<Waking>) {
        self.0 = (!times.is_empty()).then(|| {
            let (goes_on, ended) = watch::channel(());
            tokio::spawn(keep(times, ended));
            goes_on
        });
    }
}

/// The next time of all, and how long the scheduler need not run yet.
fn next(times: &[Waking], now: Time) -> Option<(Time, Duration)> {
    let next = times.iter().filter_map(|(line, zone, _)| line.next(now, *zone)).min()?;
    let until = (next - now).to_std().unwrap_or_default();
    Some((next, until.saturating_sub(EARLY)))
}

async fn keep(times: Vec<Waking>, mut ended: watch::Receiver<()>) {
    let clock = Clock::system();
    while let (Some((next, pause)), true) = (next(&times, clock.now()), ended.has_changed().is_ok()) {
        if !pause.is_zero() {
            tokio::select! {
                () = sleep(pause.min(LONGEST)) => {}
                _ = ended.changed() => {}
            }
            continue;
        }
        let until = (next - clock.now()).to_std().unwrap_or_default() + LATE;
        let (due, mut end) = (times.clone(), ended.clone());
        let rung = spawn_blocking(move || -> Result<(), NoSchedule> {
            let own = runtime::Builder::new_current_thread().enable_time().build()?;
            own.block_on(async {
                let _scheduler = started(&due).await?;
                tokio::select! {
                    () = sleep(until) => {}
                    _ = end.changed() => {}
                }
                Ok(())
            })
        });
        if let Ok(Err(error)) = rung.await {
            journal::no_schedule(&error);
            sleep(until).await;
        }
    }
}

/// Why the scheduler can't run.
#[derive(Debug, thiserror::Error)]
enum NoSchedule {
    #[error(transparent)]
    Runtime(#[from] std::io::Error),
    #[error(transparent)]
    Scheduler(#[from] JobSchedulerError),
}

async fn started(times: &[Waking]) -> Result<JobScheduler, NoSchedule> {
    let scheduler = JobScheduler::new().await?;
    for (line, zone, wake) in times {
        let wake = Arc::clone(wake);
        // The scheduler's lines begin with seconds.
        let job = Job::new_tz(format!("0 {line}"), *zone, move |_, _| wake.notify_one())?;
        scheduler.add(job).await?;
    }
    scheduler.start().await?;
    Ok(scheduler)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_runs_only_around_the_next_time() {
        let waking = |line: &str| (line.parse().unwrap(), Tz::Asia__Tokyo, Arc::new(Notify::new()));
        let times = [waking("0 18 * * mon-fri"), waking("30 17 * * fri")];
        // Friday.
        for (now, until, pause) in [
            ("2026-11-27T08:00:00Z", "2026-11-27T08:30:00Z", 30 * 60 - 3),
            ("2026-11-27T08:29:58Z", "2026-11-27T08:30:00Z", 0),
            ("2026-11-27T08:30:00Z", "2026-11-27T09:00:00Z", 30 * 60 - 3),
            ("2026-11-27T09:00:02Z", "2026-11-30T09:00:00Z", 3 * 86_400 - 5),
        ] {
            let (next, waits) = next(&times, now.parse().unwrap()).unwrap();
            assert_eq!((next, waits.as_secs()), (until.parse().unwrap(), pause), "{now}");
        }
        assert!(next(&[], "2026-11-27T08:00:00Z".parse().unwrap()).is_none());
    }
}
