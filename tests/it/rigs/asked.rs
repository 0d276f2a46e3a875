//! What tests ask of a mailroom: records, folders and texts. `check` asserts what must be true at every end.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

use mailchute::outside::store::{Desk, DropRow};
use serde_json::Value;

use crate::rigs::journal;
use crate::rigs::mailroom::Mailroom;

/// What mailchute keeps in a folder for itself.
const OURS: [&str; 6] = [
    ".mailchute/folder",
    ".mailchute/lock",
    ".mailchute/epoch",
    ".mailchute/epoch.new",
    ".mailchute/folder.new",
    ".mailchute/text.part",
];

/// Texts that are written together.
fn is_text_part(path: &str) -> bool {
    path.strip_prefix(".mailchute/text-").is_some_and(|part| part.strip_suffix(".part").is_some())
}

impl Mailroom {
    pub fn desk(&self) -> Desk {
        Desk::open(&self.dir.path().join("state")).unwrap()
    }

    /// Names of drops and how they stand.
    pub fn drops(&self) -> BTreeMap<String, DropRow> {
        let rows = self.desk().drops(1000).unwrap();
        rows.into_iter().map(|row| (row.name.clone(), row)).collect()
    }

    pub fn state(&self, name: &str) -> String {
        self.drops().get(name).map_or_else(|| "not taken".to_owned(), |row| row.state.clone())
    }

    /// How the letters stand, in their order.
    pub fn row_states(&self) -> Vec<String> {
        self.desk().letters(None, None, 1000).unwrap().into_iter().map(|row| row.state).collect()
    }

    pub fn why(&self, name: &str) -> String {
        self.drops()[name].why.clone().unwrap_or_default()
    }

    /// Every path people see in the folder, and what is hidden in the claims.
    pub fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut waiting = vec![self.hot()];
        while let Some(path) = waiting.pop() {
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(self.hot()).unwrap().to_string_lossy().into_owned();
            if meta.is_dir() {
                waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if !OURS.contains(&name.as_str()) && !is_text_part(&name) {
                found.push(name);
            }
        }
        found.sort();
        found
    }

    pub fn note(&self, path: &str) -> String {
        let text = std::fs::read_to_string(self.path(path)).unwrap();
        assert!(text.starts_with('\u{feff}') && text.contains("\r\n"), "as Notepad wants it: {text:?}");
        text
    }

    /// The directory under `Sent/` of this month.
    pub fn sent(&self) -> String {
        let now = self.clock.now().with_timezone(&chrono_tz::Asia::Tokyo);
        format!("Sent/{}", now.format("%Y-%m"))
    }

    /// Where a file of this name lies under `Sent/`, in whatever month that was.
    pub fn in_sent(&self, name: &str) -> Option<String> {
        let end = format!("/{name}");
        self.tree().into_iter().find(|path| path.starts_with("Sent/") && path.ends_with(&end))
    }

    /// Every letter is posted at most once, each drop is one thing, and each original in one place.
    pub async fn check(&self) {
        let findings = self.desk().audit().unwrap();
        assert_eq!(findings.problems, Vec::<String>::new());
        for folder in &self.config().folders {
            let looked = mailchute::loops::originals::audit(&self.desk(), folder, self.clock.now()).unwrap();
            assert_eq!(looked.problems, Vec::<String>::new(), "{:?}\n{}", self.tree(), journal::written());
        }
        let url = format!("{}/ledger?event=authorized", self.service.welcome.places.control_url);
        let ledger: Value = self.service.http.get(url).send().await.unwrap().json().await.unwrap();
        let mut authorized: BTreeMap<String, usize> = BTreeMap::new();
        for entry in ledger["entries"].as_array().unwrap() {
            *authorized.entry(entry["mail"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        assert!(authorized.values().all(|times| *times == 1), "{authorized:?}");
        let letters = self.desk().letters(None, None, 1000).unwrap();
        let posted = letters.iter().filter(|row| row.state == "confirmed" || row.state == "shipped").count();
        let cancelled = letters.iter().filter(|row| row.state == "cancelled").count();
        assert_eq!(authorized.len(), posted + cancelled, "as many were authorized as are posted");
        let mut inodes = BTreeMap::new();
        for name in self.tree() {
            let inode = std::fs::symlink_metadata(self.path(&name)).unwrap().ino();
            assert_eq!(inodes.insert(inode, name.clone()), None, "{name} lies in two places");
        }
    }
}
