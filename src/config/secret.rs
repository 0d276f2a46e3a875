//! The source of a secret. Anything else at its place is never repeated.

use std::borrow::Cow;
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::ConfigError;
use crate::base::secret::Secret;

/// The source of a secret, never the secret itself. Anything else at its place is not repeated.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SecretSource {
    Credential(String),
    File(PathBuf),
    Env(String),
}

impl SecretSource {
    /// The source with its path made relative to the configuration's directory.
    pub(super) fn beside(self, dir: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(dir.join(path)),
            Self::Credential(_) | Self::Env(_) => self,
        }
    }

    /// Whether only the service manager provides it, and this process was not started by it.
    pub(super) fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Credential(_)) && std::env::var_os("CREDENTIALS_DIRECTORY").is_none()
    }

    /// Takes the file from which the service manager would give it, if `find` knows one.
    pub(super) fn lend(&mut self, find: &dyn Fn(&str) -> Option<PathBuf>) {
        if self.is_elsewhere()
            && let Self::Credential(name) = self
            && let Some(file) = find(name)
        {
            *self = Self::File(file);
        }
    }

    /// Reads the secret from its source. `key` names the setting in messages.
    pub(super) fn fetch(&self, key: &str) -> Result<Secret, ConfigError> {
        let wrong = |why: String| ConfigError::one(Path::new(key), why);
        let secret = match self {
            Self::Env(name) => std::env::var(name)
                .map_err(|_| wrong(format!("the environment variable {name} is not set")))?,
            Self::File(path) => secret_file(path).map_err(wrong)?,
            Self::Credential(name) => {
                let dir = std::env::var_os("CREDENTIALS_DIRECTORY").ok_or_else(|| {
                    wrong(format!(
                        "systemd gives the credential `{name}` to the service alone: run this as root, or as `systemd-run \
                         --pipe --wait --collect -p User=mailchute -p LoadCredential=secrets:/etc/mailchute/secrets \
                         mailchute …`"
                    ))
                })?;
                let plain = !name.is_empty() && !name.contains('/') && name != "..";
                let name =
                    plain.then_some(name).ok_or_else(|| wrong("it is a name, not a path".to_owned()))?;
                fs_err::read_to_string(Path::new(&dir).join(name))
                    .map_err(|error| wrong(error.to_string()))?
            }
        };
        let secret = secret.trim_end_matches(['\r', '\n']);
        if secret.is_empty() {
            return Err(wrong("it is empty".to_owned()));
        }
        Ok(Secret::new(secret))
    }
}

fn secret_file(path: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("{} can't be read: {error}", path.display());
    let mode = std::fs::metadata(path).map_err(unreadable)?.mode();
    if mode & 0o007 != 0 {
        let path = path.display();
        return Err(format!("others can read {path}; `chmod 600 {path}` and it is taken"));
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

const WHERE: &str = "the secret itself must not be here, only its source\nwrite {credential: NAME}, {file: PATH} or \
                     {env: NAME}";

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Spot)
    }
}

struct Spot;

impl<'de> Visitor<'de> for Spot {
    type Value = SecretSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("where a secret is")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SecretSource, A::Error> {
        let wrong = || A::Error::custom(WHERE);
        let (key, value): (String, String) = map.next_entry().map_err(|_| wrong())?.ok_or_else(wrong)?;
        if map.next_key::<IgnoredAny>().map_err(|_| wrong())?.is_some() {
            return Err(wrong());
        }
        match key.as_str() {
            "credential" => Ok(SecretSource::Credential(value)),
            "file" => Ok(SecretSource::File(value.into())),
            "env" => Ok(SecretSource::Env(value)),
            _other => Err(wrong()),
        }
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_unit<E: Error>(self) -> Result<SecretSource, E> {
        Err(E::custom(WHERE))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<SecretSource, A::Error> {
        Err(A::Error::custom(WHERE))
    }
}

impl JsonSchema for SecretSource {
    fn schema_name() -> Cow<'static, str> {
        "SecretSource".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let place = |key: &str, what: &str| {
            json_schema!({
                "type": "object", "required": [key], "additionalProperties": false,
                "properties": {key: {"type": "string", "description": what}}
            })
        };
        json_schema!({"anyOf": [
            place("credential", "the name of a systemd credential (LoadCredential=)"),
            place("file", "a file that others can't read"),
            place("env", "an environment variable"),
        ]})
    }
}
