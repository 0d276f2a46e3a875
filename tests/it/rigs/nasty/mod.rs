//! Something between the client and the sandbox that spoils answers: what a service, or the network before
//! it, does on a bad day.

mod answers;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use answers::spoilt;

/// The calls of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Token,
    Account,
    Create,
    Upload,
    Read,
    Confirm,
    Cancel,
}

impl Call {
    pub const ALL: [Self; 7] =
        [Self::Token, Self::Account, Self::Create, Self::Upload, Self::Read, Self::Confirm, Self::Cancel];

    fn of(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        match (method, segments.as_slice()) {
            ("POST", ["auth", "token"]) => Some(Self::Token),
            ("GET", ["v1", "account"]) => Some(Self::Account),
            ("POST", ["v1", "mails"]) => Some(Self::Create),
            ("POST", ["upload"]) => Some(Self::Upload),
            ("GET", ["v1", "mails", _]) => Some(Self::Read),
            ("POST", ["v1", "mails", _, "confirm"]) => Some(Self::Confirm),
            ("POST", ["v1", "mails", _, "cancel"]) => Some(Self::Cancel),
            _others => None,
        }
    }
}

/// What happens to a call. `After`: the service did its work, and its answer is spoilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// The connection ends before anything was done.
    Closed,
    ClosedAfter,
    /// It is ended so that what was on its way is lost.
    ResetAfter,
    /// An answer of this status and no more.
    Status(u16),
    /// The same after the work.
    StatusAfter(u16),
    /// 429 with `Retry-After`.
    TooMany,
    /// A gateway's page, as if all were well.
    Page,
    Redirect,
    /// The answer's head without its body.
    EmptyAfter,
    /// Half of the answer's body.
    CutAfter,
    /// The body is no JSON.
    NoJsonAfter,
    /// An id that leads elsewhere.
    EvilId,
    /// The head comes a byte at a time.
    SlowHeadAfter,
    /// A body that has no end.
    Endless,
    /// A little body that says it is compressed: ten megabytes of blanks.
    Bomb,
    /// Nothing was done when the connection ended; it is done when [`Nasty::deliver_late`] says so.
    Late,
    /// No answer, for ever.
    Silent,
    SilentAfter,
}

impl Wrong {
    pub const ALL: [Self; 23] = [
        Self::Closed,
        Self::ClosedAfter,
        Self::ResetAfter,
        Self::Status(400),
        Self::Status(401),
        Self::Status(403),
        Self::Status(404),
        Self::Status(500),
        Self::Status(503),
        Self::Status(504),
        Self::StatusAfter(200),
        Self::StatusAfter(204),
        Self::StatusAfter(502),
        Self::TooMany,
        Self::Page,
        Self::Redirect,
        Self::EmptyAfter,
        Self::CutAfter,
        Self::NoJsonAfter,
        Self::EvilId,
        Self::SlowHeadAfter,
        Self::Endless,
        Self::Bomb,
    ];

    /// Each costs the client its patience.
    pub fn is_slow(self) -> bool {
        self == Self::SlowHeadAfter || self == Self::Endless
    }
}

/// What becomes of each call.
type Script = Arc<Mutex<Box<dyn FnMut(Call) -> Option<Wrong> + Send>>>;

pub struct Nasty {
    pub address: SocketAddr,
    script: Script,
    /// Requests that are on their way still.
    late: Arc<Mutex<Vec<Vec<u8>>>>,
    to: Arc<OnceLock<SocketAddr>>,
    /// How many bytes a body without an end had when the client hung up, at most.
    pub swallowed: Arc<AtomicU64>,
    /// How many calls were spoilt.
    pub spoilt: Arc<AtomicU64>,
    /// Whether a caller ever said that it takes compressed answers.
    pub decompresses: Arc<AtomicBool>,
    /// Told when a call has come, and been done or not, that is never answered.
    pub silent: Arc<Notify>,
}

impl Nasty {
    /// Listens; where it passes on to is said by [`Nasty::leads_to`].
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let nasty = Self {
            address: listener.local_addr().unwrap(),
            script: Arc::new(Mutex::new(Box::new(|_call| None))),
            late: Arc::default(),
            to: Arc::default(),
            swallowed: Arc::default(),
            spoilt: Arc::default(),
            decompresses: Arc::default(),
            silent: Arc::default(),
        };
        let between = Between {
            script: Arc::clone(&nasty.script),
            late: Arc::clone(&nasty.late),
            swallowed: Arc::clone(&nasty.swallowed),
            spoilt: Arc::clone(&nasty.spoilt),
            decompresses: Arc::clone(&nasty.decompresses),
            silent: Arc::clone(&nasty.silent),
            to: Arc::clone(&nasty.to),
        };
        tokio::spawn(async move {
            while let Ok((line, _)) = listener.accept().await {
                let between = between.clone();
                tokio::spawn(async move {
                    // Whatever ends it is seen by the client.
                    drop(between.serve(line).await);
                });
            }
        });
        nasty
    }

    /// The sandbox that it stands before.
    pub fn leads_to(&self, service: SocketAddr) {
        self.to.set(service).unwrap();
    }

    fn service(&self) -> SocketAddr {
        *self.to.get().unwrap()
    }

    /// The next so many of these calls are spoilt.
    pub fn spoil(&self, call: Call, wrong: Wrong, mut times: u32) {
        self.decide(move |next| {
            let so = next == call && times > 0;
            times -= u32::from(so);
            so.then_some(wrong)
        });
    }

    /// Asked of every call.
    pub fn decide(&self, script: impl FnMut(Call) -> Option<Wrong> + Send + 'static) {
        *self.script.lock().unwrap() = Box::new(script);
    }

    pub fn be_well(&self) {
        self.decide(|_call| None);
    }

    /// What was on its way arrives; nobody hears what is answered. Says how much it was.
    pub async fn deliver_late(&self) -> usize {
        let late = std::mem::take(&mut *self.late.lock().unwrap());
        for request in &late {
            passed_on(request, self.service()).await.unwrap();
        }
        late.len()
    }
}

