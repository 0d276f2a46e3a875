//! Ends alarms that nothing else ends, because their subject is no longer configured.

use super::Outbox;
use crate::domain::alarm::Alarm;
use crate::outside::store::RecordError;

impl Outbox {
    /// Ends the alarms about folders and address books that are no longer configured.
    pub(super) async fn forget_folders(&self) -> Result<(), RecordError> {
        for raised in self.store.alarms()? {
            let is_over = match &raised.alarm {
                Alarm::Away(folder) | Alarm::Copied(folder) | Alarm::Stuck(folder) => {
                    self.registry.get(folder).is_none()
                }
                Alarm::Book(folder) => {
                    self.registry.get(folder).is_none_or(|known| known.folder.book.is_none())
                }
                Alarm::LeftOut(folder) => {
                    let (letters, drops) = self.store.unfinished_of(folder)?;
                    self.registry.get(folder).is_some() || (letters.is_empty() && drops == 0)
                }
                Alarm::Mailbox(queue) => {
                    let queues = std::sync::Arc::clone(&super::locked(&self.in_force).queues);
                    !queues.iter().any(|known| known.name == *queue)
                }
                Alarm::Silent(_) | Alarm::Configuration | Alarm::Disk | Alarm::Mail => false,
            };
            if is_over {
                self.store.calm(raised.alarm, self.clock.now()).await?;
            }
        }
        Ok(())
    }
}
