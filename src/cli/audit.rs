//! `mailchute audit`.

use anyhow::bail;
use serde_json::json;

use super::config::Place;
use super::table;

/// Look whether database, ledger and spool agree, and whether every letter is as it must be
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let findings = arguments.place.desk()?.audit()?;
    if arguments.json {
        table::json(&json!({
            "letters": findings.letters, "facts": findings.facts, "documents": findings.documents,
            "problems": findings.problems,
        }))?;
    } else {
        for problem in &findings.problems {
            super::say(problem)?;
        }
        let (letters, facts, documents) = (findings.letters, findings.facts, findings.documents);
        super::say(&format!("{letters} letter(s), {facts} fact(s), {documents} document(s) looked at"))?;
    }
    match findings.problems.len() {
        0 => Ok(()),
        problems => {
            bail!("{problems} problem(s) found; keep a copy of the state directory before anything else")
        }
    }
}
