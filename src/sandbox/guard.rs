//! Protects the pages and controls from other web sites. They have no log-in, and a browser on this machine
//! could carry a stranger's request here.
//!
//! A form or script must come from this very origin. On loopback the service answers only to an IP address or
//! `localhost`, so that no stranger's name can be pointed at it.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

#[derive(Debug, Clone)]
pub(super) struct OwnAddress {
    loopback: bool,
    /// Host and port in the addresses that it gives out.
    authority: String,
}

impl OwnAddress {
    pub(super) fn new(listening: IpAddr, origin: &str) -> Self {
        let authority = origin.split_once("://").map_or(origin, |(_, authority)| authority);
        Self { loopback: listening.is_loopback(), authority: authority.to_owned() }
    }

    fn accepts(&self, headers: &HeaderMap) -> bool {
        let Some(host) = text(headers, header::HOST) else { return false };
        let named = !self.loopback || host == self.authority || address(host).is_some() || is_localhost(host);
        let origin = text(headers, header::ORIGIN);
        let from_here =
            origin.is_none_or(|origin| origin.split_once("://").is_some_and(|(_, it)| it == host));
        named && from_here
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

fn address(host: &str) -> Option<IpAddr> {
    without_port(host).trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_localhost(host: &str) -> bool {
    let name = without_port(host).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

pub(super) async fn only_from_here(State(here): State<OwnAddress>, request: Request, next: Next) -> Response {
    if here.accepts(request.headers()) {
        return next.run(request).await;
    }
    let why = "This sandbox's pages and controls answer only to its own address and its own pages.\n";
    (StatusCode::FORBIDDEN, why).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        origin.map(|origin| headers.insert(header::ORIGIN, origin.parse().unwrap()));
        OwnAddress::new([127, 0, 0, 1].into(), "https://sandbox.example").accepts(&headers)
    }

    #[test]
    fn only_this_address_and_this_origin() {
        assert!(accepts("127.0.0.1:8460", None));
        assert!(accepts("localhost:8460", Some("http://localhost:8460")));
        assert!(accepts("[::1]:8460", None));
        assert!(accepts("sandbox.example", Some("https://sandbox.example")));
        assert!(!accepts("evil.example:8460", None));
        assert!(!accepts("127.0.0.1:8460", Some("http://evil.example")));
        assert!(!accepts("127.0.0.1:8460", Some("null")));
        assert!(!accepts("localhost.evil.example", None));
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "other.example".parse().unwrap());
        assert!(OwnAddress::new([0, 0, 0, 0].into(), "http://127.0.0.1").accepts(&headers));
    }
}
