//! Whether compressed streams are whole: each is inflated to its end and its checksum compared. lopdf uses
//! whatever it gets of a damaged stream, and so do programs that show and print PDFs.

use std::collections::BTreeSet;

use flate2::{Decompress, FlushDecompress, Status};
use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

/// Images and fonts of a document are inflated up to this total size. Inflating large ones takes longer than
/// everything else.
const SMALL: u64 = 2 << 20;
/// The end of a stream that its writer flushed.
const FLUSHED: &[u8] = &[0, 0, 0xff, 0xff];
const PIECE: usize = 64 << 10;

/// The first damage found. The checks run in the order of their cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damaged {
    /// A stream that defines which objects exist.
    Structure,
    /// A stream that is printed.
    Content,
}

/// The first damage among the streams of a document. `largest` is the limit for inflating one of them.
pub(super) fn damaged(pdf: &Document, pages: &[ObjectId], largest: u64) -> Option<Damaged> {
    let contents: BTreeSet<ObjectId> = pages.iter().flat_map(|page| pdf.get_page_contents(*page)).collect();
    let mut found = None;
    let mut left = SMALL;
    for (id, object) in &pdf.objects {
        let Object::Stream(stream) = object else { continue };
        let is_structure = stream.dict.has_type(b"ObjStm") || stream.dict.has_type(b"XRef");
        if !is_flate(stream) || (is_meant_empty(stream) && !is_structure) {
            continue;
        }
        let (is_whole, _) = if is_structure || contents.contains(id) || is_drawn(&stream.dict) {
            inflated(&stream.content, largest)
        } else if is_printed(&stream.dict) && expected(&stream.dict).is_none_or(|size| size < left) {
            let (is_whole, size) = inflated(&stream.content, left);
            left = left.saturating_sub(size);
            (is_whole, size)
        } else {
            continue;
        };
        if !is_whole && is_structure {
            return Some(Damaged::Structure);
        }
        if !is_whole {
            found = Some(Damaged::Content);
        }
    }
    found
}

/// A form or a pattern: content like that of a page.
fn is_drawn(dict: &Dictionary) -> bool {
    dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name == b"Form")
        || dict.has(b"PatternType")
}

/// CUPS writes so for a page without content.
fn is_meant_empty(stream: &Stream) -> bool {
    stream.content.is_empty()
        && stream.dict.get(b"Length").and_then(Object::as_i64).is_ok_and(|size| size == 0)
}

/// Not metadata and not an attachment.
fn is_printed(dict: &Dictionary) -> bool {
    !dict.has_type(b"Metadata") && !dict.has_type(b"EmbeddedFile")
}

/// The size of an image according to its dictionary.
fn expected(dict: &Dictionary) -> Option<u64> {
    let number = |key: &[u8]| u64::try_from(dict.get(key).ok()?.as_i64().ok()?).ok();
    let pixels = number(b"Width")?.checked_mul(number(b"Height")?)?;
    let bits = if dict.has(b"ImageMask") { 1 } else { number(b"BitsPerComponent").unwrap_or(8) };
    // The colour space may be an indirect object. One colour is the minimum.
    let colours = match dict.get(b"ColorSpace").and_then(Object::as_name) {
        Ok(b"DeviceRGB") => 3,
        Ok(b"DeviceCMYK") => 4,
        Ok(_) | Err(_) => 1,
    };
    Some(pixels.checked_mul(bits)?.checked_mul(colours)? / 8)
}

/// Whether Flate is its first filter.
fn is_flate(stream: &Stream) -> bool {
    let first = stream.filters().ok().and_then(|filters| filters.first().map(|name| name.to_vec()));
    first.is_some_and(|name| name == b"FlateDecode" || name == b"Fl")
}

