//! How a command wakes the daemon: a knock without words. What is to be done stands in the database.

use std::io;
use std::os::unix::net::UnixDatagram as Knocker;

use tokio::net::UnixDatagram;

use super::Home;

#[derive(Debug)]
pub struct Bell(UnixDatagram);

impl Bell {
    /// The daemon's; whoever holds the lock of the state directory may replace an old one.
    pub fn hang(home: &Home) -> io::Result<Self> {
        let path = home.bell();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        UnixDatagram::bind(path).map(Self)
    }

    /// Resolves at the next knock; several at once count as one.
    pub async fn rung(&self) {
        let mut nothing = [0; 16];
        if self.0.recv(&mut nothing).await.is_ok() {
            while self.0.try_recv(&mut nothing).is_ok() {}
        }
    }

    /// Knocks; says whether somebody is there.
    pub fn ring(home: &Home) -> bool {
        Knocker::unbound().is_ok_and(|knocker| knocker.send_to(&[1], home.bell()).is_ok())
    }
}
