//! `mailchute submit --folder`: an atomic drop for scripts, which then goes the way of every file.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fs_err as fs;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, fchmod, openat, renameat_with};
use serde::Serialize;

use super::{Submitted, WrongWords};
use crate::base::clock::Clock;
use crate::config::{self, Config, Folder, LetterKind};
use crate::domain::drop::{INSIDE, natural_order, shown};
use crate::loops::intake::may_be_dropped;
use crate::outside::spool::Ulid;

/// A sidecar as it is written beside a PDF.
#[derive(Serialize)]
struct Sidecar<'a> {
    receiver: Written<'a>,
}

#[derive(Serialize)]
struct Written<'a> {
    postal_code: &'a str,
    state: &'a str,
    city: &'a str,
    address1: &'a str,
    name: &'a str,
    honorific: &'a str,
}

/// Drops the files and returns their names in the folder. All are copied under hidden names before the first gets its
/// own.
pub(super) fn run(
    config: &Config,
    name: &str,
    files: &[PathBuf],
    to: Option<&Path>,
) -> anyhow::Result<Vec<String>> {
    let known: Vec<&str> = config.folders.iter().map(|folder| folder.name.as_str()).collect();
    let folder = config
        .folder(name)
        .ok_or_else(|| WrongWords(format!("there is no folder `{name}`; there is: {}", known.join(", "))))?;
    let sidecar = to.map(sidecar).transpose()?;
    let files: Vec<(String, &Path)> =
        files.iter().map(|file| Ok((name_of(file)?, file.as_path()))).collect::<anyhow::Result<_>>()?;
    let drops = match folder.letter {
        LetterKind::File => each_alone(folder, &files, sidecar.as_deref())?,
        LetterKind::Subfolder => vec![together(folder, &files, sidecar.as_deref())?],
    };
    let (mut names, mut failed) = (Vec::new(), None);
    for ready in &drops {
        match ready.appear(folder) {
            Ok(()) => names.push(ready.name.clone()),
            Err(error) => {
                failed = Some((error, folder.path.join(&ready.name)));
                break;
            }
        }
    }
    // A failure to print must not look like a failure to drop.
    let said = names
        .iter()
        .try_for_each(|name| super::say(&format!("dropped: {}", folder.path.join(name).display())));
    match failed {
        None => said.context(Submitted)?,
        Some((NotDropped::Unsynced(error), target)) => {
            let what = format!("{} was dropped, and may be lost if the power fails now", target.display());
            return Err(error).context(what).context(Submitted);
        }
        Some((NotDropped::Refused(error), target)) if names.is_empty() => {
            return Err(error).context(format!("{} can't be dropped; nothing was dropped", target.display()));
        }
        Some((NotDropped::Refused(error), target)) => {
            let what = format!(
                "{} can't be dropped; the first {} of {} were",
                target.display(),
                names.len(),
                drops.len()
            );
            return Err(error).context(what).context(Submitted);
        }
    }
    Ok(names)
}

fn sidecar(to: &Path) -> anyhow::Result<String> {
    let receiver = config::read_receiver(to)?;
    let address = &receiver.address;
    let receiver = Written {
        postal_code: &address.postal_code,
        state: &address.state,
        city: &address.city,
        address1: &address.address1,
        name: &address.name,
        honorific: &receiver.honorific,
    };
    Ok(serde_yaml::to_string(&Sidecar { receiver })?)
}

/// A complete and durable drop under a hidden name in the folder. It is removed if it does not get its own name.
struct ReadyDrop {
    name: String,
    hidden: HiddenCopy,
    /// The sidecar that appears before it.
    sidecar: Option<HiddenCopy>,
}

/// A file or directory under a hidden name. Dropping this value removes it.
struct HiddenCopy(PathBuf);

/// Why a drop did not get its name durably.
enum NotDropped {
    Refused(io::Error),
    /// It has its name.
    Unsynced(io::Error),
}

impl Drop for HiddenCopy {
    fn drop(&mut self) {
        let removed = if self.0.is_dir() { fs::remove_dir_all(&self.0) } else { fs::remove_file(&self.0) };
        drop(removed);
    }
}

impl HiddenCopy {
    /// A name that cannot be guessed, so that nobody can put a link there beforehand.
    fn name_in(folder: &Folder) -> anyhow::Result<Self> {
        let ulid = Ulid::new(Clock::system().now())?;
        Ok(Self(folder.path.join(format!(".{}.part", ulid.as_str()))))
    }

    fn file(folder: &Folder, mut from: impl Read, mode: Mode) -> anyhow::Result<Self> {
        let hidden = Self::name_in(folder)?;
        let dir = File::open(&folder.path)?;
        write_new(&dir, hidden.0.file_name().unwrap_or_default(), &mut from, (mode, folder))?;
        Ok(hidden)
    }

    /// Gives it its name. A rename over a network may report an error although it worked.
    fn appear(&self, target: &Path) -> io::Result<()> {
        let inode = |path: &Path| fs::symlink_metadata(path).map(|stat| stat.ino());
        let own = inode(&self.0)?;
        match renameat_with(CWD, &self.0, CWD, target, RenameFlags::NOREPLACE) {
            Err(_) if inode(&self.0).is_err() && inode(target).is_ok_and(|inode| inode == own) => Ok(()),
            renamed => Ok(renamed?),
        }
    }
}

