//! What the demo starts from: a configuration, an address book, and a few PDFs.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use fs_err as fs;
use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, Stream, StringFormat, dictionary};

use crate::sandbox::Welcome;

const BOOK: &str = "customer,name,honorific,postal_code,state,city,address1
000123,山田 太郎,様,060-0001,北海道,札幌市中央区,北一条西1-1
000456,株式会社見本,御中,530-0001,大阪府,大阪市北区,梅田1-1-1
";

const FOLDER: &str = r"# The demo's folder. Edit it while the demo runs: what is saved is in force after 3 s.
path: ../letters
sender: {postal_code: '1000001', state: 東京都, city: 千代田区, address1: 千代田1-1, name: 株式会社サンプル}
first_start: take
watch: {settle: 60s}           # by the demo's clock, which runs sixty times as fast
address_book: {file: customers.csv, key: customer, settle: 1s}
check_page: hold               # what names somebody else than the envelope waits
check_print: {fonts: off}      # the demo's PDFs have no fonts of their own
notify: {shipped: [office@example.jp], rejected: [office@example.jp], held: [office@example.jp]}
rules:
  - name: invoices in a tracked letter pack
    when: {file_name: '^INV-(?<customer>\d{6})', pages: ..8}
    receiver: {book: '{customer}'}
    shipping: {method: letterpack-lite}
  - name: everything else goes to the first customer
    receiver: {book: '000123'}
    shipping: {method: normal, options: [trackable]}
";

/// The paths of the demo.
pub(super) struct DemoPlace {
    pub(super) config: PathBuf,
    pub(super) letters: PathBuf,
    /// The directory of its e-mails.
    pub(super) mails: PathBuf,
    /// Where it serves its status.
    pub(super) page: SocketAddr,
}

/// Writes a configuration for a sandbox.
pub(super) fn configure(dir: &Path, welcome: &Welcome) -> io::Result<DemoPlace> {
    let letters = dir.join("letters");
    fs::create_dir(&letters)?;
    fs::create_dir(dir.join("folders"))?;
    fs::write(dir.join("folders").join("letters.yaml"), FOLDER)?;
    fs::write(dir.join("folders").join("customers.csv"), BOOK)?;
    let secret = welcome.client_secret.as_ref().map(|secret| secret.expose().to_owned()).unwrap_or_default();
    let mut options = fs::OpenOptions::new();
    options.options_mut().mode(0o600);
    io::Write::write_all(
        &mut options.write(true).create_new(true).open(dir.join("main.secret"))?,
        secret.as_bytes(),
    )?;
    let places = &welcome.places;
    // A port that is free now. Whoever takes it in between is waited for.
    let page = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let config = dir.join("mailchute.yaml");
    let main = format!(
        "state: state\naccounts:\n  main:\n    base_url: {}\n    auth_url: {}\n    client_id: \"{}\"\n    \
         client_secret: {{file: main.secret}}\n\
         email: {{from: mailchute <mailchute@example.jp>, directory: mails, together: 0s}}\n\
         status: {{listen: '{page}', show_names: true}}\n",
        places.base_url,
        places.auth_url,
        welcome.client_id.as_str()
    );
    fs::write(&config, main)?;
    Ok(DemoPlace { config, letters, mails: dir.join("mails"), page })
}

/// The address blocks of the two customers.
pub(super) const YAMADA: [&str; 3] = ["〒060-0001", "北海道札幌市中央区北一条西1-1", "山田 太郎 様"];
pub(super) const MIHON: [&str; 3] = ["〒530-0001", "大阪府大阪市北区梅田1-1-1", "株式会社見本 御中"];

/// A PDF with this number of A4 pages, an address block on the first and a few lines of text on each.
pub(super) fn letter(to: &[&str], title: &str, pages: usize) -> anyhow::Result<Vec<u8>> {
    let mut pdf = Document::with_version("1.5");
    let tree = pdf.new_object_id();
    let fonts = fonts(&mut pdf);
    let resources = pdf.add_object(dictionary! { "Font" => fonts });
    let mut kids = Vec::new();
    for page in 1..=pages {
        let number = format!("Page {page} of {pages}");
        let lines =
            [title, "", number.as_str(), "", "It would have been printed, folded and posted.", "It was not."];
        let mut operations = if page == 1 { text("F2", 14, 780, to, japanese) } else { Vec::new() };
        operations.extend(text("F1", 14, 640, &lines, |line| Object::string_literal(line)));
        let content = pdf.add_object(Stream::new(dictionary! {}, Content { operations }.encode()?));
        let page = pdf.add_object(dictionary! {
            "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
            "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        });
        kids.push(Object::from(page));
    }
    let count = i64::try_from(pages)?;
    let pages = dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count };
    pdf.objects.insert(tree, Object::Dictionary(pages));
    let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    pdf.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    pdf.save_to(&mut bytes)?;
    Ok(bytes)
}

/// One for Latin text, and one for Japanese that every reader of PDFs replaces by its own.
fn fonts(pdf: &mut Document) -> Dictionary {
    let latin =
        pdf.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica" });
    let collection = dictionary! {
        "Registry" => Object::string_literal("Adobe"), "Ordering" => Object::string_literal("Japan1"),
        "Supplement" => 2,
    };
    let described = pdf.add_object(dictionary! {
        "Type" => "FontDescriptor", "FontName" => "HeiseiKakuGo-W5", "Flags" => 4, "ItalicAngle" => 0,
        "FontBBox" => vec![(-92).into(), (-250).into(), 1010.into(), 922.into()],
        "Ascent" => 752, "Descent" => -221, "CapHeight" => 737, "StemV" => 114,
    });
    let half_width = vec![231.into(), 389.into(), 500.into()];
    let glyphs = pdf.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "CIDFontType0", "BaseFont" => "HeiseiKakuGo-W5",
        "CIDSystemInfo" => collection, "FontDescriptor" => described, "DW" => 1000, "W" => half_width,
    });
    let japanese = pdf.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "HeiseiKakuGo-W5-UniJIS-UCS2-HW-H",
        "Encoding" => "UniJIS-UCS2-HW-H", "DescendantFonts" => vec![glyphs.into()],
    });
    dictionary! { "F1" => latin, "F2" => japanese }
}

fn japanese(line: &str) -> Object {
    let bytes = line.encode_utf16().flat_map(u16::to_be_bytes).collect();
    Object::String(bytes, StringFormat::Hexadecimal)
}

/// Lines from this height downwards.
fn text(font: &str, size: i64, from: i64, lines: &[&str], write: impl Fn(&str) -> Object) -> Vec<Operation> {
    let mut operations = vec![
        Operation::new("BT", vec![]),
        Operation::new("Tf", vec![font.into(), size.into()]),
        Operation::new("Td", vec![72.into(), from.into()]),
        Operation::new("TL", vec![20.into()]),
    ];
    for line in lines {
        operations.push(Operation::new("Tj", vec![write(line)]));
        operations.push(Operation::new("T*", vec![]));
    }
    operations.push(Operation::new("ET", vec![]));
    operations
}
