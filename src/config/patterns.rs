//! Compiled expressions by their texts: a thousand folders with the same rules share each of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use regex::Regex;

#[derive(Debug, Default)]
pub(super) struct Patterns(RefCell<HashMap<String, Arc<Regex>>>);

impl Patterns {
    pub(super) fn regex(&self, text: &str) -> Result<Arc<Regex>, regex::Error> {
        if let Some(known) = self.0.borrow().get(text) {
            return Ok(Arc::clone(known));
        }
        let regex = Arc::new(Regex::new(text)?);
        self.0.borrow_mut().insert(text.to_owned(), Arc::clone(&regex));
        Ok(regex)
    }

    /// A pattern in which `*` matches anything and `?` one character.
    pub(super) fn glob(&self, pattern: &str) -> Option<Arc<Regex>> {
        let escaped = regex::escape(pattern).replace(r"\*", ".*").replace(r"\?", ".");
        self.regex(&format!("^(?s:{escaped})$")).ok()
    }
}
