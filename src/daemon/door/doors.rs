//! The doors of a configuration: beside the status page, and on sockets of their own.

use std::path::PathBuf;

use axum::Router;
use tokio::task::JoinSet;

use super::{Door, Inside};
use crate::config::{Listen, Queue};
use crate::daemon::listening::{PROGRAMS, Tells, listening};
use crate::outside::journal;

#[derive(Debug)]
pub struct Doors {
    beside_status: Option<Router>,
    /// The queue, its socket, and what is served there.
    own: Vec<(String, PathBuf, Router)>,
}

impl Doors {
    /// Records the queues, reads their tokens, and reports those that are closed.
    pub async fn of(inside: &Inside, queues: Vec<Queue>) -> anyhow::Result<Self> {
        let known: Vec<(String, String)> = queues
            .iter()
            .map(|queue| Ok((queue.name.clone(), queue.token_hash()?)))
            .collect::<anyhow::Result<_>>()?;
        for (n, (name, hash)) in known.iter().enumerate() {
            let same = known[..n].iter().find(|(_, other)| other == hash);
            anyhow::ensure!(
                same.is_none(),
                "the queues `{}` and `{name}` have the same token: give each its own",
                same.map_or("", |(other, _)| other)
            );
        }
        inside.store.know_queues(known).await?;
        let (mut beside, mut own) = (Vec::new(), Vec::new());
        for queue in queues {
            if !inside.store.is_queue_open(&queue.name)? {
                journal::queue_closed(&queue.name);
            }
            match queue.socket.clone() {
                None => beside.push(queue),
                Some(socket) => {
                    let name = queue.name.clone();
                    own.push((name, socket, Door::of(inside.clone(), vec![queue])?.routes()));
                }
            }
        }
        let beside_status =
            if beside.is_empty() { None } else { Some(Door::of(inside.clone(), beside)?.routes()) };
        Ok(Self { beside_status, own })
    }

    /// What is served where the status is.
    pub fn beside_status(&mut self) -> Option<Router> {
        self.beside_status.take()
    }

    /// Serves those with sockets of their own until it is dropped.
    pub async fn serve(self) {
        let tells = Tells { served: |_| {}, failed: journal::no_door };
        let mut serving = JoinSet::new();
        for (name, socket, routes) in self.own {
            journal::door_served(&name, &socket);
            serving.spawn(listening(Listen::Socket(socket), routes, PROGRAMS, tells));
        }
        while serving.join_next().await.is_some() {}
    }
}
