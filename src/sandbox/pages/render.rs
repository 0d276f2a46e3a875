//! The sandbox's templates and their texts, in the browser's language.

use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;

use crate::words::page::{self, Pages};
use crate::words::texts::Language;

const TEMPLATES: [(&str, &str); 13] = [
    ("layout.html", include_str!("templates/layout.html")),
    ("mail.html", include_str!("templates/mail.html")),
    ("envelope.html", include_str!("templates/envelope.html")),
    ("inbox.html", include_str!("templates/inbox.html")),
    ("letter.html", include_str!("templates/letter.html")),
    ("tutorial.html", include_str!("templates/tutorial.html")),
    ("calls.html", include_str!("templates/calls.html")),
    ("controls.html", include_str!("templates/controls.html")),
    ("account.html", include_str!("templates/account.html")),
    ("problems.html", include_str!("templates/problems.html")),
    ("decisions.html", include_str!("templates/decisions.html")),
    ("problem.html", include_str!("templates/problem.html")),
    ("missing.html", include_str!("templates/missing.html")),
];
const EN: &str = include_str!("texts/en.json");
const JA: &str = include_str!("texts/ja.json");

static PAGES: LazyLock<Result<Pages, String>> = LazyLock::new(|| Pages::new(&TEMPLATES, EN, JA));

/// English if the browser names neither.
fn language(headers: &HeaderMap) -> Language {
    page::wished(headers).unwrap_or(Language::En)
}

pub(super) fn page(headers: &HeaderMap, template: &str, page: Value) -> Response {
    let pages = PAGES.as_ref().map_err(Clone::clone);
    page::html(
        pages.and_then(|pages| pages.render(language(headers), template, context! { root => "/", ..page })),
    )
}

/// One text by itself.
pub(super) fn text(headers: &HeaderMap, group: &str, name: &str) -> Option<Value> {
    let texts = PAGES.as_ref().ok()?.texts(language(headers));
    texts.get_attr(group).and_then(|group| group.get_attr(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::{EN, JA};
    use crate::sandbox::world::Code;

    #[test]
    fn both_languages_say_the_same_things_and_explain_every_problem() {
        assert_eq!(crate::words::page::keys(EN), crate::words::page::keys(JA));
        for text in [EN, JA] {
            let json: serde_json::Value = serde_json::from_str(text).unwrap();
            for code in Code::ALL {
                for part in ["means", "remedy", "where"] {
                    let said = json["problem"][code.as_str()][part].as_str();
                    assert!(said.is_some_and(|text| !text.is_empty()), "{}: {part}", code.as_str());
                }
            }
        }
    }
}
