//! The names that a folder's shelves have and had. A text that was written under an old name tells people to
//! move files there, so every name counts for as long as its directory exists.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::obeyed::Instruction;
use super::open::NotOpened;
use super::shared::Shared;
use super::watched::Watched;
use crate::config::Folder;
use crate::loops::folders::Registered;
use crate::outside::hot::{Away, Hot, Reach};
use crate::outside::store::Store;
use crate::words::texts::{Language, Names};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    Held,
    Sent,
    Rejected,
    Cancelled,
    Approve,
    Cancel,
}

impl Role {
    const ALL: [Self; 6] =
        [Self::Held, Self::Sent, Self::Rejected, Self::Cancelled, Self::Approve, Self::Cancel];
}

/// The form in which it is stored: what is in force, and the last meaning of each name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct ShelfNames {
    now: Vec<String>,
    /// The language of the texts.
    language: String,
    roles: BTreeMap<String, Role>,
}

impl ShelfNames {
    fn of(names: &Names, language: Language) -> Self {
        let now: Vec<String> = names.all().map(str::to_owned).to_vec();
        let roles = now.iter().cloned().zip(Role::ALL).collect();
        Self { now, language: format!("{language:?}"), roles }
    }

    /// What is known once other names are in force.
    fn then(&self, names: &Names, language: Language) -> Self {
        let mut then = Self::of(names, language);
        for (name, role) in &self.roles {
            then.roles.entry(name.clone()).or_insert(*role);
        }
        then
    }

    /// The names of the shelves for this command. Without a record, the usual names.
    pub(super) fn of_instruction(&self, instruction: Instruction) -> Vec<String> {
        let role = match instruction {
            Instruction::Approve => Role::Approve,
            Instruction::Cancel => Role::Cancel,
        };
        let known = self.roles.iter().filter(|(_, known)| **known == role).map(|(name, _)| name.clone());
        let usual = Language::ALL.map(|language| {
            let Names { approve, cancel, .. } = Names::usual(language);
            if instruction == Instruction::Approve { approve } else { cancel }
        });
        let mut names: Vec<String> =
            known.chain(usual.into_iter().filter(|name| !self.roles.contains_key(name))).collect();
        names.sort();
        names
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.roles.contains_key(name)
    }

    /// Names that now mean another shelf than before.
    fn changed<'a>(&self, names: &'a Names) -> Vec<&'a str> {
        let now = names.all().into_iter().zip(Role::ALL);
        now.filter(|(name, role)| self.roles.get(*name).is_some_and(|known| known != role))
            .map(|(name, _)| name)
            .collect()
    }
}

/// Mistakes in the names of a folder's shelves: a name that meant another shelf, where texts still say so.
/// `recorded` is the stored form of the names.
pub fn reused_names(reach: &Reach, recorded: Option<&str>, folder: &Folder) -> Vec<String> {
    let known: Option<ShelfNames> = recorded.and_then(|json| serde_json::from_str(json).ok());
    let is_used = |name: &str| reach.holds_something(&folder.path.join(name)).unwrap_or(false);
    let reused = known.iter().flat_map(|known| known.changed(&folder.names));
    let said = |name: &str| {
        format!(
            "folder {}: `{name}` was the name of another shelf, and something lies there; empty it first, or choose \
             another name",
            folder.name
        )
    };
    reused.filter(|name| is_used(name)).map(said).collect()
}

/// Such mistakes for all folders of a configuration.
pub fn reused_in(reach: &Reach, store: &Store, folders: &[Folder]) -> Vec<String> {
    let of = |folder: &Folder| match store.shelf_names(&folder.name) {
        Ok(recorded) => reused_names(reach, recorded.as_deref(), folder),
        Err(error) => vec![error.to_string()],
    };
    folders.iter().flat_map(of).collect()
}

impl Watched {
    /// Whether its shelves have other names, or another language, than at the last look.
    pub(super) fn has_other_names(&self, folder: &Folder) -> bool {
        self.shelves
            .as_ref()
            .is_none_or(|(names, language, _)| *names != folder.names || *language != folder.language)
    }

    /// The open folder, and the names that its shelves have and had.
    pub(super) async fn opened_with_shelves(
        &mut self,
        shared: &Shared,
        known: &Registered,
    ) -> Result<Arc<Hot>, NotOpened> {
        let hot = self.opened(shared, known).await?;
        let folder = &known.folder;
        if self.has_other_names(folder) {
            let names = in_force(shared, folder).await?;
            self.shelves = Some((folder.names.clone(), folder.language, names));
        }
        Ok(hot)
    }
}

/// The names of a folder's shelves. If they differ from the recorded ones they are recorded, everything
/// unfinished is moved, and its texts are rewritten.
async fn in_force(shared: &Shared, folder: &Folder) -> Result<ShelfNames, NotOpened> {
    let recorded = shared.store.shelf_names(&folder.name)?;
    if let Some(wrong) = reused_names(&shared.reach, recorded.as_deref(), folder).into_iter().next() {
        return Err(Away::ShelfName(wrong).into());
    }
    let before: Option<ShelfNames> = recorded.as_deref().and_then(|json| serde_json::from_str(json).ok());
    let known = match &before {
        Some(before) => before.then(&folder.names, folder.language),
        None => ShelfNames::of(&folder.names, folder.language),
    };
    if before.as_ref() != Some(&known) {
        let json = serde_json::to_string(&known).unwrap_or_default();
        let is_other = before.is_some();
        shared.store.keep_shelf_names(&folder.name, json, is_other.then(|| shared.clock.now())).await?;
        shared.bells.originals.notify_one();
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_was_in_force_goes_on_being_honoured() {
        let (en, ja) = (Names::usual(Language::En), Names::usual(Language::Ja));
        let own = Names { approve: "Yes".to_owned(), cancel: "No".to_owned(), ..en.clone() };
        let known = ShelfNames::of(&own, Language::En).then(&ja, Language::Ja);
        assert_eq!(known.of_instruction(Instruction::Approve), ["Approve", "Yes", "承認する"]);
        assert_eq!(known.of_instruction(Instruction::Cancel), ["Cancel", "No", "取り消す"]);
        assert!(known.contains("Held") && known.contains("保留") && !known.contains("x"));
        // A name that means another shelf now no longer means the old one.
        let turned = Names { approve: "No".to_owned(), cancel: "Yes".to_owned(), ..en };
        assert_eq!(known.changed(&turned), ["No", "Yes"]);
        let known = known.then(&turned, Language::En);
        assert_eq!(known.of_instruction(Instruction::Approve), ["Approve", "No", "承認する"]);
        // Its own usual name, given to another shelf, is not a command.
        let odd =
            Names { held: "Cancel".to_owned(), cancel: "Stop".to_owned(), ..Names::usual(Language::En) };
        assert_eq!(
            ShelfNames::of(&odd, Language::En).of_instruction(Instruction::Cancel),
            ["Stop", "取り消す"]
        );
    }
}
