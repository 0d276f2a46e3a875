//! Whatever lies beside a drop: an address and wishes, or what is wrong with them, without control characters.
#![no_main]

use std::sync::LazyLock;

use mailchute::config::{Config, Folder};

static FOLDER: LazyLock<Folder> = LazyLock::new(|| {
    let main = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/mailchute.yaml");
    Config::read(&main).unwrap().folders.remove(0)
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(what) = FOLDER.sidecar("x.pdf.yaml", bytes.to_vec()) {
        assert!(!what.is_empty() && !what.contains('\n'), "{what:?}");
    }
});
