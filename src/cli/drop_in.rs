//! `mailchute submit --folder`: an atomic drop for scripts, which then goes the way of every file.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fs_err as fs;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat_with};
use serde::Serialize;

use super::WrongWords;
use crate::base::clock::Clock;
use crate::config::{self, Config, Folder, LetterKind};
use crate::domain::drop::{natural_order, shown};
use crate::loops::intake::may_be_dropped;
use crate::outside::spool::{Ulid, own_like};

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

/// Returns the names under which the files were dropped. Nothing is dropped before everything lies in the folder under
/// hidden names.
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
    let all = drops.len();
    let mut names = Vec::new();
    for ready in drops {
        let target = folder.path.join(&ready.name);
        let dropped = ready.appear(folder);
        let before = names.len();
        dropped.with_context(|| match before {
            0 => format!("{} can't be dropped; nothing was dropped", target.display()),
            _ => format!(
                "{} can't be dropped; the first {before} of {all} were: do not drop those again",
                target.display()
            ),
        })?;
        super::say(&format!("dropped: {}", target.display()))?;
        names.push(ready.name.clone());
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

/// What lies in the folder under a hidden name that is never a drop, complete and durable. It is removed if it does not
/// appear.
struct ReadyDrop {
    name: String,
    hidden: Hidden,
    /// The sidecar that appears before it.
    sidecar: Option<Hidden>,
}

struct Hidden(PathBuf);

impl Drop for Hidden {
    fn drop(&mut self) {
        let removed = if self.0.is_dir() { fs::remove_dir_all(&self.0) } else { fs::remove_file(&self.0) };
        drop(removed);
    }
}

impl Hidden {
    /// A name that nobody can foresee: whoever may write into the folder must not lead us elsewhere by a link.
    fn name_in(folder: &Folder) -> anyhow::Result<Self> {
        let ulid = Ulid::new(Clock::system().now())?;
        Ok(Self(folder.path.join(format!(".{}.part", ulid.as_str()))))
    }

    fn file(folder: &Folder, mut from: impl Read) -> anyhow::Result<Self> {
        let hidden = Self::name_in(folder)?;
        let dir = File::open(&folder.path)?;
        let name = hidden.0.file_name().unwrap_or_default();
        write_new(&dir, name, &mut from, &folder.path)?;
        Ok(hidden)
    }

    fn appear(&self, target: &Path) -> io::Result<()> {
        Ok(renameat_with(CWD, &self.0, CWD, target, RenameFlags::NOREPLACE)?)
    }
}

impl ReadyDrop {
    /// Gives it its name, after its sidecar.
    fn appear(&self, folder: &Folder) -> io::Result<()> {
        let beside = folder.path.join(format!("{}.yaml", self.name));
        if let Some(sidecar) = &self.sidecar {
            sidecar.appear(&beside)?;
        }
        if let Err(error) = self.hidden.appear(&folder.path.join(&self.name)) {
            if self.sidecar.is_some() {
                // Another PDF of the name must not be posted to this address.
                fs::remove_file(&beside)?;
            }
            return Err(error);
        }
        File::open(&folder.path)?.sync_all()
    }
}

/// Each PDF is a drop.
fn each_alone(
    folder: &Folder,
    files: &[(String, &Path)],
    sidecar: Option<&str>,
) -> anyhow::Result<Vec<ReadyDrop>> {
    let mut names = BTreeSet::new();
    for (name, file) in files {
        if !may_be_dropped(folder, name.as_bytes()) {
            let ignored =
                format!("{}: the folder ignores files of this name; give it another", file.display());
            return Err(WrongWords(ignored).into());
        }
        if !names.insert(name) {
            let twice = format!("two of the files are called {name}; nothing was dropped");
            return Err(WrongWords(twice).into());
        }
        let target = folder.path.join(name);
        let exists = target.symlink_metadata().is_ok();
        anyhow::ensure!(!exists, "{} exists already; nothing was dropped", target.display());
    }
    let ready = |(name, file): &(String, &Path)| -> anyhow::Result<ReadyDrop> {
        let hidden = Hidden::file(folder, fs::File::open(*file)?)?;
        let sidecar = sidecar.map(|text| Hidden::file(folder, text.as_bytes())).transpose()?;
        Ok(ReadyDrop { name: name.clone(), hidden, sidecar })
    };
    files.iter().map(|file| ready(file).context("nothing was dropped")).collect()
}

/// One subfolder with all of them. A folder has its documents in the order of their names, so they get numbers if
/// their own names give another order.
fn together(folder: &Folder, files: &[(String, &Path)], sidecar: Option<&str>) -> anyhow::Result<ReadyDrop> {
    let (first, _) = files.first().context("no file")?;
    let stem = Path::new(first).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if !may_be_dropped(folder, stem.as_bytes()) {
        return Err(
            WrongWords(format!("the folder ignores what is called {stem}; give it another name")).into()
        );
    }
    let is_in_order = files.windows(2).all(|two| match two {
        [(one, _), (other, _)] => natural_order(&shown(one.as_bytes()), &shown(other.as_bytes())).is_lt(),
        _ => true,
    });
    let hidden = Hidden::name_in(folder)?;
    let make = || -> anyhow::Result<()> {
        fs::create_dir(&hidden.0)?;
        drop(own_like(&hidden.0, &folder.path));
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = File::from(openat(CWD, &hidden.0, flags, Mode::empty())?);
        for (n, (name, file)) in (1..).zip(files) {
            let name = if is_in_order { name.clone() } else { format!("{n:02} {name}") };
            write_new(&dir, name.as_ref(), &mut fs::File::open(*file)?, &folder.path)?;
        }
        if let Some(mut text) = sidecar.map(str::as_bytes) {
            write_new(&dir, "letter.yaml".as_ref(), &mut text, &folder.path)?;
        }
        Ok(dir.sync_all()?)
    };
    make().context("nothing was dropped")?;
    Ok(ReadyDrop { name: stem, hidden, sidecar: None })
}

fn name_of(file: &Path) -> anyhow::Result<String> {
    let name = file.file_name().and_then(|name| name.to_str());
    Ok(name.with_context(|| format!("{}: its name can't be used", file.display()))?.to_owned())
}

/// Writes a durable file that did not exist. If root does it, the file belongs to the owner of `like`.
fn write_new(dir: &File, name: &OsStr, from: &mut impl Read, like: &Path) -> anyhow::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH;
    let mut file = File::from(openat(dir, name, flags, mode)?);
    io::copy(from, &mut file)?;
    let owner = fs::metadata(like)?;
    let _ = fchown(&file, Some(owner.uid()), Some(owner.gid()));
    Ok(file.sync_all()?)
}
