//! The addresses of the service, and which other addresses may be used.
//!
//! Secrets and letters need TLS, except on the loopback interface. An address from an answer is used only if
//! it is as safe as the service's own: not in a private network, unless the service itself is in one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::OnceCell;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPlace {
    #[error("`{0}` is not an address: write https://HOST/PATH")]
    NotAnAddress(String),
    #[error("`{0}` is not https; only a service on this machine may be used without TLS")]
    NotSecure(String),
    #[error("an address must not contain credentials")]
    Credentials,
    #[error("it leads into a private network")]
    Private,
}

/// The service's two base addresses.
#[derive(Debug, Clone)]
pub struct Places {
    base: Url,
    auth: Url,
    private: Arc<OnceCell<bool>>,
}

impl Places {
    pub fn new(base_url: &str, auth_url: &str) -> Result<Self, BadPlace> {
        Ok(Self { base: read(base_url)?, auth: read(auth_url)?, private: Arc::default() })
    }

    /// An address of the API. Every segment is data and is encoded.
    pub(super) fn api(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("v1").extend(segments);
        }
        url
    }

    pub(super) fn auth(&self, path: &str) -> Url {
        let mut url = self.auth.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        url
    }

    pub(super) fn base_url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// The issuer, which discovery must repeat.
    pub(super) fn issuer(&self) -> &str {
        self.auth.as_str().trim_end_matches('/')
    }

    /// An address of the authorization server from its discovery, if it is on the same server.
    pub(super) fn discovered(&self, url: &str) -> Option<Url> {
        let url = read(url).ok()?;
        (url.origin() == self.auth.origin()).then_some(url)
    }

    /// An address from an answer, for an upload or a download.
    pub(super) async fn elsewhere(&self, url: &str) -> Result<Url, BadPlace> {
        let url = read(url).map_err(|bad| match bad {
            // The address is a key to the upload, so it is not repeated.
            BadPlace::NotAnAddress(_) => BadPlace::NotAnAddress("…".to_owned()),
            BadPlace::NotSecure(_) => BadPlace::NotSecure("…".to_owned()),
            BadPlace::Credentials | BadPlace::Private => bad,
        })?;
        let private = literal(&url).is_some_and(is_private) || is_localhost(&url);
        if private && !self.are_private().await { Err(BadPlace::Private) } else { Ok(url) }
    }

    /// Whether the service itself is in a private network or on this machine.
    async fn are_private(&self) -> bool {
        let known = self.private.get_or_try_init(|| async {
            let host = self.base.host_str().unwrap_or_default();
            match literal(&self.base) {
                Some(address) => Ok(is_private(address)),
                None => tokio::net::lookup_host((host, 0))
                    .await
                    .map(|mut found| found.any(|address| is_private(address.ip()))),
            }
        });
        // What can't be found out now is asked again.
        known.await.is_ok_and(|private: &bool| *private)
    }

    /// Resolves names for uploads and downloads, and leaves out private addresses.
    pub(super) fn resolver(&self) -> Arc<Outside> {
        Arc::new(Outside { places: self.clone() })
    }
}

#[derive(Debug)]
pub(super) struct Outside {
    places: Places,
}

