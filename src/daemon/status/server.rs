//! The status over HTTP: always on a socket that only the service's user can use; if configured, also on an
//! address of this machine or on a socket for a proxy. It only reads.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use chrono_tz::Tz;
use tokio::sync::Mutex;

use super::{Live, Pictures, answers, socket};
use crate::base::clock::Clock;
use crate::config::Listen;
use crate::daemon::listening::{PROGRAMS, READERS, Tells, listening};
use crate::outside::api::Meter;
use crate::outside::journal;
use crate::words::texts::Language;

/// Where the facts come from, and how people read them.
#[derive(Clone)]
pub struct Source {
    pub state: PathBuf,
    pub clock: Clock,
    pub meter: Meter,
    pub live: Arc<dyn Fn() -> Live + Send + Sync>,
    /// For a browser that names none.
    pub language: Language,
    pub zone: Tz,
    pub show_names: bool,
    /// Pictures of letters, if people may see them.
    pub pictures: Option<Arc<Pictures>>,
    /// Only one caller reads the records at a time.
    pub turn: Arc<Mutex<()>>,
}

const TELLS: Tells = Tells { served: journal::status_served, failed: journal::no_status };

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Serves until it is dropped. Each listener is independent: a port that is taken is tried again, and
/// commands can ask all the same. `beside` is what is served on the configured one too.
pub async fn serve(source: Source, listen: Option<Listen>, beside: Option<Router>) {
    // The state directory lets nobody else in.
    let private = Listen::Socket(socket(&source.state));
    let routes = answers::routes(source);
    let (all, callers) = match beside {
        Some(beside) => (routes.clone().merge(beside), PROGRAMS),
        None => (routes.clone(), READERS),
    };
    let configured = async {
        if let Some(listen) = listen {
            listening(listen, all, callers, TELLS).await;
        }
    };
    tokio::join!(listening(private, routes, READERS, TELLS), configured);
}
