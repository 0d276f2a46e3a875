//! A process that calls a file system which may never answer.
//!
//! A call on a dead share cannot be interrupted, and a process in such a call cannot end, even if it is
//! killed. So a helper makes such calls. It holds nothing of ours but the open folder. mailchute waits for it
//! for a limited time, then gives it up, and can end and start without it. The last call may have been
//! carried out or not, as after a crash. No second helper is started for a path before the previous one has
//! ended, so nothing happens late.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::opened::{FolderFacts, Opened};
use super::operations::perform;
use super::reach::answer;
use super::wire::{Wire, malformed};
use super::{Away, Keeper};

/// The argument that makes this program a helper.
const WORD: &str = "reach-folders";
/// The maximum size of a message: a document, or the names in a directory.
const LONGEST: u64 = 1 << 30;
const OPEN: &str = "open";

/// Whether this process was started as a helper.
pub fn is_helper() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == WORD)
}

/// The helper's loop: it answers one call after another until its parent has ended.
pub fn serve() -> io::Result<()> {
    let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut folder = None;
    while let Some(message) = receive(&line)? {
        let mut from = message.as_slice();
        let name = <&str>::take(&mut from)?;
        let mut out = Vec::new();
        match (name, &folder) {
            (OPEN, _) => {
                let (path, (known, keeper)) = Wire::take(&mut from)?;
                match Opened::open(path, known, &keeper) {
                    Ok(opened) => {
                        Ok::<FolderFacts, Away>(opened.facts).put(&mut out);
                        folder = Some(opened);
                    }
                    Err(away) => Err::<FolderFacts, Away>(away).put(&mut out),
                }
            }
            (name, Some(folder)) => perform(folder, name, &mut from, &mut out)?,
            (name, None) => answer(name, &mut from, &mut out)?,
        }
        send(&line, &out)?;
    }
    // The folder's lock is released before the parent sees the end of the stream.
    drop(folder);
    Ok(())
}

fn send(mut line: &UnixStream, message: &[u8]) -> io::Result<()> {
    line.write_all(&(message.len() as u64).to_le_bytes())?;
    line.write_all(message)
}

/// The next message. `None` at the end of the stream.
fn receive(mut line: &UnixStream) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; size_of::<u64>()];
    match line.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u64::from_le_bytes(length);
    if length > LONGEST {
        return Err(malformed());
    }
    let mut message = vec![0; usize::try_from(length).unwrap_or_default()];
    line.read_exact(&mut message)?;
    Ok(Some(message))
}

/// A helper, as its parent sees it. Calls are made one after another.
pub(super) struct Helper {
    place: PathBuf,
    /// `None` after it was given up.
    running: Mutex<Option<Running>>,
    ended: Arc<Ended>,
}

struct Running {
    line: UnixStream,
    child: Child,
}

impl fmt::Debug for Helper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Helper").field("place", &self.place).finish_non_exhaustive()
    }
}

fn no_answer() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "it does not answer")
}

fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "its helper process ended")
}

