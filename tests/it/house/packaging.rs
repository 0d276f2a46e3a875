//! What goes along with the program into a package, held to the program.

use std::path::Path;

use mailchute::config::Config;

use crate::rigs::program::mailchute;

fn said(arguments: &[&str]) -> String {
    let output = mailchute(arguments).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

#[test]
fn each_command_has_a_manual_page_and_is_completed() {
    let dir = tempfile::tempdir().unwrap();
    let man = dir.path().join("man");
    assert_eq!(said(&["man", man.to_str().unwrap()]), "");
    let help = said(&["--help"]);
    let commands = help.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 20, "{commands:?}");
    let shells = ["bash", "zsh", "fish"].map(|shell| said(&["completions", shell]));
    for command in commands.iter().filter(|command| **command != "help" && !command.starts_with('-')) {
        assert!(man.join(format!("mailchute-{command}.1")).exists(), "{command}");
        assert!(shells.iter().all(|words| words.contains(command)), "{command}");
    }
}

#[test]
fn alerts_are_about_figures_that_there_are() {
    let metrics = read("src/daemon/status/metrics.rs");
    let name = regex::Regex::new("mailchute_[a-z_]+").unwrap();
    for (file, least) in [("config/alerts.yml", 7), ("config/grafana.json", 20)] {
        let text = read(file);
        let named: Vec<&str> = name.find_iter(&text).map(|found| found.as_str()).collect();
        assert!(named.len() >= least);
        for name in named {
            let family = name.trim_end_matches("_bucket").trim_end_matches("_count");
            assert!(metrics.contains(&format!("\"{family}\"")), "{file}: {name}");
        }
    }
    let dashboard: serde_json::Value = serde_json::from_str(&read("config/grafana.json")).unwrap();
    let families = regex::Regex::new("\"(mailchute_[a-z_]+)\"").unwrap();
    let shown = dashboard.to_string();
    for family in families.captures_iter(&metrics).map(|found| found[1].to_owned()) {
        assert!(family == "mailchute_uptime_seconds" || shown.contains(&family), "{family} is on no panel");
    }
}

#[test]
fn the_unit_lets_the_daemon_end_in_its_own_time() {
    let unit = read("systemd/mailchute.service");
    let value = |key: &str| {
        let mut lines = unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        let value = lines.next_back().unwrap();
        humantime::parse_duration(value).unwrap()
    };
    // Eight seconds for what is under way, one for the token, and closing the database.
    assert!(value("TimeoutStopSec").as_secs() >= 20);
    // A writer may wait ten seconds for whoever has the database.
    assert!(value("WatchdogSec").as_secs() / 4 > 20);
}

#[test]
fn a_configuration_for_the_service_reads_well_and_is_never_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let words = ["init", "--service", dir.path().to_str().unwrap()];
    assert!(said(&words).contains("systemctl enable --now mailchute"));
    let main = dir.path().join("mailchute.yaml");
    let config = Config::read(&main).unwrap();
    assert_eq!(config.state, Path::new("/var/lib/mailchute"));
    assert!(config.accounts[0].secret_is_elsewhere());
    assert!(!dir.path().join("state").exists() && !dir.path().join("main.secret").exists());
    let checked = said(&["check", "--config", main.to_str().unwrap()]);
    assert!(checked.contains("account main: its secret comes from systemd"), "{checked}");
    assert!(said(&words).contains("exists already; nothing was changed"));
}
