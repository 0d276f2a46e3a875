//! What names tell: PDFs, sidecars. Names are bytes; what is matched is matched in NFC.

use unicode_normalization::UnicodeNormalization as _;

/// A file name as rules and people see it.
pub fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    if text.is_ascii() { text.into_owned() } else { text.nfc().collect() }
}

/// A name without control characters and without characters that change the direction of writing.
pub fn showable(name: &str) -> String {
    let unshowable = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    name.chars().filter(|c| !unshowable(*c)).collect()
}

pub fn is_pdf(name: &[u8]) -> bool {
    name.len() > 4 && name[name.len() - 4..].eq_ignore_ascii_case(b".pdf")
}

/// The longest file name in bytes.
const LONGEST: usize = 255;
const ENDINGS: [&[u8]; 3] = [b".yaml", b".yml", b".json"];

/// The name of the PDF to which a sidecar belongs.
pub fn pdf_of(sidecar: &[u8]) -> Option<&[u8]> {
    ENDINGS.iter().find_map(|ending| sidecar.strip_suffix(*ending)).filter(|name| is_pdf(name))
}

/// A name as it is, then composed (NFC) and decomposed (NFD) where that differs: one name to people, but not to a
/// file system.
pub fn forms_of(name: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![name.to_vec()];
    if let Some(text) = std::str::from_utf8(name).ok().filter(|text| !text.is_ascii()) {
        let others = [text.nfc().collect::<String>(), text.nfd().collect()];
        forms.extend(others.into_iter().map(String::into_bytes).filter(|form| form != name));
        forms.dedup();
    }
    forms
}

/// The names that a sidecar inside a subfolder may have.
pub const INSIDE: [&str; 3] = ["letter.yaml", "letter.yml", "letter.json"];

/// The names that a drop's sidecar may have. Empty if the drop's own name is too long for it.
pub fn sidecars_of(drop: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    ENDINGS.iter().map(move |ending| [drop, ending].concat()).filter(|name| name.len() <= LONGEST)
}

/// The names that a drop's sidecar may have in any form of Unicode. `lies` says whether a drop of another form lies
/// there too: then that form's sidecars are its own.
pub fn sidecars_in_any_form(drop: &[u8], lies: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    let forms = forms_of(drop).into_iter().filter(|form| form == drop || !lies(form));
    forms.flat_map(|form| sidecars_of(&form).collect::<Vec<_>>()).collect()
}

/// The ending that makes a name the name of a sidecar, with its dot.
pub fn sidecar_ending(name: &[u8]) -> Option<&'static [u8]> {
    ENDINGS.into_iter().find(|ending| name.len() > ending.len() && name.ends_with(ending))
}

/// The name and its text's name, with the number `n` if that is above 1.
///
/// ```
/// use mailchute::domain::drop::numbered;
///
/// assert_eq!(numbered(b"bill.pdf", 1), (b"bill.pdf".to_vec(), b"bill.txt".to_vec()));
/// assert_eq!(numbered(b"bill.pdf", 2), (b"bill (2).pdf".to_vec(), b"bill (2).txt".to_vec()));
/// // A sidecar stays one.
/// assert_eq!(numbered(b"bill.pdf.yaml", 1), (b"bill.pdf.yaml".to_vec(), b"bill.pdf.txt".to_vec()));
/// assert_eq!(numbered(b"bill.pdf.yaml", 2), (b"bill (2).pdf.yaml".to_vec(), b"bill (2).pdf.txt".to_vec()));
/// ```
pub fn numbered(name: &[u8], n: u32) -> (Vec<u8>, Vec<u8>) {
    let pdf = pdf_of(name).unwrap_or(name);
    let dot = pdf.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0 && name.len() - at <= 10);
    let (stem, ending) = name.split_at(dot.unwrap_or(name.len()));
    let number = if n < 2 { String::new() } else { format!(" ({n})") };
    // Characters are not cut in two.
    let is_text = ending.eq_ignore_ascii_case(b".txt");
    let room = LONGEST - number.len() - if is_text { ending.len() + 4 } else { ending.len().max(4) };
    let mut end = stem.len().min(room);
    while end > 0 && end < stem.len() && stem[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    let stem = [&stem[..end], number.as_bytes()].concat();
    let name = [stem.as_slice(), ending].concat();
    // A file that is itself a text must not have its own name as the name of its text.
    let before = if is_text { &name } else { &stem };
    let pdf_ending = sidecar_ending(ending).map_or(&b""[..], |own| &ending[..ending.len() - own.len()]);
    let text = [before.as_slice(), pdf_ending, b".txt"].concat();
    (name, text)
}

