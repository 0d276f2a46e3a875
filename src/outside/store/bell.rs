//! How a command wakes the daemon: a socket that carries no data. What must be done is in the database.

use std::io;
use std::os::unix::net::UnixDatagram as Knocker;

use tokio::net::UnixDatagram;

use super::Home;

#[derive(Debug)]
pub struct Bell(UnixDatagram);

impl Bell {
    /// The daemon's end. The holder of the state directory's lock may replace an old one.
    pub fn hang(home: &Home) -> io::Result<Self> {
        let path = home.bell();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        UnixDatagram::bind(path).map(Self)
    }

    /// Resolves at the next ring. Several at the same time count as one.
    pub async fn rung(&self) {
        let mut nothing = [0; 16];
        if self.0.recv(&mut nothing).await.is_ok() {
            while self.0.try_recv(&mut nothing).is_ok() {}
        }
    }

    /// Rings. Returns whether a daemon is listening.
    pub fn ring(home: &Home) -> bool {
        Knocker::unbound().is_ok_and(|knocker| knocker.send_to(&[1], home.bell()).is_ok())
    }
}
