//! The world with what it does not contain: a clock, randomness, storage and scripted faults.
//!
//! Every route uses [`Service::call`]. It returns the answer only when the answer's content is durable. A
//! call runs to its end even if the caller has disconnected.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Notify, Semaphore, watch};

use super::blobs::Blobs;
use super::calls::Calls;
use super::data::{Batch, Data, Halted};
use super::faults::{Order, Script};
use super::finding::Texts;
use super::happened::Ledger;
use super::pages::PageAlbum;
use super::places::Places;
use super::world::{
    BlobId, Card, ClientId, Dice, Effects, Entry, Reading, Received, Reply, Request, StoreError,
};
use super::world::{Stored, UploadFields, World, sha256_hex};
use crate::base::clock::Clock;
use crate::base::secret::Secret;
use crate::outside::pdf::Album;

/// Each may hold ten megabytes.
const UPLOADS_AT_ONCE: usize = 64;
const DRAWINGS_AT_ONCE: usize = 4;
/// Open pages beyond that fetch themselves again after some seconds instead.
const LISTENERS: usize = 64;
/// How long a PDF may take to read.
const READING: Duration = Duration::from_secs(10);
/// The ledger keeps this number of entries for each letter that may be kept in memory.
const ENTRIES_A_LETTER: usize = 20;

#[derive(Debug)]
pub(super) struct Service {
    state: Mutex<State>,
    blobs: Blobs,
    data: Option<Data>,
    /// Notified whenever the next due time may have changed.
    changed: Notify,
    /// The number of uploads in memory at the same time.
    pub(super) uploads: Semaphore,
    pub(super) clock: Clock,
    pub(super) faults: Mutex<Script>,
    pub(super) calls: Mutex<Calls>,
    pub(super) texts: Mutex<Texts>,
    /// Open pages that may hear of changes.
    pub(super) listeners: Arc<Semaphore>,
    /// Counts whatever a page may show anew. `None`: the sandbox ends.
    pub(super) live: watch::Sender<Option<u64>>,
    /// What is there again after a reset.
    pub(super) beginning: OnceLock<Beginning>,
    pub(super) places: Places,
    pub(super) patience: super::Patience,
    pub(super) is_sparse: bool,
    /// Pictures of pages, if they are shown.
    pub(super) pages: Option<PageAlbum>,
    /// The number of PDFs in memory to be drawn at the same time.
    pub(super) drawings: Semaphore,
    /// Only programs and people of this machine reach it.
    pub(super) is_for_this_machine: bool,
    bounds: super::MemoryBounds,
}

/// The first client, its card, and what was ordered at the start.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) client: ClientId,
    /// `None` if only its hash is left.
    pub(super) secret: Option<Secret>,
    pub(super) card: Card,
    pub(super) faults: Vec<Order>,
}

#[derive(Debug)]
struct State {
    world: World,
    ledger: Ledger,
    /// The number of batches given to the writer.
    submitted: u64,
}

/// Where a service stores its data.
pub(super) struct Keeping {
    pub(super) world: World,
    pub(super) entries: Vec<Entry>,
    pub(super) blobs: Blobs,
    pub(super) data: Option<Data>,
}

