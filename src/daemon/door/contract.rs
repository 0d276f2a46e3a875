//! The contract of the door as `OpenAPI` 3.1, made from the types that read requests and write answers.

use axum::Json;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::letters::LetterStanding;
use super::problem::{Declined, ProblemKind};
use crate::config;
use crate::domain::letter::{DOCUMENTS_PER_LETTER, LARGEST_DOCUMENT};

pub(super) async fn serve() -> Json<Value> {
    Json(openapi())
}

/// The contract. A copy is kept in docs/operate/openapi.json.
pub fn openapi() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let letter = config::letter_schema(&mut generator);
    let standing = generator.subschema_for::<LetterStanding>();
    let problem = generator.subschema_for::<Declined>();
    let schemas = generator.take_definitions(true);
    let told = Told { standing: json!(standing), problem: json!(problem) };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "mailchute: the door for programs",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Posts letters by the rules of a folder, each once for its Idempotency-Key. It answers only on \
                            the machine that mailchute runs on."
        },
        "security": [{"token": []}],
        "paths": {
            "/v1/letters": {"post": told.posting(&json!(letter))},
            "/v1/letters/{id}": {"get": told.reading()},
            "/v1/letters/{id}/cancel": {"post": told.command("cancelLetter", "Cancel a letter, while it can be")},
            "/v1/letters/{id}/release": {"post": told.command(
                "releaseLetter",
                "Let a held letter go. Needs the right `release`, which no token has unless its queue's file says so."
            )},
            "/v1/letters/{id}/pdf": {"get": told.document()}
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas
        }
    })
}

/// Every operation may answer these.
const ALWAYS: [ProblemKind; 3] = [ProblemKind::Token, ProblemKind::Right, ProblemKind::Trouble];

/// The schemas of answers.
struct Told {
    standing: Value,
    problem: Value,
}

impl Told {
    fn posting(&self, letter: &Value) -> Value {
        let wrong = [
            ProblemKind::KeyMissing,
            ProblemKind::Malformed,
            ProblemKind::TooSlow,
            ProblemKind::KeyUsed,
            ProblemKind::TooLarge,
            ProblemKind::NotMultipart,
            ProblemKind::Fields,
            ProblemKind::Refused,
            ProblemKind::FolderClosed,
            ProblemKind::Busy,
        ];
        let documents = format!(
            "The PDFs in their order, each a part of its own of at most {LARGEST_DOCUMENT} bytes. Rules read the file name."
        );
        json!({
            "operationId": "postLetter",
            "summary": "Post a letter",
            "description": "A request that is repeated with its key has the same letter and the same answer. The \
                            folder's rules, holds and limits apply.",
            "parameters": [{
                "name": "Idempotency-Key", "in": "header", "required": true,
                "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
                "description": "A text that stands for this letter alone, for ever."
            }],
            "requestBody": {"required": true, "content": {"multipart/form-data": {
                "schema": {
                    "type": "object", "required": ["document"], "additionalProperties": false,
                    "properties": {
                        "document": {
                            "type": "array", "minItems": 1, "maxItems": DOCUMENTS_PER_LETTER,
                            "items": {"type": "string", "contentMediaType": "application/pdf"},
                            "description": documents
                        },
                        "letter": letter
                    }
                },
                "encoding": {"letter": {"contentType": "application/json"}}
            }}},
            "responses": self.answers(
                &[("201", "It is a letter."),
                  ("202", "It is taken. It waits for a person, or is not decided yet.")],
                &wrong)
        })
    }

    fn reading(&self) -> Value {
        json!({
            "operationId": "readLetter", "summary": "What became of a letter", "parameters": [id()],
            "responses": self.answers(&[("200", "How it stands.")], &[ProblemKind::Unknown])
        })
    }

    fn command(&self, name: &str, summary: &str) -> Value {
        json!({
            "operationId": name, "summary": summary, "parameters": [id()],
            "responses": self.answers(&[("200", "What was done.")], &[ProblemKind::Unknown, ProblemKind::NotNow])
        })
    }

    fn document(&self) -> Value {
        let which = json!({
            "name": "document", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 1},
            "description": "Which document, counted from 1."
        });
        let mut answers =
            self.answers(&[], &[ProblemKind::Unknown, ProblemKind::NotNow, ProblemKind::NoDocument]);
        answers["200"] = answer("The PDF.", "application/pdf", &json!({}));
        json!({
            "operationId": "readDocument", "summary": "A document as it was taken",
            "parameters": [id(), which], "responses": answers
        })
    }

    fn answers(&self, good: &[(&str, &str)], wrong: &[ProblemKind]) -> Value {
        let good = good
            .iter()
            .map(|(status, what)| ((*status).to_owned(), answer(what, "application/json", &self.standing)));
        let wrong = problems(&[&ALWAYS, wrong].concat(), &self.problem);
        Value::Object(good.chain(wrong).collect())
    }
}

fn id() -> Value {
    json!({
        "name": "id", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "What `id` of an answer says."
    })
}

fn answer(what: &str, kind: &str, schema: &Value) -> Value {
    json!({"description": what, "content": {kind: {"schema": schema}}})
}

/// One answer for each status, with the names of the problems that have it.
fn problems(wrongs: &[ProblemKind], schema: &Value) -> Vec<(String, Value)> {
    let mut by_status: Vec<(u16, Vec<String>)> = Vec::new();
    for wrong in wrongs {
        let (name, title) = wrong.words();
        let said = format!("`{name}`: {title}");
        let status = wrong.status().as_u16();
        match by_status.iter_mut().find(|(known, _)| *known == status) {
            Some((_, all)) => all.push(said),
            None => by_status.push((status, vec![said])),
        }
    }
    by_status.sort_by_key(|(status, _)| *status);
    let told = |(status, all): (u16, Vec<String>)| {
        (status.to_string(), answer(&all.join(" "), "application/problem+json", schema))
    };
    by_status.into_iter().map(told).collect()
}
