//! When the digest is due.

use super::{Outbox, Tongue};
use crate::base::clock::Time;
use crate::config::Email;
use crate::outside::store::{RecordError, Scheduled};

const DIGEST: &str = "digest";

impl Outbox {
    /// Adds the digest when its time has come. Returns when it is next due.
    pub(super) async fn look_at_digest(
        &self,
        email: &Email,
        tongue: Tongue,
    ) -> Result<Option<Time>, RecordError> {
        let Some(digest) = &email.digest else { return Ok(None) };
        let now = self.clock.now();
        let Some(due_at) = digest.at.next(now, tongue.zone) else { return Ok(None) };
        let next = |last_at| Scheduled { line: digest.at.line().to_owned(), last_at, due_at };
        match self.store.scheduled(DIGEST)?.filter(|known| known.line == digest.at.line()) {
            Some(known) if now >= known.due_at => {
                self.store.owe_digest(known.last_at, now, next(now)).await?;
            }
            // A clock that was set back must neither delay it nor leave out what happens from now on.
            Some(known) if known.due_at <= due_at && known.last_at <= now => return Ok(Some(known.due_at)),
            Some(known) => self.store.schedule(DIGEST, next(known.last_at.min(now))).await?,
            None => self.store.schedule(DIGEST, next(now)).await?,
        }
        Ok(Some(due_at))
    }
}
