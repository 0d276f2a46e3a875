//! What can be read of a configuration that has mistakes: where the records are, and the time zone.

use std::path::{Path, PathBuf};

use chrono_tz::Tz;

/// Enough to look at the records.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Partial {
    pub state: Option<PathBuf>,
    pub zone: Option<Tz>,
}

impl Partial {
    /// Line by line, because the file as a whole may be no YAML.
    pub(super) fn read(file: &Path) -> Self {
        let text = std::fs::read(file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let value = |key: &str| {
            let line = text.trim_start_matches('\u{feff}').lines().find_map(|line| line.strip_prefix(key))?;
            let value = line.split(" #").next().unwrap_or_default().trim();
            let quoted = value.strip_prefix(['"', '\'']).and_then(|value| value.strip_suffix(['"', '\'']));
            Some(quoted.unwrap_or(value).to_owned()).filter(|value| !value.is_empty())
        };
        let beside = file.parent().unwrap_or(Path::new(""));
        Self {
            state: value("state:").map(|state| beside.join(state)),
            zone: value("time_zone:").and_then(|zone| zone.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_and_zone_are_read_from_a_file_that_is_no_yaml() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mailchute.yaml");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            Partial::read(&file)
        };
        let broken =
            "\u{feff}state: \"/var/lib/mail chute\"  # here\naccounts: {\ntime_zone: Europe/Rome\r\n";
        let found = read(broken);
        assert_eq!(found.state.as_deref(), Some(Path::new("/var/lib/mail chute")));
        assert_eq!(found.zone, Some(Tz::Europe__Rome));
        assert_eq!(read("state: records\n").state, Some(dir.path().join("records")));
        assert_eq!(read("  state: x\nstate:\ntime_zone: Tokio\n"), Partial::default());
        assert_eq!(Partial::read(Path::new("/nowhere")), Partial::default());
    }
}
