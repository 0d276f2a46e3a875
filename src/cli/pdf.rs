//! `mailchute pdf`: what was sealed and printed, from the service.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use super::config::ConfigPath;
use crate::base::clock::Clock;
use crate::domain::letter::Number;
use crate::outside::api::Client;

/// Fetch the sealed PDF of a letter's document from the service
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    #[arg(value_name = "N", value_parser = super::read_number)]
    letter: Number,
    /// The number of the document
    #[arg(long, value_name = "D", default_value_t = 1)]
    document: usize,
    /// Where to write it (default: N-D.pdf here)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = arguments.place.config()?;
    let number = arguments.letter;
    let letter = arguments.place.desk()?.letter(number)?;
    let letter = letter.with_context(|| format!("there is no letter {number}"))?;
    let Some(mail) = letter.state.mail() else {
        bail!("letter {number} is {}: the service has nothing sealed of it", letter.state.word());
    };
    let Some(index) = arguments.document.checked_sub(1).filter(|index| *index < letter.order.documents.len())
    else {
        bail!("letter {number} has {} document(s)", letter.order.documents.len());
    };
    let account = config.accounts.iter().find(|account| account.name == letter.order.account);
    let account =
        account.with_context(|| format!("account {} is not in the configuration", letter.order.account))?;
    let client =
        Client::new(account.places.clone(), account.credentials()?, config.patience, Clock::system())?;
    let fetched = client.pdf(mail, index).await;
    client.revoke().await;
    let bytes = fetched.map_err(|failure| anyhow::anyhow!("{failure}"))?;
    let path = arguments.output.unwrap_or_else(|| format!("{}-{}.pdf", number.0, arguments.document).into());
    let mut file = fs_err::File::create_new(&path).context("it is not overwritten")?;
    std::io::Write::write_all(&mut file, &bytes)?;
    super::say(&format!("{} bytes in {}", bytes.len(), path.display()))?;
    Ok(())
}
