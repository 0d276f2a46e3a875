//! The small languages of values about people: e-mail addresses, recurring times, how letters are released.

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::words::{Text, word};
use crate::base::clock::CronLine;
use crate::words::message::Mailbox;

/// An e-mail address, or a name with one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Email(pub Mailbox);

impl FromStr for Email {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.parse().map(Self)
    }
}

word!(
    Email,
    "e-mail address",
    r"^([^<>]*<)?[^@<>\s]+@[A-Za-z0-9.-]+>?$",
    "`accounting@example.jp`, or `Accounting <accounting@example.jp>`"
);

/// Recurring times: `0 18 * * mon-fri`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cron(pub CronLine);

impl FromStr for Cron {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.parse().map(Self).map_err(drop)
    }
}

word!(
    Cron,
    "recurring time",
    r"^\s*\S+(\s+\S+){4}\s*$",
    "five fields: minute, hour, day, month, weekday: `0 18 * * mon-fri`"
);

/// When a folder's letters are posted.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Release {
    /// Immediately.
    #[default]
    Automatic,
    /// Each letter waits until a person approves it.
    Approval,
    /// They wait for the next of these times and are posted together.
    At(Box<CronLine>),
}

impl FromStr for Release {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "automatic" => Ok(Self::Automatic),
            "approval" => Ok(Self::Approval),
            line => line.parse().map(|line| Self::At(Box::new(line))).map_err(drop),
        }
    }
}

word!(
    Release,
    "way to release letters",
    r"^(automatic|approval|\s*\S+(\s+\S+){4}\s*)$",
    "`automatic`, `approval`, or posting times in five fields: minute, hour, day, month, weekday: \
     `0 15 * * mon-fri`"
);
