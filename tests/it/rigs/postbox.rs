//! A mail server on loopback as mail servers are: TLS, logging in, refusals, connections that break.
//!
//! What it accepted can be read; how it behaves is said beforehand, for each mail that comes.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use mail_parser::{MessageParser, MimeHeaders as _};
use mailchute::base::clock::Clock;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// What happens to a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Take,
    /// What RCPT is answered.
    Recipient(&'static str),
    /// What the content is answered.
    Content(&'static str),
    /// The connection ends in the middle of the content.
    CutInContent,
    /// The content is kept, and the answer lost.
    LoseAnswer,
    /// It says nothing after MAIL FROM.
    Hang,
    /// It hangs up instead of greeting.
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    Plain,
    Starttls,
    Implicit,
    /// Says it can't do TLS.
    NoTls,
}

/// A mail as a person gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Got {
    pub to: String,
    pub id: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    pub raw: String,
}

#[derive(Debug, Default)]
struct Kept {
    moods: VecDeque<Mood>,
    always: Option<Mood>,
    /// Whom it accepts nothing for, and what it answers.
    refuses: Option<(&'static str, &'static str)>,
    /// How long each mail takes, by whose clock.
    takes: Option<(Clock, TimeDelta)>,
    got: Vec<Got>,
    connections: usize,
}

#[derive(Clone)]
pub struct Postbox {
    pub address: SocketAddr,
    kept: Arc<Mutex<Kept>>,
    /// Its certificate's authority, PEM.
    pub ca: String,
}

pub const USER: &str = "mailchute";
pub const PASSWORD: &str = "correct horse";

impl Postbox {
    pub async fn open(security: Security) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let kept: Arc<Mutex<Kept>> = Arc::default();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        mailchute::outside::api::install_tls();
        let tls = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let tls = TlsAcceptor::from(Arc::new(tls));
        let shared = Arc::clone(&kept);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, tls) = (Arc::clone(&shared), tls.clone());
                tokio::spawn(async move {
                    kept.lock().unwrap().connections += 1;
                    let talk = Talk { kept };
                    // A client that goes away is no failure of the server.
                    drop(talk.serve(stream, security, tls).await);
                });
            }
        });
        Self { address, kept, ca: made.cert.pem() }
    }

    /// As the `email` of mailchute.yaml, with its files beside it.
    pub fn config(&self, dir: &Path, tls: &str, more: &str) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(dir.join("ca.pem"), &self.ca).unwrap();
        std::fs::write(dir.join("mail.secret"), PASSWORD).unwrap();
        std::fs::set_permissions(dir.join("mail.secret"), std::fs::Permissions::from_mode(0o600)).unwrap();
        let port = self.address.port();
        format!(
            "email:\n  from: mailchute <mailchute@files.example.jp>\n  operators: [admin@example.jp]\n  \
             smtp: {{host: localhost, port: {port}, tls: {tls}, user: {USER}, password: {{file: mail.secret}}, ca: ca.pem}}\n{more}"
        )
    }

    /// What happens to the next mails, one after the other; then all are taken.
    pub fn next(&self, moods: impl IntoIterator<Item = Mood>) {
        self.kept.lock().unwrap().moods.extend(moods);
    }

    /// From now on, until [`Postbox::take_again`].
    pub fn always(&self, mood: Mood) {
        self.kept.lock().unwrap().always = Some(mood);
    }

    /// It accepts nothing for this recipient, until [`Postbox::take_again`].
    pub fn refuse(&self, to: &'static str, answer: &'static str) {
        self.kept.lock().unwrap().refuses = Some((to, answer));
    }

    /// Each mail takes so long from now on.
    pub fn takes(&self, clock: &Clock, seconds: i64) {
        self.kept.lock().unwrap().takes = Some((clock.clone(), TimeDelta::seconds(seconds)));
    }

    /// From now on it accepts every mail.
    pub fn take_again(&self) {
        let mut kept = self.kept.lock().unwrap();
        (kept.always, kept.refuses) = (None, None);
        kept.moods.clear();
    }

    pub fn got(&self) -> Vec<Got> {
        self.kept.lock().unwrap().got.clone()
    }

    pub fn connections(&self) -> usize {
        self.kept.lock().unwrap().connections
    }

    /// Who got how many, each mail once however often it came.
    pub fn subjects(&self, to: &str) -> Vec<String> {
        let mut known = Vec::new();
        let of = self.got().into_iter().filter(|got| got.to == to);
        of.filter(|got| {
            !known.contains(&got.id) && {
                known.push(got.id.clone());
                true
            }
        })
        .map(|got| got.subject)
        .collect()
    }
}

