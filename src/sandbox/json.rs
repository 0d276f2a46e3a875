//! JSON as a tree that refuses repeated keys, which `serde_json::Value` accepts.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Only whole numbers from 0 on, written without a point, are used.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Integer(u64),
    /// With the whole number that it may mean: 3 for `3.0`.
    OtherNumber(Option<u32>),
    Text(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|error| format!("the body is not valid JSON: {error}"))
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Tree)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Json, E> {
        Ok(Json::OtherNumber(None))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        // Its shortest text has no point if it is whole.
        Ok(Json::OtherNumber(number.to_string().parse().ok()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = BTreeMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` is given twice")));
            }
            object.insert(key, entries.next_value()?);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_given_twice_is_refused_wherever_it_stands() {
        assert!(Json::read(br#"{"a":1,"b":{"c":1}}"#).is_ok());
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"c":1,"c":2}}]"#] {
            assert!(Json::read(text.as_bytes()).unwrap_err().contains("given twice"), "{text}");
        }
    }

    #[test]
    fn only_whole_numbers_are_integers() {
        assert_eq!(Json::read(b"[3]").unwrap(), Json::Array(vec![Json::Integer(3)]));
        for (text, whole) in [
            ("[3.0]", Some(3)),
            ("[1e3]", Some(1000)),
            ("[3.5]", None),
            ("[-3]", None),
            ("[99999999999999999999]", None),
        ] {
            let other = Json::Array(vec![Json::OtherNumber(whole)]);
            assert_eq!(Json::read(text.as_bytes()).unwrap(), other, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        let deep = "[".repeat(100_000);
        assert!(Json::read(deep.as_bytes()).is_err());
    }
}
