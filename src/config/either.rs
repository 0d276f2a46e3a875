//! Values that may be written in more than one way: a sender, a receiver, yes and no.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::folder::Accept;
use super::yaml::AddressFile;
use super::yaml_folder::{PageCheck, WrittenPageReceiver};

/// A name, or an address.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Sender {
    Named(String),
    Written(AddressFile),
}

/// `sidecar`, `page`, `{book: '{customer}'}`, or an address.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReceiverKind {
    Sidecar,
    Book(String),
    Page(WrittenPageReceiver),
    Written(AddressFile),
}

struct SenderVisitor;

impl<'de> Visitor<'de> for SenderVisitor {
    type Value = Sender;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an address in mailchute.yaml, or an address")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Sender, E> {
        Ok(Sender::Named(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Sender, A::Error> {
        AddressFile::deserialize(MapAccessDeserializer::new(map)).map(Sender::Written)
    }
}

impl<'de> Deserialize<'de> for Sender {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(SenderVisitor)
    }
}

/// The keys that a receiver's mapping may have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiverMap {
    book: Option<String>,
    page: Option<WrittenPageReceiver>,
    postal_code: Option<String>,
    state: Option<String>,
    city: Option<String>,
    address1: Option<String>,
    name: Option<String>,
    honorific: Option<String>,
}

struct ReceiverVisitor;

impl<'de> Visitor<'de> for ReceiverVisitor {
    type Value = ReceiverKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`sidecar`, `page`, `{book: '{customer}'}` or an address")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<ReceiverKind, E> {
        match word {
            "sidecar" => Ok(ReceiverKind::Sidecar),
            "page" => Ok(ReceiverKind::Page(WrittenPageReceiver::default())),
            _other => Err(E::custom(format!(
                "`{word}` is not a receiver\nwrite `sidecar`, `page`, `{{book: '{{customer}}'}}` or an address"
            ))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ReceiverKind, A::Error> {
        let ReceiverMap { book, page, postal_code, state, city, address1, name, honorific } =
            ReceiverMap::deserialize(MapAccessDeserializer::new(map))?;
        let texts = [&postal_code, &state, &city, &address1, &name, &honorific];
        let has_address = texts.iter().any(|text| text.is_some());
        if let Some(page) = page {
            return if book.is_some() || has_address {
                Err(A::Error::custom("either `page` or something else\nkeep one of the two"))
            } else {
                Ok(ReceiverKind::Page(page))
            };
        }
        match (book, has_address) {
            (Some(_), true) => Err(A::Error::custom("either `book` or an address\nkeep one of the two")),
            (Some(book), false) => Ok(ReceiverKind::Book(book)),
            (None, _) => {
                let need = |text: Option<String>, key| text.ok_or_else(|| A::Error::missing_field(key));
                Ok(ReceiverKind::Written(AddressFile {
                    postal_code: need(postal_code, "postal_code")?,
                    state: need(state, "state")?,
                    city: need(city, "city")?,
                    address1: need(address1, "address1")?,
                    name: need(name, "name")?,
                    honorific,
                }))
            }
        }
    }
}

impl<'de> Deserialize<'de> for ReceiverKind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ReceiverVisitor)
    }
}

/// `off`, `hold`, or a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum WrittenCheck {
    #[default]
    Off,
    On(PageCheck),
}

struct PageCheckVisitor;

impl<'de> Visitor<'de> for PageCheckVisitor {
    type Value = WrittenCheck;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`off`, `hold` or `{unreadable: hold}`")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<WrittenCheck, E> {
        // YAML reads `off` as a word or as false.
        Ok(if on { WrittenCheck::On(PageCheck::default()) } else { WrittenCheck::Off })
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<WrittenCheck, E> {
        match word {
            "off" => Ok(WrittenCheck::Off),
            "hold" => Ok(WrittenCheck::On(PageCheck::default())),
            _other => Err(E::custom(format!(
                "`{word}` is no way to check pages\nwrite `off`, `hold` or `{{unreadable: hold}}`"
            ))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenCheck, A::Error> {
        PageCheck::deserialize(MapAccessDeserializer::new(map)).map(WrittenCheck::On)
    }
}

impl<'de> Deserialize<'de> for WrittenCheck {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PageCheckVisitor)
    }
}

impl JsonSchema for WrittenCheck {
    fn schema_name() -> Cow<'static, str> {
        "CheckPage".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let check = generator.subschema_for::<PageCheck>();
        json_schema!({"anyOf": [{"enum": ["off", "hold"]}, check]})
    }
}

struct AcceptVisitor;

impl Visitor<'_> for AcceptVisitor {
    type Value = Accept;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`yes` or `no`")
    }

    fn visit_bool<E: Error>(self, accepts: bool) -> Result<Accept, E> {
        Ok(if accepts { Accept::Yes } else { Accept::No })
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Accept, E> {
        match word {
            "yes" | "true" => Ok(Accept::Yes),
            "no" | "false" => Ok(Accept::No),
            _other => Err(E::custom(format!("`{word}` is neither\nwrite `yes` or `no`"))),
        }
    }
}

impl<'de> Deserialize<'de> for Accept {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AcceptVisitor)
    }
}

impl JsonSchema for Accept {
    fn schema_name() -> Cow<'static, str> {
        "Accept".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": ["yes", "no", true, false]})
    }
}

impl JsonSchema for Sender {
    fn schema_name() -> Cow<'static, str> {
        "Sender".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let address = generator.subschema_for::<AddressFile>();
        json_schema!({"anyOf": [{"type": "string", "description": "a name from mailchute.yaml"}, address]})
    }
}

impl JsonSchema for ReceiverKind {
    fn schema_name() -> Cow<'static, str> {
        "Receiver".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let address = generator.subschema_for::<AddressFile>();
        let book = json_schema!({
            "type": "object", "required": ["book"], "additionalProperties": false,
            "properties": {"book": {"type": "string", "description": "the key to look up: '{customer}'"}}
        });
        let page = generator.subschema_for::<WrittenPageReceiver>();
        let page = json_schema!({
            "type": "object", "required": ["page"], "additionalProperties": false, "properties": {"page": page}
        });
        json_schema!({"anyOf": [{"enum": ["sidecar", "page"]}, book, page, address]})
    }
}
