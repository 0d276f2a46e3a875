//! Wakes the loops at times that are configured as cron lines. What is due is in the store.
//!
//! It runs only if such a line is configured: the scheduler looks twice a second, and an idle daemon should
//! be idle.

use std::sync::Arc;

use chrono_tz::Tz;
use tokio::sync::Notify;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

use crate::base::clock::CronLine;

/// A recurring time, and whom it wakes.
pub type Waking = (CronLine, Tz, Arc<Notify>);

/// Ends with [`Schedule::stop`].
#[derive(Default)]
pub struct Schedule(Option<JobScheduler>);

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Schedule").field(&self.0.is_some()).finish()
    }
}

impl Schedule {
    /// Replaces the times.
    pub async fn replace(&mut self, times: Vec<Waking>) -> Result<(), JobSchedulerError> {
        self.stop().await;
        if times.is_empty() {
            return Ok(());
        }
        let scheduler = JobScheduler::new().await?;
        for (line, zone, wake) in times {
            // The scheduler's lines begin with seconds.
            let job = Job::new_tz(format!("0 {line}"), zone, move |_, _| wake.notify_one())?;
            scheduler.add(job).await?;
        }
        scheduler.start().await?;
        self.0 = Some(scheduler);
        Ok(())
    }

    pub async fn stop(&mut self) {
        if let Some(mut scheduler) = self.0.take() {
            let _ = scheduler.shutdown().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_times_no_scheduler_runs() {
        let mut schedule = Schedule::default();
        let waking = ("* * * * *".parse().unwrap(), Tz::UTC, Arc::new(Notify::new()));
        schedule.replace(vec![waking]).await.unwrap();
        assert!(schedule.0.is_some());
        schedule.replace(Vec::new()).await.unwrap();
        assert!(schedule.0.is_none());
    }
}