/// One request of a connection, with its body.
async fn request(line: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if line.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
        while bytes.len() < end + 4 + length {
            if line.read_buf(&mut bytes).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        return Ok(bytes);
    }
}

/// The same request, after which the service hangs up; and its whole answer.
async fn passed_on(request: &[u8], to: SocketAddr) -> io::Result<Vec<u8>> {
    let line_end = request.windows(2).position(|two| two == b"\r\n").unwrap() + 2;
    let mut there = TcpStream::connect(to).await?;
    there.write_all(&request[..line_end]).await?;
    there.write_all(b"connection: close\r\n").await?;
    there.write_all(&request[line_end..]).await?;
    let mut answer = Vec::new();
    there.read_to_end(&mut answer).await?;
    Ok(answer)
}

/// What stands between client and service.
#[derive(Clone)]
struct Between {
    script: Script,
    late: Arc<Mutex<Vec<Vec<u8>>>>,
    swallowed: Arc<AtomicU64>,
    spoilt: Arc<AtomicU64>,
    decompresses: Arc<AtomicBool>,
    silent: Arc<Notify>,
    to: Arc<OnceLock<SocketAddr>>,
}

impl Between {
    async fn serve(&self, mut line: TcpStream) -> io::Result<()> {
        let request = request(&mut line).await?;
        let to = *self.to.get().unwrap();
        let first =
            String::from_utf8_lossy(request.split(|byte| *byte == b'\r').next().unwrap()).into_owned();
        if String::from_utf8_lossy(&request).to_ascii_lowercase().contains("\r\naccept-encoding:") {
            self.decompresses.store(true, Ordering::Relaxed);
        }
        let wrong = Call::of(&first).and_then(|call| (self.script.lock().unwrap())(call));
        let Some(wrong) = wrong else {
            let answer = passed_on(&request, to).await?;
            line.write_all(&answer).await?;
            return line.shutdown().await;
        };
        self.spoilt.fetch_add(1, Ordering::Relaxed);
        if wrong == Wrong::Late {
            self.late.lock().unwrap().push(request);
            return line.shutdown().await;
        }
        spoil(&mut line, &request, to, wrong, self).await?;
        line.shutdown().await
    }
}

async fn spoil(
    line: &mut TcpStream,
    request: &[u8],
    to: SocketAddr,
    wrong: Wrong,
    between: &Between,
) -> io::Result<()> {
    match wrong {
        Wrong::Silent | Wrong::SilentAfter => {
            if wrong == Wrong::SilentAfter {
                passed_on(request, to).await?;
            }
            between.silent.notify_one();
            std::future::pending().await
        }
        Wrong::ResetAfter => {
            let answer = passed_on(request, to).await?;
            // Half of the head, and then nothing that was on its way arrives for sure.
            line.write_all(&answer[..answer.len().min(20)]).await?;
            line.set_zero_linger()
        }
        Wrong::SlowHeadAfter => {
            for byte in passed_on(request, to).await? {
                line.write_all(&[byte]).await?;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            Ok(())
        }
        Wrong::Endless => {
            line.write_all(b"HTTP/1.1 200 x\r\ncontent-type: application/json\r\n\r\n[").await?;
            let mut sent = 0;
            while line.write_all(&[b' '; 4096]).await.is_ok() {
                sent += 4096;
                between.swallowed.fetch_max(sent, Ordering::Relaxed);
            }
            Ok(())
        }
        Wrong::Closed
        | Wrong::ClosedAfter
        | Wrong::Status(_)
        | Wrong::StatusAfter(_)
        | Wrong::TooMany
        | Wrong::Page
        | Wrong::Redirect
        | Wrong::EmptyAfter
        | Wrong::CutAfter
        | Wrong::NoJsonAfter
        | Wrong::EvilId
        | Wrong::Bomb
        | Wrong::Late => line.write_all(&spoilt(request, to, wrong).await?).await,
    }
}
