//! Whatever a clerk saves: a configuration, or mistakes that can be shown.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use mailchute::config::Config;

const MAIN: &str = "state: state\naccounts:\n  main: {base_url: 'http://127.0.0.1:1', auth_url: 'http://127.0.0.1:1', \
                    client_id: x, client_secret: {env: NONE}}\n";

static MAIN_FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = std::env::temp_dir().join(format!("mailchute-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("folders")).unwrap();
    std::fs::write(dir.join("mailchute.yaml"), MAIN).unwrap();
    dir.join("mailchute.yaml")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let rules = MAIN_FILE.with_file_name("folders").join("invoices.yaml");
    std::fs::write(rules, bytes).unwrap();
    match Config::read(&MAIN_FILE) {
        Ok(config) => assert_eq!(config.folders.len(), 1),
        Err(mistakes) => assert!(!mistakes.problems.is_empty() && !mistakes.render(true).is_empty()),
    }
});
