//! What a queue takes: what it is known by, what follows when it comes again, and the steps by which it
//! becomes a drop. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::drop::QueueDoubt;

/// What a queue took, as it lies in the spool until it is in its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incoming {
    pub queue: String,
    /// Known to nobody but the program that chose it; unique in its queue.
    pub key: String,
    /// The hash of all that must be the same if it comes again.
    pub content: String,
    pub folder: String,
    /// The name of the drop that it becomes.
    pub name: String,
    /// The person who counts as its owner in the folder.
    #[serde(default)]
    pub owner: Option<u32>,
    /// Why a person must look at it before it is posted.
    #[serde(default)]
    pub look: Option<QueueDoubt>,
    /// What rules may read of the mail that brought it.
    #[serde(default)]
    pub mailed: Option<MailTags>,
    pub documents: Vec<Enclosed>,
    /// The text of its sidecar.
    #[serde(default)]
    pub sidecar: Option<String>,
}

/// What rules may read of a mail.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailTags {
    pub subject: String,
    /// The addresses that it is for.
    pub to: Vec<String>,
}

impl fmt::Debug for MailTags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MailTags(..)")
    }
}

/// A document of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enclosed {
    pub name: String,
    pub size: u64,
    pub sha256: String,
}

/// What follows when something comes with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyMeans<T> {
    /// The key is unknown: it is taken.
    New,
    /// It is the same, so it has the same answer.
    Same(T),
    /// The key stands for something else.
    Another,
}

/// What follows when this content comes with a key under which `known` was taken.
pub fn again<T>(known: Option<(T, &str)>, content: &str) -> KeyMeans<T> {
    match known {
        None => KeyMeans::New,
        Some((known, before)) if before == content => KeyMeans::Same(known),
        Some(_) => KeyMeans::Another,
    }
}

/// What is known of a document that a print job handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownPrint<'a, T> {
    pub taken: T,
    pub content: &'a str,
    /// Whether the printing system knows the answer. Until then it may hand it in again by itself.
    pub is_answered: bool,
}

/// What follows when a print job hands in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobMeans<T> {
    /// Nothing came with this job.
    New,
    /// The printing system repeats it, because it did not get the answer.
    Same(T),
    /// Somebody prints the job again, or it has other bytes now. A person must look.
    Again,
}

/// What follows when a job hands in this content, after these came with the same job.
pub fn job_means<T: Copy>(known: &[KnownPrint<'_, T>], content: &str) -> JobMeans<T> {
    match known.iter().find(|known| known.content == content && !known.is_answered) {
        Some(same) => JobMeans::Same(same.taken),
        None if known.is_empty() => JobMeans::New,
        None => JobMeans::Again,
    }
}

/// The hash of documents, in their order, and of the fields that came with them. Spaces and the order of keys
/// do not count; names do, because rules read them.
pub fn content_of(documents: &[Enclosed], fields: Option<&Value>) -> String {
    let mut hash = Sha256::new();
    for document in documents {
        hash.update(document.sha256.as_bytes());
        hash.update((document.name.len() as u64).to_be_bytes());
        hash.update(document.name.as_bytes());
    }
    if let Some(fields) = fields {
        hash.update([0]);
        hash.update(sorted(fields).to_string().as_bytes());
    }
    hex::encode(hash.finalize())
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// A queue in the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownQueue {
    pub name: String,
    /// By which it is known: the hash of its token.
    pub token: String,
    /// The ones that it had before.
    pub former: Vec<String>,
}

/// Which queue in the records a configured one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettledQueue {
    /// `None`: it is new.
    pub row: Option<usize>,
    /// Its token was another queue's once, so that keys which are new to it may stand for letters.
    pub is_ambiguous: bool,
}

/// Whether a queue in the records is a configured one.
type Fits = fn(&KnownQueue, &(String, String)) -> bool;

/// Finds each configured queue, a name and a token, in the records: by its token, else by a token that it had, else
/// by its name. A queue is found once.
pub fn settle(known: &[KnownQueue], configured: &[(String, String)]) -> Vec<SettledQueue> {
    let mut rows: Vec<Option<usize>> = vec![None; configured.len()];
    let fits: [Fits; 3] = [
        |row, (_, token)| row.token == *token,
        |row, (_, token)| row.former.contains(token),
        |row, (name, _)| row.name == *name,
    ];
    for fits in fits {
        for (n, queue) in configured.iter().enumerate() {
            if rows[n].is_none() {
                let mut free = (0..known.len()).filter(|row| !rows.contains(&Some(*row)));
                rows[n] = free.find(|row| fits(&known[*row], queue));
            }
        }
    }
    let was_anothers = |token: &String| known.iter().any(|row| row.former.contains(token));
    let settled = rows.into_iter().zip(configured);
    settled
        .map(|(row, (_, token))| SettledQueue { row, is_ambiguous: row.is_none() && was_anothers(token) })
        .collect()
}

/// One step from a request to a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueueStep {
    /// The spool has it, whole and durable. From here on it is taken.
    Keep,
    /// Its key is recorded.
    Record,
    /// It is a claim of its folder.
    Lay,
    /// It is recorded that its folder has it.
    Mark,
    /// The spool's copy is removed.
    Remove,
}

/// Its key is recorded only for what is kept, and nothing is answered before both.
pub const TAKING: [QueueStep; 2] = [QueueStep::Keep, QueueStep::Record];
/// The spool's copy is removed only when it is recorded that the folder has it.
pub const LAYING: [QueueStep; 3] = [QueueStep::Lay, QueueStep::Mark, QueueStep::Remove];

