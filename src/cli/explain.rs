//! `mailchute explain`: what would be posted of a file, and why. Nothing is sent or moved.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fs_err as fs;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization as _;

use super::config::ConfigPath;
use super::explain_mail::{SavedMail, is_mail};
use super::{WrongWords, table};
use crate::base::clock::Clock;
use crate::config::{Config, Folder, LetterKind};
use crate::domain::drop::{
    Doubt, Doubtful, INSIDE, Kind, Refusal, Waiting, is_pdf, natural_order, showable, sidecars_in_any_form,
};
use crate::domain::incoming::MailTags;
use crate::domain::letter::{DOCUMENTS_PER_LETTER, LARGEST_DOCUMENT, Number, Order};
use crate::domain::printed::{Attention, OtherPaper, PageAgreement, PageContradiction};
use crate::domain::rules::{DropFacts, Explanation, Found, Verdict};
use crate::loops::intake::may_be_dropped;
use crate::outside::api::create_body;
use crate::outside::pdf::{Inspection, Inspector};
use crate::outside::spool::sha256_of;
use crate::outside::store::Desk;
use crate::words::texts::Language;

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
        if arguments.json {
            table::json(&as_json(explained, folder, file, number)?)
        } else {
            print(explained, folder, file, number)
        }
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
        let explained = match unfit(folder, file)? {
            Some(refusal) => Explained::Refused(refusal),
            None => explain(&inspector, folder, (&config.state, None), file).await?,
        };
        say(&explained, folder, file)?;
    }
    Ok(())
}

/// Why a file can't be a letter of the folder, whatever is in its documents. As intake decides it, in
/// `loops/intake/documents.rs`.
fn unfit(folder: &Folder, file: &Path) -> anyhow::Result<Option<Refusal>> {
    let has_name_of_pdf = |path: &Path| path.file_name().is_some_and(|name| is_pdf(name.as_bytes()));
    let is_document = |path: &Path| path.is_file() && has_name_of_pdf(path);
    match (folder.letter, fs::metadata(file)?.is_dir()) {
        (LetterKind::File, false) => Ok((!has_name_of_pdf(file)).then_some(Refusal::NotPdf)),
        (LetterKind::File, true) if has_name_of_pdf(file) => Ok(Some(Refusal::NotAFile(Kind::Directory))),
        (LetterKind::File, true) => anyhow::bail!(
            "{} is a folder, and in `{}` each PDF is a letter (`letter: file`): it is left where it is",
            showable(&file.display().to_string()),
            folder.name
        ),
        (LetterKind::Subfolder, false) => Ok(Some(Refusal::NotInSubfolder)),
        (LetterKind::Subfolder, true) => {
            for entry in fs::read_dir(file)? {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default();
                let is_ignored =
                    !may_be_dropped(folder, name.as_bytes()) || INSIDE.iter().any(|known| name == *known);
                if !is_ignored && !is_document(&path) {
                    return Ok(Some(Refusal::Unfit { name: showable(&name_of(&path)) }));
                }
            }
            Ok(documents_of(file)?.is_empty().then_some(Refusal::NoDocuments))
        }
    }
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
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let around = config.folders.iter().find(|folder| real.starts_with(&folder.path));
    match (around, config.folders.as_slice()) {
        (Some(folder), _) | (None, [folder]) => Ok(folder),
        (None, _) => {
            Err(WrongWords(format!("say which folder with --folder: one of {}", known.join(", "))).into())
        }
    }
}

/// The documents it would have and the decision on it, or why the rules are not asked.
pub(super) enum Explained {
    Decided(Vec<Found>, Explanation),
    Refused(Refusal),
    Doubtful(Vec<Doubtful>),
}

/// Why a file is not a document of a letter.
enum NoDocument {
    Refused(Refusal),
    Doubtful(Doubtful),
}

pub(super) async fn explain(
    inspector: &Inspector,
    folder: &Folder,
    (state, mailed): (&Path, Option<&MailTags>),
    file: &Path,
) -> anyhow::Result<Explained> {
    let paths = documents_of(file)?;
    if paths.len() > DOCUMENTS_PER_LETTER {
        return Ok(Explained::Refused(Refusal::TooManyDocuments { found: paths.len() }));
    }
    let (mut documents, mut doubtful) = (Vec::new(), Vec::new());
    for path in &paths {
        match document(inspector, folder, path).await? {
            Ok(found) => documents.push(found),
            Err(NoDocument::Doubtful(document)) => doubtful.push(document),
            Err(NoDocument::Refused(refusal)) => return Ok(Explained::Refused(refusal)),
        }
    }
    let sidecar = match sidecar_of(folder, file)? {
        Some(Err(why)) => return Ok(Explained::Refused(Refusal::Sidecar(why))),
        Some(Ok(sidecar)) => Some(sidecar),
        None => None,
    };
    if !doubtful.is_empty() {
        return Ok(Explained::Doubtful(doubtful));
    }
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
        sidecar: sidecar.as_ref(),
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
    Ok(Explained::Decided(documents, explanation))
}

