//! The newest calls with their answers, so that a page can show what happened to a letter and why a call was refused.
//! They are kept in memory only, without tokens and files.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use bytes::BytesMut;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use serde_json::Value;

use super::faults::Kind;
use super::service::Service;
use super::trouble::HangUp;
use super::world::MailId;
use crate::base::clock::Time;

const MOST_CALLS: usize = 20_000;
const MOST_BYTES: usize = 32 << 20;
/// A longer request or answer is not kept: of a part, it is not certain where its secrets are.
const MOST_OF_A_BODY: usize = 64 << 10;
const TOO_LONG: &[u8] = b"\"(too long to be kept)\"";
/// This much of one is shown.
const MOST_SHOWN: usize = 16 << 10;
/// Values of fields with these in their names are struck out.
const SECRETS: [&str; 4] = ["token", "secret", "password", "authorization"];
/// So are values that begin so.
const KEYS: [&str; 2] = ["bearer ", "basic "];
const STRUCK: &str = "…";

/// Marks an answer about a letter whose id is not in the call's address.
#[derive(Debug, Clone)]
pub(super) struct Concerns(pub(super) MailId);

/// Marks an answer that an ordered fault changed or held up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Suffered(pub(super) Kind);

/// A call and its answer.
pub(super) struct SeenCall {
    pub(super) number: u64,
    pub(super) at: Time,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) mail: Option<MailId>,
    /// `None`: the connection was closed instead.
    pub(super) status: Option<StatusCode>,
    pub(super) fault: Option<Kind>,
    request: Bytes,
    answer: Bytes,
}

impl SeenCall {
    fn size(&self) -> usize {
        // What a call takes beside its bodies, roughly.
        256 + self.path.len() + self.request.len() + self.answer.len()
    }

    pub(super) fn request(&self) -> Option<String> {
        shown(&self.request)
    }

    pub(super) fn answer(&self) -> Option<String> {
        shown(&self.answer)
    }

    /// The code of a refusal by the API.
    pub(super) fn code(&self) -> Option<String> {
        let answer: Value = serde_json::from_slice(&self.answer).ok()?;
        answer.get("code")?.as_str().map(str::to_owned)
    }
}

/// The newest calls, oldest first.
#[derive(Default)]
pub(super) struct Calls {
    kept: VecDeque<Arc<SeenCall>>,
    bytes: usize,
    count: u64,
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}

impl Calls {
    fn keep(&mut self, mut call: SeenCall) {
        self.count += 1;
        call.number = self.count;
        self.bytes += call.size();
        self.kept.push_back(Arc::new(call));
        while self.kept.len() > MOST_CALLS || self.bytes > MOST_BYTES {
            let Some(oldest) = self.kept.pop_front() else { return };
            self.bytes -= oldest.size();
        }
    }

    /// The newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = &Arc<SeenCall>> {
        self.kept.iter().rev()
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.bytes = 0;
    }
}

/// Keeps a call of the API or the store.
pub(super) async fn record(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let (at, method, path) = (service.clock.now(), request.method().clone(), request.uri().path().to_owned());
    let heard = Arc::<Mutex<BytesMut>>::default();
    let (parts, body) = request.into_parts();
    let body = if is_shown(&parts.headers) {
        Body::new(Overheard { body, is_too_long: false, heard: Arc::clone(&heard) })
    } else {
        body
    };
    let response = next.run(Request::from_parts(parts, body)).await;
    let (response, answer) =
        if is_kept(&response) { taken(response).await } else { (response, Bytes::new()) };
    let extensions = response.extensions();
    let status = extensions.get::<HangUp>().is_none().then(|| response.status());
    let fault = extensions.get::<Suffered>().map(|suffered| suffered.0);
    let named = extensions.get::<Concerns>().map(|concerns| concerns.0.clone());
    let mail = named
        .or_else(|| id_in(&path).filter(|id| service.look(|world, _| world.mail(id.as_str()).is_some())));
    let request = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner)).freeze();
    let call =
        SeenCall { number: 0, at, method, path: without_key(path), mail, status, fault, request, answer };
    service.calls.lock().unwrap_or_else(PoisonError::into_inner).keep(call);
    service.stir();
    response
}

/// Forms have secrets or files in them.
fn is_shown(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind == "application/xml" || kind.ends_with("+json")
}

fn is_kept(response: &Response) -> bool {
    let is_cut =
        response.extensions().get::<Suffered>().is_some_and(|suffered| suffered.0 == Kind::TruncateReply);
    !is_cut && is_shown(response.headers())
}

