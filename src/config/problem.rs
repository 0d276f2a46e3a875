//! A mistake in a file that people write, shown like a compiler's message: file, line, column, the line
//! itself with a mark, and the remedy.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::domain::drop::showable;

/// A mistake in a text, before its file is known.
#[derive(Debug, Clone)]
pub(super) struct Mistake {
    pub(super) place: Option<Range<usize>>,
    pub(super) what: String,
    pub(super) help: Option<String>,
}

impl Mistake {
    pub(super) fn at(place: Range<usize>, what: impl Into<String>) -> Self {
        Self { place: Some(place), what: what.into(), help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// A file's text, and the parts of it that are never shown.
pub(super) struct Page {
    pub(super) file: PathBuf,
    pub(super) text: String,
    pub(super) hidden: Vec<Range<usize>>,
}

/// A secret may be in the text by mistake.
impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("file", &self.file).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The file cannot be used like this.
    Error,
    /// It may be meant, so the file is used.
    Warning,
}

#[derive(Debug, Clone)]
pub struct Problem {
    pub weight: Weight,
    page: Arc<Page>,
    place: Option<Range<usize>>,
    what: String,
    help: Option<String>,
}

impl Problem {
    pub(super) fn new(page: &Arc<Page>, weight: Weight, mistake: Mistake) -> Self {
        let length = page.text.len();
        let inside = |place: Range<usize>| {
            let start = floor(&page.text, place.start.min(length));
            start..floor(&page.text, place.end.min(length)).max(start)
        };
        Self {
            weight,
            page: Arc::clone(page),
            place: mistake.place.map(inside),
            what: mistake.what,
            help: mistake.help,
        }
    }

    /// About a file as a whole.
    pub(super) fn of_file(file: &Path, what: impl Into<String>) -> Self {
        Self::of_whole(file, Weight::Error, what.into(), None)
    }

    pub(super) fn doubt_of_file(file: &Path, what: impl Into<String>, help: &str) -> Self {
        Self::of_whole(file, Weight::Warning, what.into(), Some(help.to_owned()))
    }

    fn of_whole(file: &Path, weight: Weight, what: String, help: Option<String>) -> Self {
        let page = Page { file: file.to_owned(), text: String::new(), hidden: Vec::new() };
        Self::new(&Arc::new(page), weight, Mistake { place: None, what, help })
    }

    /// About a line of a text, counted from 1.
    pub(super) fn of_line(file: &Path, text: &str, line: Option<usize>, what: impl Into<String>) -> Self {
        let start = |line: usize| {
            let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
            before..before + text[before..].find('\n').unwrap_or(text.len() - before)
        };
        let page = Page { file: file.to_owned(), text: text.to_owned(), hidden: Vec::new() };
        let mistake = Mistake { place: line.map(start), what: what.into(), help: None };
        Self::new(&Arc::new(page), Weight::Error, mistake)
    }

    /// Another message about the same place.
    pub(super) fn saying(&self, what: String, help: &str) -> Self {
        Self { what, help: Some(help.to_owned()), ..self.clone() }
    }

    pub fn is_error(&self) -> bool {
        self.weight == Weight::Error
    }

    pub fn file(&self) -> &Path {
        &self.page.file
    }

    /// Its place in the text, and what is wrong, without the content of the text.
    pub(super) fn told(self) -> (Option<Range<usize>>, String) {
        let help = self.help.map_or_else(String::new, |help| format!("; {help}"));
        (self.place, format!("{}{help}", clipped(&showable(&self.what.replace(char::is_whitespace, " ")))))
    }

    /// Line and column, both from 1.
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        let before = &self.page.text[..self.place.as_ref()?.start];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }

    fn position(&self) -> String {
        let file = self.page.file.display();
        match self.line_and_column() {
            Some((line, column)) => format!("{file}:{line}:{column}"),
            None => file.to_string(),
        }
    }

    /// On one line, without the content of the file: for the journal.
    pub fn in_a_line(&self) -> String {
        let help = self.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
        // Keys and names from the file may be quoted, whatever they contain.
        let what = showable(&self.what.replace(char::is_whitespace, " "));
        format!("{}: {}{help}", self.position(), clipped(&what))
    }

    /// For a terminal.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let level = match self.weight {
            Weight::Error => Level::ERROR,
            Weight::Warning => Level::WARNING,
        };
        let file = self.page.file.display().to_string();
        let group = Group::with_title(level.primary_title(self.what.as_str()));
        let group = if let Some((line, text, span)) = self.shown() {
            let mark = AnnotationKind::Primary.span(span);
            group.element(Snippet::source(text).path(file).line_start(line).annotation(mark))
        } else {
            let origin = Origin::path(file);
            group.element(match self.line_and_column() {
                Some((line, column)) => origin.line(line).char_column(column),
                None => origin,
            })
        };
        let group = match &self.help {
            Some(help) => group.element(Level::HELP.message(help.as_str())),
            None => group,
        };
        renderer.render(&[group]).clone()
    }

    /// The line with the mistake, and the mistake's range in it. Hidden parts are left out.
    fn shown(&self) -> Option<(usize, &str, Range<usize>)> {
        let place = self.place.clone()?;
        let text = &self.page.text;
        let start = text[..place.start].rfind('\n').map_or(0, |end| end + 1);
        let end = text[place.start..].find('\n').map_or(text.len(), |more| place.start + more);
        let hidden = self.page.hidden.iter().any(|hidden| hidden.start < end && start < hidden.end);
        if hidden || start == end {
            return None;
        }
        let line = text[..start].matches('\n').count() + 1;
        let until = place.end.clamp(place.start, end) - start;
        Some((line, text[start..end].trim_end_matches('\r'), place.start - start..until))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// A line, shortened to what anybody reads.
fn clipped(line: &str) -> String {
    const MOST: usize = 300;
    if line.chars().nth(MOST).is_none() {
        return line.to_owned();
    }
    line.chars().take(MOST).chain(['…']).collect()
}

/// The beginning of the character that contains a byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
