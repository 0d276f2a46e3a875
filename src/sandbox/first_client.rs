//! The account and client with which a sandbox begins.
//!
//! The world keeps only the secret's hash. With `--data` the credentials are also stored beside the data,
//! readable by the owner only, so that a later start can show them again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::service::{Service, throw};
use super::start::{Options, StartError};
use super::world::{AccountId, Card, Chosen, ClientId, Reply, Request, World};
use crate::base::secret::Secret;

type FirstClient = (ClientId, Option<Secret>);

/// Makes sure that there is a first client, with its secret unless only its hash is left.
pub(super) async fn ready(service: &Arc<Service>, options: &Options) -> Result<FirstClient, StartError> {
    let account = first_account(service).await?;
    if let Some(card) = options.card {
        service.call(Request::SetCard { account: account.clone(), card }).await?;
    }
    let file = options.data.as_ref().map(|dir| dir.join("first-client.json"));
    let remembered = file.as_deref().map(recall).unwrap_or_default();
    let (chosen, call) =
        match service.look(|world, _| decide(world, &account, options.client.as_ref(), remembered)) {
            Decision::FirstClient(known) => return Ok(known),
            Decision::Call(chosen, call) => (chosen, *call),
        };
    if let Some(file) = &file {
        // Written before the world has only the hash, so that a crash in between does not lose the secret;
        // and beside the old credentials, so that a refusal does not lose those.
        write(&unsettled(file), &chosen).map_err(|error| StartError::Secret(file.clone(), error))?;
    }
    let reply = service.call(call).await?;
    if let Reply::Screen(refusal) = reply {
        return Err(StartError::Client(refusal));
    }
    let Reply::ClientIssued { id, secret } = reply else {
        return Err(StartError::Unexpected(Box::new(reply)));
    };
    if let Some(file) = file {
        fs::rename(unsettled(&file), &file).map_err(|error| StartError::Secret(file, error))?;
    }
    Ok((id, Some(secret)))
}

async fn first_account(service: &Arc<Service>) -> Result<AccountId, StartError> {
    let first = service.look(|world, _| world.first_account().map(|account| account.id.clone()));
    if let Some(account) = first {
        return Ok(account);
    }
    let open = Request::OpenAccount { name: "Sandbox account".to_owned(), card: Card::Ok };
    let reply = service.call(open).await?;
    let Reply::AccountOpened(account) = reply else {
        return Err(StartError::Unexpected(Box::new(reply)));
    };
    Ok(account)
}

enum Decision {
    FirstClient(FirstClient),
    /// This call will make these credentials valid.
    Call(Chosen, Box<Request>),
}

fn decide(
    world: &World,
    account: &AccountId,
    asked: Option<&(String, Secret)>,
    remembered: Vec<Remembered>,
) -> Decision {
    let valid = |id: &str, secret: &str| world.client(id).is_some_and(|client| client.secret_is(secret));
    if let Some((id, secret)) = asked {
        let chosen = Chosen { id: ClientId::new(id.as_str()), secret: secret.clone() };
        return if valid(id, secret.expose()) {
            Decision::FirstClient((chosen.id, Some(chosen.secret)))
        } else if world.client(id).is_some() {
            let (client, secret) = (chosen.id.clone(), Some(chosen.secret.clone()));
            Decision::Call(chosen, Box::new(Request::ReissueSecret { client, chosen: secret }))
        } else {
            issue(account, chosen)
        };
    }
    let mut remembered = remembered.into_iter();
    if let Some(known) = remembered.find(|known| valid(&known.client_id, &known.client_secret)) {
        return Decision::FirstClient((
            ClientId::new(known.client_id),
            Some(Secret::new(known.client_secret)),
        ));
    }
    match world.clients_of(account).min_by_key(|client| client.issued_at) {
        Some(client) => Decision::FirstClient((client.id.clone(), None)),
        None => issue(account, Chosen::drawn(throw())),
    }
}

fn issue(account: &AccountId, chosen: Chosen) -> Decision {
    let (account, name) = (account.clone(), "First client".to_owned());
    let call = Request::IssueClient { account, name, terms_agreed: true, chosen: Some(chosen.clone()) };
    Decision::Call(chosen, Box::new(call))
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    client_id: String,
    client_secret: String,
}

/// The path of credentials written before it is known whether they will be valid.
fn unsettled(file: &Path) -> PathBuf {
    file.with_extension("next.json")
}

/// Credentials that may be valid, the likelier ones first.
fn recall(file: &Path) -> Vec<Remembered> {
    let read = |path: &Path| serde_json::from_slice(&fs::read(path).ok()?).ok();
    [read(file), read(&unsettled(file))].into_iter().flatten().collect()
}

fn write(file: &Path, chosen: &Chosen) -> io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let credentials =
        Remembered { client_id: chosen.id.to_string(), client_secret: chosen.secret.expose().to_owned() };
    let mut options = fs::OpenOptions::new();
    options.options_mut().mode(0o600);
    let mut writing = options.write(true).create(true).truncate(true).open(file)?;
    writing.write_all(&serde_json::to_vec(&credentials)?)?;
    writing.sync_all()
}
