//! PDFs of our own: a page with text, to be drawn as others are, and pictures as pages.

use std::fmt::Write as _;

/// An object without its number, and its stream if it has one.
pub(super) type Object<'a> = (String, Option<&'a [u8]>);

/// A PDF of these objects, numbered from 1. The first is the catalog.
pub(super) fn file(objects: &[Object<'_>]) -> Vec<u8> {
    let (mut pdf, mut places) = (b"%PDF-1.7\n".to_vec(), String::new());
    for (number, (object, stream)) in (1..).zip(objects) {
        let _ = writeln!(places, "{:010} 00000 n ", pdf.len());
        pdf.extend(format!("{number} 0 obj{object}").bytes());
        if let Some(stream) = stream {
            pdf.extend([b"stream\n", *stream, b"\nendstream"].concat());
        }
        pdf.extend(b"endobj\n");
    }
    let (table, count) = (pdf.len(), objects.len() + 1);
    let head = format!("xref\n0 {count}\n0000000000 65535 f \n{places}");
    pdf.extend(format!("{head}trailer<</Size {count}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n").bytes());
    pdf
}

/// A page of this size in points with this content. Its font `F` is Helvetica, and `J` a Japanese one that is not in
/// the file.
pub(super) fn page(width: f64, height: f64, content: &str) -> Vec<u8> {
    let japanese = "<</Type/Font/Subtype/Type0/BaseFont/Gothic-UniJIS-UTF16-H/Encoding/UniJIS-UTF16-H/DescendantFonts[<<\
         /Type/Font/Subtype/CIDFontType0/BaseFont/Gothic/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 6>>\
         /DW 1000/W[1 95 500 231 632 500]/FontDescriptor<</Type/FontDescriptor/FontName/Gothic/Flags 4\
         /FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 880/Descent -120/CapHeight 700/StemV 80>>>>]>>";
    let page = format!(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width:.2} {height:.2}]/Contents 4 0 R/Resources<</Font<</F <<\
         /Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>/J {japanese}>>>>>>"
    );
    file(&[
        ("<</Type/Catalog/Pages 2 0 R>>".to_owned(), None),
        ("<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(), None),
        (page, None),
        (format!("<</Length {}>>", content.len()), Some(content.as_bytes())),
    ])
}

/// Text in font `J` at a place in points from the bottom left.
pub(super) fn text(at: (f64, f64), size: f64, text: &str) -> String {
    let hex = hex::encode_upper(text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>());
    format!("BT /J {size:.1} Tf {:.2} {:.2} Td <{hex}> Tj ET\n", at.0, at.1)
}

/// The same in Helvetica, which needs no font from outside. What it does not have is a question mark.
pub(super) fn plain(at: (f64, f64), size: f64, text: &str) -> String {
    let shown = |c: char| u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or(b'?');
    let hex = hex::encode_upper(text.chars().map(shown).collect::<Vec<u8>>());
    format!("BT /F {size:.1} Tf {:.2} {:.2} Td <{hex}> Tj ET\n", at.0, at.1)
}
