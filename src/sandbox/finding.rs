//! Letters that somebody looks for, by words, state and way of posting, newest first.

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;

use super::data::Halted;
use super::service::Service;
use super::world::{Mail, MailId, Standing};
use crate::outside::api::wire::ShippingMethod;

/// The letters that are looked at before others may use the world again.
const LOOKED_AT_ONCE: usize = 500;

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
    words: Vec<String>,
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
        let words = self.q.split_whitespace().map(|word| without_dashes(&folded(word))).collect();
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

/// Unifies what people write in different ways.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(char::to_lowercase).collect()
}

/// A postal code or tracking number may be written with dashes.
fn without_dashes(word: &str) -> String {
    let is_number = word.chars().all(|c| c.is_ascii_digit() || c == '-') && word.contains(|c| c != '-');
    if is_number { word.replace('-', "") } else { word.to_owned() }
}

impl Finder {
    pub(super) fn fits(&self, mail: &Mail) -> bool {
        self.state.is_none_or(|state| mail.standing() == state)
            && self.method.is_none_or(|method| mail.order.shipping_method == method)
            && (self.words.is_empty() || {
                let text = text_of(mail);
                self.words.iter().all(|word| text.contains(word))
            })
    }
}

/// What words are looked for in.
fn text_of(mail: &Mail) -> String {
    let mut text = mail.id.to_string();
    let (to, from) = (&mail.order.receiver_address, &mail.order.sender_address);
    let names = mail.order.files.iter().map(|file| file.file_name.as_str());
    // An address is found as it is written, in one piece.
    let places = [to, from].map(|of| format!("{}{}{}", of.state, of.city, of.address1));
    let others = [to, from].into_iter().flat_map(|of| [of.postal_code.as_str(), of.name.as_str()]);
    for part in places.iter().map(String::as_str).chain(others).chain(names) {
        text.push('\n');
        text.push_str(&folded(part));
    }
    if let Some(number) = mail.tracking_number() {
        text.push('\n');
        text.push_str(&without_dashes(number));
    }
    text
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
                let mut next = None;
                for mail in world.mails_before(before.as_ref()).rev().take(LOOKED_AT_ONCE) {
                    next = Some(mail.id.clone());
                    if !finder.fits(mail) {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_in_different_ways_is_the_same() {
        assert_eq!(folded("ＡＢＣ ｶﾌﾞ"), "abc カブ");
        assert_eq!(without_dashes("060-0001"), "0600001");
        assert_eq!(without_dashes("a-1"), "a-1");
        assert_eq!(without_dashes("-"), "-");
        let asked = Asked { q: "山田 １００－０００１".to_owned(), ..Asked::default() };
        assert_eq!(asked.read().unwrap().words, ["山田", "1000001"]);
        let wrong = Asked { state: "lost".to_owned(), ..Asked::default() };
        assert!(wrong.read().unwrap_err().contains("pending, confirmed, packing"));
    }
}
