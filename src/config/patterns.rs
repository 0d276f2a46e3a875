//! Compiled expressions by their texts: a thousand folders with the same rules share each of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use regex::{Regex, bytes};

/// A pattern in which `*` matches anything and `?` one character.
pub(super) type Glob = bytes::Regex;

#[derive(Debug, Default)]
pub(super) struct Patterns {
    expressions: RefCell<HashMap<String, Arc<Regex>>>,
    globs: RefCell<HashMap<String, Arc<Glob>>>,
}

impl Patterns {
    pub(super) fn regex(&self, text: &str) -> Result<Arc<Regex>, regex::Error> {
        shared(&self.expressions, text, || Regex::new(text))
    }

    pub(super) fn glob(&self, pattern: &str) -> Option<Arc<Glob>> {
        shared(&self.globs, pattern, || glob(pattern)).ok()
    }
}

/// What `*` matches is any bytes. Any characters would take long to compile.
pub(super) fn glob(pattern: &str) -> Result<Glob, regex::Error> {
    let escaped = regex::escape(pattern).replace(r"\*", "(?-u:.*)").replace(r"\?", ".");
    Glob::new(&format!("^(?s:{escaped})$"))
}

fn shared<T>(
    known: &RefCell<HashMap<String, Arc<T>>>,
    text: &str,
    compile: impl FnOnce() -> Result<T, regex::Error>,
) -> Result<Arc<T>, regex::Error> {
    if let Some(known) = known.borrow().get(text) {
        return Ok(Arc::clone(known));
    }
    let compiled = Arc::new(compile()?);
    known.borrow_mut().insert(text.to_owned(), Arc::clone(&compiled));
    Ok(compiled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_anything_and_a_question_mark_one_character() {
        for (pattern, name, matches) in [
            ("*.bak", "x.bak", true),
            ("*.bak", ".bak", true),
            ("*.bak", "x.bak.pdf", false),
            ("*.bak", "x_bak", false),
            ("請求書*.pdf", "請求書 山田\n様.pdf", true),
            ("請求書*.pdf", "請求.pdf", false),
            ("?.pdf", "山.pdf", true),
            ("?.pdf", "山田.pdf", false),
            ("?.pdf", ".pdf", false),
            ("*山?*", "北山田", true),
            ("*山?*", "北山", false),
            ("[a].pdf", "a.pdf", false),
            ("[a].pdf", "[a].pdf", true),
        ] {
            assert_eq!(glob(pattern).unwrap().is_match(name.as_bytes()), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn an_expression_is_compiled_once() {
        let patterns = Patterns::default();
        let twice = || (patterns.regex("a").unwrap(), patterns.glob("a").unwrap());
        let (first, second) = (twice(), twice());
        assert!(Arc::ptr_eq(&first.0, &second.0) && Arc::ptr_eq(&first.1, &second.1));
        assert!(first.0.is_match("bab") && !first.1.is_match(b"bab"));
        patterns.regex("(").unwrap_err();
    }
}
