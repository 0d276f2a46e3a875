//! `/v1`: the API. Each handler only turns HTTP into a call of the world.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header;
use axum::response::Response;

use super::answer::answer;
use super::auth::{Bearer, bearer};
use super::body;
use super::faults::Kind;
use super::intake::{Trouble, read_body};
use super::service::Service;
use super::trouble::Twist;
use super::world::{Code, ContentId, Fault, MailId, Payment, Reply, Request as Call};

const LARGEST_BODY: usize = 1 << 20;

type ServiceState = State<Arc<Service>>;
/// A value that is not text cannot be a name here. The empty name finds nothing either.
type Names<T> = Result<Path<T>, PathRejection>;

pub(super) async fn account(State(service): ServiceState, Bearer(bearer): Bearer) -> Response {
    answer(&service.places, service.call(Call::ReadAccount { bearer }).await)
}

pub(super) async fn create(State(service): ServiceState, request: Request) -> Response {
    let bearer = bearer(request.headers());
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_json = kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json");
    let call = match read_body(request.into_body(), LARGEST_BODY, service.patience.body).await {
        Err(Trouble::TooLarge) => Call::Elsewhere { bearer, problem: Code::RequestTooLarge.into() },
        Err(Trouble::TooSlow) => Call::Elsewhere { bearer, problem: Code::RequestTimeout.into() },
        Err(Trouble::Broken) => refused(bearer, "the body did not arrive whole"),
        Ok(_) if !is_json => refused(bearer, "the Content-Type must be application/json"),
        Ok(bytes) => Call::CreateMail { bearer, order: body::read(&bytes) },
    };
    answer(&service.places, service.call(call).await)
}

fn refused(bearer: Option<crate::base::secret::Secret>, why: &str) -> Call {
    Call::CreateMail { bearer, order: Err(vec![Fault::at("", why)]) }
}

pub(super) async fn read(
    State(service): ServiceState,
    Bearer(bearer): Bearer,
    mail: Names<String>,
    twist: Option<Extension<Twist>>,
) -> Response {
    let stale = twist.is_some_and(|twist| twist.0 == Twist(Kind::Stale));
    let mut reply = service.call(Call::ReadMail { bearer, mail: mail_id(mail), stale }).await;
    if let Ok(Reply::Mail(mail)) = &mut reply
        && service.is_sparse
    {
        mail.make_sparse();
    }
    answer(&service.places, reply)
}

pub(super) async fn confirm(
    State(service): ServiceState,
    Bearer(bearer): Bearer,
    mail: Names<String>,
    twist: Option<Extension<Twist>>,
) -> Response {
    let payment = match twist {
        Some(Extension(Twist(Kind::PaymentInProgress))) => Payment::InProgress,
        Some(Extension(Twist(Kind::Decline))) => Payment::Declined,
        Some(_) | None => Payment::AsTheCardSays,
    };
    answer(&service.places, service.call(Call::ConfirmMail { bearer, mail: mail_id(mail), payment }).await)
}

pub(super) async fn cancel(
    State(service): ServiceState,
    Bearer(bearer): Bearer,
    mail: Names<String>,
) -> Response {
    answer(&service.places, service.call(Call::CancelMail { bearer, mail: mail_id(mail) }).await)
}

pub(super) async fn pdf(
    State(service): ServiceState,
    Bearer(bearer): Bearer,
    names: Names<(String, String)>,
) -> Response {
    let (mail, content) = names.map_or_else(|_| Default::default(), |Path(names)| names);
    let call = Call::ReadPdf { bearer, mail: MailId::new(mail), content: ContentId::new(content) };
    answer(&service.places, service.call(call).await)
}

pub(super) async fn unknown(State(service): ServiceState, Bearer(bearer): Bearer) -> Response {
    answer(&service.places, service.call(Call::Elsewhere { bearer, problem: Code::NotFound.into() }).await)
}

pub(super) async fn wrong_method(State(service): ServiceState, Bearer(bearer): Bearer) -> Response {
    answer(
        &service.places,
        service.call(Call::Elsewhere { bearer, problem: Code::MethodNotAllowed.into() }).await,
    )
}

fn mail_id(name: Names<String>) -> MailId {
    MailId::new(name.map(|Path(name)| name).unwrap_or_default())
}
