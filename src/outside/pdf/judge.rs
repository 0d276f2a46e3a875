//! The page count of a PDF, if it is beyond doubt.
//!
//! There was no wrong count in thousands of real files: the pages are walked, and a count is accepted only if
//! it agrees with the document's own and nothing had to be repaired. A partly copied file usually needs a
//! repair. One that was cut after an older revision's end does not, so only white space may follow the end.

use std::collections::{BTreeMap, BTreeSet};

use lopdf::xref::XrefEntry;
use lopdf::{Document, LoadOptions, Object};

use super::streams::Damaged;
use super::{Inspection, paper, placeholder, streams, tree};
use crate::domain::drop::Doubt;
use crate::domain::printed::OtherPaper;

const BEGIN: &[u8] = b"%PDF-";

/// The block size of file systems, and the unit of writes over a network.
const BLOCK: usize = 4096;
const LARGEST_STREAM: usize = 32 * 1024 * 1024;

/// The number of pages beyond doubt; or what is in doubt, with the count that a person may accept.
pub fn judge(bytes: &[u8]) -> Inspection {
    match count_pages(bytes) {
        Ok(Counted { pages, doubt: Some(doubt), .. }) => Inspection::Doubtful { pages, doubt },
        Ok(Counted { pages, doubt: None, paper }) if paper.is_none() => Inspection::Pages(pages),
        Ok(Counted { pages, doubt: None, paper }) => Inspection::OtherPaper { pages, paper },
        Err(doubt) => Inspection::Doubt(doubt),
    }
}

/// What was counted.
#[derive(Debug, PartialEq)]
struct Counted {
    pages: u32,
    /// Why a person must look at it.
    doubt: Option<Doubt>,
    paper: OtherPaper,
}

fn count_pages(bytes: &[u8]) -> Result<Counted, Doubt> {
    let whole = without_padding(bytes);
    if !ends_as_a_pdf_does(whole) {
        return Err(if bytes.starts_with(BEGIN) { Doubt::Torn } else { Doubt::Unreadable });
    }
    let options = LoadOptions { max_decompressed_size: Some(LARGEST_STREAM), ..LoadOptions::default() };
    let pdf = Document::load_mem_with_options(whole, options).map_err(|_| Doubt::Unreadable)?;
    if pdf.is_encrypted() || pdf.trailer.has(b"Encrypt") {
        return Err(Doubt::Encrypted);
    }
    if pdf.objects.values().any(is_brotli) {
        return Err(Doubt::Compression);
    }
    let pages = tree::pages(&pdf);
    let damaged = streams::damaged(&pdf, pages.as_deref().unwrap_or_default(), LARGEST_STREAM as u64);
    if damaged == Some(Damaged::Structure) {
        // The pages counted are perhaps not these.
        return Err(Doubt::Damaged);
    }
    // Only the first one is shown. A possible loss comes first.
    let doubts = [
        (has_hole(bytes), Doubt::Hole),
        (damaged.is_some(), Doubt::Damaged),
        (placeholder::is_placeholder(&pdf), Doubt::Placeholder),
        (pdf.xref_recovery.is_some(), Doubt::Repaired),
        (pdf.was_encrypted(), Doubt::Restricted),
        (whole.len() < bytes.trim_ascii_end().len(), Doubt::Padded),
    ];
    let in_doubt = doubts.into_iter().find_map(|(is_so, doubt)| is_so.then_some(doubt));
    if !object_streams_agree(&pdf) {
        return Err(Doubt::Unreadable);
    }
    // A tree that programs read differently has no count.
    let pages = pages.ok_or(Doubt::Pages)?;
    let walked = u32::try_from(pages.len()).map_err(|_| Doubt::Pages)?;
    let said = pdf.catalog().and_then(|catalog| {
        let root = pdf.get_dictionary(catalog.get(b"Pages")?.as_reference()?)?;
        root.get(b"Count")?.as_i64()
    });
    // If the walked count and the stated count differ, nobody knows which is right, so it is not offered for
    // approval.
    let is_agreed = pages.iter().copied().eq(pdf.page_iter());
    let agreed = is_agreed && walked > 0 && said.is_ok_and(|said| said == i64::from(walked));
    let paper = paper::other(&pdf, &pages);
    if agreed { Ok(Counted { pages: walked, doubt: in_doubt, paper }) } else { Err(Doubt::Pages) }
}

