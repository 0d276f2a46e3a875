//! `mailchute.yaml` and the files it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use chrono_tz::Tz;
use fs_err as fs;

use super::build::Build;
use super::folder::{Around, Folder, real};
use super::page::{self, ReadFile};
use super::patterns::glob;
use super::problem::Problem;
use super::secret::SecretSource;
use super::{Config, ConfigError, FilesOnDisk, PostalFile, email, queue, status, yaml};
use crate::domain::address::{Address, Receiver};
use crate::domain::letter::Retry;
use crate::outside::api::{Credentials, Patience, Places};

const USUAL_FONT: &str = "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc";

#[derive(Debug)]
pub struct AccountSettings {
    pub name: String,
    pub places: Places,
    client_id: String,
    secret: SecretSource,
}

/// Reads everything. `None` if the main file cannot be read; the folders' files are read all the same.
pub(super) fn read(file: &Path, problems: &mut Vec<Problem>) -> Option<Config> {
    // Relative paths start at the file, wherever the program is started.
    let beside = file.parent().unwrap_or(Path::new(""));
    let Some(written) = page::read::<yaml::Main>(file, problems) else {
        if file.exists() {
            let files = rule_files(beside, yaml::FOLDERS).unwrap_or_default();
            for file in files {
                drop(Folder::read(&file, &Around::nothing(), problems));
            }
        }
        return None;
    };
    let main = &written.value;
    let zone: Option<Tz> = main.time_zone.parse().ok();
    if zone.is_none() {
        let what = format!("there is no time zone `{}`", main.time_zone);
        problems.push(written.wrong(&["time_zone"], what, "write it as `Asia/Tokyo`"));
    }
    let zone = zone.unwrap_or(Tz::Asia__Tokyo);
    let postal_data =
        main.postal_data.as_ref().map(|file| Arc::new(PostalFile { file: beside.join(file), zone }));
    let around = Around { language: main.language, zone, postal_data, ..Around::nothing() };
    let addresses = addresses(&written, &around, problems);
    let around = Around {
        accounts: Some(written.keys(&["accounts"])),
        unusable: Some(written.keys(&["addresses"])),
        addresses: Arc::new(addresses),
        ..around
    };
    let accounts = accounts(&written, beside, problems);
    let (patience, retry) = network(&written, problems);
    let state = beside.join(&main.state);
    let status = status::build(&written, problems);
    let email = email::build(&written, beside, problems);
    let rules_dir = beside.join(Path::new(&main.folders).parent().unwrap_or(Path::new("")));
    let (mut folders, mut has_folders) = (Vec::new(), true);
    match rule_files(beside, &main.folders) {
        Ok(files) => {
            has_folders = !files.is_empty();
            folders.extend(files.iter().filter_map(|file| Folder::read(file, &around, problems)));
        }
        Err(why) => problems.push(written.wrong(&["folders"], why, "write it as `folders/*.yaml`")),
    }
    let known: Vec<String> = match rule_files(beside, &main.folders) {
        Ok(files) => files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect(),
        Err(_) => Vec::new(),
    };
    let queues = match rule_files(beside, &main.queues) {
        Ok(files) => queue::read_all(&written, &files, (&folders, &known), problems),
        Err(why) => {
            problems.push(written.wrong(&["queues"], why, "write it as `queues/*.yaml`"));
            Vec::new()
        }
    };
    let books = folders.iter().filter_map(|folder| folder.book.as_ref());
    let books = books.map(|book| &book.file).chain(around.postal_data.iter().map(|list| &list.file));
    let books = books.flat_map(|file| file.ancestors().take(2));
    let queues_dir = beside.join(Path::new(&main.queues).parent().unwrap_or(Path::new("")));
    let dirs = [beside, rules_dir.as_path(), queues_dir.as_path()].into_iter().filter(|dir| dir.exists());
    for path in books.chain(dirs).collect::<BTreeSet<_>>() {
        page::guarded(&Path::new(".").join(path), problems);
    }
    unheard(&folders, written.has(&["email"]), problems);
    let templates = main.email.as_ref().map(|email| beside.join(&email.templates));
    let mut ours = vec![("the state directory", state.as_path()), ("mailchute.yaml", file)];
    ours.extend(templates.as_deref().map(|dir| ("the directory of the templates", dir)));
    ours.extend(around.postal_data.iter().map(|list| ("the list of postal codes", list.file.as_path())));
    apart(&folders, &ours, problems);
    for folder in folders.iter().filter(|folder| folder.path.starts_with(real(&state))) {
        let what = format!("the folder of `{}` lies inside the state directory", folder.name);
        let help = "give it a directory of its own; nobody but mailchute's user should reach the records";
        problems.push(folder.path_at.saying(what, help));
    }
    if !has_folders && !problems.iter().any(Problem::is_error) {
        problems.push(no_folders(&written, &rules_dir));
    }
    Some(Config {
        file: file.to_owned(),
        state,
        accounts,
        email,
        status,
        zone,
        postal_data: around.postal_data.clone(),
        page_font: page_font(main.page_font.as_deref(), beside),
        language: main.language,
        folders,
        queues,
        rules_dir,
        letters_at_once: main.network.letters_at_once,
        patience,
        retry,
        on_disk: FilesOnDisk::default(),
        warnings: Vec::new(),
    })
}

