//! `mailchute backup`: a copy of the records as they are at one moment, with or without a running daemon.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::config::RecordsPath;

/// Copy the records into a file, consistent while the daemon runs
///
/// To restore it: stop the daemon, put the file in the place of mailchute.db in the state directory, remove
/// mailchute.db-wal and mailchute.db-shm, and start once with `run --after-restore`. What happened since is
/// read from the ledger in the spool; every letter that is not finished is held.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: RecordsPath,
    /// It must not exist yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let file = &arguments.file;
    let there = || anyhow::anyhow!("{} exists already; nothing was written", file.display());
    anyhow::ensure!(!file.exists(), there());
    let desk = arguments.place.desk()?;
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // It gets its name only when it is complete. Others cannot read it at any time.
    let part = tempfile::Builder::new()
        .prefix(".mailchute-backup-")
        .tempfile_in(dir)
        .with_context(|| format!("nothing can be written in {}", dir.display()))?;
    let letters = desk.copy_to(part.path())?;
    part.as_file().sync_all()?;
    part.persist_noclobber(file).map_err(|failed| {
        if failed.error.kind() == io::ErrorKind::AlreadyExists {
            return there();
        }
        anyhow::Error::new(failed.error).context(format!(
            "{} can't get its name: this file system can't make sure that nothing is replaced; write the backup to \
             another one and copy it",
            file.display()
        ))
    })?;
    std::fs::File::open(dir)?.sync_all()?;
    super::say(&format!("{}: {letters} letter(s)", file.display()))?;
    Ok(())
}