fn is_brotli(object: &Object) -> bool {
    let Object::Stream(stream) = object else { return false };
    stream.filters().is_ok_and(|filters| filters.contains(&b"BrotliDecode".as_slice()))
}

/// The bytes without trailing NUL, 0x1A, 0xFF and white space, which some programs append.
fn without_padding(bytes: &[u8]) -> &[u8] {
    let is_padding = |byte: &u8| matches!(byte, 0 | 0x1a | 0xff) || byte.is_ascii_whitespace();
    let end = bytes.iter().rposition(|byte| !is_padding(byte)).map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or_default()
}

/// Whether each object in an object stream is where the cross-reference table says. Programs differ in how
/// they read one that is not.
fn object_streams_agree(pdf: &Document) -> bool {
    let mut members: BTreeMap<u32, Vec<(u16, u32)>> = BTreeMap::new();
    for (number, entry) in &pdf.reference_table.entries {
        if let XrefEntry::Compressed { container, index } = entry {
            members.entry(*container).or_default().push((*index, *number));
        }
    }
    members.into_iter().all(|(container, members)| {
        let listed = pdf.get_object((container, 0)).ok().and_then(listed).unwrap_or_default();
        members.into_iter().all(|(index, number)| listed.get(usize::from(index)) == Some(&number))
    })
}

/// The object numbers that a stream lists, in their order, if the list is well-formed.
fn listed(container: &Object) -> Option<Vec<u32>> {
    let stream = container.as_stream().ok()?;
    let count = usize::try_from(stream.dict.get(b"N").ok()?.as_i64().ok()?).ok()?;
    let first = usize::try_from(stream.dict.get(b"First").ok()?.as_i64().ok()?).ok()?;
    let content = stream.get_plain_content_with_limit(LARGEST_STREAM).ok()?;
    let head = std::str::from_utf8(content.get(..first)?).ok()?;
    // A comment ends with its line.
    let words = head.split(['\r', '\n']).filter_map(|line| line.split('%').next());
    let pairs: Result<Vec<u32>, _> = words.flat_map(str::split_whitespace).map(str::parse).collect();
    let pairs = pairs.ok().filter(|pairs| (pairs.len() / 2, pairs.len() % 2) == (count, 0))?;
    let numbers: Vec<u32> = pairs.into_iter().step_by(2).collect();
    let different: BTreeSet<_> = numbers.iter().collect();
    (different.len() == numbers.len()).then_some(numbers)
}

/// Whether a whole aligned block is zeros. An interrupted copy over a network leaves such holes, and most of
/// them change what is printed without changing the page count. Good files hardly ever have one.
fn has_hole(bytes: &[u8]) -> bool {
    bytes.chunks_exact(BLOCK).any(|block| block == [0; BLOCK])
}

fn ends_as_a_pdf_does(bytes: &[u8]) -> bool {
    bytes.trim_ascii_end().ends_with(b"%%EOF")
}

/// Whether these last bytes are the end of a PDF.
pub fn is_pdf_end(tail: &[u8]) -> bool {
    ends_as_a_pdf_does(without_padding(tail))
}

/// Whether these first and last bytes belong to a PDF that has no end yet.
pub fn is_pdf_without_end(head: &[u8], tail: &[u8]) -> bool {
    head.starts_with(BEGIN) && !is_pdf_end(tail)
}

#[cfg(test)]
mod tests {
    use lopdf::{EncryptionState, EncryptionVersion, Permissions};

    use super::*;

    const PDF: &[u8] = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
        2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj\nxref\n0 4\n\
        0000000000 65535 f \n0000000009 00000 n \n0000000052 00000 n \n0000000101 00000 n \n\
        trailer<</Size 4/Root 1 0 R>>\nstartxref\n164\n%%EOF\n";

    /// Replaces text by text of the same length, so that every offset stays valid.
    fn with(from: &str, to: &str) -> Vec<u8> {
        assert_eq!(from.len(), to.len());
        let text = String::from_utf8(PDF.to_vec()).unwrap();
        assert!(text.contains(from));
        text.replace(from, to).into_bytes()
    }

    #[test]
    fn a_doubtful_page_tree_is_never_counted() {
        for doubtful in [with("Kids[3 0 R]", "Kids[9 0 R]"), with("Kids[3 0 R]", "Kids[2 0 R]")] {
            assert_eq!(judge(&doubtful), Inspection::Doubt(Doubt::Pages));
        }
        // A file that two programs count differently is never offered for approval.
        let other = with("Kids[3 0 R]/Count 1", "Kids[3 0 R]/Count 7");
        assert_eq!(judge(&other), Inspection::Doubt(Doubt::Pages));
        let repaired = with("startxref\n164", "startxref\n163");
        assert_eq!(judge(&repaired), Inspection::Doubtful { pages: 1, doubt: Doubt::Repaired });
    }

