//! Whatever the service says of a mail or of what went wrong.
#![no_main]

use mailchute::outside::api::{reading, wire};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(mail) = serde_json::from_slice::<wire::Mail>(bytes) {
        let _ = reading(mail);
    }
    let _ = serde_json::from_slice::<wire::CreatedMail>(bytes);
    let _ = serde_json::from_slice::<wire::Problem>(bytes);
});
