//! Whatever a file is called: shown without harm, numbered without growing too long, its ULID read or refused.
#![no_main]

use mailchute::domain::drop::{numbered, pdf_of, showable, shown, text_name};
use mailchute::outside::spool::Ulid;

libfuzzer_sys::fuzz_target!(|name: &[u8]| {
    if name.is_empty() || name.len() > 255 || name.contains(&0) || name.contains(&b'/') {
        return;
    }
    let safe = showable(&shown(name));
    assert!(!safe.chars().any(|c| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c)), "{safe:?}");
    let _ = pdf_of(name);
    assert!(text_name(name).len() <= 255 + 4);
    for n in [1, 2, 10_000] {
        let (file, text) = numbered(name, n);
        assert!(file.len() <= 255 && text.len() <= 255, "{} {}", file.len(), text.len());
    }
    if let Ok(text) = std::str::from_utf8(name) && let Ok(ulid) = text.parse::<Ulid>() {
        assert_eq!(ulid.as_str(), text);
        let _ = ulid.time();
    }
});