impl ReadyDrop {
    /// Gives it its name, after its sidecar.
    fn appear(&self, folder: &Folder) -> Result<(), NotDropped> {
        let beside = folder.path.join(format!("{}.yaml", self.name));
        if let Some(sidecar) = &self.sidecar {
            sidecar.appear(&beside).map_err(NotDropped::Refused)?;
        }
        if let Err(error) = self.hidden.appear(&folder.path.join(&self.name)) {
            if self.sidecar.is_some() {
                // Another PDF of the name must not be posted to this address.
                fs::remove_file(&beside).map_err(NotDropped::Refused)?;
            }
            return Err(NotDropped::Refused(error));
        }
        File::open(&folder.path).and_then(|dir| dir.sync_all()).map_err(NotDropped::Unsynced)
    }
}

/// Each PDF is a drop.
fn each_alone(
    folder: &Folder,
    files: &[(String, &Path)],
    sidecar: Option<&str>,
) -> anyhow::Result<Vec<ReadyDrop>> {
    let mut names = BTreeSet::new();
    for (name, _) in files {
        may_be_called(folder, name)?;
        if !names.insert(name) {
            let twice = format!("two of the files are called {name}; nothing was dropped");
            return Err(WrongWords(twice).into());
        }
        let target = folder.path.join(name);
        let exists = target.symlink_metadata().is_ok();
        anyhow::ensure!(!exists, "{} exists already; nothing was dropped", target.display());
    }
    let ready = |(name, file): &(String, &Path)| -> anyhow::Result<ReadyDrop> {
        let (from, mode) = open_to_copy(file)?;
        let hidden = HiddenCopy::file(folder, from, mode)?;
        let sidecar = sidecar.map(|text| HiddenCopy::file(folder, text.as_bytes(), mode)).transpose()?;
        Ok(ReadyDrop { name: name.clone(), hidden, sidecar })
    };
    files.iter().map(|file| ready(file).context("nothing was dropped")).collect()
}

/// All files become one subfolder. Intake takes documents in the order of their names, so they get numbers if their own
/// names would give another order.
fn together(folder: &Folder, files: &[(String, &Path)], sidecar: Option<&str>) -> anyhow::Result<ReadyDrop> {
    let is_document = |name: &str| !INSIDE.contains(&name);
    let documents: Vec<&str> =
        files.iter().map(|(name, _)| name.as_str()).filter(|name| is_document(name)).collect();
    let first = documents.first().context("there is no document among them; nothing was dropped")?;
    let stem = Path::new(first).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    may_be_called(folder, &stem)?;
    files.iter().try_for_each(|(name, _)| may_be_called(folder, name))?;
    let is_in_order = documents.windows(2).all(|two| match two {
        [one, other] => natural_order(&shown(one.as_bytes()), &shown(other.as_bytes())).is_lt(),
        _ => true,
    });
    let hidden = HiddenCopy::name_in(folder)?;
    let make = || -> anyhow::Result<()> {
        fs::create_dir(&hidden.0)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = File::from(openat(CWD, &hidden.0, flags, Mode::empty())?);
        let mut mode = Mode::RUSR | Mode::WUSR;
        let mut n = 0;
        for (name, file) in files {
            let (mut from, its) = open_to_copy(file)?;
            mode |= its;
            n += u32::from(is_document(name));
            let name =
                if is_in_order || !is_document(name) { name.clone() } else { format!("{n:02} {name}") };
            write_new(&dir, name.as_ref(), &mut from, (its, folder))?;
        }
        if let Some(mut text) = sidecar.map(str::as_bytes) {
            write_new(&dir, "letter.yaml".as_ref(), &mut text, (mode, folder))?;
        }
        give_to_owner(&dir, folder);
        Ok(dir.sync_all()?)
    };
    make().context("nothing was dropped")?;
    Ok(ReadyDrop { name: stem, hidden, sidecar: None })
}

fn may_be_called(folder: &Folder, name: &str) -> Result<(), WrongWords> {
    if may_be_dropped(folder, name.as_bytes()) {
        return Ok(());
    }
    Err(WrongWords(format!(
        "the folder ignores what is called {name}; nothing was dropped: give it another name"
    )))
}

/// A file to copy, with the permissions that its copy gets.
fn open_to_copy(file: &Path) -> anyhow::Result<(fs::File, Mode)> {
    let from = fs::File::open(file)?;
    let mode = Mode::from_raw_mode(from.metadata()?.mode() & 0o666);
    Ok((from, mode))
}

fn name_of(file: &Path) -> anyhow::Result<String> {
    let name = file.file_name().and_then(|name| name.to_str());
    Ok(name.with_context(|| format!("{}: its name can't be used", file.display()))?.to_owned())
}

/// Writes a durable file that did not exist.
fn write_new(
    dir: &File,
    name: &OsStr,
    from: &mut impl Read,
    (mode, folder): (Mode, &Folder),
) -> anyhow::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?);
    io::copy(from, &mut file)?;
    give_to_owner(&file, folder);
    fchmod(&file, mode)?;
    Ok(file.sync_all()?)
}

/// Gives what root drops to the folder's owner, so that the daemon can read it. Other users keep their files.
fn give_to_owner(made: &File, folder: &Folder) {
    if let Ok(owner) = fs::metadata(&folder.path) {
        let _ = fchown(made, Some(owner.uid()), Some(owner.gid()));
    }
}
