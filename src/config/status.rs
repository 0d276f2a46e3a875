//! Where the status is served over HTTP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::page::ReadFile;
use super::problem::Problem;
use super::yaml;

/// Where the status is served besides commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusSettings {
    pub listen: Listen,
    /// Whether receivers' names are shown.
    pub show_names: bool,
    /// Whether envelopes and first pages are shown.
    pub show_pages: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    Address(SocketAddr),
    Socket(PathBuf),
}

pub(super) fn build(written: &ReadFile<yaml::Main>, problems: &mut Vec<Problem>) -> Option<StatusSettings> {
    let section = written.value.status.as_ref()?;
    let path = ["status", "listen"];
    let settings = StatusSettings {
        listen: Listen::Socket(PathBuf::from(&section.listen)),
        show_names: section.show_names,
        show_pages: section.show_pages,
    };
    if Path::new(&section.listen).is_absolute() {
        return Some(settings);
    }
    if section.show_pages {
        let help =
            "listen on the path of a socket, and let a proxy with a log-in serve people; or take it out";
        let what = "pages are shown only on a socket: whoever is on this machine could read all letters";
        problems.push(written.wrong(&["status", "show_pages"], what, help));
    }
    let mut wrong = |what, help| problems.push(written.wrong(&path, what, help));
    match section.listen.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => {
            Some(StatusSettings { listen: Listen::Address(address), ..settings })
        }
        Ok(_) => {
            let help = "listen on 127.0.0.1, and let a proxy with a log-in serve others";
            wrong("other machines could read it, and there is no log-in", help);
            None
        }
        Err(_) => {
            let what = "expected an address and a port, or the path of a socket";
            wrong(what, "write it as `127.0.0.1:8461` or `/run/mailchute-page/socket`");
            None
        }
    }
}
