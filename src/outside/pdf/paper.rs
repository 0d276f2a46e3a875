//! The size of pages as they are shown: the crop box within the media box, turned, in the page's own unit.

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::domain::printed::OtherPaper;

const MILLIMETRES_A_POINT: f32 = 25.4 / 72.0;
/// A page has at most this many nodes above it.
const DEEPEST: usize = 64;

/// The pages that are not upright A4.
pub(super) fn other(pdf: &Document, pages: &[ObjectId]) -> OtherPaper {
    OtherPaper::of(pages.iter().map(|page| size(pdf, *page)))
}

/// Width and height in millimetres. `None` if the page does not say.
fn size(pdf: &Document, page: ObjectId) -> Option<(f32, f32)> {
    let media = rectangle(pdf, inherited(pdf, page, b"MediaBox")?)?;
    let crop = inherited(pdf, page, b"CropBox").and_then(|crop| rectangle(pdf, crop)).unwrap_or(media);
    let [left, bottom] = [0, 1].map(|side| media[side].max(crop[side]));
    let [right, top] = [2, 3].map(|side| media[side].min(crop[side]));
    let unit = pdf.get_dictionary(page).ok()?.get_deref(b"UserUnit", pdf).and_then(Object::as_float);
    let unit = unit.ok().filter(|unit| *unit > 0.0).unwrap_or(1.0) * MILLIMETRES_A_POINT;
    let (width, height) = ((right - left) * unit, (top - bottom) * unit);
    let turns = inherited(pdf, page, b"Rotate").and_then(|turn| turn.as_i64().ok()).unwrap_or(0) / 90;
    (width > 0.0 && height > 0.0).then_some(if turns % 2 == 0 { (width, height) } else { (height, width) })
}

/// What a page says, or the nearest node above it.
fn inherited<'a>(pdf: &'a Document, page: ObjectId, key: &[u8]) -> Option<&'a Object> {
    let mut node: &Dictionary = pdf.get_dictionary(page).ok()?;
    for _ in 0..DEEPEST {
        if let Ok(found) = node.get_deref(key, pdf) {
            return Some(found);
        }
        node = node.get_deref(b"Parent", pdf).and_then(Object::as_dict).ok()?;
    }
    None
}

/// Left, bottom, right, top, in this order whatever the file says.
fn rectangle(pdf: &Document, object: &Object) -> Option<[f32; 4]> {
    let sides: Vec<f32> = object
        .as_array()
        .ok()?
        .iter()
        .map(|side| pdf.dereference(side).and_then(|(_, side)| side.as_float()).ok())
        .collect::<Option<_>>()?;
    let [a, b, c, d] = *sides.as_slice() else { return None };
    Some([a.min(c), b.min(d), a.max(c), b.max(d)])
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn sized(node: &str, page: &str) -> Option<(i32, i32)> {
        let mut bytes = b"%PDF-1.4\n".to_vec();
        let objects = [
            "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
            format!("<</Type/Pages/Kids[3 0 R]/Count 1 {node}>>"),
            format!("<</Type/Page/Parent 2 0 R {page}>>"),
            "[0 0 595 842]".to_owned(),
        ];
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for (index, object) in objects.iter().enumerate() {
            let _ = writeln!(table, "{:010} 00000 n ", bytes.len());
            bytes.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).into_bytes());
        }
        let at = bytes.len();
        bytes.extend(format!("{table}trailer<</Size 5/Root 1 0 R>>\nstartxref\n{at}\n%%EOF\n").into_bytes());
        let pdf = Document::load_mem(&bytes).unwrap();
        #[expect(clippy::cast_possible_truncation, reason = "millimetres")]
        size(&pdf, (3, 0)).map(|(width, height)| (width.round() as i32, height.round() as i32))
    }

    #[test]
    fn a_page_is_as_large_as_it_is_shown() {
        for (node, page, expected) in [
            ("", "/MediaBox[0 0 595 842]", Some((210, 297))),
            ("/MediaBox[0 0 595 842]", "", Some((210, 297))),
            ("", "/MediaBox 4 0 R", Some((210, 297))),
            ("", "/MediaBox[595 842 0 0]", Some((210, 297))),
            ("", "/MediaBox[100 100 695 942]", Some((210, 297))),
            // Letter paper, of which only an A4 wide part is shown, and the other way round.
            ("", "/MediaBox[0 0 900 900]/CropBox[0 0 595 842]", Some((210, 297))),
            ("", "/MediaBox[0 0 595 842]/CropBox[-50 -50 900 900]", Some((210, 297))),
            ("", "/MediaBox[0 0 595 842]/Rotate 90", Some((297, 210))),
            ("/Rotate 270", "/MediaBox[0 0 842 595]", Some((210, 297))),
            ("", "/MediaBox[0 0 842 595]/Rotate -90", Some((210, 297))),
            ("", "/MediaBox[0 0 595 842]/Rotate 180", Some((210, 297))),
            ("", "/MediaBox[0 0 297.5 421]/UserUnit 2", Some((210, 297))),
            ("", "/MediaBox[0 0 612 792]", Some((216, 279))),
            ("", "", None),
            ("", "/MediaBox[0 0 0 0]", None),
            ("", "/MediaBox[0 0 595]", None),
            ("", "/MediaBox(A4)", None),
        ] {
            assert_eq!(sized(node, page), expected, "{node} {page}");
        }
    }
}
