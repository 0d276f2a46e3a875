//! The fields that come with a request: a sidecar as JSON, whose mistakes have JSON pointers.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::folder::Folder;
use super::tree::{self, Node};

/// A mistake in a field. It contains nothing of the field's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldMistake {
    /// Where it is: `/receiver/postal_code`. Empty for the whole.
    pub pointer: String,
    pub what: String,
}

/// Fields without mistakes.
#[derive(Debug, Clone, PartialEq)]
pub struct LetterFields {
    pub value: Value,
    /// The same as a sidecar that people can read.
    pub sidecar: String,
}

impl Folder {
    /// Reads fields as its sidecars are read. All mistakes are reported together.
    pub fn letter_fields(&self, bytes: &[u8]) -> Result<LetterFields, Vec<FieldMistake>> {
        let whole = |what: String| vec![FieldMistake { pointer: String::new(), what }];
        let OneOfEach =
            serde_json::from_slice(bytes).map_err(|error| whole(format!("it is no JSON: {error}")))?;
        let value: Value = serde_json::from_slice(bytes).map_err(|error| whole(error.to_string()))?;
        // JSON may write a character as two escapes, which YAML does not know.
        let text = value.to_string();
        let mistakes = self.sidecar_mistakes(Path::new("letter.json"), text.clone().into_bytes());
        if !mistakes.is_empty() {
            let tree = tree::read(&text, &mut Vec::new());
            let told = mistakes.into_iter().map(|(place, what)| {
                let found = place.zip(tree.as_ref()).map(|(place, tree)| pointer_to(tree, place.start));
                FieldMistake { pointer: found.unwrap_or_default(), what }
            });
            return Err(told.collect());
        }
        let sidecar = serde_json::to_string_pretty(&value).map_err(|error| whole(error.to_string()))?;
        Ok(LetterFields { value, sidecar })
    }
}

/// The pointer to the innermost part that a byte belongs to.
fn pointer_to(node: &Node, at: usize) -> String {
    let mut pointer = String::new();
    let mut inner = Some(node);
    while let Some(node) = inner {
        inner = match &node.value {
            tree::Value::Scalar { .. } => None,
            tree::Value::List(items) => {
                let found = items.iter().enumerate().find(|(_, item)| item.place.contains(&at));
                found.map(|(n, item)| {
                    pointer.push('/');
                    pointer.push_str(&n.to_string());
                    item
                })
            }
            tree::Value::Map { entries, .. } => {
                let is_in = |(key, node): &&(tree::KeySpot, Node)| {
                    (key.place.start..node.place.end.max(key.place.end)).contains(&at)
                };
                entries.iter().find(is_in).map(|(key, node)| {
                    pointer.push('/');
                    pointer.push_str(&key.text.replace('~', "~0").replace('/', "~1"));
                    node
                })
            }
        };
    }
    pointer
}

/// JSON in which no key is repeated in one object. Nothing of it is kept.
struct OneOfEach;

impl<'de> Deserialize<'de> for OneOfEach {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = OneOfEach;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OneOfEach, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<OneOfEach>()?;
            if !keys.insert(key) {
                return Err(A::Error::custom("a key is there twice"));
            }
        }
        Ok(OneOfEach)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOfEach, A::Error> {
        while list.next_element::<OneOfEach>()?.is_some() {}
        Ok(OneOfEach)
    }

    fn visit_unit<E: Error>(self) -> Result<OneOfEach, E> {
        Ok(OneOfEach)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<OneOfEach, E> {
        Ok(OneOfEach)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<OneOfEach, E> {
        Ok(OneOfEach)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<OneOfEach, E> {
        Ok(OneOfEach)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<OneOfEach, E> {
        Ok(OneOfEach)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<OneOfEach, E> {
        Ok(OneOfEach)
    }
}
