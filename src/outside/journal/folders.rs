//! Which folders are worked on.

pub fn folder_enabled(folder: &str, came_back: bool) {
    if came_back {
        tracing::warn!(folder, "the folder is back; what lies in it and was not known is held");
    } else {
        tracing::info!(folder, "the folder is watched; what lay in it already is held");
    }
}

/// It was worked on with other records since these knew it.
pub fn folder_of_others(folder: &str) {
    tracing::warn!(
        folder,
        "another mailchute, or other records of this one, worked on the folder; what it left there is held"
    );
}

pub fn folder_away(folder: &str, why: &str) {
    tracing::error!(folder, why, "the folder can't be worked on; nothing is taken from it");
}

pub fn folder_back(folder: &str) {
    tracing::info!(folder, "the folder is worked on");
}

/// Its file got another name, or the directory another path.
pub fn folder_renamed(old: &str, folder: &str) {
    tracing::info!(folder, old, "the folder has another name; its letters go along");
}

/// It has the marker of a folder that is still there.
pub fn folder_copied(folder: &str) {
    tracing::warn!(
        folder,
        "the folder is a copy of another one; what lies in it is held, and letters stay those of the other"
    );
}

/// The configuration leaves it out at a start.
pub fn folder_left_out(folder: &str, path: &str, unfinished: &str) {
    tracing::error!(folder, path, unfinished, "the folder is not in the configuration; its letters are held");
}
