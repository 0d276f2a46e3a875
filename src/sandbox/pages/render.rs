//! Templates and their texts, in the language the browser asks for.

use std::sync::LazyLock;

use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Response};
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error, context};

const TEMPLATES: [(&str, &str); 8] = [
    ("layout.html", include_str!("templates/layout.html")),
    ("parts.html", include_str!("templates/parts.html")),
    ("inbox.html", include_str!("templates/inbox.html")),
    ("letter.html", include_str!("templates/letter.html")),
    ("account.html", include_str!("templates/account.html")),
    ("problems.html", include_str!("templates/problems.html")),
    ("problem.html", include_str!("templates/problem.html")),
    ("missing.html", include_str!("templates/missing.html")),
];

static PAGES: LazyLock<Result<Pages, String>> = LazyLock::new(Pages::read);

struct Pages {
    environment: Environment<'static>,
    english: Value,
    japanese: Value,
}

impl Pages {
    fn read() -> Result<Self, String> {
        let mut environment = Environment::new();
        environment.add_filter("code", code);
        for (name, source) in TEMPLATES {
            environment.add_template(name, source).map_err(|error| error.to_string())?;
        }
        Ok(Self {
            environment,
            english: texts(include_str!("texts/en.json"))?,
            japanese: texts(include_str!("texts/ja.json"))?,
        })
    }

    fn texts(&self, language: Language) -> &Value {
        match language {
            Language::English => &self.english,
            Language::Japanese => &self.japanese,
        }
    }

    fn render(&self, language: Language, template: &str, page: Value) -> Result<String, Error> {
        let t = self.texts(language);
        self.environment.get_template(template)?.render(context! { t, ..page })
    }
}

fn texts(json: &str) -> Result<Value, String> {
    let texts: serde_json::Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Ok(Value::from(Serde(texts)))
}

/// Escapes a text and sets what stands between backticks as code.
fn code(text: &str) -> Value {
    let mut html = String::new();
    for (index, part) in text.split('`').enumerate() {
        let escaped =
            part.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        let (open, close) = if index % 2 == 1 { ("<code>", "</code>") } else { ("", "") };
        html.extend([open, &escaped, close]);
    }
    Value::from_safe_string(html)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Japanese,
}

impl Language {
    /// The better liked of the two; English where neither is named.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let wish =
            headers.get(header::ACCEPT_LANGUAGE).and_then(|wish| wish.to_str().ok()).unwrap_or_default();
        let weight = |language: &str| {
            let weights = wish.split(',').filter_map(|item| {
                let (tag, parameters) = item.split_once(';').unwrap_or((item, ""));
                let primary = tag.trim().split('-').next().unwrap_or_default();
                let weight =
                    parameters.trim().strip_prefix("q=").map_or(Some(1.0), |q| q.parse::<f32>().ok());
                primary.eq_ignore_ascii_case(language).then_some(weight)?
            });
            weights.fold(0.0, f32::max)
        };
        if weight("ja") > weight("en") { Self::Japanese } else { Self::English }
    }
}

pub(super) fn page(headers: &HeaderMap, template: &str, page: Value) -> Response {
    let rendered = PAGES.as_ref().map_err(Clone::clone).and_then(|pages| {
        pages.render(Language::of(headers), template, page).map_err(|error| error.to_string())
    });
    match rendered {
        Ok(html) => Html(html).into_response(),
        Err(error) => {
            tracing::error!(template, error, "a page can't be shown");
            axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// One text on its own.
pub(super) fn text(headers: &HeaderMap, group: &str, name: &str) -> Option<Value> {
    let texts = PAGES.as_ref().ok()?.texts(Language::of(headers));
    texts.get_attr(group).and_then(|group| group.get_attr(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::world::Code;

    fn asked(wish: &str) -> Language {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, wish.parse().unwrap());
        Language::of(&headers)
    }

    #[test]
    fn the_better_liked_language_is_shown() {
        assert_eq!(asked("ja"), Language::Japanese);
        assert_eq!(asked("ja-JP,ja;q=0.9,en;q=0.8"), Language::Japanese);
        assert_eq!(asked("en-GB,en;q=0.9,ja;q=0.3"), Language::English);
        assert_eq!(asked("fr;q=1, ja;q=0.2"), Language::Japanese);
        assert_eq!(asked("*"), Language::English);
        assert_eq!(Language::of(&HeaderMap::new()), Language::English);
    }

    fn keys(json: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        match json.as_object() {
            Some(object) => {
                for (key, value) in object {
                    keys(value, &format!("{path}.{key}"), found);
                }
            }
            None => found.push(path.to_owned()),
        }
    }

    #[test]
    fn both_languages_say_the_same_things_and_explain_every_problem() {
        let [english, japanese] =
            [include_str!("texts/en.json"), include_str!("texts/ja.json")].map(|text| {
                let json: serde_json::Value = serde_json::from_str(text).unwrap();
                let mut found = Vec::new();
                keys(&json, "", &mut found);
                for code in Code::ALL {
                    for part in ["means", "remedy", "where"] {
                        let said = json["problem"][code.as_str()][part].as_str();
                        assert!(said.is_some_and(|text| !text.is_empty()), "{}: {part}", code.as_str());
                    }
                }
                found
            });
        assert_eq!(english, japanese);
    }

    #[test]
    fn texts_are_escaped_around_their_code() {
        assert_eq!(code("a <b> `c<d` e").to_string(), "a &lt;b&gt; <code>c&lt;d</code> e");
    }
}