/// The PDFs of a letter, in their order.
pub(super) fn documents_of(file: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !file.is_dir() {
        return Ok(vec![file.to_owned()]);
    }
    let paths = fs::read_dir(file)?.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pdf")));
    paths.sort_by(|a, b| natural_order(&name_of(a), &name_of(b)));
    Ok(paths)
}

pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().nfc().collect()
}

async fn document(
    inspector: &Inspector,
    folder: &Folder,
    path: &Path,
) -> anyhow::Result<Result<Found, NoDocument>> {
    let size = fs::metadata(path)?.len();
    if size == 0 || size > LARGEST_DOCUMENT {
        let refusal = if size == 0 { Refusal::Empty } else { Refusal::TooLarge { size } };
        return Ok(Err(NoDocument::Refused(refusal)));
    }
    let bytes = fs::read(path)?;
    let answer = inspector.inspect(&bytes).await?;
    let sha256 = sha256_of(&bytes);
    let printed = if folder.rules.read_pages() { Some(inspector.printed(&bytes).await?) } else { None };
    let takes_placeholders = folder.rules.check_print.placeholder != Attention::Hold;
    let mut is_placeholder = false;
    let answer = match answer {
        Inspection::Doubtful { pages, doubt: Doubt::Placeholder } if takes_placeholders => {
            is_placeholder = true;
            Inspection::Pages(pages)
        }
        other @ (Inspection::Pages(_)
        | Inspection::OtherPaper { .. }
        | Inspection::Doubtful { .. }
        | Inspection::Doubt(_)) => other,
    };
    let found = |pages, sha256, paper| Found {
        name: name_of(path),
        size,
        pages,
        sha256,
        paper,
        is_placeholder,
        printed,
    };
    Ok(match answer {
        Inspection::Pages(pages) => Ok(found(pages, sha256, OtherPaper::default())),
        Inspection::OtherPaper { pages, paper } => Ok(found(pages, sha256, paper)),
        Inspection::Doubtful { doubt, pages } => Err(NoDocument::Doubtful(Doubtful { doubt, pages, sha256 })),
        Inspection::Doubt(doubt) => Err(NoDocument::Refused(Refusal::Pdf(doubt))),
    })
}

type ReadSidecar = Result<crate::domain::rules::Sidecar, String>;

fn sidecar_of(folder: &Folder, file: &Path) -> anyhow::Result<Option<ReadSidecar>> {
    let name = file.file_name().unwrap_or_default().as_bytes();
    let lies = |form: &[u8]| file.with_file_name(OsStr::from_bytes(form)).exists();
    let beside = sidecars_in_any_form(name, lies);
    let beside = beside.iter().map(|name| file.with_file_name(OsStr::from_bytes(name)));
    let inside = INSIDE.map(|name| file.join(name));
    for path in if file.is_dir() { inside.to_vec() } else { beside.collect() } {
        if path.is_file() {
            return Ok(Some(folder.sidecar(&path.display().to_string(), fs::read(&path)?)));
        }
    }
    Ok(None)
}

fn as_json(explained: &Explained, folder: &Folder, file: &Path, number: Number) -> anyhow::Result<Value> {
    let file = showable(&file.display().to_string());
    let (documents, explanation) = match explained {
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
        "pages": documents.iter().map(|document| document.pages).collect::<Vec<_>>(),
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
    let line = |text: String| super::say(&text);
    line(format!("{}: folder {}", showable(&file.display().to_string()), folder.name))?;
    let (documents, explanation) = match explained {
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
    let pages: Vec<String> = documents.iter().map(|document| document.pages.to_string()).collect();
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

pub(super) fn refused(folder: &Folder, refusal: &Refusal) -> String {
    let said = folder.language.refusal(refusal);
    format!("  rejected: {} {}", said.cause, said.remedy)
}

pub(super) fn held(folder: &Folder, waiting: &Waiting) -> String {
    let said = folder.language.waiting(waiting, &folder.names);
    format!("  held: {} {}", said.cause, said.remedy)
}
