//! The controls for people: each does what a line with curl does, and shows that line.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use minijinja::context;
use minijinja::value::{Serde, Value};
use serde_json::json;

use super::render::page;
use super::{ServiceState, halted, read_form, view};
use crate::sandbox::controls::{self, Refused};
use crate::sandbox::faults::{Endpoint, Kind};
use crate::sandbox::scenario::Scenario;
use crate::sandbox::service::Service;
use crate::sandbox::world::Card;

const PACES: [&str; 4] = ["real", "x60", "x3600", "manual"];

/// One control, as it stands in its address.
struct Order {
    control: &'static str,
    /// `None`: what waits there is deleted.
    body: Option<serde_json::Value>,
}

impl Order {
    /// What a form asks for. `None` if no form of these pages says that.
    fn of(form: &BTreeMap<String, String>) -> Option<Self> {
        let field = |name: &str| form.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let (control, body) = match field("do")? {
            "advance" => ("clock", Some(json!({"advance": field("advance")?}))),
            "next_event" => ("clock", Some(json!("next_event"))),
            "pace" => ("clock", Some(json!({"pace": field("pace")?}))),
            "card" => ("card", Some(json!({"card": field("card")?}))),
            "fault" => ("faults", Some(fault(form))),
            "forget_faults" => ("faults", None),
            "scenario" => {
                let (_, scenario) =
                    Scenario::usual().into_iter().find(|(name, _)| Some(*name) == field("name"))?;
                ("scenario", serde_json::to_value(scenario).ok())
            }
            "packing" => ("packing", Some(json!({"mail": field("mail")?}))),
            "reset" => ("reset", Some(json!({}))),
            _ => return None,
        };
        Some(Self { control, body })
    }

    async fn carry_out(&self, service: &Arc<Service>) -> Result<Response, Refused> {
        let state = State(Arc::clone(service));
        let Some(json) = &self.body else { return Ok(controls::clear_faults(state).await.into_response()) };
        let body = Body::from(json.to_string());
        match self.control {
            "clock" => controls::move_clock(state, body).await,
            "card" => controls::set_card(state, body).await,
            "faults" => controls::order_fault(state, body).await,
            "scenario" => controls::play(state, body).await,
            "packing" => controls::begin_packing(state, body).await,
            _ => Ok(controls::reset(state).await),
        }
    }

    /// The line that does the same.
    fn curl(&self, service: &Service) -> String {
        let url = format!("{}/{}", service.places.control_url, self.control);
        match &self.body {
            Some(json) if self.control == "reset" && json == &json!({}) => format!("curl -X POST {url}"),
            Some(json) => format!("curl -d '{}' {url}", json.to_string().replace('\'', r"'\''")),
            None => format!("curl -X DELETE {url}"),
        }
    }
}

/// The numbers of a form become numbers of JSON, if they are ones.
fn fault(form: &BTreeMap<String, String>) -> serde_json::Value {
    let mut order = serde_json::Map::new();
    for name in ["endpoint", "fault", "status", "times", "skip", "delay_ms"] {
        let Some(value) = form.get(name).filter(|value| !value.is_empty()) else { continue };
        let number = value.parse::<u64>().ok().map(serde_json::Value::from);
        order.insert(name.to_owned(), number.unwrap_or_else(|| value.as_str().into()));
    }
    order.into()
}

pub(in crate::sandbox) async fn controls(State(service): ServiceState, headers: HeaderMap) -> Response {
    shown(&service, &headers, Value::UNDEFINED).await
}

pub(in crate::sandbox) async fn carry_out(
    State(service): ServiceState,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let form = read_form(&service, body).await;
    let Some(order) = Order::of(&form) else { return StatusCode::BAD_REQUEST.into_response() };
    match order.carry_out(&service).await {
        Ok(answer) if answer.status().is_success() => {
            let back = form.get("back").filter(|back| {
                back.starts_with("/inbox/") && back.bytes().all(|byte| byte.is_ascii_graphic())
            });
            match back {
                Some(back) => Redirect::to(back).into_response(),
                None => shown(&service, &headers, context! { curl => order.curl(&service) }).await,
            }
        }
        Ok(answer) => answer,
        Err(refused) => {
            let done = context! { curl => order.curl(&service), refused => refused.why() };
            let mut page = shown(&service, &headers, done).await;
            *page.status_mut() = refused.status();
            page
        }
    }
}

async fn shown(service: &Arc<Service>, headers: &HeaderMap, done: Value) -> Response {
    let seen = service.show(|world, _| {
        (world.next_due_mail().map(view::time), world.first_account().map(|account| account.card))
    });
    let Ok((next, card)) = seen.await else { return halted() };
    let waiting: Vec<Value> = {
        let script = service.faults.lock().unwrap_or_else(PoisonError::into_inner);
        script.waiting().map(|order| Value::from(Serde(order))).collect()
    };
    let scenarios = Scenario::usual().map(|(name, scenario)| {
        let order = Order { control: "scenario", body: serde_json::to_value(scenario).ok() };
        context! { name, curl => order.curl(service) }
    });
    page(
        headers,
        "controls.html",
        context! {
            done, next, waiting, scenarios,
            card => card.map(Serde),
            now => view::time(service.clock.now()),
            pace => service.clock.pace().to_string(),
            paces => PACES,
            cards => [Card::Ok, Card::Declining, Card::None].map(Serde),
            endpoints => Endpoint::ALL.map(Serde),
            faults => Kind::ALL.map(Serde),
            control_url => service.places.control_url.as_str(),
        },
    )
}
