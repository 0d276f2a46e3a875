//! The templates: built in, or replaced by files of the administrator.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use super::{EmailContent, EmailKind, samples};
use crate::words::texts::Language;

const LAYOUT: &str = "layout.html";
/// The beginning of the first line of a plain text's template.
const SUBJECT: &str = "Subject:";
const LONGEST_SUBJECT: usize = 160;

/// The words of an e-mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// What is wrong in a template, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateMistake {
    pub template: String,
    pub line: Option<usize>,
    pub what: String,
}

/// All templates of one language. Each of them can be rendered.
#[derive(Debug)]
pub struct Templates {
    engine: Environment<'static>,
}

macro_rules! built_in {
    ($language:literal) => {
        [
            ("layout.html", include_str!("templates/layout.html")),
            ("shipped.txt", include_str!(concat!("templates/", $language, "/shipped.txt"))),
            ("shipped.html", include_str!(concat!("templates/", $language, "/shipped.html"))),
            ("held.txt", include_str!(concat!("templates/", $language, "/held.txt"))),
            ("held.html", include_str!(concat!("templates/", $language, "/held.html"))),
            ("rejected.txt", include_str!(concat!("templates/", $language, "/rejected.txt"))),
            ("rejected.html", include_str!(concat!("templates/", $language, "/rejected.html"))),
            ("cancelled.txt", include_str!(concat!("templates/", $language, "/cancelled.txt"))),
            ("cancelled.html", include_str!(concat!("templates/", $language, "/cancelled.html"))),
            ("card_declined.txt", include_str!(concat!("templates/", $language, "/card_declined.txt"))),
            ("card_declined.html", include_str!(concat!("templates/", $language, "/card_declined.html"))),
            ("alert.txt", include_str!(concat!("templates/", $language, "/alert.txt"))),
            ("alert.html", include_str!(concat!("templates/", $language, "/alert.html"))),
            ("letters.txt", include_str!(concat!("templates/", $language, "/letters.txt"))),
            ("letters.html", include_str!(concat!("templates/", $language, "/letters.html"))),
            ("digest.txt", include_str!(concat!("templates/", $language, "/digest.txt"))),
            ("digest.html", include_str!(concat!("templates/", $language, "/digest.html"))),
            ("reply.txt", include_str!(concat!("templates/", $language, "/reply.txt"))),
            ("reply.html", include_str!(concat!("templates/", $language, "/reply.html"))),
        ]
    };
}

/// Name and text of each template of a language.
const EN: [(&str, &str); 19] = built_in!("en");
const JA: [(&str, &str); 19] = built_in!("ja");

impl Templates {
    /// The built-in templates, which serve as a start for one's own.
    pub fn built_in(language: Language) -> [(&'static str, &'static str); 19] {
        match language {
            Language::En => EN,
            Language::Ja => JA,
        }
    }

    /// The built-in templates, some of them replaced. Each is rendered once with sample values, so that a
    /// mistake is known before a letter depends on it.
    pub fn with(language: Language, own: &BTreeMap<String, String>) -> Result<Self, Vec<TemplateMistake>> {
        let mut engine = Environment::new();
        engine.set_undefined_behavior(UndefinedBehavior::Strict);
        // A block on a line of its own leaves no empty line.
        if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
            engine.set_syntax(syntax);
        }
        engine.set_auto_escape_callback(|name| {
            let is_page = name.rsplit_once('.').is_some_and(|(_, ending)| ending == "html");
            if is_page { AutoEscape::Html } else { AutoEscape::None }
        });
        let known = Self::built_in(language);
        let mut mistakes: Vec<TemplateMistake> = own
            .keys()
            .filter(|name| !known.iter().any(|(known, _)| known == name))
            .map(|name| {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                let what = format!("there is no template of this name; there is: {}", names.join(", "));
                TemplateMistake { template: name.clone(), line: None, what }
            })
            .collect();
        for (name, text) in known {
            let text = own.get(name).map_or(text, String::as_str);
            if let Err(error) = engine.add_template_owned(name, text.to_owned()) {
                mistakes.push(mistake(name, &error));
            }
        }
        let templates = Self { engine };
        for (kind, content) in samples(language) {
            let wrong = templates.render(kind, &content).err();
            // What could not be read was reported already.
            let known =
                |wrong: &TemplateMistake| mistakes.iter().any(|known| known.template == wrong.template);
            mistakes.extend(wrong.filter(|wrong| !known(wrong)));
        }
        if mistakes.is_empty() { Ok(templates) } else { Err(mistakes) }
    }

    pub fn render(&self, kind: EmailKind, content: &EmailContent) -> Result<Message, TemplateMistake> {
        let (plain_name, page_name) = (format!("{}.txt", kind.word()), format!("{}.html", kind.word()));
        let plain = self.fill(&plain_name, content)?;
        let (first, body) = plain.split_once('\n').unwrap_or((&plain, ""));
        let subject = first.strip_prefix(SUBJECT).map(str::trim).filter(|subject| !subject.is_empty());
        let Some(subject) = subject else {
            let what = format!("its first line must be `{SUBJECT} …`");
            return Err(TemplateMistake { template: plain_name, line: Some(1), what });
        };
        Ok(Message {
            subject: one_line(subject),
            text: squeezed(body),
            html: self.fill(&page_name, content)?,
        })
    }

    fn fill(&self, name: &str, content: &EmailContent) -> Result<String, TemplateMistake> {
        let values = Value::from(Serde(content));
        let filled = self.engine.get_template(name).and_then(|template| template.render(values));
        filled.map_err(|error| mistake(name, &error))
    }
}

