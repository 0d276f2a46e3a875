//! How much space is left where the records are.

use rustix::fs::statvfs;

use super::{DISK_LOOK, Outbox, locked};
use crate::domain::alarm::{Alarm, is_nearly_full};
use crate::outside::store::RecordError;

impl Outbox {
    /// Checks from time to time. A nearly full disk is an alarm.
    pub(super) async fn look_at_disk(&self) -> Result<(), RecordError> {
        let now = self.clock.now();
        {
            let mut known = locked(&self.known);
            if known.disk_looked.is_some_and(|looked| (looked..looked + DISK_LOOK).contains(&now)) {
                return Ok(());
            }
            known.disk_looked = Some(now);
        }
        let Ok(disk) = statvfs(self.store.home().dir()) else { return Ok(()) };
        let (free, size) = (disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize);
        if is_nearly_full(free, size) {
            let detail = format!("{} MB are free where mailchute keeps its records.", free >> 20);
            self.store.raise(Alarm::Disk, detail, now).await
        } else {
            self.store.calm(Alarm::Disk, now).await
        }
    }
}
