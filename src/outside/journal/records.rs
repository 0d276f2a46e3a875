//! What the operator reads about what is kept: what was removed after its time, and what is made from the records.

use super::chain;
use crate::domain::letter::Number;
use crate::outside::store::StoreError;

/// What was kept as long as configured.
pub fn discarded(letter: Number, what: &str) {
    tracing::info!(letter = letter.0, what, "letter {letter}: {what} removed after the configured time");
}

pub fn not_discarded(folder: &str, why: &str) {
    tracing::warn!(
        folder,
        why,
        "folder {folder}: files can't be removed after their time ({why}); it is tried again"
    );
}

/// Letters are searched in the records meanwhile, which takes longer.
pub fn names_not_followed(error: &StoreError) {
    let error = chain(error);
    tracing::warn!("the index for searching letters can't be written, so searching is slower: {error}");
}
