//! Documents whose pages are not their content: dynamic forms, which a program fills in when it shows them,
//! and portfolios. Printed, they are a page that asks the reader to wait.

use lopdf::{Document, Object};

/// The maximum number of bytes of a page that are read.
const LARGEST_PAGE: usize = 1 << 20;

/// The texts of such pages, without spaces and in lower case.
const SAYINGS: [&str; 6] =
    ["pleasewait", "adobereader", "adobeacrobat", "latestversionofacrobat", "お待ちください", "adobe®reader"];

/// Whether it is a portfolio, or a form whose pages are generated only when it is shown.
pub(super) fn is_placeholder(pdf: &Document) -> bool {
    let Ok(catalog) = pdf.catalog() else { return false };
    if catalog.has(b"Collection") {
        return true;
    }
    let form = catalog.get_deref(b"AcroForm", pdf).and_then(Object::as_dict);
    if !form.is_ok_and(|form| form.has(b"XFA")) {
        return false;
    }
    let is_made_when_shown = catalog.get_deref(b"NeedsRendering", pdf).and_then(Object::as_bool);
    is_made_when_shown.unwrap_or(false) || says_to_wait(pdf)
}

fn says_to_wait(pdf: &Document) -> bool {
    let Ok(text) = pdf.extract_text_with_limit(&[1], LARGEST_PAGE) else { return false };
    let text: String = text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    SAYINGS.iter().any(|saying| text.contains(saying))
}

#[cfg(test)]
mod tests {
    use lopdf::{Dictionary, Stream, dictionary};

    use crate::domain::drop::Doubt;
    use crate::outside::pdf::{Inspection, judge};

    use super::*;

    fn document(catalog: Dictionary, says: &str) -> Vec<u8> {
        let mut pdf = Document::with_version("1.7");
        let content = pdf.add_object(Stream::new(
            Dictionary::new(),
            format!("BT /F 12 Tf 72 700 Td ({says}) Tj ET").into_bytes(),
        ));
        let font = pdf.add_object(
            dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding" },
        );
        let pages = pdf.new_object_id();
        let resources = dictionary! { "Font" => dictionary! { "F" => font } };
        let page = pdf.add_object(dictionary! { "Type" => "Page", "Parent" => pages, "Contents" => content,
        "Resources" => resources });
        let tree = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
        pdf.objects.insert(pages, tree.into());
        let mut catalog = catalog;
        catalog.set("Type", "Catalog");
        catalog.set("Pages", pages);
        let catalog = pdf.add_object(catalog);
        pdf.trailer.set("Root", catalog);
        let mut bytes = Vec::new();
        pdf.save_to(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_page_that_only_asks_to_wait_is_held() {
        let xfa = || dictionary! { "AcroForm" => dictionary! { "XFA" => Object::string_literal("<xdp/>") } };
        let made_when_shown = || {
            let mut catalog = xfa();
            catalog.set("NeedsRendering", true);
            catalog
        };
        let portfolio = || dictionary! { "Collection" => dictionary! {} };
        let form = || dictionary! { "AcroForm" => dictionary! { "Fields" => Vec::<Object>::new() } };
        let held = Inspection::Doubtful { pages: 1, doubt: Doubt::Placeholder };
        for (catalog, says, answer) in [
            (xfa(), "Please wait... If this message is not eventually replaced", held.clone()),
            (xfa(), "This document requires Adobe Reader 8 or higher", held.clone()),
            (xfa(), "Application for leave", Inspection::Pages(1)),
            (made_when_shown(), "", held.clone()),
            (portfolio(), "Dear customer", held.clone()),
            (form(), "Please wait for our call", Inspection::Pages(1)),
            (Dictionary::new(), "Please wait for our call", Inspection::Pages(1)),
        ] {
            assert_eq!(judge(&document(catalog, says)), answer, "{says}");
        }
    }
}
