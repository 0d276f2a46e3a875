//! The backend as CUPS starts it, and a backend that can lose its answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mailchute::outside::printing::{PrintAnswer, PrintCall, PrintJob};

use crate::rigs::mailroom::Mailroom;

/// A job of a printing system.
#[derive(Debug, Clone)]
pub struct Printed {
    pub uuid: String,
    pub title: String,
    pub copies: u32,
    pub bytes: Vec<u8>,
}

impl Printed {
    pub fn new(uuid: &str, title: &str, bytes: Vec<u8>) -> Self {
        Self { uuid: uuid.to_owned(), title: title.to_owned(), copies: 1, bytes }
    }
}

/// Writes the file of the printer `post` into the folder `letters`. `more` are more lines of its `print`.
pub fn printer(room: &Mailroom, more: &str) {
    let dir = room.dir.path().join("queues");
    std::fs::create_dir_all(&dir).unwrap();
    // Whoever runs the tests may print.
    let user = std::fs::metadata(room.dir.path()).unwrap().uid();
    let text = format!("into: letters\nprint:\n  socket: ../print.sock\n  users: ['{user}']\n{more}");
    std::fs::write(dir.join("post.yaml"), text).unwrap();
}

pub fn socket(room: &Mailroom) -> PathBuf {
    room.dir.path().join("print.sock")
}

/// How the backend ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub said: String,
}

/// The backend, not started yet.
pub fn backend(room: &Mailroom, job: &Printed) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mailchute"));
    let options = format!("finishings=3 job-uuid=urn:uuid:{} job-originating-host-name=localhost", job.uuid);
    command
        .arg0(format!("mailchute://post{}", socket(room).display()))
        .args(["17", "taro", &job.title, &job.copies.to_string(), &options])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Runs the backend to its end.
pub async fn print(room: &Mailroom, job: &Printed) -> Ended {
    run(backend(room, job), job.bytes.clone()).await
}

pub async fn run(mut command: Command, bytes: Vec<u8>) -> Ended {
    let ran = tokio::task::spawn_blocking(move || {
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        child.wait_with_output().unwrap()
    });
    let output = ran.await.unwrap();
    Ended { code: output.status.code().unwrap(), said: String::from_utf8(output.stderr).unwrap() }
}

/// Hands a job in, and hears the answer. If `is_seen`, it says so to the daemon.
pub async fn handed_in(room: &Mailroom, job: &Printed, run: &str, is_seen: bool) -> PrintAnswer {
    let (socket, job, run) = (socket(room), job.clone(), run.to_owned());
    tokio::task::spawn_blocking(move || hand_in(&socket, &job, &run, is_seen)).await.unwrap()
}

fn hand_in(socket: &Path, job: &Printed, run: &str, is_seen: bool) -> PrintAnswer {
    let mut stream = BufReader::new(UnixStream::connect(socket).unwrap());
    let call = PrintCall::Job(PrintJob {
        printer: "post".to_owned(),
        uuid: job.uuid.clone(),
        run: run.to_owned(),
        title: job.title.clone(),
        copies: job.copies,
        size: job.bytes.len() as u64,
    });
    let line = format!("{}\n", serde_json::to_string(&call).unwrap());
    stream.get_mut().write_all(line.as_bytes()).unwrap();
    let hear = |stream: &mut BufReader<UnixStream>| -> PrintAnswer {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let answer = hear(&mut stream);
    if answer != PrintAnswer::Send {
        return answer;
    }
    stream.get_mut().write_all(&job.bytes).unwrap();
    let answer = hear(&mut stream);
    if is_seen {
        stream.get_mut().write_all(b"seen\n").unwrap();
        assert_eq!(hear(&mut stream), PrintAnswer::Noted);
    }
    answer
}

/// What the daemon says to lines that no backend sends. Empty if it ends the conversation.
pub async fn heard(room: &Mailroom, bytes: &[u8]) -> String {
    let (socket, bytes) = (socket(room), bytes.to_vec());
    let heard = tokio::task::spawn_blocking(move || {
        let mut stream = UnixStream::connect(socket).unwrap();
        let _ = stream.write_all(&bytes);
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut heard = String::new();
        let _ = stream.read_to_string(&mut heard);
        heard
    });
    heard.await.unwrap()
}
