//! A text in the folder about drops that lie where they were dropped and cannot be taken in at present.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use chrono::TimeDelta;

use super::IntakeError;
use super::settle::{Name, Stamp};
use super::shared::Shared;
use crate::config::Folder;
use crate::domain::alarm::Alarm;
use crate::domain::drop::{HeldUp as Why, showable, shown};
use crate::outside::hot::Hot;
use crate::words::texts::Language;

/// How long the rules may keep changing before drops are held.
const RULES_AT_MOST: TimeDelta = TimeDelta::minutes(10);
/// A drop that was met within this time still waits. Each drop is met once in its settle time.
const SAME: TimeDelta = TimeDelta::minutes(5);

/// How long nothing is written about it, because most such waits end by themselves.
fn silence(why: Why) -> TimeDelta {
    match why {
        Why::Rules => TimeDelta::seconds(15),
        Why::Book => TimeDelta::minutes(5),
        Why::Right | Why::Instruction => TimeDelta::zero(),
    }
}

#[derive(Debug, Default)]
pub(super) struct HeldUpDrops {
    /// The reason, since when, and when it was last noted.
    drops: BTreeMap<Name, (Why, TimeDelta, TimeDelta)>,
    /// The text in the folder, once it is known.
    written: Option<String>,
    /// Whether the alarm about a missing permission is raised, once that is known.
    is_raised: Option<bool>,
}

impl HeldUpDrops {
    pub(super) fn note(&mut self, name: Name, why: Why, now: TimeDelta) {
        let noted = self.drops.entry(name).or_insert((why, now, now));
        let since = if noted.0 == why { noted.1 } else { now };
        *noted = (why, since, now);
    }

    /// Forgets drops that are no longer in the folder.
    pub(super) fn retain(&mut self, listing: &[(Name, Stamp)]) {
        let names: HashSet<&Name> = listing.iter().map(|(name, _)| name).collect();
        self.drops.retain(|name, _| names.contains(name));
    }

    /// Writes what is held up, and removes what no longer is.
    pub(super) async fn look<'a>(
        &mut self,
        shared: &Shared,
        folder: &Folder,
        hot: &Hot,
        instructions: impl Iterator<Item = &'a Path>,
    ) -> Result<(), IntakeError> {
        let now = shared.clock.steady();
        // A drop that continued is not met again.
        let is_met = |why: Why, last: TimeDelta| why == Why::Right || now - last < SAME;
        self.drops.retain(|_, (why, _, last)| is_met(*why, *last));
        let visible = self.drops.iter().filter(|(_, (why, since, _))| now - *since >= silence(*why));
        let visible = visible.map(|(name, (why, _, _))| (showable(&shown(name)), *why));
        let mut instructions: Vec<_> = instructions
            .map(|path| (showable(&shown(path.as_os_str().as_bytes())), Why::Instruction))
            .collect();
        instructions.sort_by(|one, other| one.0.cmp(&other.0));
        let visible: Vec<_> = visible.chain(instructions).collect();
        let text = if visible.is_empty() { String::new() } else { folder.language.waits(&visible) };
        if self.written.as_ref() != Some(&text) {
            for language in Language::ALL {
                let path = Path::new(language.waits_name());
                // If it cannot be written, the alarm remains.
                drop(if language == folder.language && !text.is_empty() {
                    hot.write_text(path, &text)
                } else {
                    hot.remove(path)
                });
            }
            self.written = Some(text);
        }
        let stuck: Vec<String> = visible
            .into_iter()
            .filter(|(_, why)| matches!(why, Why::Right | Why::Instruction))
            .map(|(name, _)| name)
            .collect();
        self.alarm(shared, folder, &stuck).await
    }

    async fn alarm(&mut self, shared: &Shared, folder: &Folder, stuck: &[String]) -> Result<(), IntakeError> {
        let alarm = Alarm::Stuck(folder.name.clone());
        let was_raised = match self.is_raised {
            Some(was_raised) => was_raised,
            // An earlier run may have raised it.
            None => shared.store.alarms()?.iter().any(|raised| raised.alarm == alarm),
        };
        let is_raised = !stuck.is_empty();
        if is_raised && !was_raised {
            shared.store.raise(alarm, stuck.join(", "), shared.clock.now()).await?;
        } else if was_raised && !is_raised {
            shared.store.calm(alarm, shared.clock.now()).await?;
        }
        self.is_raised = Some(is_raised);
        Ok(())
    }
}

/// Since when drops of each folder have met rules that are being changed, and the number of the decision at
/// that time.
pub(super) type UnsettledRules = HashMap<String, (TimeDelta, u64)>;

/// Whether a drop may be decided by the rules of its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RulesNow {
    InForce,
    /// Their files are being changed.
    Unsettled,
    /// Their files have been changing for too long.
    TooLong,
}

impl Shared {
    /// Whether a drop of this folder may be decided now.
    pub(super) fn rules(&self, folder: &Arc<Folder>) -> RulesNow {
        let is_in_force = self.registry.is_in_force(folder);
        let now = self.clock.steady();
        let mut unsettled = self.unsettled_rules.lock().unwrap_or_else(PoisonError::into_inner);
        if is_in_force {
            unsettled.remove(&folder.name);
            return RulesNow::InForce;
        }
        let decisions = self.registry.decisions();
        let (since, before) = unsettled.get(&folder.name).copied().unwrap_or((now, decisions));
        let since = if before == decisions { since } else { now };
        unsettled.insert(folder.name.clone(), (since, decisions));
        if now - since >= RULES_AT_MOST { RulesNow::TooLong } else { RulesNow::Unsettled }
    }
}