/// The font that is configured, or that of Debian's fonts-noto-cjk if it is there.
fn page_font(configured: Option<&Path>, beside: &Path) -> Option<PathBuf> {
    configured.map(|file| beside.join(file)).or_else(usual_font)
}

/// The font of Debian's fonts-noto-cjk, if it is there.
pub fn usual_font() -> Option<PathBuf> {
    Some(PathBuf::from(USUAL_FONT)).filter(|font| font.exists())
}

/// The files of folders and queues that a main file names, whatever mistakes it has.
pub(super) fn rules_of(file: &Path) -> Vec<PathBuf> {
    let written: Option<ReadFile<yaml::Main>> = page::read(file, &mut Vec::new());
    let usual = || (yaml::FOLDERS.to_owned(), yaml::QUEUES.to_owned());
    let (folders, queues) = written.map_or_else(usual, |main| (main.value.folders, main.value.queues));
    let files =
        |pattern: &str| rule_files(file.parent().unwrap_or(Path::new("")), pattern).unwrap_or_default();
    [files(&folders), files(&queues)].concat()
}

fn addresses(
    written: &ReadFile<yaml::Main>,
    around: &Around,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, Address> {
    let mut build = Build { written, around, problems };
    let named = written.value.addresses.iter();
    named
        .map(|(name, file)| (name.clone(), build.address(&["addresses", name], file, false).address))
        .collect()
}

fn accounts(
    written: &ReadFile<yaml::Main>,
    beside: &Path,
    problems: &mut Vec<Problem>,
) -> Vec<AccountSettings> {
    if written.keys(&["accounts"]).is_empty() {
        problems.push(written.wrong(&["accounts"], "at least one account is needed", ""));
    }
    let mut accounts = Vec::new();
    for (name, account) in &written.value.accounts {
        match Places::new(&account.base_url, &account.auth_url) {
            Ok(places) => accounts.push(AccountSettings {
                name: name.clone(),
                places,
                client_id: account.client_id.clone(),
                secret: account.client_secret.clone().beside(beside),
            }),
            Err(bad) => {
                let key = bad.to_string().split(':').next().unwrap_or_default().to_owned();
                problems.push(written.wrong(&["accounts", name, &key], bad.to_string(), ""));
            }
        }
    }
    accounts
}

fn network(written: &ReadFile<yaml::Main>, problems: &mut Vec<Problem>) -> (Patience, Retry) {
    let network = &written.value.network;
    if !(1..=64).contains(&network.letters_at_once) {
        problems.push(written.wrong(&["network", "letters_at_once"], "expected 1 to 64", ""));
    }
    let delta = |length: Duration| TimeDelta::from_std(length).unwrap_or(TimeDelta::MAX);
    let retry = Retry { quickest: delta(network.quickest_retry.0), slowest: delta(network.slowest_retry.0) };
    if retry.quickest < TimeDelta::milliseconds(10) || retry.quickest > retry.slowest {
        let what = "expected at least 10ms, and not more than `slowest_retry`";
        problems.push(written.wrong(&["network", "quickest_retry"], what, ""));
    }
    let least = Duration::from_secs(1);
    for (key, length) in [
        ("connect_timeout", network.connect_timeout),
        ("call_timeout", network.call_timeout),
        ("transfer_timeout", network.transfer_timeout),
    ] {
        if length.0 < least {
            problems.push(written.wrong(
                &["network", key],
                "no call would be answered in time",
                "at least 1s",
            ));
        }
    }
    let patience = Patience {
        connect: network.connect_timeout.0,
        call: network.call_timeout.0,
        transfer: network.transfer_timeout.0,
    };
    (patience, retry)
}

/// The files that match a pattern, in their order. Only its last part may contain `*`.
fn rule_files(beside: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(pattern);
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err("it is not a file pattern".to_owned());
    };
    if dir.to_string_lossy().contains('*') {
        return Err("only the last part may have a `*`".to_owned());
    }
    let glob = glob(name).map_err(|_| "it is not a file pattern".to_owned())?;
    let Ok(entries) = fs::read_dir(beside.join(dir)) else { return Ok(Vec::new()) };
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        glob.is_match(name.as_bytes()) && !name.starts_with('.')
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(fits).collect();
    files.sort();
    Ok(files)
}

