//! What the child reads of a page, and what it must not read: characters that nobody would see on paper.

use std::path::Path;
use std::time::{Duration, Instant};

use mailchute::domain::printed::{Printed, PrintedPage};
use mailchute::outside::pdf::Inspector;

use crate::rigs::service::pdf;
use crate::rigs::typeset::{shown, typeset, with_contents, with_objects, with_pages};

async fn read(pdf: &[u8]) -> Printed {
    Inspector::of(Path::new(env!("CARGO_BIN_EXE_mailchute"))).printed(pdf).await.unwrap()
}

async fn text(pdf: &[u8]) -> String {
    read(pdf).await.pages.first().map(PrintedPage::text).unwrap_or_default()
}

#[tokio::test]
async fn lines_have_their_text_and_their_place() {
    let lines = [
        (20.0, 40.0, "〒０６０－０００１"),
        (20.0, 46.0, "⼭⽥ 太郎 様"),
        (120.0, 46.0, "No. 12"),
        (20.0, 60.0, "㈱サンプル"),
    ];
    let read = read(&typeset(&[&lines, &[(30.0, 250.0, "二頁")]])).await;
    let page = &read.pages[0];
    assert!((page.width - 209.9).abs() < 0.2 && (page.height - 297.0).abs() < 0.2, "{page:?}");
    let found: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(found, ["〒060-0001", "山田 太郎 様", "No. 12", "(株)サンプル"], "normalised, columns apart");
    for (line, (left, top, _)) in page.lines.iter().zip(lines) {
        assert!((f64::from(line.left) - left).abs() < 0.5, "left {}", line.left);
        assert!((f64::from(line.top) - top).abs() < 2.0, "top {}", line.top);
    }
    assert!((page.lines[3].right - 20.0 - 5.0 * 3.88).abs() < 1.0, "right {}", page.lines[3].right);
    assert_eq!(read.pages[1].text(), "二頁");
}

/// One opaque pixel over the whole page.
const PICTURE: &str = "q 595 0 0 842 0 0 cm BI /W 1 /H 1 /CS /RGB /BPC 8 ID aaa EI Q\n";

#[tokio::test]
async fn a_picture_hides_what_is_below_it_as_far_as_it_is_opaque() {
    let content = format!("{}q 595 0 0 842 0 0 cm /I Do Q", shown(&(20.0, 40.0, "山田 太郎 様")));
    let resources = "/Font<</F 3 0 R>>/XObject<</I 6 0 R>>";
    let picture = |mask: &str| {
        format!(
            "<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceRGB/BitsPerComponent 8{mask}/Length 3>>\
             stream\naaa\nendstream"
        )
    };
    let alpha = |byte: char| {
        format!(
            "<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>\
             stream\n{byte}\nendstream"
        )
    };
    for (what, picture, mask, expected) in [
        ("opaque", picture(""), alpha('~'), ""),
        ("half transparent", picture("/SMask 7 0 R"), alpha('~'), "山田 太郎 様"),
        ("transparent", picture("/SMask 7 0 R"), alpha('\u{1}'), "山田 太郎 様"),
    ] {
        let pdf = with_objects(
            std::slice::from_ref(&content),
            "/MediaBox[0 0 595 842]",
            resources,
            &[&picture, &mask],
        );
        assert_eq!(text(&pdf).await, expected, "{what}");
    }
}

#[tokio::test]
async fn what_a_soft_mask_leaves_of_text_is_not_known() {
    let resources = "/Font<</F 3 0 R>>/ExtGState<</M <</SMask<</S/Luminosity/G 6 0 R>>>>>>";
    let group = "<</Type/XObject/Subtype/Form/BBox[0 0 595 842]/Group<</S/Transparency/CS/DeviceGray>>/Length 0>>\
                 stream\n\nendstream";
    let seen = shown(&(20.0, 40.0, "山田"));
    for (content, expected) in [(format!("q /M gs {seen} Q"), ""), (format!("q /M gs Q {seen}"), "山田")] {
        let pdf = with_objects(std::slice::from_ref(&content), "/MediaBox[0 0 595 842]", resources, &[group]);
        assert_eq!(text(&pdf).await, expected, "{content}");
    }
}

