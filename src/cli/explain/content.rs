//! The documents and the sidecar of a file, read where it lies, as intake reads them from a claim.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::config::Folder;
use crate::domain::drop::{Doubtful, INSIDE, Kind, Refusal, showable, shown, sidecars_in_any_form};
use crate::domain::letter::LARGEST_DOCUMENT;
use crate::domain::rules::{Found, Sidecar};
use crate::loops::intake::{
    Inspected, LARGEST_SIDECAR, NoDrop, Shape, Unusable, bytes_of, documents_among, inspected, no_drop,
    only_sidecar, shape, unreadable,
};
use crate::outside::hot::{Content, kind, kind_at, list_at, read_at};
use crate::outside::pdf::Inspector;
use crate::outside::spool::sha256_of;

/// What was read of a file, or why it can't be a letter whatever the rules say.
pub(super) enum Contents {
    Whole { paths: Vec<PathBuf>, documents: Vec<Found>, sidecar: Option<Box<Sidecar>> },
    Refused(Refusal),
    Doubtful(Vec<Doubtful>),
}

/// The name of a file as rules see it.
pub(in crate::cli) fn name_of(path: &Path) -> String {
    shown(path.file_name().unwrap_or_default().as_bytes())
}

/// Why a file is not taken in, if it is not.
pub(super) fn why_left(folder: &Folder, file: &Path) -> anyhow::Result<Option<NoDrop>> {
    Ok(no_drop(folder, file.file_name().unwrap_or_default().as_bytes(), kind_of(file)?))
}

/// The documents of a letter, in their order, or why it has none.
fn documents_of(folder: &Folder, file: &Path) -> anyhow::Result<Result<Vec<PathBuf>, Refusal>> {
    let name = file.file_name().unwrap_or_default().as_bytes();
    Ok(match shape(folder.letter, name, kind_of(file)?) {
        Err(refusal) => Err(refusal),
        Ok(Shape::File) => Ok(vec![file.to_owned()]),
        Ok(Shape::Subfolder) => {
            let inside = list_at(file).with_context(|| shown_path(file))?;
            let inside = inside.into_iter().map(|seen| (seen.name, kind(&seen.stat)));
            let names = documents_among(folder, inside.collect());
            names.map(|names| names.iter().map(|name| file.join(OsStr::from_bytes(name))).collect())
        }
    })
}

pub(super) async fn read(inspector: &Inspector, folder: &Folder, file: &Path) -> anyhow::Result<Contents> {
    let paths = match documents_of(folder, file)? {
        Ok(paths) => paths,
        Err(refusal) => return Ok(Contents::Refused(refusal)),
    };
    let (mut documents, mut doubtful) = (Vec::new(), Vec::new());
    for path in &paths {
        match document(inspector, folder, path).await? {
            Ok(found) => documents.push(found),
            Err(Unusable::Doubtful(document)) => doubtful.push(document),
            Err(Unusable::Refused(refusal)) => return Ok(Contents::Refused(refusal)),
            Err(Unusable::Changing) => return Err(changing(path)),
        }
    }
    let sidecar = match sidecar_of(folder, file)? {
        Ok(sidecar) => sidecar,
        Err(refusal) => return Ok(Contents::Refused(refusal)),
    };
    Ok(if doubtful.is_empty() {
        Contents::Whole { paths, documents, sidecar }
    } else {
        Contents::Doubtful(doubtful)
    })
}

async fn document(
    inspector: &Inspector,
    folder: &Folder,
    path: &Path,
) -> anyhow::Result<Result<Found, Unusable>> {
    let bytes = match bytes_of(read_here(path, LARGEST_DOCUMENT)?) {
        Ok(bytes) => bytes,
        Err(unusable) => return Ok(Err(unusable)),
    };
    let sha256 = sha256_of(&bytes);
    let answer = inspector.inspect(&bytes).await?;
    let Inspected { pages, paper, is_placeholder } = match inspected(folder, answer, &sha256, &[]) {
        Ok(inspected) => inspected,
        Err(unusable) => return Ok(Err(unusable)),
    };
    let printed = if folder.rules.read_pages() { Some(inspector.printed(&bytes).await?) } else { None };
    let (name, size) = (showable(&name_of(path)), bytes.len() as u64);
    Ok(Ok(Found { name, size, pages, sha256, paper, is_placeholder, printed }))
}

/// The sidecar beside a file, or inside a subfolder.
fn sidecar_of(folder: &Folder, file: &Path) -> anyhow::Result<Result<Option<Box<Sidecar>>, Refusal>> {
    let (dir, names) = if kind_of(file)? == Some(Kind::Directory) {
        (file, INSIDE.map(|name| name.as_bytes().to_vec()).to_vec())
    } else {
        let name = file.file_name().unwrap_or_default().as_bytes();
        let lies = |form: &[u8]| file.with_file_name(OsStr::from_bytes(form)).exists();
        (file.parent().unwrap_or(Path::new("")), sidecars_in_any_form(name, lies))
    };
    let path = |name: &[u8]| dir.join(OsStr::from_bytes(name));
    let found = names.into_iter().filter(|name| path(name).symlink_metadata().is_ok());
    let name = match only_sidecar(found.collect()) {
        Ok(Some(name)) => name,
        Ok(None) => return Ok(Ok(None)),
        Err(refusal) => return Ok(Err(refusal)),
    };
    let path = path(&name);
    let sidecar = match bytes_of(read_here(&path, LARGEST_SIDECAR)?) {
        Ok(bytes) => folder.sidecar(&path.display().to_string(), bytes),
        Err(Unusable::Changing) => return Err(changing(&path)),
        Err(Unusable::Refused(_) | Unusable::Doubtful(_)) => Err(unreadable(&name)),
    };
    Ok(sidecar.map(|sidecar| Some(Box::new(sidecar))).map_err(Refusal::Sidecar))
}

/// The content of a file. That the person who asks may not read it says nothing about the service.
fn read_here(path: &Path, largest: u64) -> anyhow::Result<Content> {
    let content = read_at(path, largest).with_context(|| shown_path(path))?;
    if matches!(content, Content::NoRight) {
        bail!("{} can't be read by this user: ask as the service's user", shown_path(path));
    }
    Ok(content)
}

fn kind_of(file: &Path) -> anyhow::Result<Option<Kind>> {
    kind_at(file).with_context(|| shown_path(file))
}

pub(super) fn shown_path(path: &Path) -> String {
    showable(&path.display().to_string())
}

fn changing(path: &Path) -> anyhow::Error {
    anyhow::anyhow!("{} was written to while it was read: try again once it is finished", shown_path(path))
}
