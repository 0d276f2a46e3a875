//! PDFs with text in its place on each page, as office programs write them.

use std::fmt::Write as _;

/// A line on a page: millimetres from the left and from the top, and its text.
pub type Line<'a> = (f64, f64, &'a str);

const POINTS: f64 = 72.0 / 25.4;

/// Letters of 11 points in a Japanese font that is not embedded.
pub fn typeset(pages: &[&[Line<'_>]]) -> Vec<u8> {
    let contents = pages.iter().map(|lines| lines.iter().map(shown).collect::<String>());
    with_contents(&contents.collect::<Vec<_>>())
}

/// The operators that show a line.
pub fn shown((left, top, text): &Line<'_>) -> String {
    let (x, y) = (left * POINTS, 842.0 - top * POINTS - 11.0);
    let codes: String = text.encode_utf16().fold(String::new(), |mut codes, code| {
        let _ = write!(codes, "{code:04x}");
        codes
    });
    format!("BT /F 11 Tf 1 0 0 1 {x:.2} {y:.2} Tm <{codes}> Tj ET\n")
}

/// Pages of A4 with these contents. The font is `/F`.
pub fn with_contents(contents: &[String]) -> Vec<u8> {
    with_pages(contents, "/MediaBox[0 0 595 842]")
}

/// The same with other entries of each page.
pub fn with_pages(contents: &[String], page_entries: &str) -> Vec<u8> {
    with_objects(contents, page_entries, "/Font<</F 3 0 R>>", &[])
}

/// The same with other resources, and with objects for them, whose numbers begin with 6.
pub fn with_objects(contents: &[String], page_entries: &str, resources: &str, more: &[&str]) -> Vec<u8> {
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        String::new(),
        "<</Type/Font/Subtype/Type0/BaseFont/HeiseiMin-W3-UniJIS-UCS2-HW-H/Encoding/UniJIS-UCS2-HW-H\
         /DescendantFonts[4 0 R]>>"
            .to_owned(),
        "<</Type/Font/Subtype/CIDFontType0/BaseFont/HeiseiMin-W3/DW 1000/W[231 389 500]\
         /CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/FontDescriptor 5 0 R>>"
            .to_owned(),
        "<</Type/FontDescriptor/FontName/HeiseiMin-W3/Flags 4/FontBBox[-123 -257 1001 910]/ItalicAngle 0\
         /Ascent 723/Descent -241/CapHeight 709/StemV 69>>"
            .to_owned(),
    ];
    objects.extend(more.iter().map(|object| (*object).to_owned()));
    let mut kids = String::new();
    for content in contents {
        let page = objects.len() + 1;
        let _ = write!(kids, "{page} 0 R ");
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R{page_entries}/Resources<<{resources}>>/Contents {} 0 R>>",
            page + 1
        ));
        objects.push(format!("<</Length {}>>stream\n{content}\nendstream", content.len() + 1));
    }
    objects[1] = format!("<</Type/Pages/Kids[{kids}]/Count {}>>", contents.len());
    let mut pdf = "%PDF-1.5\n".to_owned();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(pdf.len());
        let _ = write!(pdf, "{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let table = pdf.len();
    let _ = write!(pdf, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _ = writeln!(pdf, "{place:010} 00000 n ");
    }
    let _ = write!(pdf, "trailer<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    pdf.into_bytes()
}