/// A pattern that no file matches is allowed, because letters can be submitted by commands. It is rarely meant.
fn no_folders(written: &ReadFile<yaml::Main>, dir: &Path) -> Problem {
    let what = format!("no file matches `{}`, so no folder is watched", written.value.folders);
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .map(|entries| entries.flatten().map(|entry| entry.path()).filter(is_yaml).collect())
        .unwrap_or_default();
    files.sort();
    let help = match files.first() {
        Some(other) => format!("{} is there; rename it, or change the pattern", other.display()),
        None => {
            format!("write a folder's rules into a file there, as `{}`", dir.join("letters.yaml").display())
        }
    };
    written.doubtful(&["folders"], what, &help)
}

/// A mistake for people who are to be notified while `email` is missing.
fn unheard(folders: &[Folder], can_tell: bool, problems: &mut Vec<Problem>) {
    for folder in folders.iter().filter(|folder| !can_tell && folder.notify.has_people()) {
        let what = "no e-mail is sent to them: mailchute.yaml has no `email`";
        let help = "add `email:` with the mail server to mailchute.yaml, or take `notify` out";
        problems.extend(folder.notify_at.iter().map(|place| place.saying(what.to_owned(), help)));
    }
}

/// Mistakes for folders at the same place or inside each other, and for our own files in a folder.
fn apart(folders: &[Folder], ours: &[(&str, &Path)], problems: &mut Vec<Problem>) {
    let books =
        folders.iter().filter_map(|folder| Some(("an address book", folder.book.as_ref()?.file.as_path())));
    let ours: Vec<(&str, &Path)> = ours.iter().copied().chain(books).collect();
    for (index, folder) in folders.iter().enumerate() {
        for other in &folders[..index] {
            if folder.name == other.name {
                let what = format!("two rules files are called `{}`", folder.name);
                problems.push(
                    folder.path_at.saying(what, "a folder has the name of its file; rename one of the files"),
                );
            }
            let (a, b) = (&folder.path, &other.path);
            if a == b || a.starts_with(b) || b.starts_with(a) {
                let relation = if a == b { "the same as" } else { "inside or around" };
                let what = format!("the folder of `{}` is {relation} that of `{}`", folder.name, other.name);
                problems.push(folder.path_at.saying(what, "give each folder a directory of its own"));
            }
        }
        for (what, path) in &ours {
            if real(path).starts_with(&folder.path) {
                let what = format!("{what} lies inside the folder of `{}`", folder.name);
                problems.push(folder.path_at.saying(what, "whoever can drop files could change it"));
            }
        }
    }
}

impl AccountSettings {
    /// Whether the secret comes from the service manager, and this process was not started by it.
    pub fn secret_is_elsewhere(&self) -> bool {
        self.secret.is_elsewhere()
    }

    pub(super) fn lend(&mut self, find: &dyn Fn(&str) -> Option<PathBuf>) {
        self.secret.lend(find);
    }

    /// Reads the secret from its source.
    pub fn credentials(&self) -> Result<Credentials, ConfigError> {
        let secret = self.secret.fetch(&format!("accounts.{}.client_secret", self.name))?;
        Ok(Credentials { client_id: self.client_id.clone(), client_secret: secret })
    }
}

/// A sender's address from a file.
pub fn read_address(file: &Path) -> Result<Address, ConfigError> {
    Ok(address_file(file, false)?.address)
}

/// A receiver from a file: an address with an honorific, 様 if missing.
pub fn read_receiver(file: &Path) -> Result<Receiver, ConfigError> {
    address_file(file, true)
}

fn address_file(file: &Path, is_receiver: bool) -> Result<Receiver, ConfigError> {
    let mut problems = Vec::new();
    let written: Option<ReadFile<yaml::AddressFile>> = page::read(file, &mut problems);
    let around = Around::nothing();
    let receiver = written.map(|written| {
        let build = Build { written: &written, around: &around, problems: &mut problems };
        { build }.address(&[], &written.value, is_receiver)
    });
    problems.retain(Problem::is_error);
    match receiver {
        Some(receiver) if problems.is_empty() => Ok(receiver),
        Some(_) | None => Err(ConfigError { problems }),
    }
}
