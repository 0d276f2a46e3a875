//! The line is somebody else's: certificates that are expired, self-signed, of another name or authority, and a
//! name that does not exist. Nothing is sent, it is said why, and once all is well the letter is posted.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mailchute::base::clock::Pace;
use mailchute::base::secret::Secret;
use mailchute::outside::store::Desk;
use mailchute::sandbox::{Options, Running, start};
use rcgen::{CertificateParams, Issuer, KeyPair, date_time_ymd};
use serde_json::Value;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::rigs::program::mailchute;
use crate::rigs::service::pdf;

const ADDRESS: &str =
    "postal_code: \"0600001\"\nstate: 北海道\ncity: 札幌市\naddress1: 北一条西1-1\nname: 山田 太郎\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Good,
    Expired,
    OtherName,
    SelfSigned,
    OtherAuthority,
}

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub pem: String,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }
}

/// What a server shows.
pub fn shows(shown: Shown, ours: &Authority) -> TlsAcceptor {
    let name = if shown == Shown::OtherName { "elsewhere.example" } else { "localhost" };
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    if shown == Shown::Expired {
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    }
    let key = KeyPair::generate().unwrap();
    let made = match shown {
        Shown::SelfSigned => params.self_signed(&key),
        Shown::OtherAuthority => params.signed_by(&key, &Authority::new().issuer),
        Shown::Good | Shown::Expired | Shown::OtherName => params.signed_by(&key, &ours.issuer),
    };
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    mailchute::outside::api::install_tls();
    let config = ServerConfig::builder().with_no_client_auth();
    TlsAcceptor::from(Arc::new(config.with_single_cert(vec![made.unwrap().der().clone()], key).unwrap()))
}

/// Stands before the sandbox, with a certificate for the first connections and one for those after them.
struct Front {
    address: SocketAddr,
    first: usize,
    certificates: Mutex<[Arc<TlsAcceptor>; 2]>,
    to: Mutex<Option<SocketAddr>>,
    connections: AtomicUsize,
    /// Connections on which something could be said.
    trusted: AtomicUsize,
}

impl Front {
    /// The first so many connections are shown the one, all others the other.
    async fn open(ours: &Authority, first: usize, one: Shown, other: Shown) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let front = Arc::new(Self {
            address: listener.local_addr().unwrap(),
            first,
            certificates: Mutex::new([one, other].map(|shown| Arc::new(shows(shown, ours)))),
            to: Mutex::default(),
            connections: AtomicUsize::new(0),
            trusted: AtomicUsize::new(0),
        });
        let serving = Arc::clone(&front);
        tokio::spawn(async move {
            while let Ok((line, _)) = listener.accept().await {
                let front = Arc::clone(&serving);
                tokio::spawn(async move {
                    let later = front.connections.fetch_add(1, Ordering::SeqCst) >= front.first;
                    let tls = Arc::clone(&front.certificates.lock().unwrap()[usize::from(later)]);
                    let Ok(mut line) = tls.accept(line).await else { return };
                    front.trusted.fetch_add(1, Ordering::SeqCst);
                    let to = front.to.lock().unwrap().unwrap();
                    let mut there = TcpStream::connect(to).await.unwrap();
                    drop(copy_bidirectional(&mut line, &mut there).await);
                });
            }
        });
        front
    }

    fn is_trusted_from_now_on(&self, ours: &Authority) {
        let good = Arc::new(shows(Shown::Good, ours));
        *self.certificates.lock().unwrap() = [Arc::clone(&good), good];
    }
}

struct Place {
    dir: tempfile::TempDir,
    sandbox: Running,
}

impl Place {
    /// A submitted letter, and a service that is called by this name.
    async fn of(front: &Front, ours: &Authority, name: &str) -> Self {
        let origin = format!("https://{name}:{}", front.address.port());
        let client = Some(("client".to_owned(), Secret::new("correct horse battery")));
        let real = format!("https://localhost:{}", front.address.port());
        let options = Options { origin: Some(real), pace: Pace::Real, client, ..Options::default() };
        let sandbox = start(options, std::future::pending()).await.unwrap();
        *front.to.lock().unwrap() = Some(sandbox.address);
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| std::fs::write(dir.path().join(name), text).unwrap();
        write("ca.pem", ours.pem.as_bytes());
        write("address.yaml", ADDRESS.as_bytes());
        write("letter.pdf", &pdf(1));
        write("secret", b"correct horse battery");
        let id = sandbox.welcome.client_id.as_str();
        write(
            "mailchute.yaml",
            format!(
                "state: state\naccounts:\n  main: {{base_url: {origin}, auth_url: {origin}/auth, client_id: \"{id}\", \
                 client_secret: {{file: secret}}}}\nnetwork: {{quickest_retry: 50ms, slowest_retry: 200ms}}\n"
            )
            .as_bytes(),
        );
        std::fs::set_permissions(
            dir.path().join("secret"),
            std::os::unix::fs::PermissionsExt::from_mode(0o600),
        )
        .unwrap();
        let words = ["submit", "letter.pdf", "--to", "address.yaml", "--from", "address.yaml"];
        let submitted = mailchute(&words).current_dir(dir.path()).output().unwrap();
        assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
        Self { dir, sandbox }
    }

