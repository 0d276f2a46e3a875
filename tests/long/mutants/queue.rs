//! Broken rules of queues.

use super::{Mutant, caught};

const INCOMING: &str = "src/domain/incoming.rs";
const MAILED: &str = "src/domain/mailed/mod.rs";

pub(super) const MUTANTS: &[Mutant] = &[
    caught(
        "a key is recorded before what it stands for is kept",
        "a key again",
        &[(INCOMING, "[QueueStep::Keep, QueueStep::Record]", "[QueueStep::Record, QueueStep::Keep]")],
    ),
    caught(
        "it is recorded as laid before it is",
        "a key again",
        &[(
            INCOMING,
            "[QueueStep::Lay, QueueStep::Mark, QueueStep::Remove]",
            "[QueueStep::Mark, QueueStep::Lay, QueueStep::Remove]",
        )],
    ),
    caught(
        "the spool's copy is removed before it is recorded as laid",
        "a key again",
        &[(
            INCOMING,
            "[QueueStep::Lay, QueueStep::Mark, QueueStep::Remove]",
            "[QueueStep::Remove, QueueStep::Lay, QueueStep::Mark]",
        )],
    ),
    caught(
        "a key with another content has the first one's answer",
        "a key for two",
        &[(INCOMING, "Some((known, before)) if before == content =>", "Some((known, _)) =>")],
    ),
    caught(
        "a known key is new",
        "a key again",
        &[(
            INCOMING,
            "match known {\n        None => KeyMeans::New",
            "match known.filter(|_| false) {\n        None => KeyMeans::New",
        )],
    ),
    caught(
        "what its folder has is laid again",
        "a key again",
        &[(INCOMING, "is_there: true } => QueueStep::Mark", "is_there: true } => QueueStep::Lay")],
    ),
    caught(
        "a job that somebody prints again has the first answer",
        "a job again",
        &[(INCOMING, "known.content == content && !known.is_answered", "known.content == content")],
    ),
    caught(
        "a job that comes again is new",
        "a job again",
        &[(
            INCOMING,
            "None if known.is_empty() => JobMeans::New,\n        None => JobMeans::Again",
            "None => JobMeans::New",
        )],
    ),
    caught(
        "a job with other bytes has the first answer",
        "a job with other bytes",
        &[(INCOMING, "known.content == content && !known.is_answered", "!known.is_answered")],
    ),
    caught(
        "a mail that came before is posted",
        "a mail again",
        &[(MAILED, "None if seen.came_before =>", "None if seen.came_before && seen.was_there =>")],
    ),
    caught(
        "a mail that was there before is posted",
        "a mail that was there",
        &[(MAILED, "None if seen.was_there =>", "None if seen.was_there && seen.came_before =>")],
    ),
    caught(
        "a mail leaves its mailbox before its letters are decided",
        "a mail",
        &[(
            MAILED,
            "} else if has(MailedPart::Open) {\n        None",
            "} else if has(MailedPart::Open) {\n        Some(MailShelf::Sent)",
        )],
    ),
];
