//! Hands back a sidecar whose PDF does not come, or was taken in without it. A PDF of that name that comes later without a
//! sidecar is held for a day, because it may belong to that address.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chrono::TimeDelta;

use super::candidates::sidecars_at;
use super::decide::{Claim, Done, TakeError};
use super::instructions::shown_path;
use super::settle::{Name, Stamp};
use super::take::Still;
use crate::base::clock::Time;
use crate::config::LetterKind;
use crate::domain::drop::{
    Origin, Refusal, StandingLetter, Undecided, Waiting, forms_of, pdf_of, showable, shown, sidecars_of,
};
use crate::domain::letter::Number;
use crate::domain::rules::{Sidecar, Verdict};
use crate::outside::store::{Original, OriginalPlace, Store, StoreError};

/// How long such a PDF is held.
const REMEMBERED: TimeDelta = TimeDelta::hours(24);

/// The folder, and the name of the PDF as people see it, in NFC.
type Key = (String, String);

/// When a sidecar was handed back, and its name.
type HandedBack = (Time, String);

/// The sidecars that were handed back. Read from the records once, then updated.
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

    /// A folder got another name, so the records are read again.
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) fn add(
        &self,
        store: &Store,
        folder: &str,
        sidecar: &[u8],
        at: Time,
    ) -> Result<(), StoreError> {
        let Some(key) = key(folder, sidecar) else { return Ok(()) };
        self.with(store, at, |map| {
            map.retain(|_, (then, _)| at - *then < REMEMBERED);
            map.insert(key, (at, showable(&shown(sidecar))));
        })
    }

    /// The sidecar of a PDF of this name, if it was handed back recently.
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
    /// Claims a sidecar whose wait is over, or whose PDF was taken in without it, and hands it back.
    pub(super) async fn hand_back(
        &mut self,
        sidecar: &(Name, Stamp),
        is_over: bool,
    ) -> Result<Done, TakeError> {
        let (name, _) = sidecar;
        let Some(pdf) = pdf_of(name) else { return Ok(Done::Nothing) };
        let taken_in = self.taken_in_without_one(pdf)?;
        if taken_in.is_none() && !is_over {
            return Ok(Done::Nothing);
        }
        if !self.claim(&[name])? {
            return Ok(Done::Nothing);
        }
        let held = self.hot.claimed(&self.name)?;
        let still = Still::Settled(std::slice::from_ref(sidecar));
        let mut is_needed = false;
        for form in forms_of(pdf) {
            is_needed |= self.hot.is_there(&shown_path(&form))?;
        }
        if is_needed || !self.is_still(&still, self.looks_of(&held)?)? {
            // Its PDF came at this moment, or is still being written.
            return self.nothing_in(&held).await;
        }
        let Some(seen) = held.first() else { return self.nothing_in(&held).await };
        let origin = self.origin(seen);
        self.shared.alone.add(&self.shared.store, &self.folder.name, name, self.ulid.time())?;
        let pdf = showable(&shown(pdf));
        self.record(origin, Undecided::Refused(Refusal::SidecarAlone { pdf, taken_in })).await
    }

    /// The letter that a PDF of this name became a short time ago, without a sidecar. One that comes now is not for the next
    /// PDF of the name. What a queue took has none in a folder, and what was cancelled may be dropped again with one.
    fn taken_in_without_one(&self, pdf: &[u8]) -> Result<Option<Number>, TakeError> {
        let within = TimeDelta::from_std(self.folder.sidecar_within).unwrap_or(REMEMBERED);
        let store = &self.shared.store;
        for original in store.letters_named(&self.folder.name, pdf, self.ulid.time() - within)? {
            let Some(letter) =
                original.fate.letter().map(|number| store.letter(number)).transpose()?.flatten()
            else {
                continue;
            };
            if StandingLetter::of(&letter) != StandingLetter::NotPosted
                && store.incoming(&original.ulid)?.is_none()
                && sidecars_at(&self.hot, &original)?.is_empty()
            {
                return Ok(Some(letter.number));
            }
        }
        Ok(None)
    }

    /// The outcome of a drop whose sidecar is impossible, was handed back, or may be that of another drop.
    pub(super) fn held_for_sidecar(
        &self,
        name: &[u8],
        sidecar: Option<&Sidecar>,
        verdict: Verdict,
    ) -> Result<Verdict, TakeError> {
        if matches!(verdict, Verdict::Hold(Waiting::Sidecar)) && sidecars_of(name).next().is_none() {
            return Ok(Verdict::Refuse(Refusal::NameTooLong));
        }
        if !matches!(verdict, Verdict::Send(..)) {
            return Ok(verdict);
        }
        if sidecar.is_some() {
            // It may be meant for a drop of the name that has none, whatever that waits for. What lies inside a subfolder
            // is meant for it.
            let others = self.shared.store.open_drops_named(&self.folder.name, name)?;
            for other in
                others.iter().filter(|other| other.ulid != self.ulid && other.place != OriginalPlace::Gone)
            {
                let lacks_one = match self.folder.letter {
                    LetterKind::File => sidecars_at(&self.hot, other)?.is_empty(),
                    LetterKind::Subfolder => {
                        matches!(other.fate.undecided(), Some(Undecided::Waits(Waiting::Sidecar)))
                    }
                };
                if lacks_one {
                    return Ok(Verdict::Hold(Waiting::SidecarOfTwo));
                }
            }
            if self.folder.letter == LetterKind::File
                && self.was_alone
                && self.taken_in_without_one(name)?.is_some()
            {
                return Ok(Verdict::Hold(Waiting::SidecarOfTwo));
            }
            return Ok(verdict);
        }
        let before =
            self.shared.alone.before(&self.shared.store, &self.folder.name, name, self.ulid.time())?;
        Ok(before.map_or(verdict, |sidecar| Verdict::Hold(Waiting::SidecarHandedBack { sidecar })))
    }
}