impl Helper {
    /// Starts a helper for a path, unless the previous one has not ended.
    pub(super) fn start(
        program: &Path,
        place: &Path,
        patience: Duration,
        ended: &Arc<Ended>,
    ) -> io::Result<Self> {
        if !ended.is_free(place, patience) {
            return Err(no_answer());
        }
        let (line, theirs) = UnixStream::pair()?;
        line.set_read_timeout(Some(patience))?;
        line.set_write_timeout(Some(patience))?;
        let child = Command::new(program)
            .arg(WORD)
            // Shown in the list of processes.
            .arg(place)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            // A signal from the terminal must not stop the helper before mailchute.
            .process_group(0)
            .spawn()?;
        let running = Mutex::new(Some(Running { line, child }));
        Ok(Self { place: place.to_owned(), running, ended: Arc::clone(ended) })
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a call and waits for its answer. A helper that does not answer in time is given up.
    pub(super) fn ask<T>(&self, name: &str, put: impl FnOnce(&mut Vec<u8>)) -> io::Result<T>
    where
        io::Result<T>: for<'a> Wire<'a>,
    {
        self.call(name, put)?
    }

    pub(super) fn open(&self, path: &Path, known: bool, keeper: &Keeper) -> Result<FolderFacts, Away> {
        let opened: io::Result<Result<FolderFacts, Away>> = self.call(OPEN, |to| {
            path.put(to);
            known.put(to);
            keeper.put(to);
        });
        opened.map_err(Away::closed)?
    }

    fn call<T: for<'a> Wire<'a>>(&self, name: &str, put: impl FnOnce(&mut Vec<u8>)) -> io::Result<T> {
        let mut message = Vec::new();
        name.put(&mut message);
        put(&mut message);
        let mut running = self.running();
        let Some(Running { line, .. }) = &*running else { return Err(no_answer()) };
        let answer = send(line, &message).and_then(|()| receive(line)?.ok_or_else(malformed));
        match answer {
            Ok(answer) => T::take(&mut answer.as_slice()),
            Err(error) => {
                if let Some(Running { mut child, .. }) = running.take() {
                    // It ends as soon as its call returns.
                    drop(child.kill());
                    self.ended.add(EndedHelper { place: self.place.clone(), child, line: None });
                }
                let is_late = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
                Err(if is_late { no_answer() } else { ended() })
            }
        }
    }

    /// Whether it may still be called.
    pub(super) fn is_running(&self) -> bool {
        self.running().is_some()
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        if let Some(Running { line, child }) = self.running().take() {
            // The helper sees the end of the stream and closes what it has open.
            drop(line.shutdown(Shutdown::Write));
            self.ended.add(EndedHelper { place: self.place.clone(), child, line: Some(line) });
        }
    }
}

/// Helpers that are no longer called and may not have ended.
#[derive(Debug, Default)]
pub(super) struct Ended(Mutex<Vec<EndedHelper>>);

#[derive(Debug)]
struct EndedHelper {
    place: PathBuf,
    child: Child,
    /// Closed by the helper when it has released its folder. `None` if it was given up.
    line: Option<UnixStream>,
}

impl Ended {
    fn lock(&self) -> MutexGuard<'_, Vec<EndedHelper>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, gone: EndedHelper) {
        self.lock().push(gone);
    }

    /// Whether every helper of a path has ended. Waits for those that are about to end. All stay in the list meanwhile:
    /// another thread that found nothing there would start a second helper.
    fn is_free(&self, place: &Path, patience: Duration) -> bool {
        let has_ended = |gone: &mut EndedHelper| !matches!(gone.child.try_wait(), Ok(None));
        let closing: Vec<(u32, UnixStream)> = {
            let mut list = self.lock();
            list.retain_mut(|gone| gone.place == place || !has_ended(gone));
            let ours = list.iter().filter(|gone| gone.place == place);
            ours.filter_map(|gone| Some((gone.child.id(), gone.line.as_ref()?.try_clone().ok()?))).collect()
        };
        let has_let_go = |mut line: UnixStream| {
            let waits = line.set_read_timeout(Some(patience));
            waits.and_then(|()| line.read(&mut [0])).is_ok_and(|length| length == 0)
        };
        let waited: BTreeMap<u32, bool> =
            closing.into_iter().map(|(child, line)| (child, has_let_go(line))).collect();
        let mut released = Vec::new();
        let mut is_free = true;
        let mut list = self.lock();
        for mut gone in std::mem::take(&mut *list) {
            if gone.place == place {
                match waited.get(&gone.child.id()) {
                    Some(true) => {
                        released.push(gone.child);
                        continue;
                    }
                    // It does not let go.
                    Some(false) if gone.line.take().is_some() => drop(gone.child.kill()),
                    Some(false) | None => {}
                }
                if has_ended(&mut gone) {
                    continue;
                }
                is_free = false;
            }
            list.push(gone);
        }
        drop(list);
        for mut child in released {
            drop(child.wait());
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_path_is_never_free_while_its_helper_runs_however_many_ask() {
        let ended = Ended::default();
        let (stays, _ours) = UnixStream::pair().unwrap();
        for place in ["/a", "/b"] {
            // It ends when nobody writes to it any more.
            let child = Command::new("cat").stdin(OwnedFd::from(stays.try_clone().unwrap())).spawn().unwrap();
            ended.add(EndedHelper { place: place.into(), child, line: None });
        }
        let ask = |place: &'static str| {
            (0..2000).filter(|_| ended.is_free(Path::new(place), Duration::from_millis(1))).count()
        };
        let free: usize = thread::scope(|scope| {
            let asking: Vec<_> = ["/a", "/b", "/a", "/b"].map(|place| scope.spawn(move || ask(place))).into();
            asking.into_iter().map(|asking| asking.join().unwrap()).sum()
        });
        assert_eq!(free, 0);
        assert!(ended.is_free(Path::new("/c"), Duration::ZERO));
        for gone in ended.lock().iter_mut() {
            gone.child.kill().unwrap();
            gone.child.wait().unwrap();
        }
        assert!(
            ended.is_free(Path::new("/a"), Duration::ZERO) && ended.is_free(Path::new("/b"), Duration::ZERO)
        );
    }
}
