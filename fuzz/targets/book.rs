//! Whatever a spreadsheet saves: receivers that the service would take, and mistakes with their rows.
#![no_main]

use mailchute::domain::address_book::{AddressBook, Columns};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let name = |name: &str| name.to_owned();
    let columns = Columns {
        key: name("customer"),
        postal_code: name("postal_code"),
        state: name("state"),
        city: name("city"),
        address1: name("address1"),
        name: name("name"),
        honorific: name("honorific"),
    };
    if let Ok((book, mistakes)) = AddressBook::read(bytes, &columns) {
        assert!(mistakes.iter().all(|mistake| mistake.row > 0 && !mistake.what.is_empty()));
        if let Some(receiver) = book.receiver("000123") {
            assert!(receiver.problems().is_empty(), "what is in the book can be written to");
        }
    }
});
