//! The contract of the door: what is kept of it, what is served, and that answers are as it says.

use std::collections::BTreeSet;
use std::path::Path;

use mailchute::daemon::door::openapi;
use reqwest::Method;
use serde_json::{Value, json};

use crate::rigs::door::{Caller, Sent, usual};
use crate::rigs::running::Daemon;
use crate::rigs::service::pdf;

#[test]
fn the_kept_contract_is_the_one_that_is_served() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operate/openapi.json");
    let text = format!("{}\n", serde_json::to_string_pretty(&openapi()).unwrap());
    if std::env::var_os("MAILCHUTE_WRITE_CONTRACT").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert_eq!(kept, text, "stale: run this test with MAILCHUTE_WRITE_CONTRACT=1");
}

#[test]
fn every_reference_leads_somewhere_and_every_operation_has_a_name() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
                map.values().for_each(|value| references(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let contract = openapi();
    let mut found = BTreeSet::new();
    references(&contract, &mut found);
    assert!(found.len() >= 3, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(contract.pointer(pointer).is_some(), "{reference}");
    }
    let mut names = BTreeSet::new();
    for operations in contract["paths"].as_object().unwrap().values() {
        for operation in operations.as_object().unwrap().values() {
            assert!(names.insert(operation["operationId"].as_str().unwrap().to_owned()));
        }
    }
    assert_eq!(names.len(), 5);
}

/// Whether a value has what a schema of ours names: required keys, known keys, types.
fn fits(contract: &Value, schema: &Value, value: &Value) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        return fits(contract, contract.pointer(&reference[1..]).unwrap(), value);
    }
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return true,
    };
    let is_one = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    if !kinds.iter().any(is_one) {
        return false;
    }
    if let Some(list) = value.as_array() {
        return list.iter().all(|item| fits(contract, &schema["items"], item));
    }
    let Some(object) = value.as_object() else { return true };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    required.iter().all(|key| object.contains_key(key.as_str().unwrap()))
        && object.iter().all(|(key, value)| fits(contract, &schema["properties"][key], value))
        && object.keys().all(|key| schema["properties"].get(key).is_some())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_as_the_contract_says() {
    let room = usual().await;
    let daemon = Daemon::start(&room);
    let program = Caller::of(&daemon);
    let answer = reqwest::get(format!("http://{}/v1/openapi.json", daemon.address)).await.unwrap();
    let contract: Value = answer.json().await.unwrap();
    assert_eq!(contract, openapi());
    let (status, body) = program.post(&Sent::new("k", "INV-000123.pdf", pdf(1))).await;
    let id = body["id"].as_str().unwrap().to_owned();
    let mut seen = vec![("/v1/letters", "post", status, body)];
    let posting = || program.request(Method::POST, "/v1/letters").header("Idempotency-Key", "k");
    let other = Sent::new("k", "INV-000456.pdf", pdf(1));
    let wrong = Sent { letter: Some(json!({"receiver": 1})), ..other.clone() };
    for request in [
        posting().multipart(other.form()),
        posting().multipart(wrong.form()),
        posting().body("x"),
        program.with("x").request(Method::POST, "/v1/letters"),
        program.request(Method::POST, "/v1/letters"),
    ] {
        let (status, body) = Caller::answer(request).await;
        seen.push(("/v1/letters", "post", status, body));
    }
    for (path, method, id) in [
        ("/v1/letters/{id}", "get", id.as_str()),
        ("/v1/letters/{id}", "get", "none"),
        ("/v1/letters/{id}/pdf", "get", "none"),
        ("/v1/letters/{id}/release", "post", id.as_str()),
        ("/v1/letters/{id}/cancel", "post", "none"),
        ("/v1/letters/{id}/cancel", "post", id.as_str()),
    ] {
        let verb = if method == "get" { Method::GET } else { Method::POST };
        let (status, body) = Caller::answer(program.request(verb, &path.replace("{id}", id))).await;
        seen.push((path, method, status, body));
    }
    for (path, method, status, body) in seen {
        let answers = &contract["paths"][path][method]["responses"];
        let content = answers[status.to_string()]["content"].as_object();
        let content = content.unwrap_or_else(|| panic!("{method} {path} {status} is not in the contract"));
        let (kind, answer) = content.iter().next().unwrap();
        assert_eq!(kind.ends_with("problem+json"), status >= 400);
        assert!(fits(&contract, &answer["schema"], &body), "{path} {status}: {body}");
    }
}
