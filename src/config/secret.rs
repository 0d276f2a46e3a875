//! Where a secret is; whatever else stands in its place is never repeated.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Where a secret is; never the secret itself. Whatever else stands there is not repeated.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SecretSource {
    Credential(String),
    File(PathBuf),
    Env(String),
}

impl SecretSource {
    /// A file that is named relative to the configuration.
    pub(super) fn beside(self, dir: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(dir.join(path)),
            Self::Credential(_) | Self::Env(_) => self,
        }
    }
}

const WHERE: &str = "client_secret: never the secret itself, but where it is\nwrite {credential: NAME}, {file: PATH} or \
                     {env: NAME}";

impl<'de> Deserialize<'de> for SecretSource {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Place)
    }
}

struct Place;

impl<'de> Visitor<'de> for Place {
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
