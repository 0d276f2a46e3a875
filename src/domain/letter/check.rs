//! Whether the mail at the service is what was ordered.
//!
//! The contract leaves open which fields an answer has, so a missing field is not a difference. Each field
//! that is shown must equal the order.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::outcome::Reading;
use super::shown::{ShownAddress, ShownFile, ShownReply};
use super::{Document, Letter, Number, PAPER};
use crate::domain::address::Address;

/// The name of a document at the service. It is the only correlation that the API offers, and contains no
/// personal data.
pub fn file_name(letter: Number, document: usize) -> String {
    format!("{}-{}.pdf", letter.0, document + 1)
}

impl Letter {
    /// The first difference between the mail at the service and the order, with both values. Of the receiver
    /// only the field is named: readers of this need not know the receiver.
    pub fn difference(&self, reading: &Reading) -> Option<String> {
        let (shown, order) = (&reading.shown, &self.order);
        // Once the receiver was removed from the records, there is nothing to compare with.
        let receiver = Some(&order.receiver).filter(|_| !order.is_anonymous());
        receiver
            .and_then(|ours| {
                let honorific = Some(ours.honorific.as_str());
                let field = another_field(&shown.receiver, &ours.address, honorific)?;
                Some(format!("the receiver's {} differs", field.name))
            })
            .or_else(|| of_address("the sender's", &shown.sender, &order.sender))
            .or_else(|| self.reply_difference(&shown.reply))
            .or_else(|| of("the method", shown.method.as_deref(), &order.shipping.method.word()))
            .or_else(|| {
                let there: BTreeSet<&str> = shown.options.as_ref()?.iter().map(String::as_str).collect();
                let here: BTreeSet<&str> = order.shipping.options.iter().map(|one| one.word()).collect();
                (there != here)
                    .then(|| format!("the options are {} there, {} here", listed(&there), listed(&here)))
            })
            .or_else(|| self.files_difference(shown.files.as_deref()?))
    }

    /// A `null` states that no reply pack is enclosed, so it counts as shown.
    fn reply_difference(&self, shown: &ShownReply) -> Option<String> {
        match (shown, &self.order.reply_letterpack) {
            (ShownReply::Unsaid, _) | (ShownReply::Nothing, None) => None,
            (ShownReply::Pack(_), None) => Some("it has a reply letter pack there, none here".to_owned()),
            (ShownReply::Nothing, Some(_)) => Some("it has no reply letter pack there, one here".to_owned()),
            // Without an address in the order, the service uses its default.
            (ShownReply::Pack(there), Some(ours)) => {
                of_address("the reply letter pack's", there, ours.address.as_ref()?)
            }
        }
    }

    fn files_difference(&self, there: &[ShownFile]) -> Option<String> {
        let ours = &self.order.documents;
        if there.len() != ours.len() {
            return Some(format!("it has {} documents there, {} here", there.len(), ours.len()));
        }
        let mut files = there.iter().zip(ours).enumerate();
        files.find_map(|(index, (shown, document))| {
            let difference = self.file_difference(index, shown, document)?;
            Some(format!("of document {} {difference}", index + 1))
        })
    }

    fn file_difference(&self, index: usize, shown: &ShownFile, document: &Document) -> Option<String> {
        let print = &document.print;
        of("the file name", shown.name.as_deref(), &file_name(self.number, index).as_str())
            .or_else(|| of("the number of pages", shown.pages, &document.pages))
            .or_else(|| of("the paper", shown.paper.as_deref(), &PAPER))
            .or_else(|| of("the colour", shown.color.as_deref(), &print.color.word()))
            .or_else(|| of("the printing of sides", shown.duplex.as_deref(), &print.duplex.word()))
            .or_else(|| {
                of("the staple", shown.staple.as_deref(), &print.staple.map_or("none", |at| at.word()))
            })
            .or_else(|| of("the binding", shown.bind, &print.bind))
    }
}

fn of<T: PartialEq + Display>(what: &str, there: Option<T>, here: &T) -> Option<String> {
    let there = there.filter(|there| there != here)?;
    Some(format!("{what} is {there} there, {here} here"))
}

fn of_address(whose: &str, there: &ShownAddress, here: &Address) -> Option<String> {
    let Field { name, there, here } = another_field(there, here, None)?;
    Some(format!("{whose} {name} is {there} there, {here} here"))
}

struct Field<'a> {
    name: &'static str,
    there: &'a str,
    here: &'a str,
}

fn another_field<'a>(
    there: &'a ShownAddress,
    here: &'a Address,
    honorific: Option<&'a str>,
) -> Option<Field<'a>> {
    let Address { postal_code, state, city, address1, name } = here;
    let fields = [
        ("postal code", &there.postal_code, Some(postal_code.as_str())),
        ("state", &there.state, Some(state.as_str())),
        ("city", &there.city, Some(city.as_str())),
        ("address line", &there.address1, Some(address1.as_str())),
        ("name", &there.name, Some(name.as_str())),
        ("honorific", &there.honorific, honorific),
    ];
    fields.into_iter().find_map(|(name, there, here)| {
        let (there, here) = (there.as_deref()?, here?);
        (there != here).then_some(Field { name, there, here })
    })
}

fn listed(words: &BTreeSet<&str>) -> String {
    if words.is_empty() { "none".to_owned() } else { words.iter().copied().collect::<Vec<_>>().join(", ") }
}
