//! The JSON Schemas of the configuration, made from the types that read it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::{queue, yaml, yaml_folder};

/// Name and text of each schema, as in `config/schema/`.
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("mailchute.json", text::<yaml::Main>()),
        ("folder.json", text::<yaml_folder::Folder>()),
        ("queue.json", text::<queue::WrittenQueue>()),
        ("sidecar.json", text::<yaml_folder::Sidecar>()),
        ("address.json", text::<yaml::AddressFile>()),
    ]
}

/// The schema of what comes with a letter besides its documents: that of a sidecar.
pub fn letter_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<yaml_folder::Sidecar>()
}

fn text<T: JsonSchema>() -> String {
    let schema: Schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    // A schema has only texts and numbers, so writing it cannot fail. A test shows that.
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
