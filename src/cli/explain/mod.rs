//! `mailchute explain`: what would be posted of a file, and why. Nothing is sent or moved.

mod content;
mod mail;
mod say;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
pub(super) use content::name_of;
use content::{Contents, read, why_left};
use mail::{SavedMail, is_mail};
pub(super) use say::{held, left, refused};

use super::WrongWords;
use super::config::ConfigPath;
use crate::base::clock::Clock;
use crate::config::{Config, Folder};
use crate::domain::drop::{Doubtful, Refusal};
use crate::domain::incoming::MailTags;
use crate::domain::letter::Number;
use crate::domain::rules::{DropFacts, Explanation, Found};
use crate::loops::intake::NoDrop;
use crate::outside::pdf::Inspector;
use crate::outside::store::Desk;

/// Show which rule fits a file, where its address comes from, and what would be sent
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// PDFs, or subfolders of PDFs; a sidecar beside one is used. Or a mail that was saved as a file (.eml)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The folder whose rules decide (default: the one in which the file lies, or the only one)
    #[arg(long, value_name = "NAME")]
    folder: Option<String>,
    /// The queue whose mailbox a saved mail came to (default: the only one that is a mailbox)
    #[arg(long, value_name = "NAME")]
    queue: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = arguments.place.config()?;
    let inspector = Inspector::of_this_program()?;
    let number = next_number(&config.state);
    let say = |explained: &Explained, folder: &Folder, file: &Path| {
        say::say(explained, (folder, file, number), arguments.json)
    };
    for file in &arguments.files {
        if is_mail(file) {
            let mail = SavedMail::read((&config, &inspector), arguments.queue.as_deref(), file).await?;
            mail.say(arguments.json)?;
            for (letter, shown) in &mail.letters {
                let explained = explain(&inspector, mail.folder, (&config.state, Some(&mail.tags)), letter);
                say(&explained.await?, mail.folder, shown)?;
            }
            continue;
        }
        let folder = folder_of(&config, file, arguments.folder.as_deref())?;
        let explained = explain(&inspector, folder, (&config.state, None), file).await?;
        say(&explained, folder, file)?;
    }
    Ok(())
}

/// The number of the next letter, after which its files are named.
fn next_number(state: &Path) -> Number {
    let last = Desk::open(state).and_then(|desk| desk.numbers()).ok();
    last.and_then(|numbers| numbers.last().copied()).map_or(Number(1), |Number(last)| Number(last + 1))
}

pub(super) fn folder_of<'a>(
    config: &'a Config,
    file: &Path,
    given: Option<&str>,
) -> anyhow::Result<&'a Folder> {
    let known: Vec<&str> = config.folders.iter().map(|folder| folder.name.as_str()).collect();
    if let Some(name) = given {
        return config.folder(name).with_context(|| format!("there is no folder `{name}`, only {known:?}"));
    }
    let real = whole_path(file).unwrap_or_else(|_| file.to_owned());
    let around = config.folders.iter().find(|folder| real.starts_with(&folder.path));
    match (around, config.folders.as_slice()) {
        (Some(folder), _) | (None, [folder]) => Ok(folder),
        (None, _) => {
            Err(WrongWords(format!("say which folder with --folder: one of {}", known.join(", "))).into())
        }
    }
}

/// The path of a file from the root. If it is a link, it is the path of the link.
fn whole_path(file: &Path) -> std::io::Result<PathBuf> {
    match (file.parent(), file.file_name()) {
        (Some(dir), Some(name)) => {
            let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
            Ok(dir.canonicalize()?.join(name))
        }
        // `.` and `..` have a name only from the root.
        (_, None) | (None, _) => file.canonicalize(),
    }
}

/// What becomes of a file.
pub(super) enum Explained {
    /// Its documents, with where each lies, and the decision of the rules on it.
    Decided(Vec<(PathBuf, Found)>, Explanation),
    Refused(Refusal),
    Doubtful(Vec<Doubtful>),
    /// It is not taken in.
    Left(NoDrop),
}

/// What becomes of a file in a folder, or of a letter of a mail.
pub(super) async fn explain(
    inspector: &Inspector,
    folder: &Folder,
    (state, mailed): (&Path, Option<&MailTags>),
    file: &Path,
) -> anyhow::Result<Explained> {
    let whole = if file.file_name().is_none() { whole_path(file)? } else { file.to_owned() };
    let file = whole.as_path();
    // What a queue takes in is a letter under any name.
    let left = if mailed.is_some() { None } else { why_left(folder, file)? };
    if let Some(why) = left {
        return Ok(Explained::Left(why));
    }
    let (paths, documents, sidecar) = match read(inspector, folder, file).await? {
        Contents::Whole { paths, documents, sidecar } => (paths, documents, sidecar),
        Contents::Refused(refusal) => return Ok(Explained::Refused(refusal)),
        Contents::Doubtful(doubtful) => return Ok(Explained::Doubtful(doubtful)),
    };
    let book = folder.book.as_ref().map(crate::config::Book::read).transpose();
    let postal_data = match &folder.postal_data {
        Some(list) => {
            let unusable = |why: &String| {
                super::warn(&format!(
                    "the list of postal codes {} can't be used: {why}",
                    list.file.display()
                ));
            };
            super::config::postal_data(list)?.inspect_err(unusable).ok()
        }
        None => None,
    };
    let mut facts = DropFacts {
        name: &name_of(file),
        documents: &documents,
        arrived: Clock::system().now().with_timezone(&folder.zone).naive_local(),
        sidecar: sidecar.as_deref(),
        book: book.as_ref().map(|book| book.as_ref().map(|(book, _)| book)).map_err(String::as_str),
        mailed,
        accepted: &[],
        is_receiver_known: false,
        postal_data: postal_data.as_ref(),
    };
    if let Some(receiver) = folder.rules.printed_receiver(&facts) {
        facts.is_receiver_known = Desk::open(state)
            .and_then(|desk| desk.has_written_to(&folder.rules.folder, &receiver))
            .unwrap_or(false);
    }
    let explanation = folder.rules.explain(&facts);
    Ok(Explained::Decided(paths.into_iter().zip(documents).collect(), explanation))
}
