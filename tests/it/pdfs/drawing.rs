//! Pages as pictures: what stands on paper is in them, and what cannot be drawn is said.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use flate2::read::ZlibDecoder;
use mailchute::domain::printed::Area;
use mailchute::outside::pdf::{DrawWish, Inspection, Inspector, Picture, as_pdf, judge};

use crate::rigs::service::pdf;

fn inspector() -> Inspector {
    Inspector::of(Path::new(env!("CARGO_BIN_EXE_mailchute")))
}

async fn drawn(pdf: &[u8], font: Option<&Path>, wish: DrawWish) -> Picture {
    inspector().drawn(pdf, font, &wish).await.unwrap().unwrap()
}

fn wish() -> DrawWish {
    DrawWish { width: 210, ..DrawWish::default() }
}

/// Red, green and blue of each pixel.
fn pixels(picture: &Picture) -> Vec<[u8; 3]> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(picture.rows.as_slice()).read_to_end(&mut bytes).unwrap();
    let row = picture.width as usize * 3 + 1;
    assert_eq!(bytes.len(), row * picture.height as usize);
    bytes.chunks(row).flat_map(|row| row[1..].as_chunks::<3>().0.to_vec()).collect()
}

/// A page of A4 with this content, and with a font that is not in the file if it has a name.
fn page(content: &str, font: Option<&str>) -> Vec<u8> {
    let font = font.map_or_else(String::new, |name| {
        format!(
            "/Font<</J <</Type/Font/Subtype/Type0/BaseFont/{name}/Encoding/UniJIS-UTF16-H/DescendantFonts[<</Type/Font\
             /Subtype/CIDFontType0/BaseFont/{name}/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 6>>\
             /FontDescriptor<</Type/FontDescriptor/FontName/{name}/Flags 4>>>>]>>>>"
        )
    });
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<<{font}>>>>"),
        format!("<</Length {}>>stream\n{content}\nendstream", content.len() + 1),
    ];
    let (mut pdf, mut places) = ("%PDF-1.7\n".to_owned(), String::new());
    for (number, object) in objects.iter().enumerate() {
        writeln!(places, "{:010} 00000 n ", pdf.len()).unwrap();
        writeln!(pdf, "{} 0 obj{object}endobj", number + 1).unwrap();
    }
    let table = pdf.len();
    let head = format!("xref\n0 5\n0000000000 65535 f \n{places}");
    write!(pdf, "{head}trailer<</Size 5/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n").unwrap();
    pdf.into_bytes()
}

const RED_BOX: &str = "1 0 0 rg 0 742 100 100 re f";

#[tokio::test]
async fn a_page_is_drawn_in_colour_or_as_a_printer_without_it_shows_it() {
    let red = drawn(&page(RED_BOX, None), None, wish()).await;
    assert_eq!((red.width, red.height, red.font_missing), (210, 297, false));
    let seen = pixels(&red);
    assert_eq!((seen[0], seen[209]), ([255, 0, 0], [255; 3]));
    let gray = pixels(&drawn(&page(RED_BOX, None), None, DrawWish { grayscale: true, ..wish() }).await);
    let [r, g, b] = gray[0];
    assert!(r == g && g == b && (60..100).contains(&r), "{:?}", gray[0]);
}

#[tokio::test]
async fn a_frame_and_a_staple_are_drawn_over_it() {
    let area = Area { left: 20.0, top: 40.0, width: 90.0, height: 45.0 };
    let wish = DrawWish { areas: vec![area], staple: true, grayscale: true, ..wish() };
    let seen = pixels(&drawn(&page(RED_BOX, None), None, wish).await);
    // One pixel is a millimetre. A line lies on one side of its place or on the other.
    let is_marked = |x: usize, y: usize| {
        let near = [(x, y), (x - 1, y), (x, y - 1), (x - 1, y - 1)];
        near.iter().any(|(x, y)| matches!(seen[y * 210 + x], [r, g, _] if r > 150 && g < 80))
    };
    assert!(is_marked(20, 60) && is_marked(60, 40) && is_marked(110, 60) && is_marked(60, 85));
    assert!(!is_marked(60, 60) && !is_marked(15, 60));
    assert!((7..=11).any(|x| is_marked(x, 18 - x)));
}

#[tokio::test]
async fn text_whose_font_is_missing_is_said_across_the_picture() {
    let text = "BT /J 30 Tf 60 700 Td <5C717530592A90CE> Tj ET";
    let no_font = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&no_font, b"\0\x01\0\0 no font").unwrap();
    // The engine takes a font with `sans` in its name for a standard one.
    for name in ["HeiseiKakuGo-W5", "SourceHanSans"] {
        let without = drawn(&page(text, Some(name)), None, wish()).await;
        assert!(without.font_missing, "{name}");
        let damaged = drawn(&page(text, Some(name)), Some(no_font.path()), wish()).await;
        assert!(damaged.font_missing, "{name}: what is given is no font");
        let is_stamped = pixels(&without).iter().any(|[r, g, _]| *r > 150 && *g < 120);
        assert!(is_stamped, "{name}: it is not said in the picture");
    }
    assert!(!drawn(&page(RED_BOX, None), None, wish()).await.font_missing);
}

#[tokio::test]
async fn what_cannot_be_drawn_is_no_picture() {
    let inspector = inspector();
    for (bytes, wish) in [
        (b"no PDF".to_vec(), wish()),
        (pdf(1), DrawWish { page: 1, ..wish() }),
        (pdf(1), DrawWish { width: 0, ..wish() }),
        (pdf(1), DrawWish { width: u16::MAX, ..wish() }),
    ] {
        assert_eq!(inspector.drawn(&bytes, None, &wish).await.unwrap(), None, "{wish:?}");
    }
}

#[tokio::test]
async fn pictures_become_one_below_the_other_or_pages() {
    let (red, white) = (drawn(&page(RED_BOX, None), None, wish()).await, drawn(&pdf(1), None, wish()).await);
    let both = Picture::column(&[red.clone(), white.clone()]).unwrap();
    assert_eq!((both.width, both.height), (210, red.height + white.height));
    assert_eq!(pixels(&both), [pixels(&red), pixels(&white)].concat());
    let pages = as_pdf(&[red.clone(), white]);
    assert_eq!(judge(&pages), Inspection::Pages(2));
    let again = drawn(&pages, None, wish()).await;
    assert_eq!(pixels(&again)[0], [255, 0, 0]);
    let png = both.png();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xae\x42\x60\x82"));
    // A picture that says another size than it has would shift what is below it.
    assert!(Picture::column(&[Picture { height: 3000, ..red.clone() }]).is_err());
    assert!(Picture::column(&[Picture { width: 100, ..red.clone() }, red]).is_err());
}
