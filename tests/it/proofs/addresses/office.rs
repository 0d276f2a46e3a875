//! What people do with PDFs of one name and their addresses. Nobody is careless: an address is put beside the PDF for
//! which it was written, and nothing is overwritten.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use mailchute::domain::letter::{Command, Number};
use mailchute::outside::spool::sha256_of;

use crate::rigs::dice::Dice;
use crate::rigs::mailroom::{Mailroom, SIDECAR};
use crate::rigs::service::pdf;

/// One name in the two forms of Unicode.
const NAMES: [&str; 2] = ["side請求が.pdf", "side請求か\u{3099}.pdf"];
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
const SHELVES: [&str; 3] = ["Held", "Rejected", "Approve"];

/// A PDF and the address that was written for it.
pub struct Pair {
    pub receiver: String,
    pub content: String,
    bytes: Vec<u8>,
    /// It is posted only after a person's word.
    pub needs_word: bool,
    pub has_word: bool,
    /// How many times it was put into the folder.
    pub drops: usize,
}

/// A file that is moved or copied.
pub struct Step {
    from: PathBuf,
    to: PathBuf,
    is_copy: bool,
}

#[derive(Default)]
pub struct Office {
    pub pairs: Vec<Pair>,
    /// Whose PDF or address a file is, by its inode.
    whose: BTreeMap<u64, usize>,
    /// What is still to be put into the folder.
    rest: Option<(PathBuf, usize, Vec<u8>)>,
}

fn inode(path: &Path) -> u64 {
    path.symlink_metadata().unwrap().ino()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut found: Vec<_> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    found.sort();
    found
}

/// Its directory and its name, with the marks that tell the two forms of the name apart.
fn shown(path: &Path) -> String {
    let last: Vec<_> = path.iter().rev().take(2).collect();
    let [name, dir] = last.as_slice() else { return String::new() };
    format!("{:?}", format!("{}/{}", dir.display(), name.display()))
}

fn is_pdf(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "pdf")
}

fn with_ending(pdf: &Path, ending: &str) -> PathBuf {
    pdf.with_file_name(format!("{}.{ending}", pdf.file_name().unwrap().to_str().unwrap()))
}

/// The addresses beside a PDF.
fn beside(pdf: &Path) -> Vec<PathBuf> {
    ENDINGS.iter().map(|ending| with_ending(pdf, ending)).filter(|path| path.exists()).collect()
}

/// Other bytes than every other one, so many pages.
fn document(number: usize, has_doubt: bool) -> Vec<u8> {
    let marks = (0..12).map(|bit| if number >> bit & 1 == 1 { b' ' } else { b'\n' });
    pdf(1).into_iter().chain(marks).chain(has_doubt.then_some(0x1a)).collect()
}

fn address(receiver: &str, ending: &str) -> String {
    if ending == "json" {
        return format!(
            r#"{{"receiver": {{"postal_code": "0600001", "state": "北海道", "city": "札幌市", "address1": "1-1", "name": "{receiver}"}}}}"#
        );
    }
    SIDECAR.replace("佐藤", receiver)
}

impl Office {
    fn write(&mut self, path: &Path, whose: usize, bytes: &[u8]) {
        std::fs::write(path, bytes).unwrap();
        self.whose.insert(inode(path), whose);
    }

    /// Whether a PDF may be put into the folder now: nobody is in the middle of it, nothing has its name, and nothing of
    /// the other form waits there for its other half.
    fn may_drop(&self, folder: &Path, name: &str) -> bool {
        let is_half = |name: &&str| folder.join(name).exists() == beside(&folder.join(name)).is_empty();
        let path = folder.join(name);
        let is_free = !path.exists() && beside(&path).is_empty();
        self.rest.is_none() && is_free && !NAMES.iter().any(is_half)
    }

    /// Somebody drops a PDF with its address.
    pub fn drop(&mut self, room: &Mailroom, is_approval: bool, dice: &mut Dice) -> Option<String> {
        let (name, number) = (dice.pick(&NAMES), self.pairs.len());
        let folder = room.hot();
        if !self.may_drop(&folder, name) {
            return None;
        }
        let has_doubt = dice.percent(50);
        let bytes = match self.pairs.last() {
            Some(last) if dice.percent(25) => last.bytes.clone(),
            _ => document(number, has_doubt),
        };
        let needs_word = is_approval || bytes.ends_with(&[0x1a]);
        let (receiver, ending) = (format!("受取{number}"), dice.pick(&ENDINGS));
        let (content, pdf) = (sha256_of(&bytes), folder.join(name));
        let address = (with_ending(&pdf, ending), address(&receiver, ending).into_bytes());
        self.pairs.push(Pair {
            receiver,
            content,
            bytes: bytes.clone(),
            needs_word,
            has_word: false,
            drops: 1,
        });
        let mut both = [(pdf, bytes), address];
        if dice.percent(75) {
            both.reverse();
        }
        let is_together = dice.percent(50);
        let [(first, content), (second, rest)] = both;
        self.write(&first, number, &content);
        if is_together {
            self.write(&second, number, &rest);
            return Some(format!("drop {number}: {} and {}", shown(&first), shown(&second)));
        }
        self.rest = Some((second, number, rest));
        Some(format!("drop {number}: {}, the rest later", shown(&first)))
    }

