//! Why a connection cannot be made, told by the causes of an error.

use std::error::Error;
use std::fmt;
use std::io;

/// Each has a remedy of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoConnection {
    UnknownName,
    Refused,
    NoRoute,
    TimedOut,
    Expired,
    NotYetValid,
    OtherName,
    /// Self-signed, or signed by an authority that is not trusted.
    Untrusted,
    NoTls,
    OtherTls(String),
}

impl NoConnection {
    /// Looks through all causes. A failed handshake hides in an error of I/O.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(tls) = error.downcast_ref::<rustls::Error>() {
                return Some(of_tls(tls));
            }
            let io = error.downcast_ref::<io::Error>();
            if let Some(found) = io.and_then(of_io) {
                return Some(found);
            }
            let inner = io.and_then(io::Error::get_ref);
            next = inner.map(|inner| -> &(dyn Error + 'static) { inner }).or_else(|| error.source());
        }
        None
    }
}

impl fmt::Display for NoConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownName => "its name is unknown",
            Self::Refused => "it refuses the connection",
            Self::NoRoute => "there is no route to it",
            Self::TimedOut => "it does not answer",
            Self::Expired => "its certificate has expired",
            Self::NotYetValid => "its certificate is not valid yet",
            Self::OtherName => "its certificate is for another name",
            Self::Untrusted => {
                "its certificate is self-signed, or signed by an authority that is not trusted"
            }
            Self::NoTls => "it does not begin with TLS",
            Self::OtherTls(why) => return write!(f, "TLS fails: {why}"),
        })
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "of many kinds only some have a remedy of their own")]
fn of_io(error: &io::Error) -> Option<NoConnection> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(NoConnection::Refused),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Some(NoConnection::NoRoute),
        io::ErrorKind::TimedOut => Some(NoConnection::TimedOut),
        _other => error.to_string().contains("lookup address").then_some(NoConnection::UnknownName),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "of many errors only some have a remedy of their own")]
fn of_tls(error: &rustls::Error) -> NoConnection {
    use rustls::CertificateError as Wrong;
    match error {
        rustls::Error::InvalidCertificate(Wrong::Expired | Wrong::ExpiredContext { .. }) => {
            NoConnection::Expired
        }
        rustls::Error::InvalidCertificate(Wrong::NotValidYet | Wrong::NotValidYetContext { .. }) => {
            NoConnection::NotYetValid
        }
        rustls::Error::InvalidCertificate(Wrong::NotValidForName | Wrong::NotValidForNameContext { .. }) => {
            NoConnection::OtherName
        }
        rustls::Error::InvalidCertificate(Wrong::UnknownIssuer | Wrong::BadSignature) => {
            NoConnection::Untrusted
        }
        rustls::Error::InvalidMessage(_) => NoConnection::NoTls,
        other => NoConnection::OtherTls(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use rustls::CertificateError as Wrong;

    use super::*;

    /// As lettre and hyper wrap it: an error of I/O in an error of I/O.
    fn hidden(error: impl Error + Send + Sync + 'static) -> io::Error {
        io::Error::other(io::Error::other(error))
    }

    #[test]
    fn the_cause_is_found_however_deep_it_lies() {
        let expired = rustls::Error::InvalidCertificate(Wrong::Expired);
        assert_eq!(NoConnection::of(&hidden(expired)), Some(NoConnection::Expired));
        for (kind, expected) in [
            (io::ErrorKind::ConnectionRefused, Some(NoConnection::Refused)),
            (io::ErrorKind::HostUnreachable, Some(NoConnection::NoRoute)),
            (io::ErrorKind::NetworkUnreachable, Some(NoConnection::NoRoute)),
            (io::ErrorKind::TimedOut, Some(NoConnection::TimedOut)),
            (io::ErrorKind::ConnectionReset, None),
        ] {
            assert_eq!(NoConnection::of(&hidden(io::Error::from(kind))), expected, "{kind:?}");
        }
    }

    #[test]
    fn each_trouble_of_a_certificate_is_told_apart() {
        for (wrong, expected) in [
            (Wrong::NotValidYet, NoConnection::NotYetValid),
            (Wrong::NotValidForName, NoConnection::OtherName),
            (Wrong::UnknownIssuer, NoConnection::Untrusted),
            (Wrong::BadSignature, NoConnection::Untrusted),
        ] {
            let error = rustls::Error::InvalidCertificate(wrong);
            assert_eq!(NoConnection::of(&error), Some(expected), "{error}");
        }
        let revoked = NoConnection::of(&rustls::Error::InvalidCertificate(Wrong::Revoked));
        assert!(
            matches!(&revoked, Some(NoConnection::OtherTls(why)) if why.contains("Revoked")),
            "{revoked:?}"
        );
    }
}
