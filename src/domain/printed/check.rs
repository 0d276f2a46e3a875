//! The check of a drop's documents against its envelope, and what a person's approval of it covers.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Addressee, Area, PageAgreement, PageContradiction, PaperEnvelope, Printed, Unclear, compare};
use crate::domain::address::Receiver;

/// How a folder wants its documents checked. A contradiction is always held.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CheckPage {
    /// What cannot be told is held too.
    pub holds_unclear: bool,
    /// Where the address block is. If missing, it is looked for.
    pub area: Option<Area>,
}

/// What the check found of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFinding {
    pub agreement: PageAgreement,
    /// A person has looked at it and accepted these bytes for this receiver.
    pub is_accepted: bool,
}

/// Why a drop waits: page and envelope may be for different people.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageDoubt {
    /// Of the letter, counted from 1.
    pub document: u32,
    pub found: OtherAddressee,
    /// What an approval covers: these bytes for this receiver, and what was accepted before.
    pub accepts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherAddressee {
    /// The page is for somebody else. `people` are the one whom it names and the one on the envelope. It is `None`
    /// where names must not be shown.
    Named {
        page: u32,
        people: Option<Box<(Addressee, Addressee)>>,
    },
    Unclear(Unclear),
}

impl PageDoubt {
    /// The same without names, for where names must not be shown.
    #[must_use]
    pub fn without_people(&self) -> Self {
        let found = match &self.found {
            OtherAddressee::Named { page, .. } => OtherAddressee::Named { page: *page, people: None },
            unclear @ OtherAddressee::Unclear(_) => unclear.clone(),
        };
        Self { found, ..self.clone() }
    }
}

impl CheckPage {
    /// The findings for each document, given with its SHA-256 and its page count. What is not read counts as
    /// unreadable.
    pub fn findings<'a>(
        &self,
        documents: impl Iterator<Item = (&'a str, u32, Option<&'a Printed>)>,
        envelope: &PaperEnvelope<'_>,
        accepted: &[String],
    ) -> Vec<PageFinding> {
        let envelope = PaperEnvelope { area: self.area, ..*envelope };
        let found = documents.map(|(sha256, pages, printed)| PageFinding {
            agreement: match printed {
                None => PageAgreement::CannotTell(Unclear::Unreadable),
                Some(printed) if printed.count != 0 && printed.count != pages => {
                    PageAgreement::CannotTell(Unclear::OtherCount)
                }
                Some(printed) => compare(printed, &envelope),
            },
            is_accepted: accepted.contains(&covers(sha256, envelope.receiver)),
        });
        found.collect()
    }

    /// The first finding for which the drop waits. `sha256` are those of its documents.
    pub fn doubt(
        &self,
        findings: &[PageFinding],
        sha256: &[&str],
        receiver: &Receiver,
        accepted: &[String],
    ) -> Option<PageDoubt> {
        let waits = |finding: &PageFinding| match &finding.agreement {
            PageAgreement::Agrees => None,
            PageAgreement::CannotTell(why) => {
                let holds = self.holds_unclear || *why == Unclear::OtherCount;
                holds.then_some(OtherAddressee::Unclear(*why))
            }
            PageAgreement::Contradicts(PageContradiction { page, addressee }) => {
                let people = Some(Box::new((addressee.clone(), Addressee::on_envelope(receiver))));
                Some(OtherAddressee::Named { page: *page, people })
            }
        };
        let mut open = findings.iter().enumerate().filter(|(_, finding)| !finding.is_accepted);
        let (index, found) = open.find_map(|(index, finding)| Some((index, waits(finding)?)))?;
        let mut accepts = accepted.to_vec();
        accepts.extend(sha256.get(index).map(|sha256| covers(sha256, receiver)));
        Some(PageDoubt { document: u32::try_from(index + 1).unwrap_or(u32::MAX), found, accepts })
    }
}

impl Addressee {
    /// A letter's receiver, as it stands on the envelope.
    pub fn on_envelope(receiver: &Receiver) -> Self {
        Self {
            postal_code: Some(receiver.address.postal_code.clone()),
            name: format!("{} {}", receiver.address.name, receiver.honorific),
        }
    }
}

/// Names these bytes for this receiver, without saying who that is.
pub fn covers(sha256: &str, receiver: &Receiver) -> String {
    let Receiver { address, honorific } = receiver;
    let parts = [
        sha256,
        &address.postal_code,
        &address.state,
        &address.city,
        &address.address1,
        &address.name,
        honorific,
    ];
    let mut hash = Sha256::new_with_prefix("page");
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    format!("page:{}", hex::encode(hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::address::Address;

    #[test]
    fn pages_that_are_counted_in_two_ways_wait_whatever_the_folder_says() {
        let [postal_code, state, city, address1] =
            ["1000001", "東京都", "千代田区", "1-1"].map(str::to_owned);
        let address = Address { postal_code, state, city, address1, name: "山田".to_owned() };
        let receiver = Receiver { address: address.clone(), honorific: "様".to_owned() };
        let envelope = PaperEnvelope { receiver: &receiver, sender: &address, book: None, area: None };
        let check = CheckPage::default();
        for (count, expected) in [
            (2, Unclear::Unreadable),
            (3, Unclear::OtherCount),
            // The file was refused: nothing was counted.
            (0, Unclear::Unreadable),
        ] {
            let printed = Printed { pages: Vec::new(), count };
            let findings = check.findings(std::iter::once(("aa", 2, Some(&printed))), &envelope, &[]);
            assert_eq!(findings[0].agreement, PageAgreement::CannotTell(expected));
            let doubt = check.doubt(&findings, &["aa"], &receiver, &[]);
            assert_eq!(doubt.is_some(), expected == Unclear::OtherCount, "{count}");
        }
    }
}