/// At most one empty line in a row, and none at either end.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::new();
    for line in text.trim().lines().map(str::trim_end) {
        if !(line.is_empty() && squeezed.ends_with("\n\n")) {
            squeezed.extend([line, "\n"]);
        }
    }
    squeezed
}

/// A header has one line, whatever the name of a file.
fn one_line(text: &str) -> String {
    let mut line: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_SUBJECT + 1).collect();
    if line.chars().count() > LONGEST_SUBJECT {
        line = line.chars().take(LONGEST_SUBJECT - 1).chain(['…']).collect();
    }
    line
}

/// The engine's error, without the values in it.
fn mistake(name: &str, error: &minijinja::Error) -> TemplateMistake {
    // The mistake may be in a template that this one includes or extends.
    let mut innermost = error;
    while let Some(inner) = std::error::Error::source(innermost).and_then(|e| e.downcast_ref()) {
        innermost = inner;
    }
    let what = match innermost.detail() {
        Some(detail) => format!("{}: {detail}", innermost.kind()),
        None => innermost.kind().to_string(),
    };
    let template = innermost.name().filter(|name| !name.is_empty() && *name != LAYOUT);
    TemplateMistake { template: template.unwrap_or(name).to_owned(), line: innermost.line(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, text: &str) -> Result<Templates, Vec<TemplateMistake>> {
        Templates::with(Language::En, &BTreeMap::from([(name.to_owned(), text.to_owned())]))
    }

    #[test]
    fn every_template_of_every_language_says_what_it_is_about() {
        for language in [Language::En, Language::Ja] {
            let templates = Templates::with(language, &BTreeMap::new()).unwrap();
            for (kind, content) in samples(language) {
                let message = templates.render(kind, &content).unwrap();
                for part in [&message.text, &message.html] {
                    for item in &content.items {
                        let file = item.file.as_deref().unwrap_or_default();
                        let only = |kind_of: bool, text: &'_ Option<String>| text.clone().filter(|_| kind_of);
                        let said = [
                            item.letter.clone(),
                            only(kind == EmailKind::Shipped, &item.tracking_url),
                            only(kind != EmailKind::Shipped, &item.remedy),
                        ];
                        let part = &part.replace("&amp;", "&").replace("&#x2f;", "/");
                        assert!(
                            said.into_iter().flatten().all(|said| part.contains(&said)),
                            "{kind:?}: {part}"
                        );
                        assert!(part.contains(file) || kind == EmailKind::Letters, "{kind:?}: {part}");
                    }
                    if let Some(alert) = &content.alert {
                        assert!(part.contains(&alert.cause), "{kind:?}: {part}");
                    }
                    assert!(!part.contains("none") && !part.contains("{{"), "{kind:?}: {part}");
                }
                assert!(
                    !message.subject.is_empty() && !message.text.contains("\n\n\n"),
                    "{kind:?}: {}",
                    message.text
                );
            }
        }
    }

    #[test]
    fn a_template_of_ones_own_is_used_and_its_mistakes_have_places() {
        let own = with("shipped.txt", "Subject: {{ items|length }} gone\n\nBye.").unwrap();
        let (kind, content) = samples(Language::En).swap_remove(0);
        let message = own.render(kind, &content).unwrap();
        assert!(message.subject.ends_with("gone") && message.text == "Bye.\n", "{message:?}");
        let mistake = |name: &str, text: &str| with(name, text).unwrap_err().remove(0);
        let typo = mistake("held.txt", "Subject: x\n\n{{ fodler }}");
        assert_eq!((typo.template.as_str(), typo.line), ("held.txt", Some(3)));
        let broken = mistake("held.html", "<p>\n{% for item in items %}");
        assert_eq!((broken.template.as_str(), broken.line.is_some()), ("held.html", true));
        assert!(mistake("held.txt", "Hello").what.contains("Subject:"));
        assert!(mistake("hold.txt", "").what.contains("held.txt"));
    }

    #[test]
    fn whatever_a_file_is_called_is_text() {
        let templates = Templates::with(Language::Ja, &BTreeMap::new()).unwrap();
        let (kind, mut content) = samples(Language::Ja).swap_remove(0);
        content.items[0].file =
            Some("<img src=x onerror=alert(1)>\r\nBcc: a@b %0d%0a{{ 7*7 }}.pdf".to_owned());
        let message = templates.render(kind, &content).unwrap();
        assert!(!message.html.contains("<img") && message.html.contains("&lt;img"));
        assert!(!message.subject.contains(['\r', '\n']) && message.html.contains("{{ 7*7 }}"));
        assert!(one_line(&"請".repeat(500)).chars().count() == LONGEST_SUBJECT);
    }
}
