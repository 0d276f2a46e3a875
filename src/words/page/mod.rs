//! Pages for people: templates, their texts in two languages, and the headers that protect them in a browser.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use minijinja::value::{Serde, Value};
use minijinja::{Environment, UndefinedBehavior, context};

use crate::words::texts::Language;

/// How all pages look.
pub const STYLE: &str = include_str!("style.css");
/// What all pages are built of.
const SHARED: [(&str, &str); 2] =
    [("frame.html", include_str!("frame.html")), ("parts.html", include_str!("parts.html"))];

/// Templates that can be parsed, with their texts in each language.
#[derive(Debug)]
pub struct Pages {
    engine: Environment<'static>,
    english: Value,
    japanese: Value,
}

impl Pages {
    /// Makes the pages from what is built in, so every mistake is our own. A test renders all of them.
    pub fn new(
        templates: &[(&'static str, &'static str)],
        english: &str,
        japanese: &str,
    ) -> Result<Self, String> {
        let mut engine = Environment::new();
        engine.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        engine.add_filter("code", code);
        for (name, source) in SHARED.iter().chain(templates) {
            engine.add_template(name, source).map_err(|error| error.to_string())?;
        }
        Ok(Self { engine, english: texts(english)?, japanese: texts(japanese)? })
    }

    pub fn texts(&self, language: Language) -> &Value {
        match language {
            Language::En => &self.english,
            Language::Ja => &self.japanese,
        }
    }

    /// Renders a page. `t` in its template are the texts.
    pub fn render(&self, language: Language, template: &str, page: Value) -> Result<String, String> {
        let t = self.texts(language);
        let template = self.engine.get_template(template).map_err(|error| error.to_string())?;
        template.render(context! { t, ..page }).map_err(|error| error.to_string())
    }
}

fn texts(json: &str) -> Result<Value, String> {
    let texts: serde_json::Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Ok(Value::from(Serde(texts)))
}

/// Escapes a text, and marks up as code what stands between backticks.
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

/// The language that a browser prefers of the two, if it names one.
pub fn wished(headers: &HeaderMap) -> Option<Language> {
    let wish = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
    let weight = |language: &str| {
        let weights = wish.split(',').filter_map(|item| {
            let (tag, parameters) = item.split_once(';').unwrap_or((item, ""));
            let primary = tag.trim().split('-').next().unwrap_or_default();
            let weight = parameters.trim().strip_prefix("q=").map_or(Some(1.0), |q| q.parse::<f32>().ok());
            primary.eq_ignore_ascii_case(language).then_some(weight)?
        });
        weights.fold(0.0, f32::max)
    };
    let (japanese, english) = (weight("ja"), weight("en"));
    if japanese.max(english) <= 0.0 {
        return None;
    }
    Some(if japanese > english { Language::Ja } else { Language::En })
}

pub fn html(rendered: Result<String, String>) -> Response {
    match rendered {
        Ok(html) => Html(html).into_response(),
        Err(error) => {
            tracing::error!(error, "a page can't be shown");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Sets the headers of every answer that a browser may show. Only what the policy names is loaded.
pub fn protect(headers: &mut HeaderMap, policy: &'static str) {
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // A browser that must not say where it was sends its own forms without their origin, too, and they are refused.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Language"));
}

/// The names of all texts, so that a test can compare the two languages.
#[cfg(test)]
pub(crate) fn keys(json: &str) -> Vec<String> {
    fn below(json: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        match json.as_object() {
            Some(object) => {
                object.iter().for_each(|(key, value)| below(value, &format!("{path}.{key}"), found));
            }
            None => found.push(path.to_owned()),
        }
    }
    let mut found = Vec::new();
    below(&serde_json::from_str(json).unwrap(), "", &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(wish: &str) -> Option<Language> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, wish.parse().unwrap());
        wished(&headers)
    }

    #[test]
    fn the_better_liked_language_is_shown() {
        assert_eq!(asked("ja"), Some(Language::Ja));
        assert_eq!(asked("ja-JP,ja;q=0.9,en;q=0.8"), Some(Language::Ja));
        assert_eq!(asked("en-GB,en;q=0.9,ja;q=0.3"), Some(Language::En));
        assert_eq!(asked("fr;q=1, ja;q=0.2"), Some(Language::Ja));
        assert_eq!(asked("*"), None);
        assert_eq!(wished(&HeaderMap::new()), None);
    }

    #[test]
    fn texts_are_escaped_around_their_code() {
        assert_eq!(code("a <b> `c<d` e").to_string(), "a &lt;b&gt; <code>c&lt;d</code> e");
    }
}