    /// What was begun is completed.
    pub fn complete(&mut self) -> Option<String> {
        let (path, whose, bytes) = self.rest.take()?;
        self.write(&path, whose, &bytes);
        Some(format!("and {} of {whose}", shown(&path)))
    }

    /// Somebody takes a PDF from one place to another, with or without the addresses beside it, file by file.
    pub fn hand(&mut self, room: &Mailroom, aside: &Path, dice: &mut Dice) -> Option<(String, Vec<Step>)> {
        let to = dice.pick(&["Approve", "Approve", "Approve", "Cancel", "aside", "", "nowhere"]);
        let places = SHELVES.iter().map(|shelf| room.path(shelf)).chain([aside.to_path_buf()]);
        let pdfs: Vec<_> = places.flat_map(|place| files(&place)).filter(|path| is_pdf(path)).collect();
        let pdf = pdfs.get(dice.below(pdfs.len().max(1)))?;
        let from = pdf.parent().unwrap();
        let number = *self.whose.get(&inode(pdf))?;
        let name = pdf.file_name().unwrap().to_str().unwrap();
        let is_one_of_two =
            self.pairs.iter().filter(|pair| pair.content == self.pairs[number].content).count() > 1;
        if is_one_of_two && (to == "aside" || !from.ends_with("Held")) {
            // Away from its shelf, nobody can know which of two equal files it is.
            return None;
        }
        let target = match to {
            "nowhere" => {
                std::fs::remove_file(pdf).unwrap();
                return Some((format!("{} of {number} is deleted", shown(pdf)), Vec::new()));
            }
            "aside" => aside.to_path_buf(),
            to => room.path(to),
        };
        if target == *from || target.join(name).exists() || (to.is_empty() && !self.may_drop(&target, name)) {
            return None;
        }
        // A copy is that of any held PDF with its name and its bytes.
        let is_copy = from.ends_with("Held")
            && !is_one_of_two
            && matches!(to, "Approve" | "Cancel")
            && dice.percent(30);
        let mut addresses = if to.is_empty() || dice.percent(60) { beside(pdf) } else { Vec::new() };
        if from == aside {
            // Who took it there knows which address is its own.
            addresses.retain(|path| self.whose.get(&inode(path)) == Some(&number));
        }
        let mut paths: Vec<_> = std::iter::once(pdf.clone()).chain(addresses).collect();
        if dice.percent(50) {
            paths.reverse();
        }
        let pair = &mut self.pairs[number];
        pair.has_word |= to == "Approve";
        pair.drops += usize::from(to.is_empty());
        let how = if is_copy { "copied" } else { "moved" };
        let said = format!(
            "{number} is {how} to {to:?}: {}",
            paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ")
        );
        let steps = paths.into_iter().map(|from| {
            let to = target.join(from.file_name().unwrap());
            Step { from, to, is_copy }
        });
        Some((said, steps.collect()))
    }

    /// One file of several is moved or copied, if it is there still.
    pub fn take(&mut self, Step { from, to, is_copy }: &Step) {
        if !from.exists() || to.exists() {
            return;
        }
        let whose = self.whose.get(&inode(from)).copied();
        if *is_copy {
            std::fs::copy(from, to).unwrap();
            self.whose.extend(whose.map(|whose| (inode(to), whose)));
        } else {
            std::fs::rename(from, to).unwrap();
        }
    }

    /// Somebody writes the address of a PDF that has none beside it.
    pub fn give_address(&mut self, room: &Mailroom, dice: &mut Dice) -> Option<String> {
        let pdfs: Vec<_> = files(&room.path("Held")).into_iter().filter(|path| is_pdf(path)).collect();
        let pdf = pdfs.get(dice.below(pdfs.len().max(1)))?;
        let number = *self.whose.get(&inode(pdf))?;
        if !beside(pdf).is_empty() {
            return None;
        }
        let ending = dice.pick(&ENDINGS);
        let (path, text) = (with_ending(pdf, ending), address(&self.pairs[number].receiver, ending));
        self.write(&path, number, text.as_bytes());
        Some(format!("{} is written for {number}", shown(&path)))
    }

    /// Somebody releases a letter by its number, after reading to whom it goes.
    pub fn release(&mut self, room: &Mailroom, dice: &mut Dice) -> Option<String> {
        let desk = room.desk();
        let numbers = desk.numbers().unwrap();
        let number: Number = *numbers.get(dice.below(numbers.len().max(1)))?;
        let receiver = desk.letter(number).unwrap().unwrap().order.receiver.address.name.clone();
        desk.order(number, Command::Release, room.clock.now()).unwrap();
        let pair = self.pairs.iter_mut().find(|pair| pair.receiver == receiver)?;
        pair.has_word = true;
        Some(format!("{number} to {receiver} is released"))
    }
}
