//! Whether the pages of a letter are printed as they are meant.

use serde::{Deserialize, Serialize};

use super::Printed;
use crate::domain::letter::{PrintNote, PrintTrouble};

/// How much a page may differ from A4, in millimetres.
const TOLERANCE: f32 = 2.0;
const A4: (f32, f32) = (210.0, 297.0);
/// Of more pages only the first ones are named.
const NAMED: usize = 20;

/// Pages that are not upright A4, by their numbers from 1.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct OtherPaper {
    pub size: Vec<u32>,
    pub landscape: Vec<u32>,
}

impl OtherPaper {
    /// From the width and height of each page as it is shown, in millimetres. Unknown sizes are not judged.
    pub fn of(sizes: impl IntoIterator<Item = Option<(f32, f32)>>) -> Self {
        let mut other = Self::default();
        for (page, size) in (1..).zip(sizes) {
            let Some((width, height)) = size else { continue };
            let is_like = |one: f32, other: f32| (one - other).abs() <= TOLERANCE;
            if is_like(width, A4.0) && is_like(height, A4.1) {
                continue;
            }
            let is_turned = is_like(width, A4.1) && is_like(height, A4.0);
            let pages = if is_turned { &mut other.landscape } else { &mut other.size };
            if pages.len() < NAMED {
                pages.push(page);
            }
        }
        other
    }

    pub fn is_none(&self) -> bool {
        self.size.is_empty() && self.landscape.is_empty()
    }
}

/// What a trouble with the print leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attention {
    Off,
    /// The letter is posted. Its text, `explain` and the digest mention it.
    Note,
    /// The letter waits for a person.
    Hold,
}

/// What a folder wants to know of its print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckPrint {
    pub size: Attention,
    pub landscape: Attention,
    pub fonts: Attention,
    pub blank: Attention,
    pub color: Attention,
    pub placeholder: Attention,
    /// Pages are read for it. Otherwise fonts, blank pages and colour are noted only where pages are read for
    /// something else.
    pub reads_pages: bool,
}

impl Default for CheckPrint {
    fn default() -> Self {
        Self {
            size: Attention::Hold,
            landscape: Attention::Note,
            fonts: Attention::Note,
            blank: Attention::Note,
            color: Attention::Note,
            placeholder: Attention::Hold,
            reads_pages: false,
        }
    }
}

/// Why a drop waits: it may be printed otherwise than meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrintDoubt {
    pub notes: Vec<PrintNote>,
    /// What an approval covers: these bytes, and what was accepted before.
    pub accepts: Vec<String>,
}

/// A document, as far as its print depends on it.
#[derive(Debug, Clone, Copy)]
pub struct PrintedSheet<'a> {
    pub sha256: &'a str,
    pub paper: &'a OtherPaper,
    pub is_placeholder: bool,
    /// What was read of its pages, if they were read.
    pub printed: Option<&'a Printed>,
    pub is_grayscale: bool,
}

