//! What may be printed otherwise than meant, in words.

use super::Language;
use crate::domain::letter::{PrintNote, PrintTrouble};

impl Language {
    /// All of them, one after the other.
    pub fn print_notes(self, notes: &[PrintNote]) -> String {
        let of_several = notes.iter().any(|note| note.document > 1);
        let sentences: Vec<String> = notes.iter().map(|note| self.print_note(note, of_several)).collect();
        match self {
            Self::En => sentences.join(" "),
            Self::Ja => sentences.concat(),
        }
    }

    /// A whole sentence. `of_several` says that the letter has several documents.
    pub fn print_note(self, note: &PrintNote, of_several: bool) -> String {
        let numbers: Vec<String> = note.pages.iter().map(u32::to_string).collect();
        match self {
            Self::En => {
                let of = if of_several { format!(" of document {}", note.document) } else { String::new() };
                let is_one = numbers.len() == 1;
                let pages = format!("Page{} {}{of}", if is_one { "" } else { "s" }, numbers.join(", "));
                let (is, has, uses) = if is_one { ("is", "has", "uses") } else { ("are", "have", "use") };
                match note.trouble {
                    PrintTrouble::Size => format!("{pages} {is} not A4."),
                    PrintTrouble::Landscape => format!("{pages} {is} landscape."),
                    PrintTrouble::Fonts => {
                        format!("{pages} {uses} fonts that are not in the PDF, so it may look different.")
                    }
                    PrintTrouble::Blank => format!("{pages} {is} blank."),
                    PrintTrouble::Color => {
                        format!("{pages} {has} colour and would be printed in grayscale.")
                    }
                    PrintTrouble::Placeholder => {
                        format!("The PDF{of} only says that another program is needed.")
                    }
                }
            }
            Self::Ja => {
                let of =
                    if of_several { format!("{}番目の書類の", note.document) } else { String::new() };
                let pages = format!("{of}{}ページ目", numbers.join("、"));
                match note.trouble {
                    PrintTrouble::Size => format!("{pages}はA4ではありません。"),
                    PrintTrouble::Landscape => format!("{pages}は横向きです。"),
                    PrintTrouble::Fonts => {
                        format!(
                            "{pages}のフォントがPDFに埋め込まれていないため、見た目が変わることがあります。"
                        )
                    }
                    PrintTrouble::Blank => format!("{pages}は白紙です。"),
                    PrintTrouble::Color => format!("{pages}には色がありますが、白黒で印刷されます。"),
                    PrintTrouble::Placeholder => {
                        let of =
                            if of_several { format!("{}番目の", note.document) } else { String::new() };
                        format!("{of}PDFの中身は「別のソフトが必要」という案内だけです。")
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trouble_is_a_sentence_with_its_pages() {
        let told = |trouble, pages: &[u32], several| {
            let note = PrintNote { document: 2, trouble, pages: pages.to_vec() };
            Language::ALL.map(|language| language.print_note(&note, several))
        };
        let [en, ja] = told(PrintTrouble::Size, &[2], false);
        assert_eq!((en.as_str(), ja.as_str()), ("Page 2 is not A4.", "2ページ目はA4ではありません。"));
        let [en, ja] = told(PrintTrouble::Blank, &[3, 5], true);
        assert_eq!(en, "Pages 3, 5 of document 2 are blank.");
        assert_eq!(ja, "2番目の書類の3、5ページ目は白紙です。");
        for trouble in [PrintTrouble::Landscape, PrintTrouble::Fonts, PrintTrouble::Color] {
            assert!(told(trouble, &[1], false).iter().all(|text| text.contains('1')), "{trouble:?}");
        }
        assert!(told(PrintTrouble::Placeholder, &[1], true).iter().all(|text| text.contains('2')));
    }
}