#[tokio::test]
async fn a_font_is_missing_if_the_pdf_has_no_file_of_it() {
    let font = "<</Type/Font/Subtype/TrueType/BaseFont/X/FontDescriptor 7 0 R>>";
    let composite = "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[7 0 R]>>";
    let form = "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</F 3 0 R>>>>/Length 0>>\
                stream\n\nendstream";
    let drawn = "<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/CharProcs<<>>/Encoding<<>>\
                 /FirstChar 0/LastChar 0/Widths[9]>>";
    let file = "<</Length 0>>stream\n\nendstream";
    for (what, resources, objects, expected) in [
        ("no font", "", &[][..], false),
        ("embedded", "/Font<</G 6 0 R>>", &[font, "<</FontFile2 8 0 R>>", file], false),
        ("embedded otherwise", "/Font<</G 6 0 R>>", &[font, "<</FontFile3 8 0 R>>", file], false),
        ("described only", "/Font<</G 6 0 R>>", &[font, "<</Flags 4>>"], true),
        ("of two one", "/Font<</F 3 0 R/G 6 0 R>>", &[font, "<</FontFile2 8 0 R>>", file], true),
        (
            "composite",
            "/Font<</G 6 0 R>>",
            &[composite, "<</FontDescriptor 8 0 R>>", "<</FontFile2 9 0 R>>", file],
            false,
        ),
        ("composite without", "/Font<</G 6 0 R>>", &[composite, "<</FontDescriptor 8 0 R>>", "<<>>"], true),
        ("drawn by the file", "/Font<</G 6 0 R>>", &[drawn], false),
        ("in a form", "/XObject<</X 6 0 R>>", &[form], true),
    ] {
        let pdf = with_objects(&[String::new()], "/MediaBox[0 0 595 842]", resources, objects);
        assert_eq!(read(&pdf).await.pages[0].look.missing_fonts, expected, "{what}");
    }
}

#[tokio::test]
async fn what_paper_does_not_show_is_not_read() {
    let seen = shown(&(20.0, 40.0, "山田 太郎 様"));
    let cover = "1 g 0 700 595 142 re f\n";
    for (what, content) in [
        ("white", format!("1 g {seen}")),
        ("nearly white", format!("0.95 0.95 0.9 rg {seen}")),
        ("unpainted", format!("3 Tr {seen}")),
        ("under a rectangle", format!("{seen}{cover}")),
        ("outside the page", shown(&(-80.0, 40.0, "山田 太郎 様"))),
        ("outside the clip", format!("0 0 100 100 re W n {seen}")),
        ("two points high", seen.replace("/F 11 Tf", "/F 2 Tf")),
        ("pressed flat", seen.replace("Tf 1 0 0 1", "Tf 1 0 0 0.01")),
        ("under a picture", format!("{seen}{PICTURE}")),
    ] {
        assert_eq!(text(&with_contents(&[content])).await, "", "{what}");
    }
    // A line that is turned beside the rest of the page.
    let mixed = format!("{seen}q 0 1 -1 0 400 200 cm BT /F 11 Tf 0 0 Td <5c71> Tj ET Q\n");
    assert_eq!(text(&with_contents(&[mixed])).await, "山田 太郎 様");
    for (what, content) in [
        ("black", seen.clone()),
        ("blue", format!("0 0 0.6 rg {seen}")),
        ("over a rectangle", format!("{cover}0 g {seen}")),
        ("over a picture", format!("{PICTURE}{seen}")),
        (
            "under a mask of black",
            format!("{seen}q 595 0 0 842 0 0 cm BI /W 1 /H 1 /IM true ID \u{1} EI Q\n"),
        ),
        ("four points high", seen.replace("/F 11 Tf", "/F 4 Tf")),
        ("inside the clip", format!("0 0 595 842 re W n {seen}")),
        ("after a clip", format!("q 0 0 100 100 re W n Q {seen}")),
    ] {
        assert_eq!(text(&with_contents(&[content])).await, "山田 太郎 様", "{what}");
    }
}

#[tokio::test]
async fn a_page_without_text_or_a_file_without_pages_is_empty() {
    assert_eq!(text(&pdf(1)).await, "");
    assert!(!read(&pdf(1)).await.pages[0].is_readable());
    for bytes in [&b""[..], b"%PDF-1.4\n%%EOF", &typeset(&[&[(20.0, 40.0, "山田")]])[..300]] {
        assert_eq!(read(bytes).await, Printed::default());
    }
}

