//! Starts a sandbox: storage, the first account and client, the listener, the keeper of time.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use fs_err as fs;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::blobs::Blobs;
use super::data::{Data, DataError, Halted, Held};
use super::places::{Places, Welcome};
use super::scenario::Scenario;
use super::service::{Beginning, Keeping, Service, first_world};
use super::world::{Card, ClientId, Reply, Request, ScreenRefusal};
use super::{first_client, guard, routes, server};
use crate::base::clock::{self, Clock, ClockError, Pace, Time};
use crate::base::secret::Secret;
use crate::outside::pdf::Inspector;

#[derive(Debug, Clone)]
pub struct Options {
    pub listen: SocketAddr,
    /// The address in answers and links, if it differs from the one listened on.
    pub origin: Option<String>,
    /// The data directory. `None`: in memory.
    pub data: Option<PathBuf>,
    pub pace: Pace,
    /// Id and secret of the first client. Drawn if missing.
    pub client: Option<(String, Secret)>,
    /// What the first account's card does. If missing: as before, or working.
    pub card: Option<Card>,
    pub patience: Patience,
    /// A mail that is read shows only the fields that the contract promises.
    pub is_sparse: bool,
    pub bounds: MemoryBounds,
    /// What happens from the start on.
    pub scenario: Scenario,
    /// What draws pages for people. `None`: they are not shown.
    pub inspector: Option<Inspector>,
    /// A font for text whose own font is not in the PDF.
    pub page_font: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            origin: None,
            data: None,
            pace: Pace::Real,
            client: None,
            card: None,
            patience: Patience::default(),
            is_sparse: false,
            bounds: MemoryBounds::default(),
            scenario: Scenario::default(),
            inspector: None,
            page_font: None,
        }
    }
}

/// What is kept at most without a data directory. Beyond it, letters that have ended are forgotten, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct MemoryBounds {
    pub letters: usize,
    pub document_bytes: usize,
}

impl Default for MemoryBounds {
    /// Documents may take a quarter of the machine's memory.
    fn default() -> Self {
        let system = rustix::system::sysinfo();
        let memory = system.totalram.saturating_mul(u64::from(system.mem_unit));
        Self { letters: 100_000, document_bytes: usize::try_from(memory / 4).unwrap_or(usize::MAX) }
    }
}