/// What is known of something that the spool keeps, when work on it begins or resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownIncoming {
    /// Whether it is recorded that its folder has it.
    pub is_marked: bool,
    /// Whether its drop was decided, or its folder has its claim.
    pub is_there: bool,
}

/// The step with which work on it resumes.
pub fn resumes(known: KnownIncoming) -> QueueStep {
    match known {
        KnownIncoming { is_marked: true, .. } => QueueStep::Remove,
        KnownIncoming { is_marked: false, is_there: true } => QueueStep::Mark,
        KnownIncoming { is_marked: false, is_there: false } => QueueStep::Lay,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn enclosed(name: &str, sha256: &str) -> Enclosed {
        Enclosed { name: name.to_owned(), size: 1, sha256: sha256.to_owned() }
    }

    #[test]
    fn the_same_is_the_same_documents_in_their_order_and_the_same_fields() {
        let (a, b) = (enclosed("a.pdf", "1"), enclosed("b.pdf", "2"));
        let fields = json!({"receiver": {"name": "山田", "city": "札幌市"}, "pages": 2});
        let turned: Value =
            serde_json::from_str(r#"{"pages":2, "receiver":{"city":"札幌市","name":"山田"}}"#).unwrap();
        let of = |documents: &[Enclosed], fields: Option<&Value>| content_of(documents, fields);
        let content = of(&[a.clone(), b.clone()], Some(&fields));
        assert_eq!(of(&[a.clone(), b.clone()], Some(&turned)), content);
        for other in [
            of(&[b.clone(), a.clone()], Some(&fields)),
            of(std::slice::from_ref(&a), Some(&fields)),
            of(&[a.clone(), enclosed("c.pdf", "2")], Some(&fields)),
            of(&[a.clone(), enclosed("b.pdf", "3")], Some(&fields)),
            of(&[a.clone(), b.clone()], Some(&json!({"pages": 3}))),
            of(&[a, b], None),
        ] {
            assert_ne!(other, content);
        }
        // Where one name ends and the next hash begins counts.
        assert_ne!(of(&[enclosed("a", "1b")], None), of(&[enclosed("ba", "1")], None));
    }

    #[test]
    fn a_key_stands_for_one_content() {
        assert_eq!(again::<u8>(None, "x"), KeyMeans::New);
        assert_eq!(again(Some((7, "x")), "x"), KeyMeans::Same(7));
        assert_eq!(again(Some((7, "x")), "y"), KeyMeans::Another);
    }

    #[test]
    fn a_job_that_was_answered_is_not_the_same_again() {
        let known = |taken, content, is_answered| KnownPrint { taken, content, is_answered };
        assert_eq!(job_means::<u8>(&[], "x"), JobMeans::New);
        assert_eq!(job_means(&[known(1, "x", false)], "x"), JobMeans::Same(1));
        assert_eq!(job_means(&[known(1, "x", true)], "x"), JobMeans::Again);
        assert_eq!(job_means(&[known(1, "x", false)], "y"), JobMeans::Again);
        assert_eq!(job_means(&[known(1, "x", true), known(2, "x", false)], "x"), JobMeans::Same(2));
        assert_eq!(job_means(&[known(1, "x", true), known(2, "y", true)], "y"), JobMeans::Again);
    }

    #[test]
    fn a_queue_is_found_by_its_token_before_its_name() {
        let known = |name: &str, token: &str, former: &[&str]| KnownQueue {
            name: name.to_owned(),
            token: token.to_owned(),
            former: former.iter().map(|token| (*token).to_owned()).collect(),
        };
        let found = |known: &[KnownQueue], configured: &[(&str, &str)]| {
            let configured: Vec<(String, String)> =
                configured.iter().map(|(name, token)| ((*name).to_owned(), (*token).to_owned())).collect();
            let is = |is: SettledQueue| (is.row, is.is_ambiguous);
            settle(known, &configured).into_iter().map(is).collect::<Vec<_>>()
        };
        let rows = [known("crm", "C", &[]), known("erp", "E", &["D"])];
        for (configured, wanted) in [
            (vec![("crm", "C"), ("erp", "E")], vec![Some(0), Some(1)]),
            // Renamed; the name taken over by another; both names changed over.
            (vec![("sales", "E")], vec![Some(1)]),
            (vec![("erp", "N"), ("sales", "E")], vec![None, Some(1)]),
            (vec![("crm", "E"), ("erp", "C")], vec![Some(1), Some(0)]),
            // A new token, and a token that it had before.
            (vec![("erp", "N")], vec![Some(1)]),
            (vec![("new", "D")], vec![Some(1)]),
            (vec![("crm", "N"), ("new", "X")], vec![Some(0), None]),
        ] {
            let wanted: Vec<_> = wanted.into_iter().map(|row| (row, false)).collect();
            assert_eq!(found(&rows, &configured), wanted, "{configured:?}");
        }
        // The queue that had the token is there under another one.
        assert_eq!(found(&rows, &[("erp", "E"), ("old", "D")]), [(Some(1), false), (None, true)]);
    }

    #[test]
    fn work_resumes_where_it_was_left() {
        let at = |is_marked, is_there| resumes(KnownIncoming { is_marked, is_there });
        assert_eq!(at(false, false), QueueStep::Lay);
        assert_eq!(at(false, true), QueueStep::Mark);
        assert_eq!((at(true, false), at(true, true)), (QueueStep::Remove, QueueStep::Remove));
    }
}
