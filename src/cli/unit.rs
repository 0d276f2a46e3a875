//! What the installed unit gives to the service: the paths to which it may write, its user, its credentials.

use std::path::{Path, PathBuf};

use crate::config::Config;

/// Later ones take precedence. Drop-ins of each are added.
const PLACES: [&str; 4] =
    ["usr/lib/systemd/system", "lib/systemd/system", "run/systemd/system", "etc/systemd/system"];
const UNIT: &str = "mailchute.service";
/// The directory of the package's configuration. Another one is not the service's.
const SERVICE: &str = "/etc/mailchute";

/// What a unit says of the disk.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unit {
    /// Whether nothing else may be written.
    strict: bool,
    writable: Vec<PathBuf>,
    /// The paths that the service cannot see at all, whatever else is allowed, and by which key.
    hidden: Vec<(&'static str, &'static str)>,
    /// Credentials by name, or directories of them.
    credentials: Vec<(String, PathBuf)>,
    user: Option<String>,
}

const HOMES: [&str; 3] = ["/home", "/root", "/run/user"];
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// The installed unit, with its drop-ins.
fn installed(root: &Path) -> Option<Unit> {
    let unit =
        PLACES.iter().rev().find_map(|place| std::fs::read_to_string(root.join(place).join(UNIT)).ok())?;
    let mut texts = vec![unit];
    let mut drop_ins: Vec<PathBuf> = Vec::new();
    for place in PLACES {
        let Ok(entries) = std::fs::read_dir(root.join(place).join(format!("{UNIT}.d"))) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            // Of two with one name, the one with precedence counts.
            drop_ins.retain(|known| known.file_name() != path.file_name());
            drop_ins.push(path);
        }
    }
    drop_ins.retain(|path| path.extension().is_some_and(|ending| ending == "conf"));
    drop_ins.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    texts.extend(drop_ins.iter().filter_map(|path| std::fs::read_to_string(path).ok()));
    Some(Unit::of(&texts))
}

impl Unit {
    /// The last assignment counts.
    fn of(texts: &[String]) -> Self {
        let mut unit = Self::default();
        let mut hide = |key: &'static str, places: &[&'static str], hides: bool| {
            unit.hidden.retain(|(by, _)| *by != key);
            if hides {
                unit.hidden.extend(places.iter().map(|place| (key, *place)));
            }
        };
        let (mut strict, mut paths) = (false, Vec::new());
        let (mut credentials, mut user) = (Vec::new(), None);
        let lines = texts.iter().flat_map(|text| text.lines());
        for (key, value) in lines.filter_map(|line| line.trim().split_once('=')) {
            match (key.trim(), value.trim()) {
                ("ProtectSystem", value) => strict = value == "strict",
                ("ProtectHome", value) => hide("ProtectHome", &HOMES, !is_no(value)),
                ("PrivateTmp", value) => hide("PrivateTmp", &TEMPORARY, !is_no(value)),
                ("LoadCredential", "") => credentials.clear(),
                ("LoadCredential", value) => {
                    credentials.extend(
                        value.split_once(':').map(|(name, path)| (name.to_owned(), PathBuf::from(path))),
                    );
                }
                ("User", name) => user = Some(name.to_owned()).filter(|name| !name.is_empty()),
                ("ReadWritePaths", "") => paths.clear(),
                ("ReadWritePaths", value) => {
                    let words = value.split_whitespace().map(|word| word.trim_matches('"'));
                    paths.extend(words.map(|word| PathBuf::from(word.trim_start_matches(['-', '+']))));
                }
                ("StateDirectory", value) => {
                    paths.extend(value.split_whitespace().map(|name| Path::new("/var/lib").join(name)));
                }
                _other => {}
            }
        }
        Self { strict, writable: paths, credentials, user, ..unit }
    }

    /// The file of a credential. A directory gives each of its files under its own name, a `_` and the file's name.
    fn credential(&self, name: &str) -> Option<PathBuf> {
        self.credentials.iter().rev().find_map(|(known, path)| {
            let file = match name.strip_prefix(known.as_str())?.strip_prefix('_') {
                Some(file) if path.is_dir() && !file.contains('/') => path.join(file),
                Some(_) => return None,
                None => (known == name).then(|| path.clone())?,
            };
            file.is_file().then_some(file)
        })
    }

    /// Why the service cannot use a path, and what allows it.
    fn forbids(&self, path: &Path) -> Option<String> {
        if let Some((key, _)) = self.hidden.iter().find(|(_, place)| path.starts_with(place)) {
            return Some(format!(
                "is hidden from the service by {key}=; move it elsewhere, or set `{key}=no` with `systemctl edit {UNIT}`"
            ));
        }
        let is_writable = !self.strict || self.writable.iter().any(|writable| path.starts_with(writable));
        (!is_writable).then(|| {
            format!(
                "is outside of what the service may write to; add `ReadWritePaths={}` with `systemctl edit {UNIT}`",
                path.display()
            )
        })
    }
}