/// One connection.
struct Talk {
    kept: Arc<Mutex<Kept>>,
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Talk {
    async fn serve(
        self,
        stream: tokio::net::TcpStream,
        security: Security,
        tls: TlsAcceptor,
    ) -> io::Result<()> {
        let closed = self.kept.lock().unwrap().always == Some(Mood::Closed);
        if closed {
            return Ok(());
        }
        let mut stream: Box<dyn Stream> = match security {
            Security::Implicit => Box::new(tls.accept(stream).await?),
            Security::Plain | Security::Starttls | Security::NoTls => Box::new(stream),
        };
        stream.write_all(b"220 postbox ESMTP\r\n").await?;
        let mut safe = security == Security::Implicit;
        if security == Security::Starttls {
            let (plain, upgraded) = self.until_tls(stream).await?;
            if !upgraded {
                return Ok(());
            }
            stream = Box::new(tls.accept(plain).await?);
            safe = true;
        }
        self.talk(BufReader::new(stream), safe || security == Security::Plain, security).await
    }

    /// Before TLS nothing else is heard.
    async fn until_tls(&self, stream: Box<dyn Stream>) -> io::Result<(Box<dyn Stream>, bool)> {
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).await? == 0 {
                return Ok((reader.into_inner(), false));
            }
            let answer: &[u8] = match line.get(..4) {
                Some("EHLO") => b"250-postbox\r\n250 STARTTLS\r\n",
                Some("STAR") => b"220 go ahead\r\n",
                Some(_) | None => b"530 5.7.0 Must issue a STARTTLS command first\r\n",
            };
            reader.get_mut().write_all(answer).await?;
            if line.starts_with("STAR") {
                return Ok((reader.into_inner(), true));
            }
        }
    }

    async fn talk(
        &self,
        mut stream: BufReader<Box<dyn Stream>>,
        safe: bool,
        security: Security,
    ) -> io::Result<()> {
        let mut logged_in = security == Security::Plain;
        let mut to = String::new();
        let mut mood = Mood::Take;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_owned();
            let word = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            let answer = match word.as_str() {
                "EHLO" if safe => "250-postbox\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN".to_owned(),
                "EHLO" => "250 postbox".to_owned(),
                "AUTH" => {
                    logged_in = is_right(&line);
                    let (yes, no) = ("235 2.7.0 welcome", "535 5.7.8 wrong");
                    if logged_in { yes.to_owned() } else { no.to_owned() }
                }
                "MAIL" => {
                    mood = self.mood();
                    if mood == Mood::Hang {
                        std::future::pending::<()>().await;
                    }
                    "250 2.1.0 ok".to_owned()
                }
                // As some real servers do, it refuses a client without log-in only now.
                "RCPT" if !logged_in => "530 5.7.0 Authentication required".to_owned(),
                "RCPT" => {
                    to = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
                    let refused = self.kept.lock().unwrap().refuses.filter(|(whom, _)| *whom == to);
                    if let Some((_, refusal)) = refused {
                        refusal.to_owned()
                    } else if let Mood::Recipient(refusal) = mood {
                        refusal.to_owned()
                    } else {
                        "250 2.1.5 ok".to_owned()
                    }
                }
                "DATA" => {
                    stream.get_mut().write_all(b"354 go on\r\n").await?;
                    match self.content(&mut stream, &to, mood).await? {
                        Some(answer) => answer,
                        None => return Ok(()),
                    }
                }
                "RSET" => "250 ok".to_owned(),
                "QUIT" => "221 bye".to_owned(),
                _other => "502 5.5.1 what?".to_owned(),
            };
            stream.get_mut().write_all(format!("{answer}\r\n").as_bytes()).await?;
        }
    }

    fn mood(&self) -> Mood {
        let mut kept = self.kept.lock().unwrap();
        kept.always.or_else(|| kept.moods.pop_front()).unwrap_or(Mood::Take)
    }

    /// Reads the content; `None` if the connection ends without an answer.
    async fn content(
        &self,
        stream: &mut BufReader<Box<dyn Stream>>,
        to: &str,
        mood: Mood,
    ) -> io::Result<Option<String>> {
        let mut raw = String::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 || mood == Mood::CutInContent {
                return Ok(None);
            }
            if line == ".\r\n" {
                break;
            }
            raw.push_str(line.strip_prefix('.').unwrap_or(&line));
        }
        if let Mood::Content(refusal) = mood {
            return Ok(Some(refusal.to_owned()));
        }
        let mut kept = self.kept.lock().unwrap();
        if let Some((clock, long)) = &kept.takes {
            clock.move_by(*long).unwrap();
        }
        kept.got.push(read(to, raw));
        Ok((mood != Mood::LoseAnswer).then(|| "250 2.0.0 kept".to_owned()))
    }
}

/// A mail as any mail program reads it.
pub fn read(to: &str, raw: String) -> Got {
    let mail = MessageParser::default().parse(raw.as_bytes()).unwrap();
    let types: Vec<_> = mail.parts.iter().filter_map(|part| part.content_type()?.c_subtype.clone()).collect();
    assert!(types.contains(&"alternative".into()) && types.contains(&"html".into()), "{types:?}");
    let got = Got {
        to: to.to_owned(),
        id: mail.message_id().unwrap().to_owned(),
        subject: mail.subject().unwrap().to_owned(),
        text: mail.body_text(0).unwrap().into_owned(),
        html: mail.body_html(0).unwrap().into_owned(),
        raw: String::new(),
    };
    Got { raw, ..got }
}

fn is_right(auth: &str) -> bool {
    use base64::Engine as _;
    let given = auth.rsplit(' ').next().unwrap_or_default();
    let decoded = base64::engine::general_purpose::STANDARD.decode(given).unwrap_or_default();
    decoded == format!("\0{USER}\0{PASSWORD}").as_bytes()
}
