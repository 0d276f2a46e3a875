//! A past letter under the current rules: what would be different.

use chrono::NaiveDateTime;

use super::{DropFacts, Found, Rules, Sidecar, Verdict};
use crate::domain::address_book::AddressBook;
use crate::domain::drop::{Refusal, Waiting};
use crate::domain::letter::Order;
use crate::domain::printed::OtherPaper;

/// What the current rules make of a letter that was taken in.
#[derive(Debug)]
pub enum Again {
    /// An order, and its differences from the order it had. `untold` says that it needs a sidecar by these rules;
    /// whether it had one is not recorded.
    Sent {
        order: Box<Order>,
        differs: Vec<String>,
        untold: bool,
    },
    Refused(Refusal),
    Waits(Waiting),
    /// A rule depends on the text of its pages, or on the mail that brought it. Neither is recorded.
    ByItsPages,
}

impl Rules {
    /// Decides a past letter again. Sidecars are not stored, so where one is needed, only its receiver is
    /// known.
    pub fn again(
        &self,
        name: &str,
        arrived: NaiveDateTime,
        order: &Order,
        book: Result<Option<&AddressBook>, &str>,
    ) -> Again {
        let found = order.documents.iter().map(|document| Found {
            name: document.name.clone(),
            size: document.size,
            pages: document.pages,
            sha256: document.sha256.clone(),
            paper: OtherPaper::default(),
            is_placeholder: false,
            printed: None,
        });
        let documents: Vec<Found> = found.collect();
        let facts = DropFacts {
            name,
            documents: &documents,
            arrived,
            sidecar: None,
            book,
            mailed: None,
            accepted: &[],
            is_receiver_known: true,
            postal_data: None,
        };
        let explained = self.explain(&facts);
        let tried = self.rules.iter().take(explained.tried.len());
        if tried.map(|rule| &rule.when).any(|when| {
            (when.page.is_some() || when.subject.is_some() || when.to.is_some()) && when.may_be(&facts)
        }) {
            return Again::ByItsPages;
        }
        if let Verdict::Hold(Waiting::Receiver(_)) = explained.verdict {
            return Again::ByItsPages;
        }
        let mut verdict = explained.verdict;
        let by_sidecar = matches!(verdict, Verdict::Hold(Waiting::Sidecar));
        if by_sidecar {
            verdict = self.decide(&DropFacts { sidecar: Some(&sidecar_of(order)), ..facts });
        }
        match verdict {
            Verdict::Send(again, _) => {
                let (mut differs, more) = (decided(order, &again), sayable(order, &again));
                differs.extend(more.into_iter().filter(|_| !by_sidecar));
                Again::Sent { order: again, differs, untold: by_sidecar }
            }
            Verdict::Refuse(refusal) => Again::Refused(refusal),
            Verdict::Hold(waiting) => Again::Waits(waiting),
        }
    }
}

fn sidecar_of(order: &Order) -> Sidecar {
    Sidecar {
        receiver: order.receiver.clone(),
        sender: None,
        shipping: None,
        print: None,
        reply_letterpack: None,
        pages: None,
    }
}

/// The differences in what only rules decide, in words, without names and addresses.
fn decided(was: &Order, is: &Order) -> Vec<String> {
    let mut found = Vec::new();
    if was.account != is.account {
        found.push(format!("paid by {} instead of {}", is.account, was.account));
    }
    if was.receiver != is.receiver {
        found.push("to another receiver or address".to_owned());
    }
    if was.cost_centre != is.cost_centre {
        let name = |centre: &Option<String>| centre.clone().unwrap_or_else(|| "no cost centre".to_owned());
        found.push(format!("cost centre {} instead of {}", name(&is.cost_centre), name(&was.cost_centre)));
    }
    found
}

/// The differences in what a sidecar can decide as well.
fn sayable(was: &Order, is: &Order) -> Vec<String> {
    let mut found = Vec::new();
    if was.shipping != is.shipping {
        found.push(format!("posted {} instead of {}", is.shipping, was.shipping));
    }
    if was.sender != is.sender {
        found.push("from another sender".to_owned());
    }
    if was.reply_letterpack != is.reply_letterpack {
        found.push("with another reply letter pack, or without".to_owned());
    }
    if was.documents.iter().zip(&is.documents).any(|(was, is)| was.print != is.print) {
        found.push("printed otherwise".to_owned());
    }
    found
}
