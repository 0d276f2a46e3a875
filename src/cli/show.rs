//! `mailchute show`: a letter's whole history, in words.

use anyhow::Context as _;
use chrono::Utc;
use chrono_tz::Tz;
use serde_json::json;

use super::config::RecordsPath;
use super::{list, table};
use crate::daemon::status::{Delay, ask};
use crate::domain::letter::{Letter, Number};
use crate::outside::store::{Bell, Desk, LetterRow};

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
    let waits = waits(&desk, &row, &letter, records.zone)?;
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
            "letter": row.letter, "state": row.state, "account": row.account, "source": row.source, "queue": row.queue,
            "documents": documents, "receiver": receiver, "sheets": letter.order.sheets(), "mail": mail,
            "due_at": row.due_at, "note": row.note, "waits": waits, "certainty": certainty, "tracking": row.tracking,
            "history": facts,
        }));
    }
    super::say(&format!("letter {number}: {}", row.state))?;
    super::say(&format!("  from {}, paid by account {}", row.from(), row.account))?;
    describe(&letter, names)?;
    if let Some(note) = &row.note {
        super::say(&format!("  note: {note}"))?;
    }
    if let Some(why) = &waits {
        super::say(&format!("  waits: {why}"))?;
    }
    if let Some(due) = row.due_at {
        super::say(&format!("  looked at again {}", table::time(due, zone)))?;
    }
    super::say("")?;
    let rows = history.into_iter().map(|(at, fact)| vec![table::time_only(at, zone), fact.to_string()]);
    Ok(table::print(&[&format!("when ({zone})"), "what"], rows.collect())?)
}

/// Why nothing happens to the letter at present.
fn waits(desk: &Desk, row: &LetterRow, letter: &Letter, zone: Tz) -> anyhow::Result<Option<String>> {
    let facts = ask(desk.home().dir()).ok().flatten();
    if facts.is_none() && Bell::ring(desk.home()) {
        // It runs, but does not say how things are.
        return Ok(None);
    }
    let paused = desk.paused()?;
    let (live, now) = (facts.as_ref().and_then(|facts| facts.runs.as_ref()), Utc::now());
    let account = &row.account;
    Ok(Delay::of(row, letter, &paused, live, now).map(|why| match why {
        Delay::Paused { since, cause } => {
            format!("account {account} is paused since {}: {cause}", table::time(since, zone))
        }
        Delay::NotRunning => "the daemon does not run: `mailchute run` starts it".to_owned(),
        Delay::UnknownAccount => {
            format!("account {account} is not in the configuration with which the daemon was started")
        }
        Delay::Silent { since, why } => {
            let (since, why) =
                (table::time(since, zone), why.map_or_else(String::new, |why| format!(": {why}")));
            format!("the service does not answer account {account} since {since}{why}")
        }
        Delay::Unread => format!("account {account} was not read yet"),
        Delay::Until(time) => format!("it is posted at {}", table::time(time, zone)),
    }))
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
