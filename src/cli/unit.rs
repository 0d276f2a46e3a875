//! What the installed unit lets the service write to.

use std::path::{Path, PathBuf};

use crate::config::Config;

/// Later ones are stronger; drop-ins of each come on top.
const PLACES: [&str; 4] =
    ["usr/lib/systemd/system", "lib/systemd/system", "run/systemd/system", "etc/systemd/system"];
const UNIT: &str = "mailchute.service";
/// Where the package's configuration is; another one is not the service's.
const SERVICE: &str = "/etc/mailchute";

/// Where the service may write, if a unit is installed that forbids the rest.
fn writable(root: &Path) -> Option<Vec<PathBuf>> {
    let unit =
        PLACES.iter().rev().find_map(|place| std::fs::read_to_string(root.join(place).join(UNIT)).ok())?;
    let mut texts = vec![unit];
    let mut drop_ins: Vec<PathBuf> = Vec::new();
    for place in PLACES {
        let Ok(entries) = std::fs::read_dir(root.join(place).join(format!("{UNIT}.d"))) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            // Of two with one name the stronger counts.
            drop_ins.retain(|known| known.file_name() != path.file_name());
            drop_ins.push(path);
        }
    }
    drop_ins.retain(|path| path.extension().is_some_and(|ending| ending == "conf"));
    drop_ins.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    texts.extend(drop_ins.iter().filter_map(|path| std::fs::read_to_string(path).ok()));
    allowed(&texts)
}

/// What a unit's texts allow, the last word last; none if they forbid nothing.
fn allowed(texts: &[String]) -> Option<Vec<PathBuf>> {
    let (mut strict, mut paths) = (false, Vec::new());
    let lines = texts.iter().flat_map(|text| text.lines());
    for (key, value) in lines.filter_map(|line| line.trim().split_once('=')) {
        match (key.trim(), value.trim()) {
            ("ProtectSystem", value) => strict = value == "strict",
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
    strict.then_some(paths)
}

/// What of a configuration the installed unit forbids, with what lets it.
pub(super) fn forbidden(config: &Config) -> Vec<String> {
    let file = config.file.canonicalize().unwrap_or_else(|_| config.file.clone());
    match writable(Path::new("/")).filter(|_| file.starts_with(SERVICE)) {
        Some(allowed) => outside(config, &allowed),
        None => Vec::new(),
    }
}

fn outside(config: &Config, allowed: &[PathBuf]) -> Vec<String> {
    let folders = config.folders.iter().map(|folder| (format!("folder {}", folder.name), &folder.path));
    let places = folders.chain([("state".to_owned(), &config.state)]);
    let outside = places.filter(|(_, path)| {
        let path = path.canonicalize().unwrap_or_else(|_| (*path).clone());
        !allowed.iter().any(|allowed| path.starts_with(allowed))
    });
    let said = |(what, path): (String, &PathBuf)| {
        let path = path.display();
        format!(
            "{what}: {path} is outside of what the service may write to; add `ReadWritePaths={path}` with \
             `systemctl edit {UNIT}`"
        )
    };
    outside.map(said).collect()
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
        assert_eq!(writable(root.path()), None, "none is installed");
        write("usr/lib/systemd/system/mailchute.service", include_str!("../../systemd/mailchute.service"));
        let paths = |names: &[&str]| Some(names.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(writable(root.path()), paths(&["/var/lib/mailchute", "/srv"]));
        write(
            "etc/systemd/system/mailchute.service.d/folders.conf",
            include_str!("../../systemd/folders.conf"),
        );
        let more = writable(root.path()).unwrap();
        assert!(
            more.len() > 2 && more.starts_with(&["/var/lib/mailchute".into(), "/srv".into()]),
            "{more:?}"
        );
        write(
            "etc/systemd/system/mailchute.service.d/folders.conf",
            "[Service]\nReadWritePaths=\nReadWritePaths=/a -/b\n",
        );
        write("etc/systemd/system/mailchute.service.d/notes.txt", "ReadWritePaths=/c\n");
        assert_eq!(writable(root.path()), paths(&["/a", "/b"]));
        write("etc/systemd/system/mailchute.service.d/z.conf", "[Service]\nProtectSystem=full\n");
        assert_eq!(writable(root.path()), None);
    }
}
