//! `mailchute inspect`: what the PDF child sees.

use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::json;

use super::table;
use crate::drop::{Doubt, Refusal};
use crate::letter::LARGEST_DOCUMENT;
use crate::pdf::Inspector;
use crate::spool::sha256_of;
use crate::texts::Language;

/// Show how many pages PDFs have, as the daemon counts them, or why they would be refused
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
    Pages { pages: u32, size: u64, sha256: String },
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
                Seen::Refused(refusal) => json!({"file": name, "refused": refusal}),
                Seen::Error(error) => json!({"file": name, "error": error}),
            })?;
            continue;
        }
        super::say(&match seen {
            Seen::Pages { pages, size, sha256 } => {
                format!("{name}: {pages} page(s), {size} bytes, sha256 {sha256}")
            }
            Seen::Refused(refusal) => {
                let said = Language::En.refusal(&refusal);
                format!("{name}: refused: {} {}", said.cause, said.remedy)
            }
            Seen::Error(error) => format!("{name}: {error}"),
        })?;
    }
    anyhow::ensure!(good, "not all of them can be posted");
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
    let pages: std::io::Result<Result<u32, Doubt>> = inspector.pages(&bytes).await;
    match pages {
        Ok(Ok(pages)) => Seen::Pages { pages, size: bytes.len() as u64, sha256: sha256_of(&bytes) },
        Ok(Err(doubt)) => Seen::Refused(Refusal::Pdf(doubt)),
        Err(error) => Seen::Error(format!("it can't be inspected: {error}")),
    }
}
