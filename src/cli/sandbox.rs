//! `mailchute sandbox`.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;

use super::WrongWords;
use super::stop::Stop;
use crate::base::clock::Pace;
use crate::base::secret::Secret;
use crate::config::usual_font;
use crate::outside::pdf::Inspector;
use crate::sandbox::world::Card;
use crate::sandbox::{self, Options, Scenario, Welcome};

/// Run the whole print-and-post service for trials and tests: nothing is printed, posted or charged
///
/// The first line on standard output is one JSON object with every address, `client_id` and `client_secret`;
/// it comes when the service listens. On a terminal it is four lines for people instead. docs/sandbox.md has a
/// walk-through with curl.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8460")]
    listen: SocketAddr,
    /// The address under which clients reach it, if not the one it listens on: `http://sandbox:8460`
    #[arg(long, value_name = "URL", value_parser = read_origin)]
    origin: Option<String>,
    /// Keep everything in this directory, across restarts (default: in memory)
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// `real` (the default), `manual` (moved by the control API), or a factor such as `x60`
    #[arg(long, value_name = "CLOCK")]
    clock: Option<Pace>,
    /// Credentials of the first client (default: drawn). Other users of this machine can see them here
    #[arg(long, value_name = "ID:SECRET", value_parser = read_client)]
    client: Option<(String, Secret)>,
    /// What the account's credit card does: `ok`, `declining`, `none`
    #[arg(long, value_name = "CARD", value_parser = read_card)]
    card: Option<Card>,
    /// Faults, card and clock from the start on, as docs/sandbox.md shows them; options here count more
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// A mail that is read shows only the fields that the contract promises
    #[arg(long)]
    sparse: bool,
    /// A font for pictures of pages whose own font is not in the PDF (default: that of fonts-noto-cjk, if it is there)
    #[arg(long, value_name = "FILE")]
    page_font: Option<PathBuf>,
    /// Write the JSON line on a terminal, too
    #[arg(long)]
    json: bool,
    /// Listen where other machines can reach it
    #[arg(long)]
    i_know_this_is_not_a_real_service: bool,
}

const ORIGIN: &str = "write http://HOST:PORT or https://HOST, without a path";

fn read_client(text: &str) -> Result<(String, Secret), String> {
    match text.split_once(':') {
        Some((id, secret)) if !id.is_empty() && !secret.is_empty() => {
            Ok((id.to_owned(), Secret::new(secret)))
        }
        Some(_) | None => Err("write ID:SECRET, both not empty".to_owned()),
    }
}

fn read_origin(text: &str) -> Result<String, String> {
    let uri: axum::http::Uri = text.parse().map_err(|_| ORIGIN.to_owned())?;
    let plain = matches!(uri.scheme_str(), Some("http" | "https"))
        && uri.path_and_query().is_none_or(|rest| rest == "/")
        && !text.ends_with('/')
        && uri.authority().is_some_and(|authority| {
            let port = authority.as_str().rsplit_once(':').is_none_or(|_| authority.port_u16().is_some());
            !authority.as_str().contains('@') && (port || authority.as_str().ends_with(']'))
        });
    if plain { Ok(text.to_owned()) } else { Err(ORIGIN.to_owned()) }
}

fn read_card(text: &str) -> Result<Card, String> {
    match text {
        "ok" => Ok(Card::Ok),
        "declining" => Ok(Card::Declining),
        "none" => Ok(Card::None),
        _ => Err("write ok, declining or none".to_owned()),
    }
}

/// Where to look and what to type.
fn for_people(welcome: &Welcome) -> String {
    let Welcome { places, client_id, client_secret } = welcome;
    let secret = client_secret.as_ref().map_or_else(
        || format!("was reissued and is not known any more; {} issues another", places.account_url),
        |secret| secret.expose().to_owned(),
    );
    format!(
        "Look   {}  (its first page has lines to paste that post a letter)\n\
         Call   {}/v1, with a token from {}/token\n\
         With   client_id {client_id}, client_secret {secret}\n\
         Stop   Ctrl-C",
        places.inbox_url, places.base_url, places.auth_url
    )
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    if !arguments.listen.ip().is_loopback() && !arguments.i_know_this_is_not_a_real_service {
        return Err(WrongWords(format!(
            "{} can be reached by other machines, and the sandbox has no protection against them; \
             listen on 127.0.0.1, or add --i-know-this-is-not-a-real-service",
            arguments.listen
        ))
        .into());
    }
    let scenario = arguments.scenario.as_deref().map(Scenario::read).transpose();
    let scenario =
        scenario.map_err(|error| WrongWords(format!("{:#}", anyhow::Error::new(error))))?.unwrap_or_default();
    let stop = Stop::on_signals().context("signals can't be received")?;
    let options = Options {
        listen: arguments.listen,
        origin: arguments.origin,
        data: arguments.data,
        pace: arguments.clock.or(scenario.clock).unwrap_or(Pace::Real),
        client: arguments.client,
        card: arguments.card.or(scenario.card),
        scenario,
        is_sparse: arguments.sparse,
        inspector: Some(Inspector::of_this_program().context("pages can't be drawn")?),
        page_font: arguments.page_font.or_else(usual_font),
        ..Options::default()
    };
    let running = sandbox::start(options, stop.asked()).await.context("the sandbox can't start")?;
    let is_for_people = std::io::stdout().is_terminal() && !arguments.json;
    let first = if is_for_people { for_people(&running.welcome) } else { running.welcome.to_json()? };
    super::say(&first).context("the first line can't be written")?;
    Ok(running.wait().await?)
}
