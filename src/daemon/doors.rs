//! The ways in of a configuration's queues: beside the status page, and on sockets.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use tokio::task::JoinSet;

use crate::base::tasks::panicked;
use crate::config::{Listen, Queue, Way};
use crate::daemon::door::{Door, Served};
use crate::daemon::listening::{PROGRAMS, Tells, listening};
use crate::daemon::mailbox::WatchedMailbox;
use crate::daemon::printer::{Printer, Printers};
use crate::daemon::taking::{Inside, Taking};
use crate::outside::journal;

#[derive(Debug)]
pub struct Doors {
    beside_status: Option<Router>,
    /// The queue, its socket, and what is served there.
    own: Vec<(String, PathBuf, Router)>,
    printers: Vec<Printers>,
    mailboxes: Vec<WatchedMailbox>,
}

impl Doors {
    /// Records the queues, reads their tokens, and reports those that are closed.
    pub async fn of(inside: &Inside, queues: Vec<Queue>) -> anyhow::Result<Self> {
        let known: Vec<(String, String)> = queues
            .iter()
            .map(|queue| Ok((queue.name.clone(), queue.identity()?)))
            .collect::<anyhow::Result<_>>()?;
        for (n, (name, hash)) in known.iter().enumerate() {
            let same = known[..n].iter().find(|(_, other)| other == hash);
            anyhow::ensure!(
                same.is_none(),
                "the queues `{}` and `{name}` have the same token, or the same mailbox: give each its own",
                same.map_or("", |(other, _)| other)
            );
        }
        inside.store.know_queues(known).await?;
        let taking = Arc::new(Taking::new(inside.clone()));
        let (mut beside, mut own, mut mailboxes) = (Vec::new(), Vec::new(), Vec::new());
        let mut sockets: BTreeMap<PathBuf, Vec<Printer>> = BTreeMap::new();
        for queue in queues {
            if !inside.store.is_queue_open(&queue.name)? {
                journal::queue_closed(&queue.name);
            }
            match queue.way.clone() {
                Way::Http(http) => {
                    let name = queue.name.clone();
                    let served = Served::of(queue, &http)?;
                    match http.socket {
                        None => beside.push(served),
                        Some(socket) => {
                            let door = Door::of(Arc::clone(&taking), vec![served]);
                            own.push((name, socket, door.routes()));
                        }
                    }
                }
                Way::Imap(mail) => mailboxes.push(WatchedMailbox::of(Arc::clone(&taking), queue, *mail)?),
                Way::Print(print) => {
                    sockets.entry(print.socket.clone()).or_default().push(Printer::of(queue, &print));
                }
            }
        }
        let beside_status = (!beside.is_empty()).then(|| Door::of(Arc::clone(&taking), beside).routes());
        let printers = sockets
            .into_iter()
            .map(|(socket, queues)| Printers { taking: Arc::clone(&taking), socket, queues })
            .collect();
        Ok(Self { beside_status, own, printers, mailboxes })
    }

    /// What is served where the status is.
    pub fn beside_status(&mut self) -> Option<Router> {
        self.beside_status.take()
    }

    /// Serves those with sockets of their own, and mailboxes, until it is dropped.
    pub async fn serve(self) {
        let tells = Tells { served: |_| {}, failed: journal::no_door };
        let mut serving = JoinSet::new();
        for (name, socket, routes) in self.own {
            journal::door_served(&name, &socket);
            serving.spawn(listening(Listen::Socket(socket), routes, PROGRAMS, tells));
        }
        for printers in self.printers {
            serving.spawn(printers.serve());
        }
        for mailbox in self.mailboxes {
            serving.spawn(mailbox.serve());
        }
        resume_unwind(panicked(&mut serving).await.into_panic());
    }
}
