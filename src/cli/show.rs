//! `mailchute show`: a letter's whole history, in words.

use anyhow::Context as _;
use serde_json::json;

use super::config::RecordsPath;
use super::{list, table};
use crate::domain::letter::{Letter, Number};
use crate::outside::store::Desk;

/// Show a letter: what it is, what happened to it, and what comes next
///
/// File names and the receiver are shown on a terminal, or with --names. Elsewhere they could end up in a journal.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: RecordsPath,
    #[arg(value_name = "N", value_parser = super::read_number)]
    letter: Number,
    /// With file names and the receiver, wherever it goes
    #[arg(long)]
    names: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let records = arguments.place.find()?;
    let (desk, zone) = (Desk::open(&records.state)?, records.zone);
    let names = list::may_show_names(arguments.names, arguments.json);
    let number = arguments.letter;
    let row = desk.row(number)?.with_context(|| format!("there is no letter {number}"))?;
    let letter = desk.letter(number)?.with_context(|| format!("there are no facts of letter {number}"))?;
    let history = desk.history(number)?;
    if arguments.json {
        let facts: Vec<_> = history
            .iter()
            .map(|(at, fact)| json!({"at": at, "fact": fact.word(), "text": fact.to_string()}))
            .collect();
        let certainty = letter.state.hold().map(|reason| reason.certainty().to_string());
        let documents: Vec<_> = letter
            .order
            .documents
            .iter()
            .map(|document| {
                let name = names.then_some(&document.name);
                json!({"name": name, "pages": document.pages, "size": document.size})
            })
            .collect();
        let receiver = names.then_some(&letter.order.receiver.address.name);
        let mail = letter.state.mail().map(|mail| mail.id.clone());
        return table::json(&json!({
            "letter": row.letter, "state": row.state, "account": row.account, "source": row.source,
            "documents": documents, "receiver": receiver, "sheets": letter.order.sheets(), "mail": mail,
            "due_at": row.due_at, "note": row.note, "certainty": certainty, "tracking": row.tracking,
            "history": facts,
        }));
    }
    super::say(&format!("letter {number}: {}", row.state))?;
    super::say(&format!("  from {}, paid by account {}", row.source, row.account))?;
    describe(&letter, names)?;
    if let Some(note) = &row.note {
        super::say(&format!("  note: {note}"))?;
    }
    if let Some(due) = row.due_at {
        super::say(&format!("  looked at again {}", table::time(due, zone)))?;
    }
    super::say("")?;
    let rows = history.into_iter().map(|(at, fact)| vec![table::time_only(at, zone), fact.to_string()]);
    Ok(table::print(&[&format!("when ({zone})"), "what"], rows.collect())?)
}

fn describe(letter: &Letter, names: bool) -> std::io::Result<()> {
    if names {
        let receiver = &letter.order.receiver;
        super::say(&format!("  to {} {}", receiver.address.name, receiver.honorific))?;
    }
    for (index, document) in letter.order.documents.iter().enumerate() {
        let name = if names { format!("{}, ", document.name) } else { String::new() };
        let (pages, size) = (document.pages, document.size);
        super::say(&format!("  document {}: {name}{pages} page(s), {size} bytes", index + 1))?;
    }
    Ok(())
}
