//! What programs leave behind or write on the way: never a drop.

use crate::config::Folder;
use crate::domain::drop::shown;
use crate::words::texts::{Language, Names};

/// How programs call a file while they copy or load it.
const HALF_MADE: [&str; 7] = [".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", ".filepart"];

pub(super) fn is_half_made(name: &[u8]) -> bool {
    let lower = shown(name).to_lowercase();
    let is_of_rsync = lower.starts_with('.') && lower.contains(".pdf.");
    is_of_rsync || HALF_MADE.iter().any(|ending| lower.ends_with(ending))
}

/// Names of no drop: of programs, of our own shelves, and what the folder's own file leaves alone.
pub(super) fn is_litter(folder: &Folder, name: &[u8]) -> bool {
    let text = shown(name);
    let lower = text.to_lowercase();
    let whole =
        ["thumbs.db", "desktop.ini", "@eadir", "$recycle.bin", "system volume information", "lost+found"];
    lower.starts_with(['.', '~', '#'])
        || is_half_made(name)
        || ["~", ".swp"].iter().any(|ending| lower.ends_with(ending))
        || whole.contains(&lower.as_str())
        || folder.names.all().contains(&text.as_str())
        // The shelves of before, if names or language were changed.
        || Language::ALL.iter().any(|language| Names::usual(*language).all().contains(&text.as_str()))
        || Language::ALL.iter().any(|language| language.waits_name() == text)
        || folder.ignore.iter().any(|pattern| pattern.is_match(&text))
}