/// Whether it can be inflated to its end with the right checksum, and its size then. A stream larger than
/// `most` is not judged.
fn inflated(content: &[u8], most: u64) -> (bool, u64) {
    let (mut inflate, mut piece) = (Decompress::new(true), vec![0; PIECE]);
    loop {
        let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
        let rest = content.get(usize::try_from(before_in).unwrap_or(usize::MAX)..).unwrap_or_default();
        match inflate.decompress(rest, &mut piece, FlushDecompress::None) {
            Ok(Status::StreamEnd) => return (true, inflate.total_out()),
            Ok(Status::Ok | Status::BufError) => {}
            Err(_) => return (false, inflate.total_out()),
        }
        if inflate.total_out() >= most {
            return (true, inflate.total_out());
        }
        if (inflate.total_in(), inflate.total_out()) == (before_in, before_out) {
            // It stops before its end, unless its writer flushed it and stopped.
            return (content.trim_ascii_end().ends_with(FLUSHED), inflate.total_out());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use flate2::Compression;
    use flate2::read::ZlibDecoder;
    use flate2::write::ZlibEncoder;
    use lopdf::{SaveOptions, dictionary};

    use super::*;
    use crate::domain::drop::Doubt;
    use crate::outside::pdf::{Inspection, judge};

    fn deflated(content: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// Whether it still inflates to the same bytes: some bits belong to codes that are not used.
    fn is_same(flipped: &[u8], content: &[u8]) -> bool {
        let mut inflated = Vec::new();
        ZlibDecoder::new(flipped).read_to_end(&mut inflated).is_ok() && inflated == content
    }

    fn content_of(part: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        ZlibDecoder::new(part).read_to_end(&mut content).unwrap();
        content
    }

    fn text() -> Vec<u8> {
        (0..60).flat_map(|n| format!("BT 72 {} Td (line {n}) Tj ET\n", 700 - 9 * n).into_bytes()).collect()
    }

    /// One page with its content, an image of `image` bytes and a font.
    fn document(image: usize) -> Document {
        let mut pdf = Document::with_version("1.5");
        let flate = |dict: Dictionary, content: &[u8]| {
            let mut stream = Stream::new(dict, deflated(content));
            stream.dict.set("Filter", "FlateDecode");
            stream
        };
        let content = pdf.add_object(flate(Dictionary::new(), &text()));
        let width = i64::try_from(image / 100).unwrap();
        let image = flate(
            dictionary! { "Subtype" => "Image", "Width" => width, "Height" => 100, "ColorSpace" => "DeviceGray",
            "BitsPerComponent" => 8 },
            &vec![7; image],
        );
        let image = pdf.add_object(image);
        let font = pdf.add_object(flate(dictionary! { "Length1" => 900 }, &[3; 900]));
        let pages = pdf.new_object_id();
        let resources = dictionary! { "XObject" => dictionary! { "I" => image }, "F" => font };
        let page = pdf.add_object(dictionary! { "Type" => "Page", "Parent" => pages, "Contents" => content,
        "Resources" => resources });
        let tree = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
        pdf.objects.insert(pages, tree.into());
        let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
        pdf.trailer.set("Root", catalog);
        pdf
    }

    fn saved(mut pdf: Document) -> Vec<u8> {
        let mut bytes = Vec::new();
        pdf.save_to(&mut bytes).unwrap();
        bytes
    }

    /// The offset of compressed bytes in a file.
    fn find(bytes: &[u8], part: &[u8]) -> usize {
        bytes.windows(part.len()).position(|window| window == part).unwrap()
    }

    #[test]
    fn one_flipped_bit_in_what_is_printed_is_held_with_its_count() {
        let good = saved(document(50_000));
        assert_eq!(judge(&good), Inspection::Pages(1));
        for part in [deflated(&text()), deflated(&vec![7; 50_000]), deflated(&[3; 900])] {
            let at = find(&good, &part);
            for bit in 0..part.len() * 8 {
                let mut flipped = good.clone();
                flipped[at + bit / 8] ^= 1 << (bit % 8);
                if is_same(&flipped[at..at + part.len()], &content_of(&part)) {
                    continue;
                }
                let answer = judge(&flipped);
                assert_eq!(answer, Inspection::Doubtful { pages: 1, doubt: Doubt::Damaged }, "bit {bit}");
            }
        }
    }

    #[test]
    fn damage_in_what_is_not_printed_is_no_doubt() {
        for (kind, expected) in [
            ("Metadata", Inspection::Pages(1)),
            ("EmbeddedFile", Inspection::Pages(1)),
            ("Font", Inspection::Doubtful { pages: 1, doubt: Doubt::Damaged }),
        ] {
            let mut pdf = document(5_000);
            let mut damaged = deflated(&text());
            let end = damaged.len() - 1;
            damaged[end] ^= 1;
            let dict = dictionary! { "Type" => kind, "Filter" => "FlateDecode" };
            pdf.add_object(Stream::new(dict, damaged));
            assert_eq!(judge(&saved(pdf)), expected, "{kind}");
        }
    }

    #[test]
    fn a_form_that_is_empty_is_whole_and_one_that_lost_its_content_is_not() {
        let doubt = Inspection::Doubtful { pages: 1, doubt: Doubt::Damaged };
        for (length, content, expected) in
            [(0, Vec::new(), Inspection::Pages(1)), (4, deflated(b"q Q")[..4].to_vec(), doubt)]
        {
            let mut pdf = document(100);
            let dict = dictionary! { "Subtype" => "Form", "Filter" => "FlateDecode", "Length" => length };
            pdf.add_object(Stream::new(dict, content));
            assert_eq!(judge(&saved(pdf)), expected, "{length}");
        }
    }

    #[test]
    fn a_form_or_a_pattern_is_inflated_however_large_it_is() {
        let damaged_doubt = Inspection::Doubtful { pages: 1, doubt: Doubt::Damaged };
        for (dict, expected) in [
            (dictionary! { "Subtype" => "Form" }, damaged_doubt.clone()),
            (dictionary! { "PatternType" => 1 }, damaged_doubt),
            // Not content of a page, and too large to be inflated as a font.
            (dictionary! { "Subtype" => "Type1C" }, Inspection::Pages(1)),
        ] {
            let mut pdf = document(100);
            let long = text().repeat(2 * usize::try_from(SMALL).unwrap() / text().len());
            let mut damaged = deflated(&long);
            let end = damaged.len() - 1;
            damaged[end] ^= 1;
            let mut stream = Stream::new(dict.clone(), damaged);
            stream.dict.set("Filter", "FlateDecode");
            pdf.add_object(stream);
            assert_eq!(judge(&saved(pdf)), expected, "{dict:?}");
        }
    }

    #[test]
    fn one_flipped_bit_in_a_stream_of_objects_is_never_taken() {
        let mut good = Vec::new();
        document(100)
            .save_with_options(
                &mut good,
                SaveOptions::builder().use_object_streams(true).use_xref_streams(true).build(),
            )
            .unwrap();
        assert_eq!(judge(&good), Inspection::Pages(1));
        let starts: Vec<usize> = (3..good.len())
            .filter(|at| good[*at..].starts_with(b"stream\n") && !good[..*at].ends_with(b"end"))
            .collect();
        let mut looked_at = 0;
        for at in starts {
            let head =
                good[..at].iter().rposition(|byte| *byte == b'<').map_or(0, |last| last.saturating_sub(200));
            let is_structure = [&b"/ObjStm"[..], b"/XRef"]
                .iter()
                .any(|kind| good[head..at].windows(kind.len()).any(|window| window == *kind));
            let end = at + find(&good[at..], b"endstream");
            if ZlibDecoder::new(&good[at + 7..end]).read_to_end(&mut Vec::new()).is_err() {
                // Not compressed.
                continue;
            }
            for bit in (at + 7) * 8..(end - 1) * 8 {
                let mut flipped = good.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                if is_same(&flipped[at + 7..end], &content_of(&good[at + 7..end])) {
                    continue;
                }
                let answer = judge(&flipped);
                assert!(!matches!(answer, Inspection::Pages(_)), "bit {bit}: {answer:?}");
                if is_structure {
                    assert!(
                        !matches!(answer, Inspection::Doubtful { doubt: Doubt::Damaged, .. }),
                        "nobody can stand behind the count: {answer:?}"
                    );
                }
                looked_at += 1;
            }
        }
        assert!(looked_at > 1000, "{looked_at}");
    }

    #[test]
    fn what_was_flushed_and_what_is_large_is_taken() {
        let is_whole = |content: &[u8], most| inflated(content, most).0;
        let whole = deflated(&text());
        assert!(is_whole(&whole, 1 << 20));
        assert!(is_whole(&[&whole[..], b"\r\n"].concat(), 1 << 20));
        for end in 2..whole.len() {
            assert!(!is_whole(&whole[..end], 1 << 20), "{end} bytes");
        }
        let mut flushed = ZlibEncoder::new(Vec::new(), Compression::default());
        flushed.write_all(&text()).unwrap();
        flushed.flush().unwrap();
        assert!(is_whole(flushed.get_ref(), 1 << 20));
        // A large image is not judged, because that takes longer than everything else.
        let large = saved(document(3_000_000));
        let mut flipped = large.clone();
        let at = find(&large, &deflated(&vec![7; 3_000_000]));
        flipped[at + 500] ^= 1;
        assert_eq!(judge(&flipped), Inspection::Pages(1));
    }
}