impl CheckPrint {
    /// All troubles that are not off. The doubt is given if the letter is on hold for one of them.
    pub fn look(
        self,
        documents: &[PrintedSheet<'_>],
        accepted: &[String],
    ) -> (Vec<PrintNote>, Option<PrintDoubt>) {
        let mut notes = Vec::new();
        let (mut accepts, mut waits) = (accepted.to_vec(), false);
        for (number, document) in (1..).zip(documents) {
            let covers = format!("print:{}", document.sha256);
            let is_accepted = accepted.contains(&covers);
            for (attention, trouble, pages) in self.troubles(document) {
                if attention == Attention::Off || pages.is_empty() {
                    continue;
                }
                waits |= attention == Attention::Hold && !is_accepted;
                notes.push(PrintNote { document: number, trouble, pages });
            }
            if !is_accepted {
                accepts.push(covers);
            }
        }
        let doubt = waits.then(|| PrintDoubt { notes: notes.clone(), accepts });
        (notes, doubt)
    }

    fn troubles(self, document: &PrintedSheet<'_>) -> [(Attention, PrintTrouble, Vec<u32>); 6] {
        let pages = document.printed.map_or(&[][..], |printed| printed.pages.as_slice());
        let with = |has: &dyn Fn(&super::PrintedPage) -> bool| -> Vec<u32> {
            (1..).zip(pages).filter(|(_, page)| has(page)).map(|(number, _)| number).take(NAMED).collect()
        };
        let color = if document.is_grayscale { with(&|page| page.look.color) } else { Vec::new() };
        let placeholder = if document.is_placeholder { vec![1] } else { Vec::new() };
        [
            (self.placeholder, PrintTrouble::Placeholder, placeholder),
            (self.size, PrintTrouble::Size, document.paper.size.clone()),
            (self.landscape, PrintTrouble::Landscape, document.paper.landscape.clone()),
            (self.blank, PrintTrouble::Blank, with(&|page| page.look.blank)),
            (self.fonts, PrintTrouble::Fonts, with(&|page| page.look.missing_fonts)),
            (self.color, PrintTrouble::Color, color),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::printed::{PageLook, PrintedPage};

    #[test]
    fn a_page_is_a4_within_two_millimetres_and_landscape_is_told_apart() {
        let sizes = [
            Some((210.0, 297.0)),
            Some((211.9, 295.1)),
            Some((212.1, 297.0)),
            Some((297.0, 210.0)),
            Some((215.9, 279.4)),
            None,
            Some((420.0, 297.0)),
        ];
        let other = OtherPaper::of(sizes);
        assert_eq!(other, OtherPaper { size: vec![3, 5, 7], landscape: vec![4] });
        assert!(!other.is_none() && OtherPaper::of([None]).is_none());
        assert_eq!(OtherPaper::of(vec![Some((1.0, 1.0)); 2000]).size.len(), NAMED);
    }

    #[test]
    fn each_trouble_is_noted_or_held_as_the_folder_wants_and_all_are_told_at_once() {
        let page = |look| PrintedPage { look, ..PrintedPage::default() };
        let printed = Printed {
            pages: vec![
                page(PageLook { color: true, ..PageLook::default() }),
                page(PageLook { blank: true, ..PageLook::default() }),
                page(PageLook { missing_fonts: true, ..PageLook::default() }),
            ],
            count: 3,
        };
        let paper = OtherPaper { size: vec![1], landscape: vec![2] };
        let sheet = PrintedSheet {
            sha256: "aa",
            paper: &paper,
            is_placeholder: true,
            printed: Some(&printed),
            is_grayscale: true,
        };
        let all = [
            PrintTrouble::Placeholder,
            PrintTrouble::Size,
            PrintTrouble::Landscape,
            PrintTrouble::Blank,
            PrintTrouble::Fonts,
            PrintTrouble::Color,
        ];
        let (notes, doubt) = CheckPrint::default().look(&[sheet], &[]);
        assert_eq!(notes.iter().map(|note| note.trouble).collect::<Vec<_>>(), all);
        let doubt = doubt.unwrap();
        assert_eq!((&doubt.notes, doubt.accepts.as_slice()), (&notes, &["print:aa".to_owned()][..]));
        let (notes, doubt) = CheckPrint::default().look(&[sheet], &doubt.accepts);
        assert_eq!((notes.len(), doubt), (6, None), "accepted, and still mentioned");
        let only = |attention| CheckPrint {
            size: attention,
            landscape: Attention::Off,
            fonts: Attention::Off,
            blank: Attention::Off,
            color: Attention::Off,
            placeholder: Attention::Off,
            reads_pages: false,
        };
        for (attention, noted, held) in
            [(Attention::Off, 0, false), (Attention::Note, 1, false), (Attention::Hold, 1, true)]
        {
            let (notes, doubt) = only(attention).look(&[sheet], &[]);
            assert_eq!((notes.len(), doubt.is_some()), (noted, held), "{attention:?}");
        }
        let coloured = PrintedSheet { is_grayscale: false, ..sheet };
        let (notes, _) = CheckPrint::default().look(&[coloured], &[]);
        assert!(notes.iter().all(|note| note.trouble != PrintTrouble::Color), "it is printed in colour");
        let unread = PrintedSheet { printed: None, is_placeholder: false, ..sheet };
        let (notes, _) = CheckPrint::default().look(&[unread], &[]);
        assert_eq!(notes.len(), 2, "size and landscape are known without reading");
        // A second document is counted for itself.
        let (notes, doubt) = CheckPrint::default().look(&[unread, unread], &["print:bb".to_owned()]);
        assert_eq!(notes.iter().map(|note| note.document).collect::<Vec<_>>(), [1, 1, 2, 2]);
        assert_eq!(doubt.unwrap().accepts, ["print:bb", "print:aa", "print:aa"]);
    }
}
