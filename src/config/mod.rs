//! What an administrator writes: `mailchute.yaml`, and addresses for `submit`.
//!
//! A [`Config`] is valid by construction. All mistakes of a file are told at once, each with its
//! place or key, and end a command with status 2. Secrets are never written here, only where they are.

mod yaml;

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::TimeDelta;
use fs_err as fs;

use crate::address::{Address, Receiver};
use crate::api::{Credentials, Patience, Places};
use crate::letter::Retry;
use crate::secret::Secret;

const LARGEST_FILE: u64 = 1 << 20;
const USUAL_PLACES: [&str; 2] = ["mailchute.yaml", "/etc/mailchute/mailchute.yaml"];

#[derive(Debug)]
pub struct Config {
    pub state: PathBuf,
    pub accounts: Vec<Account>,
    pub letters_at_once: usize,
    pub patience: Patience,
    pub retry: Retry,
}

#[derive(Debug)]
pub struct Account {
    pub name: String,
    pub places: Places,
    client_id: String,
    secret: yaml::SecretSource,
}

/// A file that can't be used, with everything that is wrong in it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", .file.display(), .problems.join("\n  "))]
pub struct ConfigError {
    file: PathBuf,
    problems: Vec<String>,
}

impl ConfigError {
    fn one(file: &Path, problem: impl Into<String>) -> Self {
        // The reader of YAML knows only the text.
        let problem = problem.into().replace("<input>", &file.display().to_string());
        Self { file: file.to_owned(), problems: vec![problem] }
    }
}

impl Config {
    /// Reads the given file, or the first of the usual ones that is there.
    pub fn find(given: Option<&Path>) -> Result<Self, ConfigError> {
        let usual = || USUAL_PLACES.iter().map(Path::new).find(|path| path.exists());
        let file = given.or_else(usual).ok_or_else(|| {
            let why = "it is not there; give one with --config FILE, as `config/mailchute.yaml` shows it";
            ConfigError::one(Path::new(USUAL_PLACES[0]), why)
        })?;
        Self::read(file)
    }

    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let text = text(file)?;
        let main = yaml::read_main(&text).map_err(|why| ConfigError::one(file, why))?;
        let mut problems = Vec::new();
        if main.accounts.is_empty() {
            problems.push("accounts: at least one is needed".to_owned());
        }
        let mut accounts = Vec::new();
        for (name, account) in main.accounts {
            match Places::new(&account.base_url, &account.auth_url) {
                Ok(places) => accounts.push(Account {
                    name,
                    places,
                    client_id: account.client_id,
                    secret: account.client_secret,
                }),
                Err(bad) => problems.push(format!("accounts.{name}: {bad}")),
            }
        }
        let network = main.network;
        if !(1..=64).contains(&network.letters_at_once) {
            problems.push("network.letters_at_once: 1 to 64".to_owned());
        }
        let retry = Retry { quickest: delta(network.quickest_retry), slowest: delta(network.slowest_retry) };
        if retry.quickest < TimeDelta::milliseconds(10) || retry.quickest > retry.slowest {
            problems.push("network.quickest_retry: at least 10ms and not above slowest_retry".to_owned());
        }
        if !problems.is_empty() {
            return Err(ConfigError { file: file.to_owned(), problems });
        }
        // What is relative is so to the file, wherever the program is started.
        let state = file.parent().unwrap_or(Path::new("")).join(main.state);
        let patience = Patience {
            connect: network.connect_timeout,
            call: network.call_timeout,
            transfer: network.transfer_timeout,
        };
        Ok(Self { state, accounts, letters_at_once: network.letters_at_once, patience, retry })
    }
}

impl Account {
    /// Fetches the secret from where it is.
    pub fn credentials(&self) -> Result<Credentials, ConfigError> {
        let key =
            |why: String| ConfigError::one(Path::new(&format!("accounts.{}.client_secret", self.name)), why);
        let secret = match &self.secret {
            yaml::SecretSource::Env(name) => {
                std::env::var(name).map_err(|_| key(format!("the environment variable {name} is not set")))?
            }
            yaml::SecretSource::File(path) => secret_file(path).map_err(key)?,
            yaml::SecretSource::Credential(name) => {
                let dir = std::env::var_os("CREDENTIALS_DIRECTORY")
                    .ok_or_else(|| key("systemd gave no credentials; LoadCredential= does".to_owned()))?;
                let plain = !name.is_empty() && !name.contains('/') && name != "..";
                let name = plain.then_some(name).ok_or_else(|| key("it is a name, not a path".to_owned()))?;
                fs::read_to_string(Path::new(&dir).join(name)).map_err(|error| key(error.to_string()))?
            }
        };
        let secret = secret.trim_end_matches(['\r', '\n']);
        if secret.is_empty() {
            return Err(key("it is empty".to_owned()));
        }
        Ok(Credentials { client_id: self.client_id.clone(), client_secret: Secret::new(secret) })
    }
}

fn secret_file(path: &Path) -> Result<String, String> {
    let mode = fs::metadata(path).map_err(|error| error.to_string())?.mode();
    if mode & 0o007 != 0 {
        let path = path.display();
        return Err(format!("others can read {path}; `chmod 600 {path}` and it is taken"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

fn delta(duration: Duration) -> TimeDelta {
    TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX)
}

fn text(file: &Path) -> Result<String, ConfigError> {
    let read = || -> io::Result<String> {
        if fs::metadata(file)?.len() > LARGEST_FILE {
            return Err(io::Error::other(format!("it is larger than {LARGEST_FILE} bytes")));
        }
        fs::read_to_string(file)
    };
    read().map_err(|error| ConfigError::one(file, error.to_string()))
}

/// A sender's address from a file.
pub fn read_address(file: &Path) -> Result<Address, ConfigError> {
    let address = yaml::address(&text(file)?).map_err(|why| ConfigError::one(file, why))?;
    let problems = address.problems();
    if problems.is_empty() { Ok(address) } else { Err(ConfigError { file: file.to_owned(), problems }) }
}

/// A receiver from a file: an address with an honorific, 様 if none is given.
pub fn read_receiver(file: &Path) -> Result<Receiver, ConfigError> {
    let receiver = yaml::receiver(&text(file)?).map_err(|why| ConfigError::one(file, why))?;
    let problems = receiver.problems();
    if problems.is_empty() { Ok(receiver) } else { Err(ConfigError { file: file.to_owned(), problems }) }
}
