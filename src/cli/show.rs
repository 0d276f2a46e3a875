//! `mailchute show`: a letter's whole history, in words.

use anyhow::Context as _;
use serde_json::json;

use super::config::ConfigPath;
use super::table;
use crate::domain::letter::{Letter, Number};

/// Show a letter: what it is, what happened to it, and what comes next
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    #[arg(value_name = "N", value_parser = super::read_number)]
    letter: Number,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let desk = arguments.place.desk()?;
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
            .map(|document| json!({"name": document.name, "pages": document.pages, "size": document.size}))
            .collect();
        let mail = letter.state.mail().map(|mail| mail.id.clone());
        return table::json(&json!({
            "letter": row.letter, "state": row.state, "account": row.account, "source": row.source,
            "documents": documents, "sheets": letter.order.sheets(), "mail": mail,
            "due_at": row.due_at, "note": row.note, "certainty": certainty, "tracking": row.tracking,
            "history": facts,
        }));
    }
    super::say(&format!("letter {number}: {}", row.state))?;
    super::say(&format!("  from {}, paid by account {}", row.source, row.account))?;
    describe(&letter)?;
    if let Some(note) = &row.note {
        super::say(&format!("  note: {note}"))?;
    }
    if let Some(due) = row.due_at {
        super::say(&format!("  looked at again {}", table::time(due)))?;
    }
    super::say("")?;
    let rows = history.into_iter().map(|(at, fact)| vec![table::time(at), fact.to_string()]);
    Ok(table::print(&["when", "what"], rows.collect())?)
}

fn describe(letter: &Letter) -> std::io::Result<()> {
    for (index, document) in letter.order.documents.iter().enumerate() {
        let (name, pages) = (&document.name, document.pages);
        super::say(&format!("  document {}: {name}, {pages} page(s), {} bytes", index + 1, document.size))?;
    }
    Ok(())
}
