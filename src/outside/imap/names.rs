//! Names of mailboxes as servers read them.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The name of a mailbox in the form of RFC 3501.
pub(super) fn encoded(name: &str) -> String {
    let engine = GeneralPurpose::new(&IMAP_MUTF7, GeneralPurposeConfig::new().with_encode_padding(false));
    let mut text = String::new();
    let mut foreign = Vec::new();
    let flush = |foreign: &mut Vec<u8>, text: &mut String| {
        if !foreign.is_empty() {
            let _ = write!(text, "&{}-", engine.encode(&*foreign));
            foreign.clear();
        }
    };
    for c in name.chars() {
        match c {
            '&' => {
                flush(&mut foreign, &mut text);
                text.push_str("&-");
            }
            ' '..='~' => {
                flush(&mut foreign, &mut text);
                text.push(c);
            }
            _ => foreign.extend(c.encode_utf16(&mut [0; 2]).iter().flat_map(|unit| unit.to_be_bytes())),
        }
    }
    flush(&mut foreign, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mailboxes_are_written_as_servers_read_them() {
        for (name, written) in [
            ("mailchute/Held", "mailchute/Held"),
            ("保留", "&T911WQ-"),
            ("台北 & 日本語", "&U,BTFw- &- &ZeVnLIqe-"),
        ] {
            assert_eq!(encoded(name), written);
        }
    }
}
