//! `mailchute submit`: straight into the spool, the way of every letter; with `--folder` a drop.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use fs_err as fs;

use super::WrongWords;
use super::config::ConfigPath;
use super::wait::{self, Subject, Until};
use crate::base::clock::Clock;
use crate::config::{self, Config};
use crate::domain::drop::{Refusal, showable};
use crate::domain::letter::{
    Color, Document, Duplex, LARGEST_DOCUMENT, Method, Order, Print, Shipping, ShippingOption, Staple,
};
use crate::outside::pdf::Inspector;
use crate::outside::spool::{Spool, Ulid, sha256_of};
use crate::outside::store::{Bell, Desk, Home};
use crate::words::texts::Language;

/// How long to wait for the daemon to give the letter its number.
const NUMBER_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);
const LONGEST_NAME: usize = 200;

/// Post PDFs as one letter, or drop them into a folder
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// The documents of the letter, in their order: 1 to 10
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Drop them into this folder, by whose rules they are posted; with --to as their sidecar
    #[arg(long, value_name = "NAME", conflicts_with_all = ["from", "account", "method", "options", "color", "sides", "staple", "bind"])]
    folder: Option<String>,
    /// The receiver's address
    #[arg(long, value_name = "ADDRESS.yaml", required_unless_present = "folder")]
    to: Option<PathBuf>,
    /// The sender's address
    #[arg(long, value_name = "ADDRESS.yaml", required_unless_present = "folder")]
    from: Option<PathBuf>,
    /// The account that pays (default: the only one)
    #[arg(long)]
    account: Option<String>,
    #[arg(long, value_enum, default_value = "normal")]
    method: MethodWord,
    /// With the method `normal`, each at most once
    #[arg(long = "option", value_enum, value_name = "OPTION")]
    options: Vec<OptionWord>,
    /// In colour instead of grey
    #[arg(long)]
    color: bool,
    #[arg(long, value_enum, default_value = "double")]
    sides: SidesWord,
    /// Staple each document at the top left
    #[arg(long, conflicts_with = "bind")]
    staple: bool,
    /// Bind each document as a book
    #[arg(long)]
    bind: bool,
    /// Wait until it is a letter, or until it has shipped, and show the result
    #[arg(long, value_enum, value_name = "UNTIL", num_args = 0..=1, require_equals = true, default_missing_value = "admitted")]
    wait: Option<Until>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum MethodWord {
    Normal,
    LetterpackLite,
    LetterpackPlus,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SidesWord {
    Double,
    Single,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum OptionWord {
    Express,
    Trackable,
    SimpleRegistered,
    NormalRegistered,
}

impl Arguments {
    fn shipping(&self) -> Shipping {
        let method = match self.method {
            MethodWord::Normal => Method::Normal,
            MethodWord::LetterpackLite => Method::LetterpackLite,
            MethodWord::LetterpackPlus => Method::LetterpackPlus,
        };
        let option = |word: &OptionWord| match word {
            OptionWord::Express => ShippingOption::Express,
            OptionWord::Trackable => ShippingOption::Trackable,
            OptionWord::SimpleRegistered => ShippingOption::SimpleRegistered,
            OptionWord::NormalRegistered => ShippingOption::NormalRegistered,
        };
        Shipping { method, options: self.options.iter().map(option).collect() }
    }

    fn print(&self) -> Print {
        Print {
            color: if self.color { Color::Color } else { Color::Grayscale },
            duplex: match self.sides {
                SidesWord::Double => Duplex::Double,
                SidesWord::Single => Duplex::Single,
            },
            staple: self.staple.then_some(Staple::TopLeft),
            bind: self.bind,
        }
    }

    fn account(&self, config: &Config) -> Result<String, WrongWords> {
        let names: Vec<&str> = config.accounts.iter().map(|account| account.name.as_str()).collect();
        match (&self.account, names.as_slice()) {
            (Some(name), names) if names.contains(&name.as_str()) => Ok(name.clone()),
            (None, [only]) => Ok((*only).to_owned()),
            (Some(_) | None, names) => {
                Err(WrongWords(format!("which account pays? --account takes one of: {}", names.join(", "))))
            }
        }
    }
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = arguments.place.config()?;
    if let Some(folder) = &arguments.folder {
        let after = Ulid::new(Clock::system().now())?;
        let names = super::drop_in::run(&config, folder, &arguments.files, arguments.to.as_deref())?;
        let Some(until) = arguments.wait else { return Ok(()) };
        let dropped = |name| Subject::Drop { folder: folder.clone(), name, after: after.clone() };
        return wait::wait(&config.state, names.into_iter().map(dropped).collect(), until).await;
    }
    let (Some(to), Some(from)) = (&arguments.to, &arguments.from) else {
        return Err(WrongWords("--to and --from are needed".to_owned()).into());
    };
    let inspector = Inspector::of_this_program()?;
    let mut bytes = Vec::new();
    let mut documents = Vec::new();
    for path in &arguments.files {
        let (document, content) = read(&inspector, path, arguments.print()).await?;
        documents.push(document);
        bytes.push(content);
    }
    let order = Order {
        account: arguments.account(&config)?,
        source: "submit".to_owned(),
        shipping: arguments.shipping(),
        sender: config::read_address(from)?,
        receiver: config::read_receiver(to)?,
        reply_letterpack: None,
        not_before: None,
        sealed_pdf: false,
        cost_centre: None,
        print_notes: Vec::new(),
        place_doubt: None,
        documents,
    };
    let problems: Vec<String> = order.problems().iter().map(ToString::to_string).collect();
    if !problems.is_empty() {
        return Err(WrongWords(format!("it can't be posted like this:\n  {}", problems.join("\n  "))).into());
    }
    let home = Home::make(&config.state)?;
    let ulid = Ulid::new(Clock::system().now())?;
    let spool = Spool::open(&home.spool())?;
    spool.put(&ulid, &order, &bytes).context("it is not certain that it was taken in")?;
    if let Err(moved) = Home::make(&config.state)
        && spool.take_back(&ulid)?
    {
        return Err(moved).context("it was not taken in");
    }
    if let Some(until) = arguments.wait {
        Bell::ring(&home);
        return wait::wait(&config.state, vec![Subject::Entry(ulid)], until).await;
    }
    // From here on it is taken in, and a failure must not look as if it were not.
    let number = if Bell::ring(&home) { number(&config.state, &ulid).await.unwrap_or(None) } else { None };
    let text = number.map_or_else(
        || "taken in; it gets its number when `mailchute run` admits it".to_owned(),
        |number| format!("letter {number}"),
    );
    drop(super::say(&text));
    Ok(())
}

async fn read(inspector: &Inspector, path: &Path, print: Print) -> anyhow::Result<(Document, Vec<u8>)> {
    let size = fs::metadata(path)?.len();
    if size > LARGEST_DOCUMENT {
        let file = path.display();
        return Err(
            WrongWords(format!("{file}: {size} bytes; at most {LARGEST_DOCUMENT} can be posted")).into()
        );
    }
    let bytes = fs::read(path)?;
    let pages = inspector.pages(&bytes).await?.map_err(|doubt| {
        let said = Language::En.refusal(&Refusal::Pdf(doubt));
        WrongWords(format!("{}: {} {}", path.display(), said.cause, said.remedy))
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let document = Document {
        name: showable(&name).chars().take(LONGEST_NAME).collect(),
        size: bytes.len() as u64,
        pages,
        sha256: sha256_of(&bytes),
        print,
    };
    Ok((document, bytes))
}

/// The number that the daemon gives it, if it does so soon.
async fn number(state: &Path, ulid: &Ulid) -> anyhow::Result<Option<crate::domain::letter::Number>> {
    let desk = Desk::open(state)?;
    let deadline = tokio::time::Instant::now() + NUMBER_WITHIN;
    while tokio::time::Instant::now() < deadline {
        if let Some(number) = desk.number_of(ulid.as_str())? {
            return Ok(Some(number));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(None)
}
