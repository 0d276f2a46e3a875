//! What a server says of one mail.

use async_imap::imap_proto::{AttributeValue, Response};

#[derive(Default)]
pub(super) struct FetchedMail {
    pub(super) uid: Option<u32>,
    pub(super) size: Option<u64>,
    pub(super) flags: Vec<String>,
    pub(super) bytes: Option<Vec<u8>>,
}

impl FetchedMail {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "nothing else is asked for, and the crate may add more"
    )]
    pub(super) fn of(said: &Response<'_>) -> Option<Self> {
        let Response::Fetch(_, attributes) = said else { return None };
        let mut mail = Self::default();
        for attribute in attributes {
            match attribute {
                AttributeValue::Uid(uid) => mail.uid = Some(*uid),
                AttributeValue::Rfc822Size(size) => mail.size = Some(u64::from(*size)),
                AttributeValue::Flags(flags) => mail.flags = flags.iter().map(ToString::to_string).collect(),
                AttributeValue::BodySection { data: Some(data), .. } => mail.bytes = Some(data.to_vec()),
                _other => {}
            }
        }
        Some(mail)
    }
}
