//! What the deciding rule makes of a drop: an order, a refusal or a wait.

use super::{DropFacts, Found, PageReceiver, ReceiverFrom, Rule, Rules, Sidecar, Verdict};
use crate::domain::address::Receiver;
use crate::domain::drop::{Refusal, Waiting};
use crate::domain::letter::{Color, Document, Order, Print};
use crate::domain::printed::{
    PageFinding, PaperEnvelope, Printed, PrintedSheet, ReadReceiver, ReceiverDoubt, covers, receiver_on,
};

impl Rules {
    /// Where the receiver came from, what the pages say of the receiver, and the verdict.
    pub(super) fn apply(
        &self,
        rule: &Rule,
        facts: &DropFacts<'_>,
    ) -> (Option<String>, Vec<PageFinding>, Verdict) {
        match rule.receiver(facts) {
            Ok((receiver, from)) => {
                let (findings, verdict) = match self.order(rule, facts, receiver) {
                    Verdict::Send(order, doubts) => match self.checked(facts, order, doubts) {
                        (findings, Verdict::Send(order, doubts)) => {
                            (findings, self.as_printed(facts, order, doubts))
                        }
                        other @ (_, Verdict::Refuse(_) | Verdict::Hold(_)) => other,
                    },
                    other @ (Verdict::Refuse(_) | Verdict::Hold(_)) => (Vec::new(), other),
                };
                (Some(from), findings, verdict)
            }
            Err(verdict) => (None, Vec::new(), verdict),
        }
    }

    /// What would be posted if nothing that is printed, and no person, had to be asked.
    pub(super) fn before_checks(&self, rule: &Rule, facts: &DropFacts<'_>) -> Option<Box<Order>> {
        let (receiver, _) = rule.receiver(facts).ok()?;
        match self.order(rule, facts, receiver) {
            Verdict::Send(order, _) => Some(order),
            Verdict::Refuse(_) | Verdict::Hold(_) => None,
        }
    }

    /// Compares what is printed with the envelope.
    fn checked(
        &self,
        facts: &DropFacts<'_>,
        order: Box<Order>,
        doubts: Vec<String>,
    ) -> (Vec<PageFinding>, Verdict) {
        // Pages of past letters, and before a drop is claimed, are not read.
        let is_read = facts.documents.iter().any(|found| found.printed.is_some());
        let Some(check) = self.check_page.as_ref().filter(|_| is_read) else {
            return (Vec::new(), Verdict::Send(order, doubts));
        };
        let book = facts.book.ok().flatten();
        let envelope = PaperEnvelope { receiver: &order.receiver, sender: &order.sender, book, area: None };
        let documents = facts.documents.iter();
        let documents = documents.map(|found| (found.sha256.as_str(), found.pages, found.printed.as_ref()));
        let findings = check.findings(documents, &envelope, facts.accepted);
        let sha256: Vec<&str> = facts.documents.iter().map(|found| found.sha256.as_str()).collect();
        let verdict = match check.doubt(&findings, &sha256, &order.receiver, facts.accepted) {
            Some(doubt) => Verdict::Hold(Waiting::Page(Box::new(doubt))),
            None => Verdict::Send(order, doubts),
        };
        (findings, verdict)
    }

    /// Looks whether it is printed as meant.
    fn as_printed(&self, facts: &DropFacts<'_>, mut order: Box<Order>, doubts: Vec<String>) -> Verdict {
        let documents: Vec<PrintedSheet<'_>> = facts
            .documents
            .iter()
            .zip(&order.documents)
            .map(|(found, document)| PrintedSheet {
                sha256: &found.sha256,
                paper: &found.paper,
                is_placeholder: found.is_placeholder,
                printed: found.printed.as_ref(),
                is_grayscale: document.print.color == Color::Grayscale,
            })
            .collect();
        match self.check_print.look(&documents, facts.accepted) {
            (_, Some(doubt)) => Verdict::Hold(Waiting::Print(doubt)),
            (notes, None) => {
                order.print_notes = notes;
                Verdict::Send(order, doubts)
            }
        }
    }

