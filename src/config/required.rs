//! The keys that a mapping must have, taken from the schemas, which are made from the types that are read.
//! Serde alone would name only the first missing key.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::schema::schemas;

/// The keys that a mapping may have, and those that it must have.
type Keys = (BTreeSet<String>, Vec<String>);

static MAPPINGS: LazyLock<Vec<Keys>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for (_, schema) in schemas() {
        collect(&serde_json::from_str(&schema).unwrap_or_default(), &mut found);
    }
    found
});

fn collect(schema: &Value, found: &mut Vec<Keys>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required = required.filter_map(Value::as_str).map(str::to_owned).collect();
        found.push((properties.keys().cloned().collect(), required));
    }
    match schema {
        Value::Object(parts) => parts.values().for_each(|part| collect(part, found)),
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The other keys that a mapping with these keys lacks: those missing in every kind of mapping that it can
/// be.
pub(super) fn lacking(present: &[&str], missed: &str) -> Vec<&'static str> {
    let can_be = |(may, must): &&Keys| {
        present.iter().all(|&key| may.contains(key)) && must.iter().any(|key| key == missed)
    };
    let mut candidates = MAPPINGS.iter().filter(can_be).map(|(_, must)| must);
    let Some(first) = candidates.next() else { return Vec::new() };
    let others: Vec<_> = candidates.collect();
    let lacks =
        |key: &&str| !present.contains(key) && others.iter().all(|must| must.iter().any(|k| k == key));
    first.iter().map(String::as_str).filter(lacks).collect()
}