async fn taken(response: Response) -> (Response, Bytes) {
    let (parts, body) = response.into_parts();
    // It lies in memory already, and can't fail.
    let whole = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let kept = if whole.len() > MOST_OF_A_BODY { Bytes::from_static(TOO_LONG) } else { whole.clone() };
    (Response::from_parts(parts, Body::from(whole)), kept)
}

fn id_in(path: &str) -> Option<MailId> {
    let rest = path.strip_prefix("/v1/mails/").or_else(|| path.strip_prefix("/download/"))?;
    rest.split('/').next().map(MailId::new)
}

/// Whoever knows the key of a download can't use it without the signature, which is in the query.
fn without_key(path: String) -> String {
    path.strip_prefix("/download/").map(|_| format!("/download/{STRUCK}")).unwrap_or(path)
}

/// Text as it may be shown: JSON in lines, secrets struck out. What can't be read may have them anywhere.
fn shown(body: &[u8]) -> Option<String> {
    if body.is_empty() {
        return None;
    }
    let Ok(mut json) = serde_json::from_slice::<Value>(body) else {
        return Some(of_xml(body).unwrap_or_else(|| format!("({} bytes that are not JSON)", body.len())));
    };
    strike(&mut json);
    let mut text = serde_json::to_string_pretty(&json).ok()?;
    if let Some((end, _)) = text.char_indices().find(|(at, _)| *at >= MOST_SHOWN) {
        text.truncate(end);
        text.push_str(STRUCK);
    }
    Some(text)
}

/// Of what the store says only the code and the message: the rest may have a signature in it.
fn of_xml(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok().filter(|text| text.starts_with("<?xml"))?;
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once("</").map(|(inside, _)| inside.to_owned())
    };
    Some([element("Code"), element("Message")].into_iter().flatten().collect::<Vec<_>>().join(": "))
}

fn strike(json: &mut Value) {
    match json {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.to_ascii_lowercase();
                if SECRETS.iter().any(|secret| name.contains(secret)) {
                    *value = STRUCK.into();
                } else if name == "fields" {
                    value.as_object_mut().into_iter().flatten().for_each(|(_, field)| *field = STRUCK.into());
                } else {
                    strike(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strike),
        Value::String(text) => {
            let start = text.get(..10).unwrap_or(text).to_ascii_lowercase();
            if KEYS.iter().any(|key| start.starts_with(key)) {
                STRUCK.clone_into(text);
            } else if let Some((address, _)) =
                text.split_once('?').filter(|(address, _)| address.contains("://"))
            {
                *text = format!("{address}?{STRUCK}");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A body that is read by somebody else, and kept.
struct Overheard {
    body: Body,
    is_too_long: bool,
    heard: Arc<Mutex<BytesMut>>,
}

impl hyper::body::Body for Overheard {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            let heard = Arc::clone(&self.heard);
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            if heard.len() + data.len() > MOST_OF_A_BODY {
                heard.clear();
                heard.extend_from_slice(TOO_LONG);
                self.is_too_long = true;
            } else if !self.is_too_long {
                heard.extend_from_slice(data);
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_struck_out() {
        let json = r#"{"id":"m1","contents":[{"upload":{"url":"http://x/upload","fields":{"policy":"p","X-Amz-Signature":"s"}}}],
                       "url":"http://x/download/k?X-Amz-Signature=s","access_token":"t"}"#;
        let shown = shown(json.as_bytes()).unwrap();
        assert!(
            shown.contains("m1")
                && shown.contains("\"policy\": \"…\"")
                && shown.contains("http://x/download/k?…")
        );
        assert!(!shown.contains("\"p\"") && !shown.contains("\"s\"") && !shown.contains("\"t\""), "{shown}");
        let xml = b"<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>No</Message><StringToSign>secret</StringToSign></Error>";
        assert_eq!(super::shown(xml).unwrap(), "AccessDenied: No");
    }

    #[test]
    fn only_the_newest_are_kept() {
        let mut calls = Calls::default();
        let body = Bytes::from(vec![b'x'; 16 << 10]);
        for _ in 0..3000 {
            calls.keep(SeenCall {
                number: 0,
                at: Time::UNIX_EPOCH,
                method: Method::GET,
                path: String::new(),
                mail: None,
                status: None,
                fault: None,
                request: body.clone(),
                answer: Bytes::new(),
            });
        }
        assert_eq!(calls.newest().next().unwrap().number, 3000);
        assert!(calls.bytes <= MOST_BYTES && calls.kept.len() > 1900 && calls.kept.len() < 2048);
        calls.clear();
        assert_eq!((calls.bytes, calls.newest().count()), (0, 0));
    }
}