    fn order(&self, rule: &Rule, facts: &DropFacts<'_>, receiver: Receiver) -> Verdict {
        let sidecar = facts.sidecar;
        let documents: Vec<Document> =
            facts.documents.iter().map(|found| rule.document(found, sidecar)).collect();
        let pages = documents.iter().map(|document| document.pages).fold(0, u32::saturating_add);
        if let Some(said) = sidecar.and_then(|sidecar| sidecar.pages).filter(|said| *said != pages) {
            return Verdict::Refuse(Refusal::OtherPages { said, found: pages });
        }
        let own = |sidecar: &Sidecar| sidecar.reply_letterpack.clone();
        let order = Order {
            account: self.account.clone(),
            source: self.folder.clone(),
            shipping: sidecar.and_then(|s| s.shipping.clone()).unwrap_or_else(|| rule.shipping.clone()),
            sender: sidecar.and_then(|s| s.sender.clone()).unwrap_or_else(|| rule.sender.clone()),
            place_doubt: facts.places().doubt(&receiver.address),
            receiver,
            reply_letterpack: sidecar.and_then(own).or_else(|| rule.reply_letterpack.clone()),
            not_before: None,
            sealed_pdf: false,
            cost_centre: self.cost_centre.clone(),
            print_notes: Vec::new(),
            documents,
        };
        let problems = order.problems();
        if !problems.is_empty() {
            return Verdict::Refuse(Refusal::NotPostable(problems));
        }
        Verdict::Send(Box::new(order), Vec::new())
    }
}

impl Rule {
    fn receiver(&self, facts: &DropFacts<'_>) -> Result<(Receiver, String), Verdict> {
        let may_have_sidecar = matches!(self.receiver, ReceiverFrom::Sidecar | ReceiverFrom::Page(_));
        if !may_have_sidecar && facts.sidecar.is_some() {
            return Err(Verdict::Refuse(Refusal::SidecarUnwanted { rule: self.name.clone() }));
        }
        match &self.receiver {
            ReceiverFrom::Written(receiver) => Ok((receiver.clone(), "written in the rule".to_owned())),
            ReceiverFrom::Sidecar => match facts.sidecar {
                Some(sidecar) => Ok((sidecar.receiver.clone(), "the sidecar".to_owned())),
                None => Err(Verdict::Hold(Waiting::Sidecar)),
            },
            ReceiverFrom::Page(page) => match facts.sidecar {
                // A person wrote down what could not be read.
                Some(sidecar) => Ok((sidecar.receiver.clone(), "the sidecar".to_owned())),
                None => self.on_page(page, facts),
            },
            ReceiverFrom::Book(template) => {
                let key = self.key(template, facts)?;
                let book = match facts.book {
                    Ok(Some(book)) => book,
                    Ok(None) => return Err(Verdict::Hold(Waiting::Book("there is none".to_owned()))),
                    Err(why) => return Err(Verdict::Hold(Waiting::Book(why.to_owned()))),
                };
                match book.receiver(&key) {
                    Some(receiver) => Ok((receiver.clone(), format!("the address book, key {key}"))),
                    None => Err(Verdict::Refuse(Refusal::NoReceiver { key })),
                }
            }
        }
    }

    fn on_page(&self, page: &PageReceiver, facts: &DropFacts<'_>) -> Result<(Receiver, String), Verdict> {
        let hold = |doubt| Err(Verdict::Hold(Waiting::Receiver(Box::new(doubt))));
        let first = facts.documents.first();
        let unread = Printed::default();
        let printed = first.and_then(|found| found.printed.as_ref()).unwrap_or(&unread);
        let receiver = match receiver_on(printed, page.area, &self.sender, facts.places()) {
            Ok(receiver) => receiver,
            Err((why, read)) => {
                return hold(ReceiverDoubt::NotRead {
                    why,
                    read: read.as_deref().map(ReadReceiver::of_block),
                });
            }
        };
        let covers = first.map(|found| covers(&found.sha256, &receiver)).unwrap_or_default();
        if page.holds_strangers && !facts.is_receiver_known && !facts.accepted.contains(&covers) {
            let accepts = facts.accepted.iter().cloned().chain([covers]).collect();
            return hold(ReceiverDoubt::FirstTime { who: Some(ReadReceiver::of(&receiver)), accepts });
        }
        Ok((receiver, "page 1".to_owned()))
    }

    fn document(&self, found: &Found, sidecar: Option<&Sidecar>) -> Document {
        let special = self.print_files.iter().find(|(regex, _)| regex.is_match(&found.name));
        let print: &Print = match (sidecar.and_then(|sidecar| sidecar.print.as_ref()), special) {
            (Some(print), _) | (None, Some((_, print))) => print,
            (None, None) => &self.print,
        };
        Document {
            name: found.name.clone(),
            size: found.size,
            pages: found.pages,
            sha256: found.sha256.clone(),
            print: print.clone(),
        }
    }
}
