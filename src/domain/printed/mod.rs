//! What is printed on a document's pages, and whether it agrees with the envelope.
//!
//! Pure. What was read is personal data: `Debug` shows nothing of it, and only what was concluded is kept.

mod agreement;
mod block;
mod check;
mod named;
mod printable;
mod receiver;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use agreement::{PageAgreement, PageContradiction, PaperEnvelope, Unclear, compare};
pub use block::{Addressee, Block, block_in, blocks, codes_of};
pub use check::{CheckPage, OtherAddressee, PageDoubt, PageFinding, covers};
pub use printable::{Attention, CheckPrint, OtherPaper, PrintDoubt, PrintedSheet};
pub use receiver::{NoReceiver, ReadReceiver, ReceiverDoubt, receiver_on};

/// The printed text of a document's pages, in their order. Empty if it cannot be read.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Printed {
    pub pages: Vec<PrintedPage>,
    /// How many pages were found. Not all of them may have been read.
    #[serde(default)]
    pub count: u32,
}

/// Lengths are in millimetres, from the left and the top of the page as it is shown.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PrintedPage {
    pub width: f32,
    pub height: f32,
    pub lines: Vec<PrintedLine>,
    /// The number of painted characters that nobody can read, because their font does not say which they are.
    pub unknown: u32,
    #[serde(default)]
    pub look: PageLook,
}

/// How a page looks, apart from its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PageLook {
    /// Nothing on it is seen on paper.
    pub blank: bool,
    pub color: bool,
    /// Text whose font is not in the PDF: it may be drawn with another one.
    pub missing_fonts: bool,
}

/// Characters on one line without a wide gap, normalised (NFKC).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintedLine {
    pub text: String,
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
}

/// A rectangle on a page.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Area {
    pub left: f32,
    pub top: f32,
    pub width: f32,
    pub height: f32,
}

impl Area {
    /// Whether a line lies in it with its middle.
    pub fn holds(&self, line: &PrintedLine) -> bool {
        let (across, down) = (line.left.midpoint(line.right), line.top.midpoint(line.bottom));
        (self.left..=self.left + self.width).contains(&across)
            && (self.top..=self.top + self.height).contains(&down)
    }
}

impl PrintedPage {
    /// Whether there is text on it that can be read. Characters of unknown meaning must be few.
    pub fn is_readable(&self) -> bool {
        let known: usize = self.lines.iter().map(|line| line.text.chars().count()).sum();
        known > 0 && known >= 4 * usize::try_from(self.unknown).unwrap_or(usize::MAX)
    }

    /// All lines in the order in which they are read, one below the other.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Debug for PrintedPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrintedPage({} lines, …)", self.lines.len())
    }
}

impl fmt::Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Printed").field(&self.pages).finish()
    }
}

impl fmt::Debug for PrintedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrintedLine(…)")
    }
}
