//! Reads an uploaded PDF as far as the service needs: whether it opens, and how many pages it has.
//!
//! Stricter than a viewer: a file that opens only after a repair, needs a password, or has a page tree that
//! disagrees with its own count is not readable.

use lopdf::{Document, LoadOptions, Object};

use super::world::Reading;

const LARGEST_STREAM: usize = 32 << 20;

pub fn read(bytes: &[u8]) -> Reading {
    match count(bytes) {
        Ok(pages) => Reading::Pages(pages),
        Err(why) => Reading::Unreadable(why),
    }
}

fn count(bytes: &[u8]) -> Result<u32, String> {
    if !bytes.starts_with(b"%PDF-") {
        return Err("the file does not begin as a PDF does".to_owned());
    }
    let options = LoadOptions { max_decompressed_size: Some(LARGEST_STREAM), ..LoadOptions::default() };
    let document = Document::load_mem_with_options(bytes, options)
        .map_err(|_| "the file is not readable as PDF".to_owned())?;
    if document.xref_recovery.is_some() {
        return Err("the PDF is damaged: its cross-reference table had to be rebuilt".to_owned());
    }
    if document.is_encrypted() || document.was_encrypted() {
        return Err("the PDF is encrypted".to_owned());
    }
    let walked = document.page_iter().count();
    match (declared(&document), u32::try_from(walked)) {
        (_, Ok(0) | Err(_)) => Err("the PDF has no pages".to_owned()),
        (Some(declared), Ok(pages)) if declared == i64::from(pages) => Ok(pages),
        (_, Ok(_)) => Err("the PDF's page tree disagrees with its own page count".to_owned()),
    }
}

/// `/Count` of the root of the page tree.
fn declared(document: &Document) -> Option<i64> {
    let pages = document.catalog().ok()?.get(b"Pages").and_then(Object::as_reference).ok()?;
    document.get_dictionary(pages).ok()?.get(b"Count").and_then(Object::as_i64).ok()
}
