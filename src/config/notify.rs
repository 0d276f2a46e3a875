//! Who is notified: people by e-mail, and programs by requests that a secret signs.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use sha2::{Digest as _, Sha256};

use super::ConfigError;
use super::build::Build;
use super::folder::Notify;
use super::secret::SecretSource;
use super::words_people::Email;
use super::yaml_folder as yaml;
use crate::outside::hook::{HookKey, HookUrl};
use crate::words::message::Mailbox;

/// What a program is notified of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEvent {
    Shipped,
    Rejected,
    Held,
    Cancelled,
}

impl HookEvent {
    pub const ALL: [Self; 4] = [Self::Shipped, Self::Rejected, Self::Held, Self::Cancelled];

    /// The word for records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Shipped => "hook_shipped",
            Self::Rejected => "hook_rejected",
            Self::Held => "hook_held",
            Self::Cancelled => "hook_cancelled",
        }
    }

    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.word() == word)
    }
}

/// A program. `Debug` does not show its address, which may contain a key.
#[derive(Clone, PartialEq)]
pub struct Hook {
    pub event: HookEvent,
    pub url: HookUrl,
    secret: SecretSource,
    /// Whether it gets file names and receivers.
    pub names: bool,
    /// Whether it may be in a private network or on this machine.
    pub is_private: bool,
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hook({:?}, {})", self.event, self.url.origin())
    }
}

impl Hook {
    /// Its name in records: where it is, and a part of the hash of its address.
    pub fn id(&self) -> String {
        let hash = hex::encode(Sha256::digest(self.url.expose().as_bytes()));
        format!("{}#{}", self.url.origin(), &hash[..12])
    }

    /// Whether its secret comes from the service manager, and this process was not started by it.
    pub fn is_elsewhere(&self) -> bool {
        self.secret.is_elsewhere()
    }

    pub(super) fn lend(&mut self, find: &dyn Fn(&str) -> Option<PathBuf>) {
        self.secret.lend(find);
    }

    /// Reads its secret.
    pub fn key(&self) -> Result<HookKey, ConfigError> {
        let setting = format!("the secret of {}", self.url.origin());
        let secret = self.secret.fetch(&setting)?;
        let why = "it is not a key: write `whsec_` and 24 to 64 random bytes in base64, as `openssl rand -base64 32` draws them";
        HookKey::of(&secret).ok_or_else(|| ConfigError::one(Path::new(&setting), why.to_owned()))
    }
}

/// A person's address, or a program.
#[derive(Debug, PartialEq)]
pub(super) enum Told {
    Person(Email),
    Program(WrittenHook),
}

/// A program that is notified by a signed request.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenHook {
    /// Its address: `https://…`.
    #[schemars(with = "String")]
    pub hook: WrittenUrl,
    /// Where the secret is that signs the request, never the secret itself.
    pub secret: SecretSource,
    /// It gets file names and receivers too.
    #[serde(default)]
    pub names: bool,
    /// It may be in a private network or on this machine.
    #[serde(default)]
    pub private: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrittenUrl(HookUrl);

impl<'de> Deserialize<'de> for WrittenUrl {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // What stands there is not repeated: it may contain a key.
        let wrong = "it is not the address of a program\nwrite `https://HOST/PATH`, without a user and a password; \
                     `http://` only to this machine";
        let text = String::deserialize(from)?;
        HookUrl::from_str(&text).map(Self).map_err(|_| D::Error::custom(wrong))
    }
}

struct ToldVisitor;

impl<'de> Visitor<'de> for ToldVisitor {
    type Value = Told;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an e-mail address, or `{hook: 'https://…', secret: {file: hook.secret}}`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Told, E> {
        Email::deserialize(serde::de::value::StrDeserializer::new(text)).map(Told::Person)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Told, A::Error> {
        WrittenHook::deserialize(MapAccessDeserializer::new(map)).map(Told::Program)
    }
}

impl<'de> Deserialize<'de> for Told {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ToldVisitor)
    }
}

impl JsonSchema for Told {
    fn schema_name() -> Cow<'static, str> {
        "Told".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (person, program) =
            (generator.subschema_for::<Email>(), generator.subschema_for::<WrittenHook>());
        json_schema!({"anyOf": [person, program]})
    }
}

/// The people of a list.
fn people(told: &[Told]) -> Vec<Mailbox> {
    let person = |told: &Told| match told {
        Told::Person(email) => Some(email.0.clone()),
        Told::Program(_) => None,
    };
    told.iter().filter_map(person).collect()
}

impl Build<'_, yaml::Folder> {
    pub(super) fn notify(&mut self, beside: &Path) -> Notify {
        let yaml::Notify { shipped, rejected, held, cancelled, card_declined } = &self.written.value.notify;
        let lists = [
            (HookEvent::Shipped, "shipped", shipped),
            (HookEvent::Rejected, "rejected", rejected),
            (HookEvent::Held, "held", held),
            (HookEvent::Cancelled, "cancelled", cancelled),
        ];
        let mut hooks = Vec::new();
        for (event, key, told) in lists {
            for told in told {
                let Told::Program(WrittenHook { hook, secret, names, private }) = told else { continue };
                let (url, secret) = (hook.0.clone(), secret.clone().beside(beside));
                if url.is_private() && !private {
                    let help = "add `private: true` if it is meant";
                    let what = "the program is on this machine or in a private network";
                    self.problems.push(self.written.wrong(&["notify", key], what, help));
                }
                hooks.push(Arc::new(Hook { event, url, secret, names: *names, is_private: *private }));
            }
        }
        Notify {
            shipped: people(shipped),
            rejected: people(rejected),
            held: people(held),
            cancelled: people(cancelled),
            card_declined: card_declined.iter().map(|email| email.0.clone()).collect(),
            hooks,
        }
    }
}