impl Service {
    pub(super) fn new(keeping: Keeping, clock: Clock, places: Places, options: &super::Options) -> Self {
        let ledger = Ledger::new(keeping.entries);
        Self {
            state: Mutex::new(State { world: keeping.world, ledger, submitted: 0 }),
            blobs: keeping.blobs,
            data: keeping.data,
            changed: Notify::new(),
            uploads: Semaphore::new(UPLOADS_AT_ONCE),
            clock,
            faults: Mutex::default(),
            calls: Mutex::default(),
            texts: Mutex::default(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            live: watch::Sender::new(Some(0)),
            beginning: OnceLock::new(),
            places,
            patience: options.patience,
            is_sparse: options.is_sparse,
            drawings: Semaphore::new(DRAWINGS_AT_ONCE),
            pages: options
                .inspector
                .clone()
                .map(|inspector| Album::new(inspector, options.page_font.clone(), usize::MAX)),
            is_for_this_machine: options.listen.ip().is_loopback() && options.origin.is_none(),
            bounds: options.bounds,
        }
    }

    pub(super) async fn call(self: &Arc<Self>, request: Request) -> Result<Reply, Halted> {
        let service = Arc::clone(self);
        // A task of its own: a caller that disconnects must not leave the work half done.
        tokio::spawn(async move { service.perform(request).await }).await.unwrap_or(Err(Halted))
    }

    /// Checks the form first, so that no stranger's file is read or kept. Then keeps the bytes, so that a
    /// stored upload never lacks them.
    pub(super) async fn upload(self: &Arc<Self>, fields: UploadFields, file: Bytes) -> Result<Reply, Halted> {
        let service = Arc::clone(self);
        let work = async move {
            if let Err(refusal) = service.check(&fields, file.len() as u64) {
                return Ok(Reply::StoreError(refusal));
            }
            let stored = examine(&file).await;
            service.make_room(file.len()).await;
            if let Err(error) = service.blobs.put(&stored.blob, file).await {
                tracing::error!(error = &error as &dyn std::error::Error, "an upload can't be stored");
                return Ok(Reply::StoreError(StoreError::Internal));
            }
            service.perform(Request::Upload { fields, file: Received::Kept(stored) }).await
        };
        tokio::spawn(work).await.unwrap_or(Err(Halted))
    }

    /// The verdict on the form's signature and policy. Nothing is done.
    pub(super) fn check(&self, fields: &UploadFields, size: u64) -> Result<(), StoreError> {
        let now = self.clock.now();
        self.look(|world, _| world.signer().check_upload(&fields.0, size, now.max(world.now()))).map(drop)
    }

    async fn perform(&self, request: Request) -> Result<Reply, Halted> {
        let ticket;
        let (reply, effects) = {
            let mut state = self.lock();
            let moves_time = matches!(request, Request::PassTime);
            let (reply, effects) = state.world.handle(request, self.clock.now(), throw());
            ticket = self.submit(&mut state, &effects, moves_time);
            (reply, effects)
        };
        self.durable(ticket).await?;
        self.settle(&effects).await;
        self.keep_within_memory().await;
        if !effects.changed.is_empty() {
            self.changed.notify_one();
            self.stir();
        }
        Ok(reply)
    }

    /// Hands over what changed. Returns the latest number to wait for even if nothing changed, because a
    /// reader must not see what a crash could still undo.
    fn submit(&self, state: &mut State, effects: &Effects, moves_time: bool) -> u64 {
        if effects.begins_anew {
            state.ledger = Ledger::default();
        }
        let first = state.ledger.count;
        for entry in &effects.entries {
            state.ledger.push(entry.clone());
        }
        let Some(data) = &self.data else {
            state.ledger.keep_newest(self.bounds.letters * ENTRIES_A_LETTER);
            return 0;
        };
        if !effects.changed.is_empty() || !effects.entries.is_empty() || moves_time || effects.begins_anew {
            state.submitted += 1;
            data.submit(Batch {
                number: state.submitted,
                now: state.world.now(),
                pace: self.clock.pace(),
                begins_anew: effects.begins_anew,
                records: effects.changed.iter().map(|key| (key.clone(), state.world.record(key))).collect(),
                entries: (first + 1..).zip(effects.entries.iter().cloned()).collect(),
            });
        }
        state.submitted
    }

    /// Forgets letters that have ended, oldest first, until a file of this size fits into memory.
    async fn make_room(&self, size: usize) {
        while !self.blobs.has_room_for(size) {
            if !self.forget_oldest().await {
                return;
            }
        }
    }

    /// What is only in memory must not grow for ever.
    async fn keep_within_memory(&self) {
        while self.data.is_none() && self.look(|world, _| world.mail_count()) > self.bounds.letters {
            if !self.forget_oldest().await {
                return;
            }
        }
    }

    /// Returns false if every letter may still change.
    async fn forget_oldest(&self) -> bool {
        let forgotten = {
            let mut state = self.lock();
            let forgotten = state.world.forget_oldest();
            if let Some((mail, _)) = &forgotten {
                state.ledger.forget(mail);
            }
            forgotten
        };
        let Some((_, blobs)) = forgotten else { return false };
        self.settle(&Effects { discarded: blobs, ..Effects::default() }).await;
        true
    }

    async fn durable(&self, ticket: u64) -> Result<(), Halted> {
        match &self.data {
            Some(data) => data.durable(ticket).await,
            None => Ok(()),
        }
    }

    async fn settle(&self, effects: &Effects) {
        for blob in &effects.sealed {
            if let Err(error) = self.blobs.seal(blob).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "a sealed PDF stays writable");
            }
        }
        for blob in &effects.discarded {
            if let Err(error) = self.blobs.discard(blob).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "a discarded PDF stays on disk");
            }
        }
    }

    /// The bytes of a document, if they are what was uploaded.
    pub(super) async fn document(&self, blob: &BlobId, sha256: &str) -> Option<Bytes> {
        match self.blobs.read(blob).await {
            Ok(bytes) if sha256_hex(&bytes) == sha256 => Some(bytes),
            Ok(_) => {
                tracing::error!("a stored PDF is not the one that was uploaded");
                None
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a stored PDF can't be read");
                None
            }
        }
    }

    /// Reads the world for a caller. What is shown is durable by then.
    pub(super) async fn show<T>(&self, read: impl FnOnce(&World, &Ledger) -> T) -> Result<T, Halted> {
        let (seen, ticket) = {
            let state = self.lock();
            (read(&state.world, &state.ledger), state.submitted)
        };
        self.durable(ticket).await.map(|()| seen)
    }

    /// Reads the world and its ledger for the service itself.
    pub(super) fn look<T>(&self, read: impl FnOnce(&World, &Ledger) -> T) -> T {
        let state = self.lock();
        read(&state.world, &state.ledger)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass when nobody calls: deletes at `confirm_by`, ships, charges.
    pub(super) async fn keep_time(self: Arc<Self>) {
        loop {
            let next = self.look(|world, _| world.next_due());
            let changed = self.changed.notified();
            match next.and_then(|due| self.clock.real_wait(due)) {
                Some(wait) => {
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {
                            if self.call(Request::PassTime).await.is_err() {
                                return;
                            }
                        }
                        () = changed => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// Somebody moved the clock.
    pub(super) fn time_moved(&self) {
        self.changed.notify_one();
        self.stir();
    }

    /// Pages show something else from now on.
    pub(super) fn stir(&self) {
        self.live.send_modify(|count| *count = count.map(|count| count + 1));
    }

    /// Ends what waits for changes.
    pub(super) fn ends(&self) {
        self.live.send_replace(None);
    }

    /// Called after the last answer.
    pub(super) async fn close(self: &Arc<Self>) {
        let service = Arc::clone(self);
        let closing = move || service.data.as_ref().map(Data::close);
        if tokio::task::spawn_blocking(closing).await.is_err() {
            tracing::error!("the sandbox's data were not closed");
        }
    }

    /// Returns when the data directory cannot be written any more.
    pub(super) async fn halted(&self) {
        match &self.data {
            Some(data) => data.halted().await,
            None => std::future::pending().await,
        }
    }
}

/// Hashes a file and reads it as a PDF on a thread of its own. A file that takes too long, or makes the
/// reader panic, is not readable.
async fn examine(file: &Bytes) -> Stored {
    let (hashed, read) = (file.clone(), file.clone());
    let sha256 = tokio::task::spawn_blocking(move || sha256_hex(&hashed));
    let reading = tokio::time::timeout(READING, tokio::task::spawn_blocking(move || super::pdf::read(&read)));
    let (sha256, reading) = tokio::join!(sha256, reading);
    let reading = match reading {
        Ok(Ok(reading)) => reading,
        Ok(Err(_)) => Reading::Unreadable("the file is not readable as PDF".to_owned()),
        Err(_) => Reading::Unreadable("the file takes too long to read".to_owned()),
    };
    let blob = BlobId::new(throw().name(super::blobs::PREFIX, 0));
    Stored { blob, size: file.len() as u64, sha256: sha256.unwrap_or_default(), reading }
}

/// Fresh randomness from the operating system. Without it nothing here could be secret.
pub(super) fn throw() -> Dice {
    let mut entropy = [0; 32];
    match getrandom::fill(&mut entropy) {
        Ok(()) => Dice::new(entropy),
        Err(error) => panic!("the operating system gives no random numbers: {error}"),
    }
}

pub(super) fn first_world(now: crate::base::clock::Time) -> World {
    World::new(super::world::Signer::drawn(throw()), now)
}
