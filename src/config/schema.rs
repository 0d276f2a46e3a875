//! The JSON Schemas of the configuration, made from the types that read it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::{yaml, yaml_folder};

/// Name and text of each schema, as in `config/schema/`.
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("mailchute.json", text::<yaml::Main>()),
        ("folder.json", text::<yaml_folder::Folder>()),
        ("sidecar.json", text::<yaml_folder::Sidecar>()),
        ("address.json", text::<yaml::AddressFile>()),
    ]
}

fn text<T: JsonSchema>() -> String {
    let schema: Schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    // A schema has only texts and numbers, so writing it cannot fail. A test shows that.
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