    fn daemon(&self) -> Daemon {
        let journal = std::fs::File::options().create(true).append(true).open(self.path("journal")).unwrap();
        let mut command = mailchute(&["run"]);
        command.current_dir(self.dir.path()).env("SSL_CERT_FILE", self.path("ca.pem"));
        Daemon(command.stdout(Stdio::null()).stderr(journal).spawn().unwrap())
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn journal(&self) -> String {
        std::fs::read_to_string(self.path("journal")).unwrap_or_default()
    }

    fn state(&self) -> String {
        let state = || -> Option<String> {
            let desk = Desk::open(Path::new(&self.path("state"))).ok()?;
            Some(desk.letters(None, None, 9).ok()?.first()?.state.clone())
        };
        state().unwrap_or_default()
    }

    /// How many mails were made at the service.
    async fn mails(&self) -> usize {
        let url = format!("http://{}/_sandbox/ledger?event=created", self.sandbox.address);
        let http = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
        let ledger: Value = http.get(url).send().await.unwrap().json().await.unwrap();
        ledger["entries"].as_array().unwrap().len()
    }
}

struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain: {what}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whom_it_does_not_trust_it_tells_nothing() {
    let ours = Authority::new();
    let untrusted = "its certificate is self-signed, or signed by an authority that is not trusted";
    for (shown, words) in [
        (Shown::Expired, "its certificate has expired"),
        (Shown::OtherName, "its certificate is for another name"),
        (Shown::SelfSigned, untrusted),
        (Shown::OtherAuthority, untrusted),
    ] {
        let front = Front::open(&ours, 0, shown, shown).await;
        let place = Place::of(&front, &ours, "localhost").await;
        let daemon = place.daemon();
        until("it says why", || place.journal().contains(words)).await;
        assert_eq!(
            (place.state().as_str(), front.trusted.load(Ordering::SeqCst)),
            ("admitted", 0),
            "{shown:?}"
        );
        drop(daemon);
        front.is_trusted_from_now_on(&ours);
        let _daemon = place.daemon();
        until("it is posted", || place.state() == "confirmed").await;
        assert_eq!(place.mails().await, 1, "{shown:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_is_not_given_to_whom_it_does_not_trust() {
    let ours = Authority::new();
    for shown in [Shown::Expired, Shown::OtherName, Shown::SelfSigned, Shown::OtherAuthority] {
        // The first connection is the API's, the next is the upload's.
        let front = Front::open(&ours, 1, Shown::Good, shown).await;
        let place = Place::of(&front, &ours, "localhost").await;
        let daemon = place.daemon();
        until("it is refused", || front.connections.load(Ordering::SeqCst) >= 3).await;
        assert_eq!(front.trusted.load(Ordering::SeqCst), 1, "{shown:?}");
        assert_eq!(place.state(), "created", "{shown:?}: {}", place.journal());
        drop(daemon);
        front.is_trusted_from_now_on(&ours);
        let _daemon = place.daemon();
        until("it is posted", || place.state() == "confirmed").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_does_not_exist_keeps_a_letter_waiting_with_a_word() {
    let ours = Authority::new();
    let front = Front::open(&ours, 0, Shown::Good, Shown::Good).await;
    // No name may be that long, so nobody is asked.
    let place = Place::of(&front, &ours, &format!("{}.example", "x".repeat(64))).await;
    let _daemon = place.daemon();
    until("it says why", || place.journal().contains("no connection")).await;
    assert_eq!((place.state().as_str(), front.connections.load(Ordering::SeqCst)), ("admitted", 0));
    assert_eq!(place.mails().await, 0);
}