/// The time limits for slow callers.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a request's head, and for the next request on a connection.
    pub head: Duration,
    /// For a request's body.
    pub body: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { head: Duration::from_mins(1), body: Duration::from_mins(1) }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(
        "can't listen on {0}; is another program using the port? `--listen 127.0.0.1:0` picks a free one"
    )]
    Listen(SocketAddr, #[source] io::Error),
    #[error("the sandbox's data in {0} can't be opened")]
    Data(PathBuf, #[source] DataError),
    #[error("the uploaded PDFs in {0} can't be opened")]
    Blobs(PathBuf, #[source] io::Error),
    #[error("the first client's secret can't be kept in {0}")]
    Secret(PathBuf, #[source] io::Error),
    #[error("the first client can't be as asked for: {0}")]
    Client(ScreenRefusal),
    #[error("the first account and client could not be made: {0:?}")]
    Unexpected(Box<Reply>),
    #[error("the scenario's clock can't be set")]
    Clock(#[from] ClockError),
    #[error(transparent)]
    Halted(#[from] Halted),
}

/// A sandbox that serves until it is told to stop.
#[derive(Debug)]
pub struct Running {
    pub welcome: Welcome,
    /// The address on which it listens.
    pub address: SocketAddr,
    service: Arc<Service>,
    serving: JoinHandle<()>,
}

impl Running {
    /// Its clock, for others that must follow the same time.
    pub fn clock(&self) -> Clock {
        self.service.clock.clone()
    }

    /// Returns when the sandbox has stopped. An error if it could not continue.
    pub async fn wait(self) -> Result<(), Halted> {
        let outcome = tokio::select! {
            _ = self.serving => Ok(()),
            () = self.service.halted() => Err(Halted),
        };
        if outcome.is_ok() {
            // The time is stored with the rest.
            self.service.call(Request::PassTime).await?;
        }
        self.service.close().await;
        outcome
    }
}

pub async fn start(
    options: Options,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<Running, StartError> {
    let listener = TcpListener::bind(options.listen).await;
    let listener = listener.map_err(|error| StartError::Listen(options.listen, error))?;
    let address = listener.local_addr().map_err(|error| StartError::Listen(options.listen, error))?;
    let places = Places::at(&options.origin.clone().unwrap_or_else(|| origin_of(address)));

    let named = options.scenario.now.filter(|_| options.pace == Pace::ByHand);
    let first = named.map_or_else(|| Ok(Utc::now()), clock::beginning)?;
    let (keeping, shown) = open(options.data.as_deref(), options.bounds, first)?;
    // Time never goes back here, not even over a restart with a fast clock.
    let now = match options.pace {
        Pace::Real | Pace::Times(_) => shown.max(Utc::now()),
        Pace::ByHand => shown,
    };
    let clock = Clock::starting_at(now, options.pace);
    let service = Arc::new(Service::new(keeping, clock, places.clone(), &options));
    let (client_id, client_secret) = first_client::ready(&service, &options).await?;
    begin(&service, &options, &client_id, client_secret.as_ref())?;

    let keeper = tokio::spawn(Arc::clone(&service).keep_time());
    let router = routes::all(&service, guard::OwnAddress::new(address.ip(), &places.base_url));
    let serve = server::serve(listener, router, Arc::clone(&service), stop);
    let serving = tokio::spawn(async move {
        serve.await;
        keeper.abort();
    });
    Ok(Running { welcome: Welcome { places, client_id, client_secret }, address, service, serving })
}

/// Orders what the scenario says, and remembers what a reset brings back.
fn begin(
    service: &Arc<Service>,
    options: &Options,
    client: &ClientId,
    secret: Option<&Secret>,
) -> Result<(), StartError> {
    // A sandbox that is started again with the same scenario may be past it.
    if let Some(now) = options.scenario.now.filter(|now| *now > service.clock.now()) {
        service.clock.move_to(now)?;
    }
    let card = service.look(|world, _| world.first_account().map(|account| account.card));
    let beginning = Beginning {
        client: client.clone(),
        secret: secret.cloned(),
        card: card.unwrap_or(Card::Ok),
        faults: options.scenario.faults.clone(),
    };
    service.order(&beginning.faults, true);
    // It is set here only.
    let _ = service.beginning.set(beginning);
    Ok(())
}

/// "Every interface" is not an address to call, so this machine's own is used.
fn origin_of(mut address: SocketAddr) -> String {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    format!("http://{address}")
}

/// The initial content, and the time that the clock shows or would show by now. New content begins at `first`.
fn open(dir: Option<&Path>, bounds: MemoryBounds, first: Time) -> Result<(Keeping, Time), StartError> {
    let fresh = || first_world(first);
    let Some(dir) = dir else {
        let world = fresh();
        let now = world.now();
        let blobs = Blobs::in_memory(bounds.document_bytes);
        return Ok((Keeping { world, entries: Vec::new(), blobs, data: None }, now));
    };
    let (data, Held { world, entries, now }) =
        Data::open(dir, fresh).map_err(|error| StartError::Data(dir.to_owned(), error))?;
    let pdfs = dir.join("pdf");
    let blobs = Blobs::in_directory(pdfs.clone(), &world).map_err(|error| StartError::Blobs(pdfs, error))?;
    // The new names must survive a power cut as well.
    let names = [Some(dir), dir.parent().filter(|parent| !parent.as_os_str().is_empty())];
    for dir in names.into_iter().flatten() {
        let synced = fs::File::open(dir).and_then(|dir| dir.sync_all());
        synced.map_err(|error| StartError::Data(dir.to_owned(), error.into()))?;
    }
    Ok((Keeping { world, entries, blobs, data: Some(data) }, now))
}
