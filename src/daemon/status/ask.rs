//! A command asks the daemon for the status.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::{Facts, socket};

/// A daemon that answers at all answers soon.
const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST: u64 = 4 << 20;

/// `None` if no daemon is running.
pub fn ask(state: &Path) -> io::Result<Option<Facts>> {
    let mut line = match UnixStream::connect(socket(state)) {
        Ok(line) => line,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::ConnectionRefused
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    line.set_read_timeout(Some(PATIENCE))?;
    line.set_write_timeout(Some(PATIENCE))?;
    line.write_all(b"GET /status.json HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    let mut answer = Vec::new();
    line.take(LONGEST).read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(answer.len(), |end| end + 4);
    if !answer.starts_with(b"HTTP/1.0 200") && !answer.starts_with(b"HTTP/1.1 200") {
        return Err(io::Error::other("the daemon can't report its status; its journal says why"));
    }
    Ok(Some(serde_json::from_slice(&answer[end..])?))
}
