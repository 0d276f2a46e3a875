//! What the operator reads about folders.

pub fn folder_enabled(folder: &str, came_back: bool) {
    if came_back {
        tracing::warn!(folder, "folder {folder} is back; what lies in it and was not known is held");
    } else {
        tracing::info!(folder, "folder {folder} is watched; what was already in it is held");
    }
}

/// The folder was used with other records since these last used it.
pub fn folder_of_others(folder: &str) {
    tracing::warn!(
        folder,
        "folder {folder} was used by another mailchute or with other records; what they left there is held"
    );
}

pub fn folder_away(folder: &str, why: &str) {
    tracing::error!(folder, why, "folder {folder} can't be used, nothing is taken from it: {why}");
}

pub fn folder_back(folder: &str) {
    tracing::info!(folder, "folder {folder} is used again");
}

/// Its file got another name, or its directory another path.
pub fn folder_renamed(old: &str, folder: &str) {
    tracing::info!(folder, old, "folder {old} is now named {folder}; its letters go along");
}

/// It has the marker of a folder that still exists.
pub fn folder_copied(folder: &str) {
    tracing::warn!(
        folder,
        "folder {folder} is a copy of another one; what lies in it is held, and letters stay with the other"
    );
}

/// The configuration leaves it out at a start.
pub fn folder_left_out(folder: &str, path: &str, unfinished: &str) {
    tracing::error!(
        folder,
        path,
        unfinished,
        "folder {folder} ({path}) is not in the configuration; its letters are held: {unfinished}"
    );
}
