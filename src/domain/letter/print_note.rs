//! What may be printed otherwise than meant.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrintTrouble {
    /// Not A4.
    Size,
    /// A4, but wider than high.
    Landscape,
    /// Text whose font is not in the PDF.
    Fonts,
    Blank,
    /// Colour, which is printed in grayscale.
    Color,
    /// All the PDF says is that another program is needed.
    Placeholder,
}

/// A trouble, and the pages that have it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrintNote {
    /// Of the letter, counted from 1.
    pub document: u32,
    pub trouble: PrintTrouble,
    pub pages: Vec<u32>,
}