/// The file from which the installed unit gives a credential, if whoever asks can read it.
pub(super) fn credential(name: &str) -> Option<PathBuf> {
    installed(Path::new("/"))?.credential(name).filter(|file| std::fs::File::open(file).is_ok())
}

/// The user as whom the installed unit runs the service.
pub(super) fn user() -> Option<String> {
    installed(Path::new("/"))?.user
}

fn is_no(value: &str) -> bool {
    ["no", "false", "off", "0", ""].contains(&value)
}

/// The paths of a configuration that the installed unit forbids, and what allows them.
pub(super) fn forbidden(config: &Config) -> Vec<String> {
    let file = config.file.canonicalize().unwrap_or_else(|_| config.file.clone());
    let Some(unit) = installed(Path::new("/")).filter(|_| file.starts_with(SERVICE)) else {
        return Vec::new();
    };
    let folders = config.folders.iter().map(|folder| (format!("folder {}", folder.name), &folder.path));
    let places = folders.chain([("state".to_owned(), &config.state)]);
    let said = places.filter_map(|(what, path)| {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        Some(format!("{what}: {} {}", path.display(), unit.forbids(&path)?))
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_units_last_word_counts_and_drop_ins_come_after_it() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert_eq!(installed(root.path()), None);
        let forbids =
            |path: &str| installed(root.path()).unwrap().forbids(Path::new(path)).unwrap_or_default();
        write("usr/lib/systemd/system/mailchute.service", include_str!("../../systemd/mailchute.service"));
        for path in ["/srv/mail/invoices", "/var/lib/mailchute", "/var/lib/mailchute/more"] {
            assert_eq!(forbids(path), "");
        }
        let unit = installed(root.path()).unwrap();
        assert_eq!(unit.user.as_deref(), Some("mailchute"));
        assert_eq!(unit.credential("secrets_main"), None, "it is not there");
        assert!(forbids("/mnt/office/letters").contains("add `ReadWritePaths=/mnt/office/letters`"));
        assert!(forbids("/home/office").contains("set `ProtectHome=no`"));
        assert!(forbids("/tmp/x").contains("hidden from the service by PrivateTmp="));
        let folders = "etc/systemd/system/mailchute.service.d/folders.conf";
        write(folders, include_str!("../../systemd/folders.conf"));
        assert_eq!(forbids("/mnt/office/letters"), "");
        write(folders, "[Service]\nReadWritePaths=\nReadWritePaths=/a -/home/b\n");
        write("etc/systemd/system/mailchute.service.d/notes.txt", "ReadWritePaths=/c\n");
        assert_eq!(forbids("/a/x"), "");
        assert!(forbids("/srv/mail").contains("ReadWritePaths=/srv/mail") && !forbids("/c").is_empty());
        assert!(forbids("/home/b").contains("ProtectHome"), "what is hidden can't be opened inside");
        write(
            "etc/systemd/system/mailchute.service.d/z.conf",
            "[Service]\nProtectSystem=full\nProtectHome=no\n",
        );
        assert_eq!(forbids("/home/b") + &forbids("/anywhere"), "");
    }

    #[test]
    fn a_credential_is_a_file_or_one_of_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir(path("secrets")).unwrap();
        for file in ["secrets/main", "one"] {
            std::fs::write(path(file), "s").unwrap();
        }
        let (secrets, one) = (path("secrets").display().to_string(), path("one").display().to_string());
        let text = format!(
            "LoadCredential=gone:/x\nLoadCredential=\nLoadCredential=s:{secrets}\nLoadCredential=one:{one}\n"
        );
        let unit = Unit::of(&[text]);
        assert_eq!(unit.credential("s_main"), Some(path("secrets/main")));
        assert_eq!(unit.credential("one"), Some(path("one")));
        for other in ["s", "s_other", "s_../one", "gone", "one_x", "two"] {
            assert_eq!(unit.credential(other), None, "{other}");
        }
    }
}
