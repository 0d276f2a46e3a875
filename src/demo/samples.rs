//! What the demo starts from: a configuration, an address book, and a few PDFs.

use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use fs_err as fs;
use lopdf::content::{Content, Operation};
use lopdf::{Document, Object, Stream, dictionary};

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
    let config = dir.join("mailchute.yaml");
    let main = format!(
        "state: state\naccounts:\n  main:\n    base_url: {}\n    auth_url: {}\n    client_id: \"{}\"\n    \
         client_secret: {{file: main.secret}}\n\
         email: {{from: mailchute <mailchute@example.jp>, directory: mails, together: 0s}}\n",
        places.base_url,
        places.auth_url,
        welcome.client_id.as_str()
    );
    fs::write(&config, main)?;
    Ok(DemoPlace { config, letters, mails: dir.join("mails") })
}

/// A PDF with this number of A4 pages and a few lines of text.
pub(super) fn letter(title: &str, pages: usize) -> anyhow::Result<Vec<u8>> {
    let mut pdf = Document::with_version("1.5");
    let tree = pdf.new_object_id();
    let font =
        pdf.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica" });
    let resources = pdf.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let mut kids = Vec::new();
    for page in 1..=pages {
        let number = format!("Page {page} of {pages}");
        let lines =
            [title, "", number.as_str(), "", "It would have been printed, folded and posted.", "It was not."];
        let content = pdf.add_object(Stream::new(dictionary! {}, text(&lines).encode()?));
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

fn text(lines: &[&str]) -> Content<Vec<Operation>> {
    let mut operations = vec![
        Operation::new("BT", vec![]),
        Operation::new("Tf", vec!["F1".into(), 14.into()]),
        Operation::new("Td", vec![72.into(), 760.into()]),
        Operation::new("TL", vec![20.into()]),
    ];
    for line in lines {
        operations.push(Operation::new("Tj", vec![Object::string_literal(*line)]));
        operations.push(Operation::new("T*", vec![]));
    }
    operations.push(Operation::new("ET", vec![]));
    Content { operations }
}
