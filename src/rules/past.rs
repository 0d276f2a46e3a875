//! A letter of the past by the rules of today: what would be another.

use chrono::NaiveDateTime;

use super::{Facts, Found, Rules, Sidecar, Verdict};
use crate::address_book::AddressBook;
use crate::drop::{Refusal, Waiting};
use crate::letter::Order;

/// What the rules of today make of a letter that was taken in.
#[derive(Debug)]
pub enum Again {
    /// An order, and in what it is another than the one it had.
    Sent(Box<Order>, Vec<String>),
    Refused(Refusal),
    Waits(Waiting),
}

impl Rules {
    /// Decides once more. A sidecar is not kept, so what one may have said is taken to be said by it.
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
        });
        let documents: Vec<Found> = found.collect();
        let facts = Facts { name, documents: &documents, arrived, sidecar: None, book };
        let verdict = match self.decide(&facts) {
            Verdict::Hold(Waiting::Sidecar) => {
                self.decide(&Facts { sidecar: Some(&sidecar_of(order)), ..facts })
            }
            verdict @ (Verdict::Send(..) | Verdict::Refuse(_) | Verdict::Hold(_)) => verdict,
        };
        match verdict {
            Verdict::Send(again, _) => {
                let differs = differences(order, &again);
                Again::Sent(again, differs)
            }
            Verdict::Refuse(refusal) => Again::Refused(refusal),
            Verdict::Hold(waiting) => Again::Waits(waiting),
        }
    }
}

fn sidecar_of(order: &Order) -> Sidecar {
    Sidecar {
        receiver: order.receiver.clone(),
        sender: Some(order.sender.clone()),
        shipping: Some(order.shipping.clone()),
        print: order.documents.first().map(|document| document.print.clone()),
        reply_letterpack: order.reply_letterpack.clone(),
        pages: None,
    }
}

/// In what an order is another, in words; without names and addresses.
fn differences(was: &Order, is: &Order) -> Vec<String> {
    let mut found = Vec::new();
    if was.account != is.account {
        found.push(format!("paid by {} instead of {}", is.account, was.account));
    }
    if was.shipping != is.shipping {
        found.push(format!("posted {} instead of {}", is.shipping, was.shipping));
    }
    if was.receiver != is.receiver {
        found.push("to another receiver or address".to_owned());
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
    if was.cost_centre != is.cost_centre {
        let name = |centre: &Option<String>| centre.clone().unwrap_or_else(|| "no cost centre".to_owned());
        found.push(format!("put down to {} instead of {}", name(&is.cost_centre), name(&was.cost_centre)));
    }
    found
}
