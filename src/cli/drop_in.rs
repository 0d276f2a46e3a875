//! `mailchute submit --folder`: an atomic drop for scripts, which then goes the way of every file.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fs_err as fs;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::Serialize;

use super::WrongWords;
use crate::config::{self, Config, Folder, LetterKind};

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

/// Returns the names under which the files were dropped.
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
    let drops = match folder.letter {
        LetterKind::File => files
            .iter()
            .map(|file| one(folder, file, sidecar.as_deref()))
            .collect::<anyhow::Result<Vec<_>>>()?,
        LetterKind::Subfolder => vec![together(folder, files, sidecar.as_deref())?],
    };
    let mut names = Vec::new();
    for dropped in drops {
        super::say(&format!("dropped: {}", dropped.display()))?;
        names.extend(dropped.file_name().and_then(|name| name.to_str()).map(str::to_owned));
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

/// A PDF, after its sidecar. Each gets its name only when it is complete.
fn one(folder: &Folder, file: &Path, sidecar: Option<&str>) -> anyhow::Result<PathBuf> {
    let name = name_of(file)?;
    let target = folder.path.join(&name);
    anyhow::ensure!(!target.exists(), "{} exists already; nothing was dropped", target.display());
    if let Some(text) = sidecar {
        let beside = folder.path.join(format!("{name}.yaml"));
        appear(&folder.path, &format!("{name}.yaml"), &beside, |hidden| fs::write(hidden, text))?;
    }
    appear(&folder.path, &name, &target, |hidden| fs::copy(file, hidden).map(drop))?;
    Ok(target)
}

/// One subfolder with all of them, which appears complete.
fn together(folder: &Folder, files: &[PathBuf], sidecar: Option<&str>) -> anyhow::Result<PathBuf> {
    let first = files.first().context("no file")?;
    let stem = first.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let target = folder.path.join(&stem);
    appear(&folder.path, &stem, &target, |hidden| {
        fs::create_dir(hidden)?;
        for file in files {
            fs::copy(file, hidden.join(file.file_name().unwrap_or_default()))?;
        }
        sidecar.map_or(Ok(()), |text| fs::write(hidden.join("letter.yaml"), text))
    })?;
    Ok(target)
}

fn name_of(file: &Path) -> anyhow::Result<String> {
    let name = file.file_name().and_then(|name| name.to_str());
    Ok(name.with_context(|| format!("{}: its name can't be used", file.display()))?.to_owned())
}

/// Creates something under a hidden name that is never a drop, and renames it when it is complete.
fn appear(
    dir: &Path,
    name: &str,
    target: &Path,
    make: impl FnOnce(&Path) -> io::Result<()>,
) -> anyhow::Result<()> {
    let hidden = dir.join(format!(".{}.{}.part", std::process::id(), short(name)));
    let whole = make(&hidden).and_then(|()| {
        fs::File::open(&hidden)?.sync_all()?;
        Ok(renameat_with(CWD, &hidden, CWD, target, RenameFlags::NOREPLACE)?)
    });
    if whole.is_err() {
        let remove = if hidden.is_dir() { fs::remove_dir_all(&hidden) } else { fs::remove_file(&hidden) };
        drop(remove);
    }
    whole.with_context(|| format!("{} can't be dropped", target.display()))?;
    Ok(fs::File::open(dir)?.sync_all()?)
}

/// The hidden name is longer, and no name may have more than 255 bytes.
fn short(name: &str) -> String {
    name.chars().take(50).collect()
}
