//! How often page and envelope are compared rightly, over the letters of `tests/printed-letters`.
//!
//! `PRINTED_LETTERS=DIR cargo test --release --test long printed -- --nocapture`. Each letter is compared with its
//! own receiver, and with the receiver of the next one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mailchute::domain::address::{Address, Receiver, fold};
use mailchute::domain::address_book::AddressBook;
use mailchute::domain::printed::{PageAgreement, PaperEnvelope, Printed, PrintedPage, codes_of, compare};
use mailchute::outside::pdf::Inspector;
use serde_json::Value;

struct Made {
    file: PathBuf,
    receiver: Receiver,
    sender: Address,
    by: String,
    printed: Printed,
}

fn address(value: &Value) -> Address {
    let text = |key: &str| value[key].as_str().unwrap().to_owned();
    Address {
        postal_code: text("postal_code"),
        state: text("state"),
        city: text("city"),
        address1: text("address1"),
        name: text("name"),
    }
}

async fn all(dir: &Path) -> Vec<Made> {
    let inspector = Inspector::of(Path::new(env!("CARGO_BIN_EXE_mailchute")));
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "pdf"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let about: Value =
            serde_json::from_slice(&std::fs::read(file.with_extension("json")).unwrap()).unwrap();
        let honorific = about["receiver"]["honorific"].as_str().unwrap().to_owned();
        let printed = inspector.printed(&std::fs::read(&file).unwrap()).await.unwrap();
        found.push(Made {
            receiver: Receiver { address: address(&about["receiver"]), honorific },
            sender: address(&about["sender"]),
            by: about["made"].as_str().unwrap().to_owned(),
            file,
            printed,
        });
    }
    found
}

/// Everybody to whom a letter may go.
fn book(all: &[Made]) -> AddressBook {
    let mut csv = "key,postal_code,state,city,address1,name,honorific\n".to_owned();
    for (number, made) in all.iter().enumerate() {
        let Receiver { address, honorific } = &made.receiver;
        let Address { postal_code, state, city, address1, name } = address;
        writeln!(csv, "K{number:05},{postal_code},{state},{city},{address1},{name},{honorific}").unwrap();
    }
    let names = ["key", "postal_code", "state", "city", "address1", "name", "honorific"].map(str::to_owned);
    let [key, postal_code, state, city, address1, name, honorific] = names;
    let columns =
        mailchute::domain::address_book::Columns { key, postal_code, state, city, address1, name, honorific };
    AddressBook::read(csv.as_bytes(), &columns).unwrap().0
}

fn word(agreement: &PageAgreement) -> &'static str {
    match agreement {
        PageAgreement::Agrees => "agrees",
        PageAgreement::Contradicts(_) => "contradicts",
        PageAgreement::CannotTell(_) => "cannot tell",
    }
}

#[tokio::test]
async fn pages_are_compared_rightly() {
    let Some(dir) = std::env::var_os("PRINTED_LETTERS") else { return };
    let all = all(Path::new(&dir)).await;
    let book = book(&all);
    let (mut code, mut name) = (0, 0);
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for (number, made) in all.iter().enumerate() {
        let text = made.printed.pages.first().map(PrintedPage::text).unwrap_or_default();
        let digits = &made.receiver.address.postal_code;
        code += u32::from(codes_of(&text).contains(digits));
        let tight = |text: &str| fold(&fold(text).as_str().replace("(株)", "株式会社"));
        name += u32::from(tight(&text).as_str().contains(tight(&made.receiver.address.name).as_str()));
        let envelope =
            |receiver| PaperEnvelope { receiver, sender: &made.sender, book: Some(&book), area: None };
        let own = compare(&made.printed, &envelope(&made.receiver));
        let other = &all[(number + 1) % all.len()].receiver;
        let swapped = compare(&made.printed, &envelope(other));
        *counts.entry(("own", word(&own))).or_default() += 1;
        if other.address.name != made.receiver.address.name {
            *counts.entry(("swapped", word(&swapped))).or_default() += 1;
        }
        let is_well =
            matches!(own, PageAgreement::Agrees) && matches!(swapped, PageAgreement::Contradicts(_));
        if !is_well && other.address.name != made.receiver.address.name {
            println!("{} ({}): own {own:?}, swapped {swapped:?}", made.file.display(), made.by);
        }
    }
    println!("{} letters: code on {code}, name on {name}; {counts:?}", all.len());
    let count = |key: (&str, &str)| counts.get(&key).copied().unwrap_or(0);
    let many = u32::try_from(all.len()).unwrap();
    assert!(count(("own", "contradicts")) * 100 <= many, "more than 1 % false");
    assert!(count(("swapped", "contradicts")) * 100 >= many * 98, "swapped ones pass");
}
