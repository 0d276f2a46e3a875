//! Letters that somebody looks for, by words, state and way of posting, newest first.

use std::collections::HashMap;
use std::sync::PoisonError;

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;

use super::data::Halted;
use super::service::Service;
use super::world::{Mail, MailId, Standing};
use crate::outside::api::wire::ShippingMethod;

/// The letters that are looked at before others may use the world again.
const LOOKED_AT_ONCE: usize = 500;
/// Digits that can be a postal code, and characters that can be the beginning of an id.
const SHORTEST_NUMBER: usize = 7;

/// What stands in the address of a page or control. Nothing and the empty text are the same.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    pub(super) q: String,
    pub(super) state: String,
    pub(super) method: String,
    /// Only letters before this one.
    pub(super) before: String,
}

/// What fits.
#[derive(Debug, Clone, Default)]
pub(super) struct Finder {
    words: Vec<Word>,
    state: Option<Standing>,
    method: Option<ShippingMethod>,
    before: Option<MailId>,
}

/// A page of letters.
#[derive(Debug)]
pub(super) struct Found<T> {
    pub(super) letters: Vec<T>,
    /// The last of them, if there are older ones.
    pub(super) older: Option<MailId>,
}

impl Asked {
    pub(super) fn read(&self) -> Result<Finder, String> {
        let state = named(&self.state, &Standing::ALL, Standing::word, "state")?;
        let method = named(&self.method, &ShippingMethod::ALL, ShippingMethod::word, "method")?;
        let words = self.q.split_whitespace().map(Word::of).collect();
        let before =
            Some(&self.before).filter(|before| !before.is_empty()).map(|id| MailId::new(id.as_str()));
        Ok(Finder { words, state, method, before })
    }

    /// The same as the query of an address, without `before`.
    pub(super) fn query(&self) -> String {
        let fields = [("q", &self.q), ("state", &self.state), ("method", &self.method)];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
    }
}

fn named<T: Copy>(
    text: &str,
    all: &[T],
    word: fn(T) -> &'static str,
    what: &str,
) -> Result<Option<T>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = all.iter().copied().find(|one| word(*one) == text);
    found.map(Some).ok_or_else(|| {
        let all: Vec<&str> = all.iter().map(|one| word(*one)).collect();
        format!("`{text}` is not a {what}; there are: {}", all.join(", "))
    })
}

/// One word, in the forms that count as the same.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    /// The same as a postal code or tracking number without dashes, if it can be one.
    number: Option<String>,
}

impl Word {
    fn of(typed: &str) -> Self {
        let text = folded(typed);
        let digits = text.trim_start_matches('〒');
        let is_number = digits.chars().all(|c| c.is_ascii_digit() || is_dash(c));
        let number: String = digits.chars().filter(char::is_ascii_digit).collect();
        let number =
            Some(number).filter(|number| is_number && number.len() >= SHORTEST_NUMBER && *number != text);
        Self { text, number }
    }

    fn is_in(&self, mail: &Mail, text: &str) -> bool {
        let forms = || [Some(self.text.as_str()), self.number.as_deref()].into_iter().flatten();
        // Ids are random: a short number is in most of them.
        let is_id = self.text.len() >= SHORTEST_NUMBER && mail.id.as_str().starts_with(&self.text);
        is_id
            || forms().any(|form| text.contains(form))
            || mail.tracking_number().is_some_and(|number| forms().any(|form| number.contains(form)))
    }
}

/// As an input method writes them between digits, too.
fn is_dash(c: char) -> bool {
    matches!(c, '-' | '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | 'ー')
}

/// Unifies what people write in different ways.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(char::to_lowercase).collect()
}

/// What words are looked for in, by letter, made when it is first needed.
pub(super) type Texts = HashMap<MailId, Box<str>>;

impl Finder {
    fn fits(&self, mail: &Mail, texts: &mut Texts) -> bool {
        self.state.is_none_or(|state| mail.standing() == state)
            && self.method.is_none_or(|method| mail.order.shipping_method == method)
            && (self.words.is_empty() || {
                if !texts.contains_key(&mail.id) {
                    texts.insert(mail.id.clone(), text_of(mail));
                }
                texts.get(&mail.id).is_some_and(|text| self.words.iter().all(|word| word.is_in(mail, text)))
            })
    }
}

/// What of a letter never changes.
fn text_of(mail: &Mail) -> Box<str> {
    let order = &mail.order;
    let returned = order.reply_letterpack.as_ref().and_then(|pack| pack.address.as_ref());
    let addresses = [Some(&order.receiver_address), Some(&order.sender_address), returned];
    let mut text = String::new();
    let mut add = |part: &str| {
        text.push_str(&folded(part));
        text.push('\n');
    };
    for of in addresses.into_iter().flatten() {
        // An address is found as it is written, in one piece, and a name also without its spaces.
        add(&format!("{}{}{}", of.state, of.city, of.address1));
        add(&of.postal_code);
        add(&of.name);
        add(&of.name.split_whitespace().collect::<String>());
    }
    for file in &order.files {
        add(&file.file_name);
    }
    text.into_boxed_str()
}

impl Service {
    /// The newest letters that fit, at most so many, as `view` shows them.
    pub(super) async fn find<T>(
        &self,
        finder: &Finder,
        most: usize,
        view: impl Fn(&Mail, crate::base::clock::Time) -> T,
    ) -> Result<Found<T>, Halted> {
        let (mut letters, mut last, mut before) = (Vec::new(), None, finder.before.clone());
        loop {
            let step = self.show(|world, _| {
                let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
                // Most are of letters that are gone.
                if texts.len() > 2 * world.mail_count() + LOOKED_AT_ONCE {
                    texts.clear();
                }
                let mut next = None;
                for mail in world.mails_before(before.as_ref()).rev().take(LOOKED_AT_ONCE) {
                    next = Some(mail.id.clone());
                    if !finder.fits(mail, &mut texts) {
                        continue;
                    }
                    if letters.len() == most {
                        return (None, true);
                    }
                    letters.push(view(mail, world.now()));
                    last = Some(mail.id.clone());
                }
                (next, false)
            });
            match step.await? {
                (_, true) => return Ok(Found { letters, older: last }),
                (None, false) => return Ok(Found { letters, older: None }),
                (next, false) => before = next,
            }
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_different_ways_is_the_same() {
        assert_eq!(folded("ＡＢＣ ｶﾌﾞ"), "abc カブ");
        for typed in ["060-0001", "〒060-0001", "０６０－０００１", "060−0001", "060ー0001", "060‐0001"]
        {
            assert_eq!(Word::of(typed).number.as_deref(), Some("0600001"), "{typed}");
        }
        for typed in ["1-1", "0600001", "a-1234567", "-", "2026-11"] {
            assert_eq!(Word::of(typed).number, None, "{typed}");
        }
        let wrong = Asked { state: "lost".to_owned(), ..Asked::default() };
        assert!(wrong.read().unwrap_err().contains("pending, confirmed, packing"));
    }
}
