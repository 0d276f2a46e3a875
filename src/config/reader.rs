//! A tree as serde reads it. A text is exactly what was written, and what YAML would take for something else
//! must be in quotes.

use serde::de::{
    self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};

use super::required::lacking;
use super::strike::Error;
use super::tree::{KeySpot, Node, Value};

pub(super) struct Reader<'a>(pub(super) &'a Node);

fn wrong(expected: &dyn de::Expected) -> Error {
    de::Error::invalid_type(Unexpected::Unit, expected)
}

impl<'a> Reader<'a> {
    fn number<T: std::str::FromStr>(&self) -> Result<T, Error> {
        let Value::Scalar { text, .. } = &self.0.value else { return Err(wrong(&"a whole number")) };
        text.parse().map_err(|_| wrong(&"a whole number, such as 20"))
    }

    /// The text. A text that YAML itself would take for something else must be in quotes.
    fn text(&self) -> Result<&'a str, Error> {
        match &self.0.value {
            Value::Scalar { text, plain: true } if is_ambiguous(text) => {
                // The value itself is not repeated, because it may be part of an address.
                let what = if text.is_empty() {
                    "expected a text"
                } else {
                    "without quotes, YAML does not read this as a text"
                };
                Err(de::Error::custom(format!("{what}\nwrite it in quotes, such as \"0600001\"")))
            }
            Value::Scalar { text, .. } => Ok(text),
            Value::List(_) | Value::Map { .. } => Err(wrong(&"a text")),
        }
    }
}

/// Whether some reader of YAML takes it for a number, a boolean, a date or null.
fn is_ambiguous(text: &str) -> bool {
    let words =
        ["", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".nan", ".inf", "-.inf"];
    let lower = text.to_ascii_lowercase();
    let plain = lower.replace('_', "");
    let digits = plain.trim_start_matches(['+', '-']);
    let based = ["0x", "0o", "0b"].iter().find_map(|base| digits.strip_prefix(base));
    let number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && plain.parse::<f64>().is_ok();
    // Old readers take 12:30 for a number and 2026-11-20 for a date. To all of them 1-2-3 is a text.
    let all = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let time = digits.contains(':') && digits.split(':').all(all)
        || lower.len() == 10 && lower.split('-').map(str::len).eq([4, 2, 2]) && lower.split('-').all(all);
    words.contains(&lower.as_str())
        || based.is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()))
        || number
        || time
}

macro_rules! numbers {
    ($($read:ident $visit:ident),*) => {$(
        fn $read<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(self.number()?)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.0.value {
            Value::Scalar { text, .. } => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            Value::Map { entries, struck } => visitor
                .visit_map(Entries { rest: entries, value: None })
                .map_err(|error| match error.missing {
                    Some(missed) if error.place.is_none() => {
                        let present: Vec<&str> = entries.iter().map(|(key, _)| key.text.as_str()).collect();
                        error.lacking(lacking(&present, missed), struck)
                    }
                    Some(_) | None => error,
                }),
        }
        .map_err(|error| error.at(&self.0.place))
    }

    numbers!(
        deserialize_u8 visit_u8, deserialize_u16 visit_u16, deserialize_u32 visit_u32, deserialize_u64 visit_u64,
        deserialize_i8 visit_i8, deserialize_i16 visit_i16, deserialize_i32 visit_i32, deserialize_i64 visit_i64
    );

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.0.value {
            Value::Scalar { text, plain: true } if text == "true" => visitor.visit_bool(true),
            Value::Scalar { text, plain: true } if text == "false" => visitor.visit_bool(false),
            Value::Scalar { .. } | Value::List(_) | Value::Map { .. } => Err(wrong(&"true or false")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.0.value {
            Value::List(_) => self.deserialize_any(visitor),
            Value::Scalar { .. } | Value::Map { .. } => Err(wrong(&"a list, such as [a, b]")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.0.value {
            Value::Map { .. } => self.deserialize_any(visitor),
            Value::Scalar { .. } | Value::List(_) => Err(wrong(&"keys and values, such as {key: value}")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.0.value {
            Value::Scalar { text, .. } => visitor.visit_enum(Word(text)),
            Value::List(_) | Value::Map { .. } => {
                Err(wrong(&format!("one of: {}", known.join(", ")).as_str()))
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i128 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0
            .next()
            .map(|item| seed.deserialize(Reader(item)).map_err(|error| error.at(&item.place)))
            .transpose()
    }
}

struct Entries<'de> {
    rest: &'de [(KeySpot, Node)],
    value: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(((key, value), rest)) = self.rest.split_first() else { return Ok(None) };
        (self.rest, self.value) = (rest, Some(value));
        let text: de::value::StrDeserializer<'_, Error> = key.text.as_str().into_deserializer();
        seed.deserialize(text).map(Some).map_err(|error| error.at(&key.place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some(value) = self.value.take() else { return Err(de::Error::custom("a value without a key")) };
        seed.deserialize(Reader(value)).map_err(|error| error.at(&value.place))
    }
}

/// One word out of several.
struct Word<'de>(&'de str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let text: de::value::StrDeserializer<'_, Error> = self.0.into_deserializer();
        Ok((seed.deserialize(text)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Error> {
        Err(de::Error::custom("more values are needed here"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(de::Error::custom("more values are needed here"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Error> {
        Err(de::Error::custom("more values are needed here"))
    }
}
