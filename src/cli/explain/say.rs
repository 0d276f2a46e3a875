//! What `explain` prints: for people, and as JSON.

use std::path::Path;

use serde_json::{Value, json};

use super::Explained;
use super::content::shown_path;
use crate::cli::table;
use crate::config::Folder;
use crate::domain::drop::{Refusal, Waiting};
use crate::domain::letter::{Number, Order};
use crate::domain::printed::{PageAgreement, PageContradiction};
use crate::domain::rules::Verdict;
use crate::loops::intake::NoDrop;
use crate::outside::api::create_body;
use crate::words::texts::Language;

pub(super) fn say(
    explained: &Explained,
    (folder, file, number): (&Folder, &Path, Number),
    as_json: bool,
) -> anyhow::Result<()> {
    if as_json {
        table::json(&in_json(explained, folder, file, number)?)
    } else {
        print(explained, folder, file, number)
    }
}

fn in_json(explained: &Explained, folder: &Folder, file: &Path, number: Number) -> anyhow::Result<Value> {
    let file = shown_path(file);
    let (documents, explanation) = match explained {
        Explained::Left(why) => {
            return Ok(json!({"file": file, "folder": folder.name, "left": why}));
        }
        Explained::Refused(refusal) => {
            return Ok(json!({"file": file, "folder": folder.name, "refused": refusal}));
        }
        Explained::Doubtful(doubtful) => {
            let waits = Waiting::Doubt(doubtful.clone());
            return Ok(json!({"file": file, "folder": folder.name, "waits": waits}));
        }
        Explained::Decided(documents, explanation) => (documents, explanation),
    };
    let tried: Vec<Value> = explanation
        .tried
        .iter()
        .map(|tried| {
            let checked = tried.conditions.iter();
            let conditions: Vec<Value> = checked
                .map(|c| json!({"condition": c.condition, "found": c.found, "holds": c.holds}))
                .collect();
            json!({"rule": tried.rule, "line": tried.line, "conditions": conditions})
        })
        .collect();
    let mut value = json!({
        "file": file, "folder": folder.name, "rules": tried,
        "rule": explanation.rule.map(|rule| &folder.rules.rules[rule].name),
        "receiver_from": explanation.receiver_from,
        "printed": explanation.pages.iter().map(|found| said_of(&found.agreement)).collect::<Vec<_>>(),
        "pages": documents.iter().map(|(_, document)| document.pages).collect::<Vec<_>>(),
    });
    match &explanation.verdict {
        Verdict::Send(order, warnings) => {
            value["sheets"] = json!(order.sheets());
            value["warnings"] = json!(warnings);
            value["print_notes"] = json!(order.print_notes);
            // As text, exactly as it would be sent: a program may compare it byte for byte.
            value["body"] = json!(body(number, order)?);
        }
        Verdict::Refuse(refusal) => value["refused"] = json!(refusal),
        Verdict::Hold(waiting) => value["waits"] = json!(waiting),
    }
    Ok(value)
}

fn body(number: Number, order: &Order) -> anyhow::Result<String> {
    Ok(String::from_utf8(create_body(number, order)?)?)
}

fn print(explained: &Explained, folder: &Folder, file: &Path, number: Number) -> anyhow::Result<()> {
    let line = |text: String| crate::cli::say(&text);
    line(format!("{}: folder {}", shown_path(file), folder.name))?;
    let (documents, explanation) = match explained {
        Explained::Left(why) => return Ok(line(left(*why))?),
        Explained::Refused(refusal) => return Ok(line(refused(folder, refusal))?),
        Explained::Doubtful(doubtful) => {
            return Ok(line(held(folder, &Waiting::Doubt(doubtful.clone())))?);
        }
        Explained::Decided(documents, explanation) => (documents, explanation),
    };
    for (index, tried) in explanation.tried.iter().enumerate() {
        let fits = if explanation.rule == Some(index) { "fits" } else { "does not fit" };
        line(format!("  rule \"{}\" (line {}) {fits}", tried.rule, tried.line))?;
        for checked in &tried.conditions {
            let holds = if checked.holds { "yes" } else { "no " };
            line(format!("    {holds} {}   here: {}", checked.condition, checked.found))?;
        }
    }
    for (index, finding) in explanation.pages.iter().enumerate() {
        line(format!("  printed    document {}: {}", index + 1, said_of(&finding.agreement)))?;
    }
    let pages: Vec<String> = documents.iter().map(|(_, document)| document.pages.to_string()).collect();
    match &explanation.verdict {
        Verdict::Send(order, warnings) => {
            let from = explanation.receiver_from.as_deref().unwrap_or_default();
            let crate::domain::address::Receiver { address, honorific } = &order.receiver;
            line(format!(
                "  receiver   {} {}{} {} {honorific}   from {from}",
                address.postal_code, address.state, address.city, address.name
            ))?;
            line(format!("  pages      {}; {} sheet(s)", pages.join(" + "), order.sheets()))?;
            for note in &order.print_notes {
                line(format!("  print      {}", Language::En.print_note(note, order.documents.len() > 1)))?;
            }
            for warning in warnings {
                line(format!("  warning    {warning}"))?;
            }
            line(format!("  body       {}", body(number, order)?))?;
        }
        Verdict::Refuse(refusal) => line(refused(folder, refusal))?,
        Verdict::Hold(waiting) => line(held(folder, waiting))?,
    }
    Ok(())
}

/// What the pages of a document say of the receiver.
fn said_of(agreement: &PageAgreement) -> String {
    match agreement {
        PageAgreement::Agrees => "page 1 is for the receiver".to_owned(),
        PageAgreement::Contradicts(PageContradiction { page, addressee }) => {
            format!("page {page} is for {addressee}")
        }
        PageAgreement::CannotTell(why) => format!("cannot tell: {why}"),
    }
}

pub(in crate::cli) fn left(why: NoDrop) -> String {
    let why = match why {
        NoDrop::Ignored => {
            "its name is that of a temporary file, of a hidden file or of a shelf, or the folder ignores it"
        }
        NoDrop::OwnDirectory => "it is a folder, and here each PDF is a letter (`letter: file`)",
        NoDrop::Sidecar => "it is a sidecar: it goes with its PDF, or is handed back if none comes",
    };
    format!("  left where it is: {why}")
}

pub(in crate::cli) fn refused(folder: &Folder, refusal: &Refusal) -> String {
    let said = folder.language.refusal(refusal);
    format!("  rejected: {} {}", said.cause, said.remedy)
}

pub(in crate::cli) fn held(folder: &Folder, waiting: &Waiting) -> String {
    let said = folder.language.waiting(waiting, &folder.names);
    format!("  held: {} {}", said.cause, said.remedy)
}