    #[test]
    fn a_whole_aligned_block_of_zeros_is_in_doubt_and_a_shorter_one_is_not() {
        // The zeros lie after an object to which nothing refers, so the page count stays beyond doubt.
        let filled = |hole: std::ops::Range<usize>| {
            let mut filling = vec![b' '; 3 * BLOCK];
            filling[hole].fill(0);
            let end = PDF.windows(4).position(|four| four == b"xref").unwrap();
            let moved = format!("{}", 164 + filling.len());
            let text = [&PDF[..end], &filling, &PDF[end..]].concat();
            let at = text.windows(9).position(|nine| nine == b"startxref").unwrap() + 10;
            [&text[..at], moved.as_bytes(), &text[at + 3..]].concat()
        };
        let end = PDF.windows(4).position(|four| four == b"xref").unwrap();
        let block = BLOCK - end..2 * BLOCK - end;
        assert_eq!(judge(&filled(0..0)), Inspection::Pages(1));
        assert_eq!(judge(&filled(block.clone())), Inspection::Doubtful { pages: 1, doubt: Doubt::Hole });
        assert_eq!(judge(&filled(block.start + 1..block.end + 1)), Inspection::Pages(1), "not aligned");
        assert_eq!(judge(&filled(block.start..block.end - 1)), Inspection::Pages(1), "not whole");
    }

    #[test]
    fn what_is_encrypted_and_needs_no_password_is_told_from_what_does() {
        for (password, expected) in [
            ("", Inspection::Doubtful { pages: 1, doubt: Doubt::Restricted }),
            ("secret", Inspection::Doubt(Doubt::Encrypted)),
        ] {
            let mut pdf = Document::load_mem(PDF).unwrap();
            let id = || Object::string_literal("0123456789abcdef");
            pdf.trailer.set("ID", vec![id(), id()]);
            let version = EncryptionVersion::V1 {
                document: &pdf,
                owner_password: "owner",
                user_password: password,
                permissions: Permissions::empty(),
            };
            let state = EncryptionState::try_from(version).unwrap();
            pdf.encrypt(&state).unwrap();
            let mut bytes = Vec::new();
            pdf.save_to(&mut bytes).unwrap();
            assert_eq!(judge(&bytes), expected, "{password}");
        }
    }

    #[test]
    fn padding_behind_the_end_is_in_doubt_and_not_torn() {
        for padding in [&[0; 500][..], &[0x1a], &[0xff; 4000], b"\n\x1a", b"\0\r\n \0"] {
            let padded = [PDF, padding].concat();
            assert_eq!(
                judge(&padded),
                Inspection::Doubtful { pages: 1, doubt: Doubt::Padded },
                "{padding:?}"
            );
        }
        // A whole block of zeros may be what a broken copy left of a later revision.
        let hole = [PDF, &[0; 2 * BLOCK]].concat();
        assert_eq!(judge(&hole), Inspection::Doubtful { pages: 1, doubt: Doubt::Hole });
        assert_eq!(judge(&[PDF, b" \r\n"].concat()), Inspection::Pages(1), "white space is no padding");
        assert_eq!(judge(&[PDF, b"x"].concat()), Inspection::Doubt(Doubt::Torn));
        assert_eq!(judge(&[0; 5000]), Inspection::Doubt(Doubt::Unreadable));
    }

    #[test]
    fn every_torn_copy_is_in_doubt() {
        assert_eq!(judge(PDF), Inspection::Pages(1));
        for cut in 0..PDF.len() - 1 {
            let torn = &PDF[..cut];
            assert!(count_pages(torn).is_err(), "{cut} bytes of it were taken for whole");
            let padded = [torn, &vec![0; PDF.len() - cut]].concat();
            assert!(count_pages(&padded).is_err(), "{cut} bytes and zeros were taken for whole");
        }
        // An update that was cut off after a complete older revision.
        let torn = [PDF, b"3 0 obj<</Type/Page/Parent 2 0 R>>endobj\nxref"].concat();
        assert_eq!(count_pages(&torn), Err(Doubt::Torn));
        assert_eq!(count_pages(b"PK\x03\x04 a spreadsheet"), Err(Doubt::Unreadable));
    }
}
