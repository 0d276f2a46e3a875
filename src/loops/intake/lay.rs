//! Lays what queues took into the claims of their folders, where it is decided as every drop is.

use std::collections::BTreeSet;
use std::io;

use chrono::TimeDelta;

use super::Intake;
use super::decide::{Claim, TakeError};
use super::watched::Watched;
use crate::config::LetterKind;
use crate::domain::incoming::{Incoming, KnownIncoming, LAYING, QueueStep, resumes};
use crate::outside::spool::Ulid;
use crate::outside::store::StoreError;

impl Intake {
    /// Hands what queues took to the workers of its folders, if those are open. Returns when that is tried again
    /// for what could not be laid.
    pub(super) fn lay_what_queues_took(&mut self, now: TimeDelta) -> Result<Option<TimeDelta>, StoreError> {
        self.not_laid.retain(|_, at| *at > now);
        let is_behind = |name: &str, watched: &Watched| {
            self.shared.registry.get(name).is_some_and(|known| watched.is_behind(&known.folder, now))
        };
        let open = self.watched.iter().filter(|(name, watched)| watched.opened && !is_behind(name, watched));
        let (open, in_hand): (Vec<&str>, Vec<&BTreeSet<Ulid>>) =
            open.map(|(name, watched)| (name.as_str(), &watched.laying)).unzip();
        let but: Vec<&str> =
            in_hand.into_iter().flatten().chain(self.not_laid.keys()).map(Ulid::as_str).collect();
        for (folder, ulid) in self.shared.store.to_lay(&open, &but)? {
            if let Some(watched) = self.watched.get_mut(&folder) {
                watched.lays(ulid);
            }
        }
        Ok(self.not_laid.values().min().copied())
    }
}

impl Claim {
    /// Brings what a queue took into the claims, from wherever that was left.
    pub(super) async fn lay(&self) -> Result<(), TakeError> {
        let Some(queued) = &self.queued else { return Ok(()) };
        let (store, spool) = (&self.shared.store, &self.shared.spool);
        let is_there = store.original(&self.ulid)?.is_some() || !self.hot.claimed(&self.name)?.is_empty();
        let first = resumes(KnownIncoming { is_marked: queued.is_marked, is_there });
        for step in LAYING.into_iter().skip_while(|step| *step != first) {
            match step {
                QueueStep::Lay => {
                    // If the spool lost it, it is not recorded as laid, and `audit` names it.
                    let lost =
                        || io::Error::new(io::ErrorKind::NotFound, "the spool does not have it any more");
                    self.put_into_claim(&spool.incoming(&self.ulid)?.ok_or_else(lost)?)?;
                }
                QueueStep::Mark => store.mark_incoming(self.ulid.clone()).await?,
                QueueStep::Remove => spool.remove_incoming(&self.ulid)?,
                // The queue has taken these steps.
                QueueStep::Keep | QueueStep::Record => {}
            }
        }
        Ok(())
    }

    /// Its documents and its sidecar, as a person would have dropped them.
    fn put_into_claim(&self, incoming: &Incoming) -> Result<(), TakeError> {
        let name = incoming.name.as_bytes();
        let (subfolder, sidecar) = match self.folder.letter {
            LetterKind::File => (None, format!("{}.json", incoming.name)),
            LetterKind::Subfolder => (Some(name), "letter.json".to_owned()),
        };
        let mut is_first = true;
        if let Some(text) = &incoming.sidecar {
            self.hot.lay(&self.name, true, subfolder, sidecar.as_bytes(), text.as_bytes())?;
            is_first = false;
        }
        for (n, document) in incoming.documents.iter().enumerate() {
            let bytes = self.shared.spool.enclosed(&self.ulid, incoming, n)?;
            let name = if subfolder.is_some() { document.name.as_bytes() } else { name };
            self.hot.lay(&self.name, is_first, subfolder, name, &bytes)?;
            is_first = false;
        }
        Ok(self.hot.end_lay(&self.name)?)
    }
}
