//! The example configuration is true, and what is wrong in one is told with its place.

use std::path::Path;

use mailchute::api::Patience;
use mailchute::config::{Config, read_address, read_receiver};
use mailchute::letter::Retry;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_example_shows_the_defaults_and_the_addresses_beside_it_are_good() {
    let config = Config::read(&root().join("config/mailchute.yaml")).unwrap();
    assert_eq!(config.state, Path::new("/var/lib/mailchute"));
    assert_eq!((config.letters_at_once, config.retry), (8, Retry::default()));
    let usual = Patience::default();
    assert_eq!(
        (config.patience.connect, config.patience.call, config.patience.transfer),
        (usual.connect, usual.call, usual.transfer)
    );
    read_address(&root().join("config/sender.yaml")).unwrap();
    assert_eq!(read_receiver(&root().join("config/receiver.yaml")).unwrap().honorific, "様");
}

const GOOD: &str = "state: s\naccounts:\n  main:\n    base_url: https://a.example.jp\n    auth_url: https://b.example.jp\n    client_id: c\n    client_secret: {env: X}\n";

/// What is said of a configuration.
fn problem(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mailchute.yaml");
    std::fs::write(&path, text).unwrap();
    Config::read(&path).map(drop).unwrap_err().to_string()
}

#[test]
fn mistakes_are_told_with_their_place_and_secrets_are_never_literal() {
    let changed = |from: &str, to: &str| {
        assert!(GOOD.contains(from));
        problem(&GOOD.replace(from, to))
    };
    for (said, parts) in [
        (changed("https://a.", "http://a."), vec!["accounts.main", "is not https"]),
        (changed("state: s\n", ""), vec!["state"]),
        (changed("    client_id", "    clientid"), vec!["clientid", "6"]),
        (changed("state: s\n", "state: s\nstate: t\n"), vec!["state", "2"]),
        (changed("{env: X}", "hunter2"), vec!["line 7", "never the secret itself"]),
        (changed("{env: X}", "'hunter2'\nother: 1"), vec!["never the secret itself"]),
        (changed("{env: X}", "{hunter2}"), vec!["never the secret itself"]),
        (changed("{env: X}", "{value: hunter2}"), vec!["never the secret itself"]),
        (changed("{env: X}", "{env: X, value: hunter2}"), vec!["never the secret itself"]),
        (changed(" {env: X}", "\n      hunter2"), vec!["never the secret itself"]),
        (changed(" {env: X}", " # note\n      hunter2"), vec!["never the secret itself"]),
        (changed("{env: X}", "[hunter2]"), vec!["never the secret itself"]),
        (changed("{env: X}", "{env: X}\n    hunter: hunter2"), vec!["hunter"]),
        (problem("accounts: {main: {client_secret: hunter2, base_url: x}}"), vec!["client_secret"]),
        (changed("    base_url", "\tbase_url"), vec!["line 4", "tab"]),
        (changed("state: s\n", "state: &a s\nother: *a\n"), vec!["2"]),
        (problem(&format!("{GOOD}network: {{call_timeout: 5}}\n")), vec!["`5` is no duration"]),
        (
            problem(&format!(
                "{GOOD}network: {{letters_at_once: 0, quickest_retry: 1h, slowest_retry: 1m}}\n"
            )),
            vec!["letters_at_once: 1 to 64", "quickest_retry"],
        ),
    ] {
        assert!(!said.contains("hunter2"), "{said}");
        for part in parts {
            assert!(said.contains(part), "no `{part}` in: {said}");
        }
    }
}

#[test]
fn a_postal_code_without_quotes_keeps_its_zero() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("to.yaml");
    let text = std::fs::read_to_string(root().join("config/receiver.yaml")).unwrap();
    std::fs::write(&path, text.replace("\"0600001\"", "0600001")).unwrap();
    assert_eq!(read_receiver(&path).unwrap().address.postal_code, "0600001");
    std::fs::write(&path, text.replace("\"0600001\"", "０６００００１")).unwrap();
    assert!(read_receiver(&path).unwrap_err().to_string().contains("write 7 digits"));
}
