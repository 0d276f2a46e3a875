//! `mailchute inspect`: the result of the PDF child.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err as fs;
use serde_json::json;

use super::table;
use crate::domain::drop::{Doubtful, Refusal, Waiting, showable};
use crate::domain::letter::{LARGEST_DOCUMENT, OrderProblem, PAGES_PER_DOCUMENT, PrintNote, PrintTrouble};
use crate::domain::printed::OtherPaper;
use crate::outside::pdf::{Inspection, Inspector};
use crate::outside::spool::sha256_of;
use crate::words::texts::{Language, Names};

/// Show how many pages PDFs have, as the daemon counts them, or why they would be held or rejected
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// The result for one file.
enum Inspected {
    Pages {
        pages: u32,
        size: u64,
        sha256: String,
        paper: OtherPaper,
    },
    /// Held until a person has looked at it.
    Held(Doubtful),
    Refused(Refusal),
    Error(String),
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let inspector = Inspector::of_this_program()?;
    let mut good = true;
    for file in &arguments.files {
        let seen = look(&inspector, file).await;
        good &= matches!(seen, Inspected::Pages { .. });
        let name = showable(&file.display().to_string());
        if arguments.json {
            table::json(&match seen {
                Inspected::Pages { pages, size, sha256, paper } => {
                    let mut value = json!({"file": name, "pages": pages, "size": size, "sha256": sha256});
                    if !paper.is_none() {
                        value["other_paper"] = json!(paper);
                    }
                    value
                }
                Inspected::Held(Doubtful { doubt, pages, sha256 }) => {
                    json!({"file": name, "held": doubt, "pages_if_approved": pages, "sha256": sha256})
                }
                Inspected::Refused(refusal) => json!({"file": name, "refused": refusal}),
                Inspected::Error(error) => json!({"file": name, "error": error}),
            })?;
            continue;
        }
        super::say(&match seen {
            Inspected::Pages { pages, size, sha256, paper } => {
                let OtherPaper { size: other, landscape } = paper;
                let notes = [(PrintTrouble::Size, other), (PrintTrouble::Landscape, landscape)];
                let notes = notes.into_iter().filter(|(_, pages)| !pages.is_empty());
                let notes = notes.map(|(trouble, pages)| PrintNote { document: 1, trouble, pages });
                let sentences: Vec<String> =
                    notes.map(|note| format!("; {}", Language::En.print_note(&note, false))).collect();
                format!("{name}: {pages} page(s), {size} bytes, sha256 {sha256}{}", sentences.concat())
            }
            Inspected::Held(doubtful) => {
                let said = Language::En.waiting(&Waiting::Doubt(vec![doubtful]), &Names::usual(Language::En));
                format!("{name}: held: {} {}", said.cause, said.remedy)
            }
            Inspected::Refused(refusal) => {
                let said = Language::En.refusal(&refusal);
                format!("{name}: rejected: {} {}", said.cause, said.remedy)
            }
            Inspected::Error(error) => format!("{name}: {error}"),
        })?;
    }
    anyhow::ensure!(good, "not all of them would be posted");
    Ok(())
}

async fn look(inspector: &Inspector, file: &Path) -> Inspected {
    let read = || -> std::io::Result<Result<Vec<u8>, Refusal>> {
        match fs::metadata(file)?.len() {
            0 => Ok(Err(Refusal::Empty)),
            size if size > LARGEST_DOCUMENT => Ok(Err(Refusal::TooLarge { size })),
            _fits => Ok(Ok(fs::read(file)?)),
        }
    };
    let bytes = match read() {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(refusal)) => return Inspected::Refused(refusal),
        Err(error) => return Inspected::Error(error.to_string()),
    };
    let bytes = Arc::new(bytes);
    let hashed = Arc::clone(&bytes);
    let sha256 = tokio::task::spawn_blocking(move || sha256_of(&hashed));
    let (answer, sha256) = tokio::join!(inspector.inspect(&bytes), sha256);
    let (size, sha256) = (bytes.len() as u64, sha256.unwrap_or_default());
    match answer {
        Ok(Inspection::Pages(pages) | Inspection::OtherPaper { pages, .. }) if pages > PAGES_PER_DOCUMENT => {
            Inspected::Refused(Refusal::NotPostable(vec![OrderProblem::Pages(0, pages)]))
        }
        Ok(Inspection::Pages(pages)) => {
            Inspected::Pages { pages, size, sha256, paper: OtherPaper::default() }
        }
        Ok(Inspection::OtherPaper { pages, paper }) => Inspected::Pages { pages, size, sha256, paper },
        Ok(Inspection::Doubtful { pages, doubt }) => Inspected::Held(Doubtful { doubt, pages, sha256 }),
        Ok(Inspection::Doubt(doubt)) => Inspected::Refused(Refusal::Pdf(doubt)),
        Err(error) => Inspected::Error(format!("it can't be inspected: {error}")),
    }
}
