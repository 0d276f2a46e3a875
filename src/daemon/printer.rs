//! The printers: what a printing system prints is handed in at a socket. docs/design/queues.md says why it is so.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::config::{LetterKind, PrintWay, Queue};
use crate::daemon::listening::bind;
use crate::daemon::taking::{NotTaken, Offer, PIECE, StandingNow, Taking, USUAL_NAME, add, named};
use crate::domain::drop::QueueDoubt;
use crate::domain::incoming::{Enclosed, content_of};
use crate::domain::letter::LARGEST_DOCUMENT;
use crate::loops::intake::may_be_dropped;
use crate::outside::journal;
use crate::outside::printing::{LONGEST_LINE, PrintAnswer, PrintCall, PrintJob, SEEN};
use crate::outside::spool::{Draft, Ulid};
use crate::words::texts::Language;

/// Whoever may hand something in is known by its user, so that anybody may connect.
const ANYBODY: u32 = 0o666;
const AT_ONCE: usize = 16;
/// How long the next piece may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a job waits for its drop to be decided.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const BIND_AGAIN: Duration = Duration::from_secs(10);

/// A queue that is a printer.
#[derive(Debug)]
pub(super) struct Printer {
    queue: Queue,
    users: Vec<u32>,
    is_approved: bool,
}

impl Printer {
    pub(super) fn of(queue: Queue, print: &PrintWay) -> Self {
        let (users, unknown) = print.users();
        for user in unknown {
            journal::no_such_user(&queue.name, &user);
        }
        Self { queue, users, is_approved: print.is_approved }
    }
}

/// The printers of one socket.
#[derive(Debug)]
pub(super) struct Printers {
    pub(super) taking: Arc<Taking>,
    pub(super) socket: PathBuf,
    pub(super) queues: Vec<Printer>,
}

type Conversation = BufReader<UnixStream>;

impl Printers {
    /// Serves until it is dropped.
    pub(super) async fn serve(self) {
        let this = Arc::new(self);
        let places = Arc::new(Semaphore::new(AT_ONCE));
        let mut told = false;
        loop {
            match bind(&this.socket, ANYBODY) {
                Ok(listener) => this.listen(&listener, &places).await,
                Err(error) if !std::mem::replace(&mut told, true) => journal::no_door(&error),
                Err(_) => {}
            }
            sleep(BIND_AGAIN).await;
        }
    }

    async fn listen(self: &Arc<Self>, listener: &UnixListener, places: &Arc<Semaphore>) {
        for printer in &self.queues {
            journal::door_served(&printer.queue.name, &self.socket);
        }
        while let Ok(place) = Arc::clone(places).acquire_owned().await {
            let Ok((stream, _)) = listener.accept().await else { return };
            let this = Arc::clone(self);
            tokio::spawn(async move {
                // Whatever ends it is the caller's doing, and the caller tries again.
                let _ = this.converse(BufReader::new(stream)).await;
                drop(place);
            });
        }
    }

    async fn converse(&self, mut stream: Conversation) -> io::Result<()> {
        let user = stream.get_ref().peer_cred()?.uid();
        match serde_json::from_str(&line(&mut stream).await?)? {
            PrintCall::Printers => {
                let names = self.queues.iter().map(|printer| printer.queue.name.clone()).collect();
                say(&mut stream, &PrintAnswer::Printers(names)).await
            }
            PrintCall::Job(job) => match self.post(user, &job, &mut stream).await {
                Ok((ulid, answer)) => {
                    say(&mut stream, &answer).await?;
                    if line(&mut stream).await?.trim() == SEEN {
                        let noted = self.taking.inside.store.acknowledged(ulid, job.run).await;
                        noted.map_err(io::Error::other)?;
                        say(&mut stream, &PrintAnswer::Noted).await?;
                    }
                    Ok(())
                }
                Err(Unposted::Answer(answer)) => say(&mut stream, &answer).await,
                Err(Unposted::Gone(error)) => Err(error),
            },
        }
    }

