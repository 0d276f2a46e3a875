//! The page for people: the status, letters that are searched for, the history of one letter.
//!
//! Rendered here, without scripts, readable on a phone, in Japanese or English.

mod chart;
mod front;
mod view;

use std::sync::LazyLock;
use std::time::Instant;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

use super::Source;
use super::answers::{gather, reading};
use crate::domain::letter::{Number, Stage};
use crate::outside::store::Sought;
use crate::words::page::{self, Pages};
use crate::words::texts::Language;
use view::View;

const TEMPLATES: [(&str, &str); 6] = [
    ("layout.html", include_str!("templates/layout.html")),
    ("drops.html", include_str!("templates/drops.html")),
    ("front.html", include_str!("templates/front.html")),
    ("letters.html", include_str!("templates/letters.html")),
    ("letter.html", include_str!("templates/letter.html")),
    ("missing.html", include_str!("templates/missing.html")),
];
const EN: &str = include_str!("texts/en.json");
const JA: &str = include_str!("texts/ja.json");
const LETTERS_ON_A_PAGE: usize = 50;

static PAGES: LazyLock<Result<Pages, String>> = LazyLock::new(|| Pages::new(&TEMPLATES, EN, JA));

fn language(source: &Source, headers: &HeaderMap) -> Language {
    page::wished(headers).unwrap_or(source.language)
}

fn shown(language: Language, template: &str, read: Result<Value, StatusCode>) -> Response {
    let pages = PAGES.as_ref().map_err(Clone::clone);
    let render =
        |template, value| page::html(pages.and_then(|pages| pages.render(language, template, value)));
    match read {
        Ok(value) => render(template, value),
        Err(status) => {
            let mut response =
                render("missing.html", context! { root => "/", gone => status == StatusCode::NOT_FOUND });
            *response.status_mut() = status;
            response
        }
    }
}

pub(super) async fn front(State(source): State<Source>, headers: HeaderMap) -> Response {
    let language = language(&source, &headers);
    let read = reading(&source, move |source, desk| {
        let view = View { language, source, now: source.clock.now() };
        view.front(desk, &gather(source, desk)?)
    });
    shown(language, "front.html", read.await)
}

/// What a person searches for, as the form and the links write it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    q: String,
    state: String,
    folder: String,
    before: Option<u64>,
}

impl Asked {
    fn sought(&self, names: bool) -> Sought {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let state = some(&self.state).filter(|state| Stage::ALL.map(Stage::word).contains(&state.as_str()));
        let text = self.q.trim().to_owned();
        Sought { text, state, folder: some(&self.folder), before: self.before.map(Number), names }
    }

    /// The query part of an address.
    fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs([("q", &self.q), ("state", &self.state), ("folder", &self.folder)]);
        query.extend_pairs(self.before.map(|before| ("before", before.to_string()))).finish()
    }
}

pub(super) async fn letters(
    State(source): State<Source>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let asked = asked.map(|Query(asked)| asked).unwrap_or_default();
    let language = language(&source, &headers);
    let read = reading(&source, move |source, desk| {
        let view = View { language, source, now: source.clock.now() };
        let sought = asked.sought(source.show_names);
        let found = desk.search(&sought, LETTERS_ON_A_PAGE, Instant::now())?;
        view.letters(desk, &asked, &sought, found)
    });
    shown(language, "letters.html", read.await)
}

pub(super) async fn letter(
    State(source): State<Source>,
    number: Result<Path<u64>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let language = language(&source, &headers);
    let Ok(Path(number)) = number else { return shown(language, "letter.html", Err(StatusCode::NOT_FOUND)) };
    let read = reading(&source, move |source, desk| {
        let view = View { language, source, now: source.clock.now() };
        view.letter(desk, Number(number))
    });
    let read = read.await.and_then(|found| found.ok_or(StatusCode::NOT_FOUND));
    shown(language, "letter.html", read)
}

pub(super) async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], page::STYLE).into_response()
}

pub(super) async fn missing(State(source): State<Source>, headers: HeaderMap) -> Response {
    shown(language(&source, &headers), "missing.html", Err(StatusCode::NOT_FOUND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::letter::{Method, ShippingOption};

    #[test]
    fn every_template_can_be_read() {
        assert_eq!(PAGES.as_ref().err(), None);
    }

    #[test]
    fn both_languages_say_the_same_things_and_name_every_state() {
        assert_eq!(page::keys(EN), page::keys(JA));
        for text in [EN, JA] {
            let json: serde_json::Value = serde_json::from_str(text).unwrap();
            for state in Stage::ALL.map(Stage::word) {
                assert!(json["state"][state].as_str().is_some_and(|text| !text.is_empty()), "{state}");
            }
            let has = |group: &str, word: &str| {
                let text = json[group][word].as_str();
                assert!(text.is_some_and(|text| !text.is_empty()), "{group} {word}");
            };
            for option in ShippingOption::ALL {
                has("option", option.word());
            }
            for method in Method::ALL {
                has("method", method.word());
            }
        }
    }
}
