//! The connection to a mail server, with TLS from the beginning, later, or not at all.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::ConfigVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::MailTrouble;

/// What a mail server and we talk over.
pub(super) trait MailWire: AsyncRead + AsyncWrite + Unpin + Send + std::fmt::Debug {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + std::fmt::Debug> MailWire for T {}

pub(super) async fn connect(host: &str, port: u16) -> Result<TcpStream, MailTrouble> {
    let stream = TcpStream::connect((host, port)).await?;
    // Answers are short, and each is waited for.
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// `ca` is a PEM file with the authorities that are trusted instead of this machine's.
pub(super) async fn secured(
    stream: TcpStream,
    host: &str,
    ca: Option<&Path>,
) -> Result<Box<dyn MailWire>, MailTrouble> {
    let config = match ca {
        None => {
            ClientConfig::with_platform_verifier().map_err(|error| MailTrouble::Tls(error.to_string()))?
        }
        Some(file) => {
            let unread = |why: String| MailTrouble::Tls(format!("{}: {why}", file.display()));
            let mut trusted = RootCertStore::empty();
            for certificate in
                CertificateDer::pem_file_iter(file).map_err(|error| unread(error.to_string()))?
            {
                let certificate = certificate.map_err(|error| unread(error.to_string()))?;
                trusted.add(certificate).map_err(|error| unread(error.to_string()))?;
            }
            ClientConfig::builder().with_root_certificates(trusted).with_no_client_auth()
        }
    };
    let name = ServerName::try_from(host.to_owned()).map_err(|error| MailTrouble::Tls(error.to_string()))?;
    Ok(Box::new(TlsConnector::from(Arc::new(config)).connect(name, stream).await?))
}