/// The name of the text beside an original.
pub fn text_name(name: &[u8]) -> Vec<u8> {
    numbered(name, 1).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sidecars_belong_to_pdfs() {
        assert_eq!(pdf_of(b"a.pdf.yaml"), Some(b"a.pdf".as_slice()));
        assert_eq!(pdf_of(b"a.PDF.json"), Some(b"a.PDF".as_slice()));
        assert_eq!((pdf_of(b"a.yaml"), pdf_of(b"a.pdf"), pdf_of(b".pdf.yml")), (None, None, None));
        assert!(sidecars_of(b"a.pdf").any(|name| name == b"a.pdf.yml"));
        let long = format!("{}.pdf", "x".repeat(247));
        assert_eq!(sidecars_of(long.as_bytes()).count(), 1, "only .yml has room");
        assert_eq!(sidecars_of(&[b"x", long.as_bytes()].concat()).count(), 0);
        assert!(is_pdf(b"x.PdF") && !is_pdf(b".pdf") && !is_pdf(b"x.pdf.exe"));
        assert_eq!(shown("か\u{3099}.pdf".as_bytes()), "が.pdf");
    }

    #[test]
    fn a_sidecar_belongs_to_its_pdf_in_any_form_of_unicode() {
        let (composed, decomposed) = ("請求が.pdf".as_bytes(), "請求か\u{3099}.pdf".as_bytes());
        assert_eq!(forms_of(composed), [composed, decomposed]);
        assert_eq!(forms_of(decomposed), [decomposed, composed]);
        assert_eq!((forms_of(b"a.pdf").len(), forms_of(b"\xff.pdf").len()), (1, 1));
        let mixed = "がか\u{3099}.pdf".as_bytes();
        assert_eq!(forms_of(mixed).len(), 3, "neither composed nor decomposed");
        let yaml = |pdf: &[u8]| [pdf, b".yaml"].concat();
        assert!(sidecars_in_any_form(decomposed, |_| false).contains(&yaml(composed)));
        assert!(!sidecars_in_any_form(decomposed, |_| true).contains(&yaml(composed)));
        assert!(sidecars_in_any_form(decomposed, |_| true).contains(&yaml(decomposed)));
    }

    #[test]
    fn names_are_numbered_before_their_ending_and_never_too_long() {
        let text = |(name, note): (Vec<u8>, Vec<u8>)| {
            (String::from_utf8(name).unwrap(), String::from_utf8(note).unwrap())
        };
        assert_eq!(text(numbered(b"a.pdf", 1)), ("a.pdf".to_owned(), "a.txt".to_owned()));
        assert_eq!(text(numbered(b"a.TXT", 1)), ("a.TXT".to_owned(), "a.TXT.txt".to_owned()));
        assert_eq!(text(numbered(b"a.pdf", 2)), ("a (2).pdf".to_owned(), "a (2).txt".to_owned()));
        assert_eq!(text(numbered("第1回".as_bytes(), 3)).0, "第1回 (3)");
        assert_eq!(text(numbered(b".pdf", 1)), (".pdf".to_owned(), ".pdf.txt".to_owned()));
        let long = format!("{}.pdf", "請".repeat(83));
        for n in [1, 2, 1000] {
            let (name, note) = text(numbered(long.as_bytes(), n));
            assert!(name.len() <= 255 && note.len() <= 255 && is_pdf(name.as_bytes()), "{}", name.len());
        }
        assert_eq!(text(numbered(long.as_bytes(), 1)).0, long);
    }
}