    /// Takes a job's document, and waits for what is decided about it.
    async fn post(
        &self,
        user: u32,
        job: &PrintJob,
        stream: &mut Conversation,
    ) -> Result<(Ulid, PrintAnswer), Unposted> {
        let printer = self.queues.iter().find(|printer| printer.queue.name == job.printer);
        let printer = printer.ok_or_else(|| {
            let names: Vec<&str> = self.queues.iter().map(|printer| printer.queue.name.as_str()).collect();
            later(format!("there is no printer `{}`; there is: {}", job.printer, names.join(", ")))
        })?;
        // Root may do everything anyway.
        if user != 0 && !printer.users.contains(&user) {
            let file = format!("{}.yaml", printer.queue.name);
            return Err(later(format!("the user {user} may not print here: add it to `users` in {file}")));
        }
        let taking = &self.taking;
        let folder = taking.folder(&printer.queue).ok_or_else(|| {
            later(
                "the folder takes nothing in at present: its file says `accept: no`, or is not in force"
                    .into(),
            )
        })?;
        if job.copies != 1 {
            return Err(refused(format!(
                "{} copies are {} letters: print one copy, and once more for each further letter",
                job.copies, job.copies
            )));
        }
        if job.size > LARGEST_DOCUMENT {
            return Err(refused(format!(
                "it has {} bytes, and at most {LARGEST_DOCUMENT} are posted",
                job.size
            )));
        }
        let ulid = taking.new_ulid().map_err(|error| trouble(&error))?;
        let draft = taking.inside.spool.begin_incoming(&ulid).map_err(|error| trouble(&error))?;
        say(stream, &PrintAnswer::Send).await.map_err(Unposted::Gone)?;
        let name = Some(named(&job.title)).filter(|name| may_be_dropped(&folder, name.as_bytes()));
        let name = name.unwrap_or_else(|| USUAL_NAME.to_owned());
        let (draft, document) = document(stream, draft, (name.clone(), job.size)).await?;
        let documents = vec![document];
        let stem = name.strip_suffix(".pdf").unwrap_or(&name).to_owned();
        let offer = Offer {
            ulid,
            draft,
            key: hex::encode(Sha256::digest(format!("print job {}", job.uuid))),
            content: content_of(&documents, None),
            name: if folder.letter == LetterKind::Subfolder { stem } else { name },
            documents,
            sidecar: None,
            mailed: None,
        };
        let look = printer.is_approved.then_some(QueueDoubt::Printed);
        let taken = taking.take_printed(&printer.queue, offer, (&job.run, look)).await;
        let ulid = taken.map_err(|error| not_taken(&error))?;
        let deadline = Instant::now() + ANSWER_WITHIN;
        let standing = taking.decided(&ulid, deadline).await.map_err(|error| not_taken(&error.into()))?;
        Ok((ulid, answer(standing)))
    }
}

/// Why a job has no letter, no hold, and no drop that is decided later.
enum Unposted {
    Answer(PrintAnswer),
    Gone(io::Error),
}

fn later(why: String) -> Unposted {
    Unposted::Answer(PrintAnswer::Later(why))
}

fn refused(why: String) -> Unposted {
    Unposted::Answer(PrintAnswer::Refused(why))
}

fn trouble(error: &io::Error) -> Unposted {
    journal::not_taken_by_queue(error);
    later("mailchute can't write its records, and its journal says why; it is tried again".to_owned())
}

fn not_taken(error: &NotTaken) -> Unposted {
    journal::not_taken_by_queue(error);
    later("it is not certain that it was taken, and it is tried again".to_owned())
}

fn answer(standing: StandingNow) -> PrintAnswer {
    match standing {
        StandingNow::Pending => PrintAnswer::TakenIn,
        StandingNow::Refused(refusal) => PrintAnswer::Refused(Language::En.refusal(&refusal).cause),
        StandingNow::Waits(waiting) => PrintAnswer::Held(waiting.word().to_owned()),
        StandingNow::Cancelled => PrintAnswer::Refused("somebody cancelled it".to_owned()),
        StandingNow::Letter(letter) => match letter.state.hold() {
            Some(hold) => PrintAnswer::Held(hold.to_string()),
            None => PrintAnswer::Letter(letter.number.0),
        },
    }
}

/// Writes a document to the disk as it arrives.
async fn document(
    stream: &mut Conversation,
    mut draft: Draft,
    (name, size): (String, u64),
) -> Result<(Draft, Enclosed), Unposted> {
    let mut hash = Sha256::new();
    let mut left = size;
    while left > 0 {
        let mut piece = vec![0; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
        in_time(stream.read_exact(&mut piece)).await.map_err(Unposted::Gone)?;
        hash.update(&piece);
        left -= piece.len() as u64;
        draft = add(draft, piece).await.map_err(|error| trouble(&error))?;
    }
    Ok((draft, Enclosed { name, size, sha256: hex::encode(hash.finalize()) }))
}

async fn line(stream: &mut Conversation) -> io::Result<String> {
    let mut line = String::new();
    in_time(stream.take(LONGEST_LINE).read_line(&mut line)).await?;
    Ok(line)
}

async fn say(stream: &mut Conversation, answer: &PrintAnswer) -> io::Result<()> {
    let mut line = serde_json::to_string(answer)?;
    line.push('\n');
    in_time(stream.get_mut().write_all(line.as_bytes())).await
}

async fn in_time<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(PATIENCE, work).await.map_err(io::Error::from)?
}