#[tokio::test]
async fn a_page_that_never_ends_costs_one_child_and_two_seconds() {
    let endless = "q BT /F 11 Tf 0 0 Td <5c71> Tj ET Q\n".repeat(2_000_000 / 36);
    let many: String = (0..250)
        .map(|n| shown(&(f64::from(n % 10), f64::from(n), "山田太郎様".repeat(40).as_str())))
        .collect();
    let begun = Instant::now();
    for content in [endless, many] {
        let read = read(&with_contents(&vec![content; 3])).await;
        let text: usize = read.pages.iter().flat_map(|page| &page.lines).map(|line| line.text.len()).sum();
        assert!(text <= 192 << 10, "{text}");
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(text(&typeset(&[&[(20.0, 40.0, "山田")]])).await, "山田", "the next one has its own child");
}

#[tokio::test]
async fn a_page_on_its_side_is_turned_until_its_text_is_upright() {
    let lines = [shown(&(20.0, 40.0, "〒060-0001")), shown(&(20.0, 52.0, "山田 太郎 様"))].concat();
    let landscape = "/MediaBox[0 0 842 595]";
    for (what, content, page, size) in [
        ("upright", lines.clone(), "/MediaBox[0 0 595 842]", (210, 297)),
        ("shown on its side", lines.clone(), "/MediaBox[0 0 595 842]/Rotate 90", (210, 297)),
        ("the other side", lines.clone(), "/MediaBox[0 0 595 842]/Rotate 270", (210, 297)),
        ("upside down", lines.clone(), "/MediaBox[0 0 595 842]/Rotate 180", (210, 297)),
        ("written on its side", format!("q 0 1 -1 0 842 0 cm {lines} Q"), landscape, (210, 297)),
        (
            "written and turned",
            format!("q 0 1 -1 0 842 0 cm {lines} Q"),
            "/MediaBox[0 0 842 595]/Rotate 90",
            (210, 297),
        ),
        ("the other way", format!("q 0 -1 1 0 0 595 cm {lines} Q"), landscape, (210, 297)),
    ] {
        let read = read(&with_pages(&[content], page)).await;
        let page = &read.pages[0];
        assert_eq!(page.text(), "〒060-0001\n山田 太郎 様", "{what}");
        #[expect(clippy::cast_possible_truncation, reason = "millimetres")]
        let rounded = (page.width.round() as i32, page.height.round() as i32);
        assert_eq!(rounded, size, "{what}");
        let place = (page.lines[0].left - 20.0, page.lines[0].top - 40.0);
        assert!(place.0.abs() < 1.0 && place.1.abs() < 2.0, "{what}: {place:?}");
    }
}

#[tokio::test]
async fn whether_a_page_is_blank_coloured_or_lacks_its_fonts_is_told() {
    let text = shown(&(20.0, 40.0, "山田"));
    let look = async |content: &str| read(&with_contents(&[content.to_owned()])).await.pages[0].look;
    for (what, content, blank, colour) in [
        ("nothing", String::new(), true, false),
        ("white on white", format!("1 g {text} 0 0 100 100 re f"), true, false),
        ("outside the page", "900 900 10 10 re f".to_owned(), true, false),
        ("text", text.clone(), false, false),
        ("a line", "10 10 m 300 10 l S".to_owned(), false, false),
        ("grey", "0.5 g 10 10 50 50 re f".to_owned(), false, false),
        ("red text", format!("1 0 0 rg {text}"), false, true),
        ("a blue box", "0 0 1 rg 10 10 50 50 re f".to_owned(), false, true),
        ("a green line", "0 0.6 0 RG 10 10 m 300 10 l S".to_owned(), false, true),
        ("nearly grey", "0.5 0.52 0.54 rg 10 10 50 50 re f".to_owned(), false, false),
        (
            "a grey picture",
            "q 50 0 0 50 9 9 cm BI /W 1 /H 1 /CS /RGB /BPC 8 ID aaa EI Q".to_owned(),
            false,
            false,
        ),
        (
            "a red picture",
            "q 50 0 0 50 9 9 cm BI /W 1 /H 1 /CS /RGB /BPC 8 ID zaa EI Q".to_owned(),
            false,
            true,
        ),
    ] {
        let look = look(&content).await;
        assert_eq!((look.blank, look.color), (blank, colour), "{what}");
        assert!(look.missing_fonts, "this font is in no PDF");
    }
    let without = read(&pdf(1)).await.pages[0].look;
    assert!(without.blank && !without.missing_fonts);
}
