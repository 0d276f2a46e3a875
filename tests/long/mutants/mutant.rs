//! A broken rule.

#[derive(Clone, Copy)]
pub struct Mutant {
    pub what: &'static str,
    pub size: &'static str,
    /// File, what stands there, what is put in its place; everywhere it stands.
    pub edits: &'static [(&'static str, &'static str, &'static str)],
    /// Why nothing can break.
    pub harmless: Option<&'static str>,
}

pub const fn caught(
    what: &'static str,
    size: &'static str,
    edits: &'static [(&'static str, &'static str, &'static str)],
) -> Mutant {
    Mutant { what, size, edits, harmless: None }
}
