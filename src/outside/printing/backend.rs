//! The backend of CUPS: this program under the name `mailchute` in CUPS' directory of backends. It hands a job's
//! document to the daemon, and says to CUPS what became of it.
//!
//! Until the daemon has noted that the answer arrived, the job can be handed in again and is the same. After that
//! a job that comes again was printed again by somebody, and is held.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGTERM};
use signal_hook::iterator::Signals;

use super::job::{SCHEME, Started, wrong_with};
use super::{LONGEST_LINE, PrintAnswer, PrintCall, PrintJob, SEEN};
use crate::domain::letter::LARGEST_DOCUMENT;

/// What CUPS does with the job afterwards: it is done, the printer stops, it is cancelled, or it is run again.
const DONE: u8 = 0;
const STOP: u8 = 4;
const CANCEL: u8 = 5;
const AGAIN_LATER: u8 = 6;
/// Set in the process that does the work.
const WORKS: &str = "MAILCHUTE_BACKEND_WORKS";
/// How long to wait before the daemon is asked again.
const AGAIN: Duration = Duration::from_secs(2);
/// How often it looks meanwhile whether the job was cancelled.
const STEPS: u32 = 20;
/// The daemon answers in ten seconds, or a few more on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The state that CUPS shows beside the printer while the daemon is not there.
const CONNECTING: &str = "connecting-to-device";
/// The state that stays until the next job, when one was refused.
const REFUSED: &str = "com.mailchute.refused-warning";

/// Whether CUPS has started this process.
pub fn is_backend() -> bool {
    let mut words = env::args_os();
    let is_address = |word: &OsString| word.to_string_lossy().starts_with(SCHEME);
    let is_for_job = words.next().as_ref().is_some_and(is_address);
    // CUPS asks every backend without arguments what there is.
    is_for_job || (words.next().is_none() && env::var_os("CUPS_SERVERBIN").is_some())
}

/// Does what CUPS wants. `socket` is the usual one.
pub fn print(socket: &Path) -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    if arguments.is_empty() {
        list(socket);
        return ExitCode::from(DONE);
    }
    if env::var_os(WORKS).is_none() {
        return watch(&arguments).unwrap_or_else(|error| {
            say("ERROR", &format!("the backend can't start: {error}"));
            ExitCode::from(AGAIN_LATER)
        });
    }
    let uri = env::var("DEVICE_URI").or_else(|_| Ok(env::args().next().unwrap_or_default()));
    let job = uri.map_err(|wrong: env::VarError| wrong.to_string()).and_then(|uri| Job::of(&uri, &arguments));
    match job {
        Ok(job) => job.end(socket),
        Err(why) => {
            say("ERROR", &why);
            ExitCode::from(STOP)
        }
    }
}

/// Lets a process of its own do the work, and says to CUPS how that ended. CUPS takes a backend that is killed for one
/// that has done its work, and the job would be gone. The killed one is not this one, which is small and only waits.
fn watch(arguments: &[OsString]) -> io::Result<ExitCode> {
    let mut signals = Signals::new([SIGCHLD, SIGTERM])?;
    let name = env::args_os().next().unwrap_or_default();
    let mut worker = Command::new(env::current_exe()?);
    let mut worker = worker.arg0(name).args(arguments).env(WORKS, "1").spawn()?;
    let mut is_ended_by_us = false;
    for signal in &mut signals {
        if signal == SIGTERM && !std::mem::replace(&mut is_ended_by_us, true) {
            kill_process(Pid::from_child(&worker), Signal::TERM)?;
        }
        if let Some(status) = worker.try_wait()? {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            if code.is_none() {
                say("ERROR", "the backend was killed; CUPS runs the job again");
            }
            return Ok(ExitCode::from(code.unwrap_or(AGAIN_LATER)));
        }
    }
    Ok(ExitCode::from(AGAIN_LATER))
}

/// Says to CUPS which printers can be set up.
fn list(socket: &Path) {
    let ask = || {
        let mut daemon = Daemon::at(socket)?;
        daemon.say(&PrintCall::Printers)?;
        daemon.hear()
    };
    let printers = match ask() {
        Ok(PrintAnswer::Printers(printers)) => printers,
        Ok(_) | Err(_) => Vec::new(),
    };
    let mut out = io::stdout().lock();
    for printer in &printers {
        let name = percent_encoding::utf8_percent_encode(printer, percent_encoding::NON_ALPHANUMERIC);
        // Whoever does not read it has gone.
        let _ = writeln!(out, "network {SCHEME}{name} \"mailchute paper mail\" \"mailchute {printer}\"");
    }
    if printers.is_empty() {
        let _ = writeln!(out, "network mailchute \"Unknown\" \"mailchute paper mail\"");
    }
}

/// A job, read to its end.
struct Job {
    handed: PrintJob,
    socket: Option<PathBuf>,
    bytes: Vec<u8>,
    cancelled: Arc<AtomicBool>,
}

