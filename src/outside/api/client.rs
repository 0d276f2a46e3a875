//! The calls of the API, each with the meaning of its answers.

use bytes::Bytes;
use chrono::TimeDelta;
use reqwest::{Method, StatusCode, Url};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::failure::{Failure, verdict, verdict_on_create};
use super::line::{self, LARGEST_ANSWER, Patience, Reply, exchange};
use super::meter::{Meter, counted};
use super::token::Tokens;
use super::upload::{self, Stored};
use super::wire::{CreatedMail, DownloadTarget, Mail as WireMail, UploadTarget};
use super::{Credentials, Places, convert};
use crate::base::clock::{Clock, Time};
use crate::domain::letter::{
    CancelAnswer, ConfirmAnswer, Evidence, Mail, Number, Order, ReadAnswer, Realm, file_name,
};

/// Used for planning where an answer has no deadline of its own: the documented default.
const UPLOAD_WITHIN: TimeDelta = TimeDelta::minutes(5);
const CONFIRM_WITHIN: TimeDelta = TimeDelta::minutes(30);
const LONGEST_ID: usize = 128;

/// One account at the service. All its calls share one token.
#[derive(Debug)]
pub struct Client {
    places: Places,
    /// Identifies the owner of the credentials. Part of the realm.
    caller: String,
    tokens: Tokens,
    clock: Clock,
    http: reqwest::Client,
    transfers: reqwest::Client,
    meter: Meter,
}

/// A mail that was created, and the upload targets of its documents.
#[derive(Debug)]
pub struct Created {
    pub mail: Mail,
    pub targets: Vec<UploadTarget>,
}

/// A mail to ask about, and how long we have known it by the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct KnownMail<'a> {
    pub mail: &'a Mail,
    pub watched: TimeDelta,
}

impl Client {
    pub fn new(
        places: Places,
        credentials: Credentials,
        patience: Patience,
        clock: Clock,
    ) -> Result<Self, reqwest::Error> {
        Ok(Self {
            http: line::client(&patience)?,
            transfers: line::transfers(&patience, &places)?,
            caller: credentials.client_id.clone(),
            tokens: Tokens::new(credentials, clock.clone()),
            places,
            clock,
            meter: Meter::default(),
        })
    }

    /// Its calls are counted in `meter`, together with those of others.
    #[must_use]
    pub fn counted_by(mut self, meter: &Meter) -> Self {
        self.meter = meter.clone();
        self
    }

    /// The time until which the token is used. `None` if there is none, or if one is being fetched.
    pub fn token_until(&self) -> Option<Time> {
        self.tokens.until()
    }

