//! `mailchute inspect`: what the PDF child sees.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err as fs;
use serde_json::json;

use super::table;
use crate::domain::drop::{Doubtful, Refusal, Waiting};
use crate::domain::letter::{LARGEST_DOCUMENT, OrderProblem, PAGES_PER_DOCUMENT};
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

/// What became of one file.
enum Seen {
    Pages {
        pages: u32,
        size: u64,
        sha256: String,
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
        good &= matches!(seen, Seen::Pages { .. });
        let name = file.display().to_string();
        if arguments.json {
            table::json(&match seen {
                Seen::Pages { pages, size, sha256 } => {
                    json!({"file": name, "pages": pages, "size": size, "sha256": sha256})
                }
                Seen::Held(Doubtful { doubt, pages, sha256 }) => {
                    json!({"file": name, "held": doubt, "pages_if_approved": pages, "sha256": sha256})
                }
                Seen::Refused(refusal) => json!({"file": name, "refused": refusal}),
                Seen::Error(error) => json!({"file": name, "error": error}),
            })?;
            continue;
        }
        super::say(&match seen {
            Seen::Pages { pages, size, sha256 } => {
                format!("{name}: {pages} page(s), {size} bytes, sha256 {sha256}")
            }
            Seen::Held(doubtful) => {
                let said = Language::En.waiting(&Waiting::Doubt(vec![doubtful]), &Names::usual(Language::En));
                format!("{name}: held: {} {}", said.cause, said.remedy)
            }
            Seen::Refused(refusal) => {
                let said = Language::En.refusal(&refusal);
                format!("{name}: rejected: {} {}", said.cause, said.remedy)
            }
            Seen::Error(error) => format!("{name}: {error}"),
        })?;
    }
    anyhow::ensure!(good, "not all of them would be posted");
    Ok(())
}

async fn look(inspector: &Inspector, file: &Path) -> Seen {
    let read = || -> std::io::Result<Result<Vec<u8>, Refusal>> {
        match fs::metadata(file)?.len() {
            0 => Ok(Err(Refusal::Empty)),
            size if size > LARGEST_DOCUMENT => Ok(Err(Refusal::TooLarge { size })),
            _fits => Ok(Ok(fs::read(file)?)),
        }
    };
    let bytes = match read() {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(refusal)) => return Seen::Refused(refusal),
        Err(error) => return Seen::Error(error.to_string()),
    };
    let bytes = Arc::new(bytes);
    let hashed = Arc::clone(&bytes);
    let sha256 = tokio::task::spawn_blocking(move || sha256_of(&hashed));
    let (answer, sha256) = tokio::join!(inspector.inspect(&bytes), sha256);
    let (size, sha256) = (bytes.len() as u64, sha256.unwrap_or_default());
    match answer {
        Ok(Inspection::Pages(pages)) if pages > PAGES_PER_DOCUMENT => {
            Seen::Refused(Refusal::NotPostable(vec![OrderProblem::Pages(0, pages)]))
        }
        Ok(Inspection::Pages(pages)) => Seen::Pages { pages, size, sha256 },
        Ok(Inspection::Doubtful { pages, doubt }) => Seen::Held(Doubtful { doubt, pages, sha256 }),
        Ok(Inspection::Doubt(doubt)) => Seen::Refused(Refusal::Pdf(doubt)),
        Err(error) => Seen::Error(format!("it can't be inspected: {error}")),
    }
}
