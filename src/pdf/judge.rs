//! How many pages a PDF has, if that is beyond doubt.
//!
//! No wrong count in thousands of real files: pages are walked, and only what agrees with the
//! document's own count and needed no repair is taken. A half-copied file usually needs one.

use lopdf::{Document, LoadOptions};

const LARGEST_STREAM: usize = 32 * 1024 * 1024;

/// Why a file is not taken, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    #[error("it is no PDF, or a damaged one; make it anew with the program it comes from")]
    Unreadable,
    #[error("it is damaged or not copied to its end; copy it once more")]
    Repaired,
    #[error("it is protected by a password; save it without one")]
    Encrypted,
    #[error("it has no pages, or not as many as it says; make it anew with the program it comes from")]
    Pages,
}

pub fn count_pages(bytes: &[u8]) -> Result<u32, Doubt> {
    let options = LoadOptions { max_decompressed_size: Some(LARGEST_STREAM), ..LoadOptions::default() };
    let pdf = Document::load_mem_with_options(bytes, options).map_err(|_| Doubt::Unreadable)?;
    if pdf.is_encrypted() || pdf.was_encrypted() {
        return Err(Doubt::Encrypted);
    }
    if pdf.xref_recovery.is_some() {
        return Err(Doubt::Repaired);
    }
    let walked = u32::try_from(pdf.page_iter().count()).map_err(|_| Doubt::Pages)?;
    let said = pdf.catalog().and_then(|catalog| {
        let root = pdf.get_dictionary(catalog.get(b"Pages")?.as_reference()?)?;
        root.get(b"Count")?.as_i64()
    });
    if walked > 0 && said.is_ok_and(|said| said == i64::from(walked)) {
        Ok(walked)
    } else {
        Err(Doubt::Pages)
    }
}