    /// Makes a call with a token, and again with a new token if that is refused.
    async fn call(
        &self,
        name: &'static str,
        method: Method,
        url: Url,
        body: Option<Vec<u8>>,
    ) -> Result<Reply, Failure> {
        let mut refused = None;
        loop {
            let token = self.tokens.get(&self.http, &self.places, &self.meter, refused).await?;
            let mut request =
                self.http.request(method.clone(), url.clone()).bearer_auth(token.secret.expose());
            if let Some(body) = &body {
                request = request.header("content-type", "application/json").body(body.clone());
            }
            let reply = counted(&self.meter, name, exchange(request, LARGEST_ANSWER)).await?;
            let unauthorized = matches!(reply.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
            if unauthorized && refused.is_none() {
                refused = Some(token.generation);
            } else {
                return Ok(reply);
            }
        }
    }

    fn mail_url(&self, mail: &Mail, rest: &[&str]) -> Url {
        self.places.api(&[&["mails", mail.id.as_str()], rest].concat())
    }

    /// What a token must allow. A token that allows less is a failure.
    pub fn needs(&self) -> String {
        super::token::SCOPES.join(" ")
    }

    /// Reads the account, which shows whose answers we get.
    pub async fn account(&self) -> Result<Realm, Failure> {
        let reply = self.call("account", Method::GET, self.places.api(&["account"]), None).await?;
        if reply.status != StatusCode::OK {
            return Err(verdict(&reply, self.clock.now()));
        }
        // The contract does not list its fields. An id is used if there is one. A value that cannot be an id
        // is not an answer, because letters would wait for an account that does not exist.
        let body: Map<String, Value> =
            reply.json().ok_or_else(|| Failure::nonsense("it is not an account"))?;
        let id = body.get("id");
        if id.and_then(Value::as_str).is_some_and(|id| !is_id(id)) {
            return Err(Failure::nonsense("the account id is not valid"));
        }
        let account = id.filter(|id| id.is_string() || id.is_number());
        let account = account.map(ToString::to_string).unwrap_or_default();
        let parts = [self.places.base_url(), &self.caller, &account].join("\n");
        Ok(Realm(hex::encode(Sha256::digest(parts))))
    }

    /// Reads the account. Returns how far the service's clock is ahead of this machine's, if the service
    /// sends its time.
    pub async fn clock_difference(&self) -> Result<Option<TimeDelta>, Failure> {
        let reply = self.call("account", Method::GET, self.places.api(&["account"]), None).await?;
        if reply.status != StatusCode::OK {
            return Err(verdict(&reply, self.clock.now()));
        }
        Ok(reply.date.map(|date| date - self.clock.now()))
    }

    pub async fn create(
        &self,
        number: Number,
        k: u32,
        order: &Order,
        realm: &Realm,
    ) -> Result<Created, Failure> {
        let begun = self.clock.now();
        let wanted = convert::create_mail(number, order);
        let body = convert::create_body(number, order)
            .map_err(|_| Failure::nonsense("the request can't be written"))?;
        let reply = self.call("create", Method::POST, self.places.api(&["mails"]), Some(body)).await?;
        if reply.status != StatusCode::CREATED {
            return Err(verdict_on_create(&reply, self.clock.now()));
        }
        let made: CreatedMail = reply.json().ok_or_else(|| Failure::nonsense("it is not a new mail"))?;
        let ids = made.contents.iter().map(|content| &content.id).chain([&made.id]);
        let names = made.contents.iter().map(|content| &content.file_name);
        if !ids.into_iter().all(|id| is_id(id)) || !names.eq(wanted.files.iter().map(|file| &file.file_name))
        {
            return Err(Failure::nonsense("its ids or files are not those of a mail"));
        }
        // The service's deadlines on our clock: as far away as they are on the service's clock.
        let ours = |theirs: Time, usual: TimeDelta| begun + reply.date.map_or(usual, |date| theirs - date);
        let targets = made.contents.iter().map(|content| content.upload.expires_at).min();
        let mail = Mail {
            k,
            id: made.id,
            realm: realm.clone(),
            contents: made.contents.iter().map(|content| content.id.clone()).collect(),
            ships_at: made.scheduled_to_ship_at,
            confirm_by: made.confirm_by,
            upload_until: ours(targets.unwrap_or(made.confirm_by), UPLOAD_WITHIN),
            confirm_until: ours(made.confirm_by, CONFIRM_WITHIN),
        };
        Ok(Created { mail, targets: made.contents.into_iter().map(|content| content.upload).collect() })
    }

    pub async fn upload(
        &self,
        target: &UploadTarget,
        number: Number,
        document: usize,
        pdf: impl Into<Bytes>,
    ) -> Result<Stored, Failure> {
        let name = file_name(number, document);
        upload::upload(&self.transfers, &self.places, &self.meter, target, name, pdf.into()).await
    }

    pub async fn read(&self, known: KnownMail<'_>) -> Result<ReadAnswer, Failure> {
        let reply = self.call("read", Method::GET, self.mail_url(known.mail, &[]), None).await?;
        match (reply.status, code(&reply).as_deref()) {
            (StatusCode::OK, _) => match reply.json::<WireMail>() {
                Some(mail) if mail.id == known.mail.id => {
                    Ok(ReadAnswer::Found(Box::new(convert::reading(mail))))
                }
                Some(_) => Err(Failure::nonsense("it is about another mail")),
                None => Err(Failure::nonsense("it is not a mail")),
            },
            (StatusCode::NOT_FOUND, Some("mail_not_found")) => {
                Ok(ReadAnswer::NotFound(known.evidence(&reply)))
            }
            (_any, _) => Err(verdict(&reply, self.clock.now())),
        }
    }

    pub async fn confirm(&self, known: KnownMail<'_>) -> Result<ConfirmAnswer, Failure> {
        let reply = self.call("confirm", Method::POST, self.mail_url(known.mail, &["confirm"]), None).await?;
        match (reply.status.as_u16(), code(&reply).as_deref()) {
            (204, _) | (409, Some("mail_already_confirmed")) => Ok(ConfirmAnswer::Confirmed),
            (409, Some("payment_in_progress")) => Ok(ConfirmAnswer::PaymentInProgress),
            (402, Some("card_declined")) => Ok(ConfirmAnswer::Declined(known.evidence(&reply))),
            (404, Some("mail_not_found")) => Ok(ConfirmAnswer::NotFound(known.evidence(&reply))),
            (422, Some("file_not_uploaded")) => Ok(ConfirmAnswer::FilesMissing),
            (422, Some("invalid_file" | "page_count_mismatch")) => {
                let said = reply.problem().map(|said| said.to_string());
                Ok(ConfirmAnswer::NeverPostable(said.unwrap_or_default()))
            }
            (_any, _) => Err(verdict(&reply, self.clock.now())),
        }
    }

    pub async fn cancel(&self, known: KnownMail<'_>) -> Result<CancelAnswer, Failure> {
        let reply = self.call("cancel", Method::POST, self.mail_url(known.mail, &["cancel"]), None).await?;
        match (reply.status.as_u16(), code(&reply).as_deref()) {
            (204, _) | (409, Some("mail_already_cancelled")) => Ok(CancelAnswer::Cancelled),
            (409, Some("mail_not_cancellable")) => Ok(CancelAnswer::NotCancellable),
            (409, Some("cancellation_window_expired")) => Ok(CancelAnswer::WindowExpired),
            (404, Some("mail_not_found")) => Ok(CancelAnswer::NotFound(known.evidence(&reply))),
            (_any, _) => Err(verdict(&reply, self.clock.now())),
        }
    }

    /// The sealed PDF of a document, as it is or was printed.
    pub async fn pdf(&self, mail: &Mail, document: usize) -> Result<Vec<u8>, Failure> {
        let content =
            mail.contents.get(document).ok_or_else(|| Failure::Refused("no such document".to_owned()))?;
        let url = self.mail_url(mail, &["contents", content, "pdf"]);
        let reply = self.call("pdf", Method::GET, url, None).await?;
        match (reply.status.as_u16(), code(&reply).as_deref()) {
            (200, _) => {
                let target: DownloadTarget =
                    reply.json().ok_or_else(|| Failure::nonsense("it is not an address"))?;
                upload::download(&self.transfers, &self.places, &self.meter, &target).await
            }
            (409, Some("mail_not_confirmed")) => Err(Failure::Refused(
                "the service has no sealed PDF of a mail that is not confirmed".to_owned(),
            )),
            (404, Some("mail_content_not_found" | "mail_not_found")) => {
                Err(Failure::Refused("the service does not know this document any more".to_owned()))
            }
            (_any, _) => Err(verdict(&reply, self.clock.now())),
        }
    }

    /// Revokes the token. If that fails, the token expires by itself.
    pub async fn revoke(&self) {
        self.tokens.revoke(&self.http).await;
    }
}

impl KnownMail<'_> {
    fn evidence(&self, reply: &Reply) -> Evidence {
        Evidence { server: reply.date, watched: self.watched }
    }
}

/// The service's own code for a failure.
fn code(reply: &Reply) -> Option<String> {
    if reply.status.is_success() { None } else { reply.problem().map(|said| said.code) }
}

/// Whether an id may be used in a path.
fn is_id(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(allowed)
}
