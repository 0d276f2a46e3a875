//! Names that are never drops: what programs leave behind or write temporarily.

use crate::config::Folder;
use crate::domain::drop::shown;
use crate::words::texts::Language;

/// The endings that programs use while they copy or download a file.
const HALF_MADE: [&str; 7] = [".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", ".filepart"];

pub(super) fn is_half_made(name: &[u8]) -> bool {
    is_half_made_name(&shown(name).to_lowercase())
}

/// `lower` is the name in lower case.
fn is_half_made_name(lower: &str) -> bool {
    let is_of_rsync = lower.starts_with('.') && lower.contains(".pdf.");
    is_of_rsync || HALF_MADE.iter().any(|ending| lower.ends_with(ending))
}

/// Whether a folder takes what has this name.
pub fn may_be_dropped(folder: &Folder, name: &[u8]) -> bool {
    !is_litter(folder, name)
}

/// Whether a name is not a drop: a program's temporary file, one of our own shelves, or ignored by the
/// folder's file.
pub(super) fn is_litter(folder: &Folder, name: &[u8]) -> bool {
    let text = shown(name);
    let lower = text.to_lowercase();
    let whole =
        ["thumbs.db", "desktop.ini", "@eadir", "$recycle.bin", "system volume information", "lost+found"];
    lower.starts_with(['.', '~', '#'])
        || is_half_made_name(&lower)
        || ["~", ".swp"].iter().any(|ending| lower.ends_with(ending))
        || whole.contains(&lower.as_str())
        || folder.names.all().contains(&text.as_str())
        // Shelves keep their old names if names or language were changed.
        || Language::ALL.iter().any(|language| language.shelves().contains(&text.as_str()))
        || Language::ALL.iter().any(|language| language.waits_name() == text)
        || folder.ignore.iter().any(|pattern| pattern.is_match(text.as_bytes()))
}
