//! `/_sandbox/`: moves the clock, orders faults, sets cards, and lists what happened. JSON in and out.

use std::sync::{Arc, PoisonError};

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::answer::answer;
use super::faults::{Order, Script};
use super::intake::{Trouble, read_body};
use super::scenario::Scenario;
use super::service::Service;
use super::world::{AccountId, Card, Chosen, ClientId, Entry, Event, MailId, Reply, Request, ScreenRefusal};
use crate::base::clock::Time;
use crate::base::secret::Secret;
use crate::outside::api::wire::format_time;

const LARGEST_BODY: usize = 64 << 10;

type ServiceState = State<Arc<Service>>;
type Named = Result<Path<String>, PathRejection>;

/// A control that was not understood. Its answer says what is expected.
pub(super) struct Refused(StatusCode, String);

impl Refused {
    pub(super) fn status(&self) -> StatusCode {
        self.0
    }

    pub(super) fn why(&self) -> &str {
        &self.1
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}

pub(super) fn bad(why: impl std::fmt::Display) -> Refused {
    Refused(StatusCode::BAD_REQUEST, format!("{why}"))
}

async fn read<T: DeserializeOwned>(service: &Service, body: Body) -> Result<T, Refused> {
    let bytes =
        read_body(body, LARGEST_BODY, service.patience.body).await.map_err(|trouble| match trouble {
            Trouble::TooLarge => Refused(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large".to_owned()),
            Trouble::TooSlow => {
                Refused(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time".to_owned())
            }
            Trouble::Broken => bad("the body did not arrive whole"),
        })?;
    serde_json::from_slice(&bytes).map_err(bad)
}

pub(super) async fn clock(State(service): ServiceState) -> Response {
    let body = json!({"now": format_time(service.clock.now()), "clock": service.clock.pace().to_string()});
    Json(body).into_response()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Move {
    /// For example `90s`, `30m`, `2days 3h`.
    Advance(String),
    Set(Time),
    /// To when something happens by itself.
    NextEvent,
    /// How fast it runs from now on.
    Pace(String),
}

pub(super) async fn move_clock(State(service): ServiceState, body: Body) -> Result<Response, Refused> {
    let moved = match read(&service, body).await? {
        Move::Advance(text) => {
            let step = humantime::parse_duration(&text).map_err(|error| bad(format!("`{text}`: {error}")))?;
            service.clock.move_by(TimeDelta::from_std(step).map_err(bad)?)
        }
        Move::Set(time) => service.clock.move_to(time),
        Move::NextEvent => {
            let due = service.look(|world, _| world.next_due_mail());
            let due = due.ok_or_else(|| bad("nothing will happen to any letter by itself"))?;
            service.clock.move_to(due.max(service.clock.now()))
        }
        Move::Pace(text) => Ok(service.clock.run(text.parse().map_err(bad)?)),
    };
    moved.map_err(bad)?;
    let passed = service.call(Request::PassTime).await;
    service.time_moved();
    match passed {
        Ok(_) => Ok(clock(State(service)).await),
        halted @ Err(_) => Ok(answer(&service.places, halted)),
    }
}

pub(super) async fn order_fault(State(service): ServiceState, body: Body) -> Result<Response, Refused> {
    let order: Order = read(&service, body).await?;
    service.faults.lock().unwrap_or_else(PoisonError::into_inner).add(order).map_err(bad)?;
    service.stir();
    Ok((StatusCode::CREATED, waiting(&service)).into_response())
}

pub(super) async fn faults(State(service): ServiceState) -> Json<serde_json::Value> {
    waiting(&service)
}

pub(super) async fn clear_faults(State(service): ServiceState) -> StatusCode {
    service.faults.lock().unwrap_or_else(PoisonError::into_inner).clear();
    service.stir();
    StatusCode::NO_CONTENT
}

/// Orders the faults of a scenario beside those that wait, and sets the first account's card.
pub(super) async fn play(State(service): ServiceState, body: Body) -> Result<Response, Refused> {
    let scenario: Scenario = read(&service, body).await?;
    if scenario.clock.is_some() || scenario.now.is_some() {
        return Err(bad("a scenario moves the clock at the start only; use the control `clock`"));
    }
    let mut script = Script::default();
    for order in scenario.faults.clone() {
        script.add(order).map_err(bad)?;
    }
    // What may be refused comes first.
    let done = match scenario.card {
        Some(card) => {
            let account = or_first(&service, None)?;
            carry_out(&service, Request::SetCard { account, card }).await?
        }
        None => StatusCode::NO_CONTENT.into_response(),
    };
    service.order(&scenario.faults, false);
    service.stir();
    Ok(done)
}

/// Everything is as it was at the start, but for the time.
pub(super) async fn reset(State(service): ServiceState) -> Response {
    match service.reset().await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(halted) => answer(&service.places, Err(halted)),
    }
}

fn waiting(service: &Service) -> Json<serde_json::Value> {
    let script = service.faults.lock().unwrap_or_else(PoisonError::into_inner);
    let waiting: Vec<&Order> = script.waiting().collect();
    Json(json!({"waiting": waiting}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetCard {
    account: Option<AccountId>,
    card: Card,
}

pub(super) async fn set_card(State(service): ServiceState, body: Body) -> Result<Response, Refused> {
    let SetCard { account, card } = read(&service, body).await?;
    let account = or_first(&service, account)?;
    carry_out(&service, Request::SetCard { account, card }).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenAccount {
    #[serde(default = "unnamed")]
    name: String,
    #[serde(default = "working")]
    card: Card,
}

fn unnamed() -> String {
    "Another account".to_owned()
}

fn working() -> Card {
    Card::Ok
}

pub(super) async fn open_account(State(service): ServiceState, body: Body) -> Result<Response, Refused> {
    let OpenAccount { name, card } = read(&service, body).await?;
    carry_out(&service, Request::OpenAccount { name, card }).await
}

pub(super) async fn accounts(State(service): ServiceState) -> Response {
    let shown = service.show(|world, _| {
        let accounts: Vec<_> = world
            .accounts()
            .map(|account| {
                let clients: Vec<&ClientId> =
                    world.clients_of(&account.id).map(|client| &client.id).collect();
                json!({
                    "account": account.id, "name": account.name, "card": account.card,
                    "closed": account.closed_at.is_some(), "clients": clients,
                })
            })
            .collect();
        json!({"accounts": accounts})
    });
    shown
        .await
        .map_or_else(|halted| answer(&service.places, Err(halted)), |shown| Json(shown).into_response())
}

pub(super) async fn close_account(State(service): ServiceState, account: Named) -> Result<Response, Refused> {
    carry_out(&service, Request::CloseAccount { account: AccountId::new(account.map_err(bad)?.0) }).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IssueClient {
    account: Option<AccountId>,
    name: String,
    #[serde(default)]
    agree_to_terms: bool,
    client_id: Option<ClientId>,
    client_secret: Option<String>,
}

pub(super) async fn issue_client(State(service): ServiceState, body: Body) -> Result<Response, Refused> {
    let asked: IssueClient = read(&service, body).await?;
    let chosen = match (asked.client_id, asked.client_secret) {
        (None, None) => None,
        (Some(id), Some(secret)) => Some(Chosen { id, secret: Secret::new(secret) }),
        (Some(_), None) | (None, Some(_)) => {
            return Err(bad("give both `client_id` and `client_secret`, or neither"));
        }
    };
    let account = or_first(&service, asked.account)?;
    let (name, terms_agreed) = (asked.name, asked.agree_to_terms);
    carry_out(&service, Request::IssueClient { account, name, terms_agreed, chosen }).await
}

pub(super) async fn reissue_secret(State(service): ServiceState, client: Named) -> Result<Response, Refused> {
    carry_out(
        &service,
        Request::ReissueSecret { client: ClientId::new(client.map_err(bad)?.0), chosen: None },
    )
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeginPacking {
    mail: MailId,
}

pub(super) async fn begin_packing(State(service): ServiceState, body: Body) -> Result<Response, Refused> {
    let BeginPacking { mail } = read(&service, body).await?;
    carry_out(&service, Request::BeginPacking { mail }).await
}

async fn carry_out(service: &Arc<Service>, request: Request) -> Result<Response, Refused> {
    match service.call(request).await {
        Ok(Reply::Screen(refusal)) => {
            let status = match refusal {
                ScreenRefusal::NoSuchAccount | ScreenRefusal::NoSuchClient | ScreenRefusal::NoSuchMail => {
                    StatusCode::NOT_FOUND
                }
                ScreenRefusal::BadName | ScreenRefusal::BadCredentials | ScreenRefusal::BadAccountName => {
                    StatusCode::BAD_REQUEST
                }
                ScreenRefusal::TermsNotAgreed | ScreenRefusal::TooManyClients | ScreenRefusal::IdTaken => {
                    StatusCode::CONFLICT
                }
            };
            Err(Refused(status, refusal.to_string()))
        }
        outcome => Ok(answer(&service.places, outcome)),
    }
}

/// The named account, or the one this sandbox began with.
fn or_first(service: &Service, named: Option<AccountId>) -> Result<AccountId, Refused> {
    let first = || service.look(|world, _| world.first_account().map(|account| account.id.clone()));
    named
        .or_else(first)
        .ok_or_else(|| Refused(StatusCode::NOT_FOUND, ScreenRefusal::NoSuchAccount.to_string()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    account: Option<AccountId>,
    mail: Option<MailId>,
    event: Option<String>,
    /// Only entries after this number.
    #[serde(default)]
    after: u64,
}

impl Wanted {
    fn fits(&self, entry: &Entry) -> bool {
        self.account.as_ref().is_none_or(|account| entry.account == *account)
            && (self.mail.is_none() || entry.mail == self.mail)
    }
}

#[derive(Serialize)]
struct Numbered {
    seq: u64,
    #[serde(flatten)]
    entry: Entry,
}

/// The list is used as proof of what happened, so an impossible name is refused instead of never found.
pub(super) async fn ledger(
    State(service): ServiceState,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Response, Refused> {
    let Query(wanted) = wanted.map_err(bad)?;
    if let Some(event) = wanted.event.as_deref().filter(|event| !Event::NAMES.contains(event)) {
        return Err(bad(format!("`{event}` is not an event; there are: {}", Event::NAMES.join(", "))));
    }
    let found = service.show(|_, ledger| {
        let found = ledger.after(wanted.after).filter(|(_, entry)| wanted.fits(entry));
        found.map(|(index, entry)| Numbered { seq: index + 1, entry: entry.clone() }).collect::<Vec<_>>()
    });
    match found.await {
        Ok(found) => {
            let lines = found.iter().filter_map(|line| serde_json::to_value(line).ok());
            let lines =
                lines.filter(|line| wanted.event.as_ref().is_none_or(|event| line["event"] == **event));
            Ok(Json(json!({"entries": lines.collect::<Vec<_>>()})).into_response())
        }
        Err(halted) => Ok(answer(&service.places, Err(halted))),
    }
}

pub(super) async fn unknown() -> Refused {
    Refused(StatusCode::NOT_FOUND, "there is no such control; docs/sandbox.md lists them".to_owned())
}

pub(super) async fn wrong_method() -> Refused {
    Refused(
        StatusCode::METHOD_NOT_ALLOWED,
        "this control does not know this method; docs/sandbox.md lists them".to_owned(),
    )
}
