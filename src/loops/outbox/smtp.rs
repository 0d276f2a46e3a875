//! One e-mail over SMTP. The meaning of a refusal depends on what was refused.
//!
//! TLS is started before anything else is sent, or nothing is sent. Of the server's answers only the codes
//! are kept: the rest may repeat an address.

use std::error::Error as _;
use std::time::Duration;

use lettre::Address;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, CertificateStore, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::{Error, response::Response};
use tokio::time::timeout;

use super::mailer::HandedIn;
use crate::base::connection::NoConnection;
use crate::config::{Smtp, TlsStart};

/// The time limit for each answer of the server. The content of an e-mail gets several times as much.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
const FOR_CONTENT: u32 = 5;
/// The time limit for the connection and the greeting. A port that expects TLS first never greets.
const GREETING: Duration = Duration::from_secs(10);

/// Where e-mails are handed in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Server<'a> {
    pub(super) smtp: &'a Smtp,
    pub(super) patience: Duration,
}

impl Server<'_> {
    pub(super) async fn connect(&self) -> Result<AsyncSmtpConnection, String> {
        let Smtp { host, port, tls, login, .. } = self.smtp;
        let hello = self.smtp.hello.clone().map_or_else(ClientId::default, ClientId::Domain);
        let at_once = *tls == Some(TlsStart::AtOnce);
        let tls = if tls.is_some() { Some(self.trust()?) } else { None };
        let broken = |error: Error| format!("no connection: {}", told(&error));
        let first = tls.clone().filter(|_| at_once);
        let limit = self.patience.min(GREETING);
        let connect = AsyncSmtpConnection::connect_tokio1((host.as_str(), *port), None, &hello, first, None);
        let mut connection = match timeout(limit, connect).await {
            Ok(connected) => connected.map_err(broken)?,
            Err(_elapsed) => {
                let seconds = limit.as_secs();
                let other =
                    if at_once { "" } else { "; if its port expects TLS first, write `tls: implicit`" };
                return Err(format!("no connection: it does not greet within {seconds} s{other}"));
            }
        };
        if let Some(tls) = tls.filter(|_| !at_once) {
            if !connection.can_starttls() {
                return Err(
                    "no connection: it does not offer STARTTLS, and without TLS nothing is sent".to_owned()
                );
            }
            match timeout(self.patience, connection.starttls(tls, &hello)).await {
                Ok(started) => started.map_err(broken)?,
                Err(_elapsed) => return Err("no connection: it does not answer to STARTTLS".to_owned()),
            }
        }
        if let Some(login) = login {
            let password = login.password().map_err(|_| "the password can't be read".to_owned())?;
            let credentials = Credentials::new(login.user.clone(), password.expose().to_owned());
            let auth = connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials);
            match timeout(self.patience, auth).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(format!("logging in is refused: {}", told(&error))),
                Err(_elapsed) => return Err("logging in is not answered".to_owned()),
            }
        }
        Ok(connection)
    }

    fn trust(&self) -> Result<TlsParameters, String> {
        let mut tls = TlsParameters::builder(self.smtp.host.clone());
        if let Some(ca) = &self.smtp.ca {
            let pem = fs_err::read(ca).map_err(|error| error.to_string())?;
            let unusable = |_| format!("{} is not a certificate in PEM", ca.display());
            tls = tls
                .certificate_store(CertificateStore::None)
                .add_root_certificate(Certificate::from_pem(&pem).map_err(unusable)?);
        }
        tls.build_rustls().map_err(|error| format!("TLS can't be used: {}", told(&error)))
    }

    /// Hands in one e-mail for one recipient. The connection itself shows whether it can be used afterwards.
    pub(super) async fn hand_in(
        &self,
        connection: &mut AsyncSmtpConnection,
        from: &Address,
        to: &Address,
        mail: &[u8],
    ) -> HandedIn {
        let command = |step: Step| {
            move |answer: Result<Result<Response, Error>, _>| match answer {
                Ok(Ok(_)) => None,
                Ok(Err(error)) => Some(verdict(step, &error)),
                Err(_elapsed) if step == Step::Sender => {
                    Some(HandedIn::Server("it does not answer any more".to_owned()))
                }
                Err(_elapsed) => Some(HandedIn::Stopped("it does not answer any more".to_owned())),
            }
        };
        let begin = connection.command(Mail::new(Some(from.clone()), Vec::new()));
        if let Some(no) = command(Step::Sender)(timeout(self.patience, begin).await) {
            return no;
        }
        let name = connection.command(Rcpt::new(to.clone(), Vec::new()));
        if let Some(no) = command(Step::Recipient)(timeout(self.patience, name).await) {
            let _ = timeout(self.patience, connection.command(Rset)).await;
            return no;
        }
        if let Some(no) = command(Step::Content)(timeout(self.patience, connection.command(Data)).await) {
            return no;
        }
        let content = connection.message(mail);
        command(Step::Content)(timeout(self.patience * FOR_CONTENT, content).await).unwrap_or(HandedIn::Sent)
    }
}

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Sender,
    Recipient,
    Content,
}