impl Resolve for Outside {
    fn resolve(&self, name: Name) -> Resolving {
        let places = self.places.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let private = places.are_private().await;
            let allowed: Vec<_> = found.filter(|address| private || !is_private(address.ip())).collect();
            if allowed.is_empty() {
                return Err(BadPlace::Private.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// An address that is not the service's.
pub fn outward(text: &str, may_be_private: bool) -> Result<Url, BadPlace> {
    let url = read(text)?;
    let private = literal(&url).is_some_and(is_private) || is_localhost(&url);
    if private && !may_be_private { Err(BadPlace::Private) } else { Ok(url) }
}

/// Resolves names, and leaves out private addresses.
#[derive(Debug)]
pub(super) struct OnlyPublic;

impl Resolve for OnlyPublic {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<_> = found.filter(|address| !is_private(address.ip())).collect();
            if allowed.is_empty() {
                return Err(BadPlace::Private.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

fn read(text: &str) -> Result<Url, BadPlace> {
    let not_an_address = || BadPlace::NotAnAddress(text.to_owned());
    let url = Url::parse(text).map_err(|_| not_an_address())?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadPlace::Credentials);
    }
    let here = is_localhost(&url) || literal(&url).is_some_and(|address| address.is_loopback());
    match url.scheme() {
        "https" => Ok(url),
        "http" if here => Ok(url),
        "http" => Err(BadPlace::NotSecure(text.to_owned())),
        _other => Err(not_an_address()),
    }
}

fn is_localhost(url: &Url) -> bool {
    url.host_str().is_some_and(|host| host.trim_end_matches('.').eq_ignore_ascii_case("localhost"))
}

fn literal(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let carrier = first == 100 && (64..128).contains(&second);
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast()
        || carrier
        || first == 0
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    // Addresses that carry an IPv4 address are judged by that: mapped, compatible, NAT64.
    let segments = address.segments();
    let nat64 = segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    let last = Ipv4Addr::from((u32::from(segments[6]) << 16) | u32::from(segments[7]));
    let inner = address.to_ipv4().or(nat64.then_some(last));
    inner.is_some_and(is_private_v4)
        || address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || address.is_multicast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_may_be_spoken_to_without_tls() {
        for url in
            ["https://api.example.jp", "http://127.0.0.1:8460", "http://[::1]:1", "http://localhost:1/x"]
        {
            assert!(read(url).is_ok(), "{url}");
        }
        for url in
            ["http://api.example.jp", "http://10.0.0.1", "ftp://127.0.0.1", "x", "https://u:p@example.jp"]
        {
            assert!(read(url).is_err(), "{url}");
        }
    }

    #[test]
    fn private_addresses_are_known_in_every_disguise() {
        let private = [
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "127.0.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "::1",
            "::",
            "fc00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "::7f00:1",
        ];
        for text in private {
            assert!(is_private(text.parse().unwrap()), "{text}");
        }
        for text in ["8.8.8.8", "100.128.0.1", "2001:db8::1", "::ffff:8.8.8.8"] {
            assert!(!is_private(text.parse().unwrap()), "{text}");
        }
    }

    #[tokio::test]
    async fn a_program_in_a_private_network_needs_permission() {
        for text in
            ["https://10.0.0.1/", "https://[::1]/", "http://localhost:1/", "https://[::ffff:192.168.0.1]/"]
        {
            assert_eq!(outward(text, false), Err(BadPlace::Private), "{text}");
            assert!(outward(text, true).is_ok(), "{text}");
        }
        assert!(outward("https://erp.example.jp/", false).is_ok());
        // A name that leads there is found out when it is resolved.
        let found = OnlyPublic.resolve("localhost".parse().unwrap()).await;
        assert!(found.is_err_and(|error| error.downcast_ref() == Some(&BadPlace::Private)));
    }

    #[tokio::test]
    async fn an_address_from_an_answer_leads_into_no_private_network_unless_the_service_is_there() {
        let outside = Places::new("https://203.0.113.5", "https://203.0.113.5/auth").unwrap();
        assert_eq!(outside.elsewhere("https://10.0.0.1/x").await, Err(BadPlace::Private));
        assert_eq!(outside.elsewhere("http://localhost/x").await, Err(BadPlace::Private));
        assert!(outside.elsewhere("https://198.51.100.1/x").await.is_ok());
        assert!(matches!(outside.elsewhere("http://198.51.100.1/x").await, Err(BadPlace::NotSecure(_))));
        let inside = Places::new("http://127.0.0.1:1", "http://127.0.0.1:1/auth").unwrap();
        assert!(inside.elsewhere("http://127.0.0.1:2/upload").await.is_ok());
        assert_eq!(inside.api(&["mails", "a/../b"]).path(), "/v1/mails/a%2F..%2Fb");
    }
}
