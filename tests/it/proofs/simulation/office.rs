//! What people do: they drop, approve, cancel, take away, and change their minds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mailchute::domain::letter::{Command, Number};
use mailchute::outside::spool::sha256_of;
use mailchute::outside::store::AccountCommand;

use super::clerk::Clerk;
use crate::rigs::dice::Dice;
use crate::rigs::mailroom::{Mailroom, SIDECAR};
use crate::rigs::service::unique;

pub const FOLDERS: [&str; 2] = ["letters", "approved"];

/// Everything that lies about in offices, by its bytes: how often it must be there.
#[derive(Debug, Default)]
pub struct Office {
    pub lies: BTreeMap<String, i64>,
    /// How many copies were laid where people approve and cancel: each is heard and taken away, or handed back.
    pub copies: BTreeMap<String, i64>,
    pub drops: usize,
    last: Vec<u8>,
    /// Files that somebody is still writing: the path, what is there, and what is to come.
    writing: Vec<(PathBuf, Vec<u8>, Vec<u8>)>,
}

/// The PDFs of a shelf and what lies below it, in their order.
pub fn pdfs(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(pdfs(&path));
        } else if path.extension().is_some_and(|ending| ending == "pdf") {
            found.push(path);
        }
    }
    found.sort();
    found
}

impl Office {
    fn count(&mut self, bytes: &[u8], more: i64) {
        *self.lies.entry(sha256_of(bytes)).or_default() += more;
    }

    /// Somebody drops something; says what.
    pub fn drop(&mut self, room: &Mailroom, dice: &mut Dice) -> String {
        self.drops += 1;
        let (n, pages) = (self.drops, 1 + dice.below(3));
        let whole = unique(n, pages);
        let cut = whole[..whole.len() / 2].to_vec();
        let (name, bytes) = match dice.below(16) {
            0..=5 => (format!("INV-000123 {n}.pdf"), whole),
            6 | 7 => (format!("x{n} 通知.pdf"), whole),
            // As a Mac writes it.
            8 => (format!("x{n} か\u{3099}そ.pdf"), whole),
            9 => (format!("side{n}.pdf"), whole),
            10 => (format!("INV-999999 {n}.pdf"), whole),
            11 => (format!("other{n}.pdf"), whole),
            12 => (format!("x{n}.pdf"), cut),
            13 if !self.last.is_empty() => (format!("INV-000123 {n}.pdf"), self.last.clone()),
            _ => (format!("x{n}.pdf"), whole),
        };
        let folder = dice.pick(&FOLDERS);
        let path = room.dir.path().join(folder).join(&name);
        if name.starts_with("side") && dice.percent(70) {
            std::fs::write(path.with_file_name(format!("{name}.yaml")), SIDECAR).unwrap();
        }
        let slowly = dice.percent(10);
        let there = if slowly { bytes[..bytes.len() * 2 / 3].to_vec() } else { bytes.clone() };
        std::fs::write(&path, &there).unwrap();
        self.count(&there, 1);
        if slowly {
            self.writing.push((path, there, bytes[bytes.len() * 2 / 3..].to_vec()));
        } else {
            self.last = bytes;
        }
        format!("drop {folder}/{name}{}", if slowly { ", slowly" } else { "" })
    }

    /// What is being written is written to its end, if it lies there still.
    pub fn write_on(&mut self) {
        for (path, there, rest) in std::mem::take(&mut self.writing) {
            if path.exists() {
                let whole = [there.as_slice(), &rest].concat();
                std::fs::write(&path, &whole).unwrap();
                self.count(&there, -1);
                self.count(&whole, 1);
            }
        }
    }

    /// Somebody moves or removes what lies on a shelf; says what.
    pub fn hand(&mut self, room: &Mailroom, clerk: &Clerk, dice: &mut Dice) -> Option<String> {
        let folder = room.dir.path().join(dice.pick(&FOLDERS));
        let (from, to) = dice.pick(&[
            ("Held", Some("Approve")),
            ("Held", Some("Approve")),
            ("Held", Some("Cancel")),
            ("Held", None),
            ("Sent", Some("Cancel")),
            ("Sent", None),
            ("Rejected", Some("Approve")),
            ("Rejected", Some("")),
            (".", Some("Cancel")),
            (".", None),
        ]);
        let is_asked = matches!(to, Some("Approve" | "Cancel"));
        let to = to.map(|to| if is_asked { clerk.shelf(to, dice) } else { to });
        let lying = match from {
            "." => pdfs(&folder).into_iter().filter(|path| path.parent() == Some(&folder)).collect(),
            from => pdfs(&folder.join(clerk.shelf(from, dice))),
        };
        let path = lying.get(dice.below(lying.len().max(1)))?;
        let name = path.file_name().unwrap();
        match to {
            // A shelf of a language that was never in force.
            Some(to) if !folder.join(to).is_dir() || folder.join(to).join(name).exists() => return None,
            Some(to) if is_asked && from != "." && dice.percent(30) => {
                std::fs::copy(path, folder.join(to).join(name)).unwrap();
                *self.copies.entry(sha256_of(&std::fs::read(path).unwrap())).or_default() += 1;
                return Some(format!("a copy of {} from {from} to {to}", name.display()));
            }
            Some(to) => std::fs::rename(path, folder.join(to).join(name)).unwrap(),
            None => {
                self.count(&std::fs::read(path).unwrap(), -1);
                std::fs::remove_file(path).unwrap();
            }
        }
        Some(format!("{} from {from} to {to:?}", name.display()))
    }

    /// Somebody commands.
    pub fn command(room: &Mailroom, dice: &mut Dice) -> Option<String> {
        let (desk, now) = (room.desk(), room.clock.now());
        if dice.percent(10) {
            let command = dice.pick(&[AccountCommand::Pause, AccountCommand::Resume, AccountCommand::Resume]);
            desk.order_account("main", command, now).unwrap();
            return Some(format!("{command:?} the account"));
        }
        let numbers = desk.numbers().unwrap();
        let number: Number = *numbers.get(dice.below(numbers.len().max(1)))?;
        let command = dice.pick(&Command::ALL);
        desk.order(number, command, now).unwrap();
        Some(format!("{command:?} {number}"))
    }
}
