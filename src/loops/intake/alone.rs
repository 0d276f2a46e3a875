//! A sidecar whose PDF does not come is handed back. A PDF of that name that comes later without a sidecar is
//! held for a day: its address may be the one that was handed back.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chrono::TimeDelta;

use super::decide::{Claim, Done, TakeError};
use super::settle::{Name, Stamp};
use super::take::Still;
use crate::base::clock::Time;
use crate::domain::drop::{Origin, Refusal, Undecided, Waiting, pdf_of, showable, shown, sidecars_of};
use crate::domain::rules::{Sidecar, Verdict};
use crate::outside::store::{Original, Place, Store, StoreError};

/// How long a PDF is held that comes after its sidecar was handed back.
const REMEMBERED: TimeDelta = TimeDelta::hours(24);

/// The folder, and the name of the PDF as people see it: in NFC, whatever the bytes were.
type Key = (String, String);

/// When a sidecar was handed back, and its name.
type HandedBack = (Time, String);

/// The sidecars that were handed back; read from the records once, and kept along.
#[derive(Debug, Default)]
pub(super) struct Alone(Mutex<Option<HashMap<Key, HandedBack>>>);

impl Alone {
    fn with<T>(
        &self,
        store: &Store,
        now: Time,
        use_it: impl FnOnce(&mut HashMap<Key, HandedBack>) -> T,
    ) -> Result<T, StoreError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            let recorded = store.sidecars_handed_back(now - REMEMBERED)?;
            *known = Some(recorded.iter().filter_map(entry).collect());
        }
        Ok(use_it(known.get_or_insert_default()))
    }

    /// A folder got another name: the records name it, so they are read again.
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn add(&self, store: &Store, folder: &str, sidecar: &[u8], at: Time) -> Result<(), StoreError> {
        let Some(key) = key(folder, sidecar) else { return Ok(()) };
        self.with(store, at, |map| {
            map.retain(|_, (then, _)| at - *then < REMEMBERED);
            map.insert(key, (at, showable(&shown(sidecar))));
        })
    }

    /// The sidecar of a PDF of this name that was handed back not long before.
    fn before(
        &self,
        store: &Store,
        folder: &str,
        pdf: &[u8],
        at: Time,
    ) -> Result<Option<String>, StoreError> {
        let key = (folder.to_owned(), shown(pdf));
        self.with(store, at, |map| {
            map.get(&key).filter(|(then, _)| at - *then < REMEMBERED).map(|(_, name)| name.clone())
        })
    }
}

fn key(folder: &str, sidecar: &[u8]) -> Option<Key> {
    Some((folder.to_owned(), shown(pdf_of(sidecar)?)))
}

fn entry(original: &Original) -> Option<(Key, HandedBack)> {
    let Origin { folder, name, .. } = &original.origin;
    Some((key(folder, name)?, (original.ulid.time(), showable(&shown(name)))))
}

impl Claim {
    /// Claims a sidecar that was waited for long enough, and hands it back.
    pub(super) async fn hand_back(self, sidecar: &(Name, Stamp)) -> Result<Done, TakeError> {
        let (name, _) = sidecar;
        let Some(pdf) = pdf_of(name) else { return Ok(Done::Nothing) };
        if !self.claim(&[name])? {
            return Ok(Done::Nothing);
        }
        let held = self.hot.claimed(&self.dir)?;
        let still = Still::Settled(std::slice::from_ref(sidecar));
        let named = self.shared.store.originals_named(&self.folder.name, pdf)?;
        let is_waited_for =
            named.iter().any(|original| original.fate.letter().is_none() && original.place == Place::Held);
        if is_waited_for
            || self.hot.is_there(&super::hands::shown_path(pdf))?
            || !self.is_still(&still, self.looks_of(&held)?)?
        {
            // Its PDF is held until a person approves it, or came at this moment, or it is being written.
            return self.nothing_in(&held);
        }
        let Some(seen) = held.first() else { return self.nothing_in(&held) };
        let origin = self.origin(seen);
        self.shared.alone.add(&self.shared.store, &self.folder.name, name, self.ulid.time())?;
        let pdf = showable(&shown(pdf));
        self.record(origin, Undecided::Refused(Refusal::SidecarAlone { pdf })).await
    }

    /// What becomes of a drop without a sidecar: it may need one that can't be, or one was handed back.
    pub(super) fn held_for_sidecar(
        &self,
        name: &[u8],
        sidecar: Option<&Sidecar>,
        verdict: Verdict,
    ) -> Result<Verdict, StoreError> {
        if matches!(verdict, Verdict::Hold(Waiting::Sidecar)) && sidecars_of(name).next().is_none() {
            return Ok(Verdict::Refuse(Refusal::NameTooLong));
        }
        if sidecar.is_some() || !matches!(verdict, Verdict::Send(..)) {
            return Ok(verdict);
        }
        let before =
            self.shared.alone.before(&self.shared.store, &self.folder.name, name, self.ulid.time())?;
        Ok(before.map_or(verdict, |sidecar| Verdict::Hold(Waiting::SidecarHandedBack { sidecar })))
    }
}