fn verdict(step: Step, error: &Error) -> HandedIn {
    let code = told(error);
    let says = |prefix: &str| code.starts_with(prefix);
    // The server is closing, or requires other credentials: not the fault of this e-mail.
    let server = says("421") || says("530") || says("534") || says("535") || says("538");
    if !error.is_transient() && !error.is_permanent() {
        // There was no answer. If the content was sent it may have arrived, so the same e-mail is sent again.
        return if step == Step::Sender { HandedIn::Server(code) } else { HandedIn::Stopped(code) };
    }
    match step {
        Step::Sender => HandedIn::Server(code),
        Step::Recipient | Step::Content if server => HandedIn::Stopped(code),
        Step::Recipient | Step::Content if is_policy(&code) => {
            HandedIn::ByRule { is_final: error.is_permanent(), code }
        }
        Step::Recipient | Step::Content if error.is_permanent() => HandedIn::Refused(code),
        Step::Recipient | Step::Content => HandedIn::Later(code),
    }
}

/// An enhanced code of group 7 is about rules: who may send to whom.
fn is_policy(code: &str) -> bool {
    code.split_once(' ')
        .is_some_and(|(_, enhanced)| enhanced.starts_with("5.7.") || enhanced.starts_with("4.7."))
}

/// What to do about it.
fn remedy(trouble: &NoConnection) -> &'static str {
    match trouble {
        NoConnection::UnknownName => "; look at `host`, and at DNS",
        NoConnection::Refused => "; look at `host` and `port`, and for a firewall",
        NoConnection::NotYetValid => "; look at the clock of this machine",
        NoConnection::OtherName => "; write that name under `host`",
        NoConnection::Untrusted => "; name the authority's certificate under `ca`",
        NoConnection::NoTls => "; if it offers STARTTLS, write `tls: starttls`",
        NoConnection::NoRoute
        | NoConnection::TimedOut
        | NoConnection::Expired
        | NoConnection::OtherTls(_) => "",
    }
}

/// An error by its codes alone: `550 5.1.1`.
fn told(error: &Error) -> String {
    let Some(code) = error.status() else {
        return match NoConnection::of(error) {
            Some(trouble) => format!("{trouble}{}", remedy(&trouble)),
            None if error.is_tls() => "TLS fails".to_owned(),
            None if error.is_timeout() => "it does not answer".to_owned(),
            None => "it closes the connection".to_owned(),
        };
    };
    let said = error.source().map(ToString::to_string).unwrap_or_default();
    let enhanced = said.split_whitespace().next().filter(|word| {
        let numbers: Vec<&str> = word.split('.').collect();
        numbers.len() == 3
            && numbers.iter().all(|number| {
                !number.is_empty() && number.len() <= 3 && number.bytes().all(|b| b.is_ascii_digit())
            })
    });
    enhanced.map_or_else(|| code.to_string(), |enhanced| format!("{code} {enhanced}"))
}