impl Job {
    fn of(uri: &str, arguments: &[OsString]) -> Result<Self, String> {
        let Started { printer, socket, uuid, title, copies, file } = Started::of(uri, arguments)?;
        let mut bytes = Vec::new();
        let most = LARGEST_DOCUMENT + 1;
        let read = match &file {
            Some(file) => File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes)),
            None => io::stdin().lock().take(most).read_to_end(&mut bytes),
        };
        let size = read.map_err(|error| format!("the document can't be read: {error}"))? as u64;
        if file.is_none() {
            // A filter whose reader stops is taken for one that fails.
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        }
        let mut chance = [0; 16];
        getrandom::fill(&mut chance).map_err(|error| error.to_string())?;
        let run = hex::encode(chance);
        let cancelled = Arc::<AtomicBool>::default();
        signal_hook::flag::register(SIGTERM, Arc::clone(&cancelled)).map_err(|error| error.to_string())?;
        let handed = PrintJob { printer, uuid, run, title, copies, size };
        Ok(Self { handed, socket, bytes, cancelled })
    }

    /// Hands it in until there is an answer.
    fn end(self, usual: &Path) -> ExitCode {
        state('-', REFUSED);
        let is_banner = env::var_os("CUPS_FILETYPE").is_some_and(|kind| kind == "job-sheet");
        if let Some(why) = wrong_with(&self.bytes, is_banner) {
            return refused(why);
        }
        let socket = self.socket.as_deref().unwrap_or(usual);
        let mut told = String::new();
        let mut may_be_taken = false;
        loop {
            if self.is_cancelled() {
                return cancelled(may_be_taken);
            }
            let why = match self.hand_in(socket, &mut may_be_taken) {
                Ok(PrintAnswer::Later(why)) => why,
                Ok(answer) => {
                    state('-', CONNECTING);
                    return ended(&answer);
                }
                Err(error) => {
                    format!("mailchute can't be reached at {}, and is tried again: {error}", socket.display())
                }
            };
            if why != told {
                state('+', CONNECTING);
                say("INFO", &why);
                told = why;
            }
            for _step in 0..STEPS {
                if !self.is_cancelled() {
                    std::thread::park_timeout(AGAIN / STEPS);
                }
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn hand_in(&self, socket: &Path, may_be_taken: &mut bool) -> io::Result<PrintAnswer> {
        let mut daemon = Daemon::at(socket)?;
        daemon.say(&PrintCall::Job(self.handed.clone()))?;
        let answer = daemon.hear()?;
        if answer != PrintAnswer::Send {
            return Ok(answer);
        }
        *may_be_taken = true;
        daemon.stream.get_mut().write_all(&self.bytes)?;
        let answer = daemon.hear()?;
        if matches!(answer, PrintAnswer::Letter(_) | PrintAnswer::TakenIn | PrintAnswer::Held(_)) {
            // CUPS hears it first: a backend that is killed between the two is run again and has the same answer.
            tell(&answer);
            writeln!(daemon.stream.get_mut(), "{SEEN}")?;
            daemon.hear()?;
        }
        Ok(answer)
    }
}

/// Says to CUPS what became of a job.
fn tell(answer: &PrintAnswer) {
    match answer {
        PrintAnswer::Letter(number) => say("INFO", &format!("letter #{number}")),
        PrintAnswer::TakenIn => say("INFO", "taken in; its folder says what becomes of it"),
        PrintAnswer::Held(why) => {
            say("INFO", &format!("held: {why}. Somebody decides in the folder's `Held`."));
        }
        PrintAnswer::Refused(_)
        | PrintAnswer::Later(_)
        | PrintAnswer::Printers(_)
        | PrintAnswer::Send
        | PrintAnswer::Noted => {}
    }
}

fn ended(answer: &PrintAnswer) -> ExitCode {
    match answer {
        PrintAnswer::Letter(_) | PrintAnswer::TakenIn | PrintAnswer::Held(_) => ExitCode::from(DONE),
        PrintAnswer::Refused(why) => refused(why),
        PrintAnswer::Later(_) | PrintAnswer::Printers(_) | PrintAnswer::Send | PrintAnswer::Noted => {
            say("ERROR", "the program at the socket is not this mailchute");
            ExitCode::from(STOP)
        }
    }
}

fn cancelled(may_be_taken: bool) -> ExitCode {
    state('-', CONNECTING);
    if may_be_taken {
        say("ERROR", "the job may have been handed in before it was cancelled: cancel its letter, too");
    }
    // CUPS runs no cancelled job again. Whoever else ended the backend has not cancelled the job.
    ExitCode::from(AGAIN_LATER)
}

fn refused(why: &str) -> ExitCode {
    state('+', REFUSED);
    say("ERROR", &format!("not posted: {why}"));
    ExitCode::from(CANCEL)
}

/// CUPS reads a line of standard error by its first word.
fn say(word: &str, text: &str) {
    let line = text.replace(char::is_control, " ");
    // Without CUPS nobody reads it.
    let _ = writeln!(io::stderr(), "{word}: {line}");
}

fn state(sign: char, reason: &str) {
    let _ = writeln!(io::stderr(), "STATE: {sign}{reason}");
}

/// A conversation with the daemon.
struct Daemon {
    stream: BufReader<UnixStream>,
}

impl Daemon {
    fn at(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    fn say(&mut self, call: &PrintCall) -> io::Result<()> {
        let mut line = serde_json::to_string(call)?;
        line.push('\n');
        self.stream.get_mut().write_all(line.as_bytes())
    }

    fn hear(&mut self) -> io::Result<PrintAnswer> {
        let mut line = String::new();
        (&mut self.stream).take(LONGEST_LINE).read_line(&mut line)?;
        if line.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ended the conversation"));
        }
        Ok(serde_json::from_str(&line)?)
    }
}
