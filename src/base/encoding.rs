//! Text as other programs save it.

use std::borrow::Cow;

/// UTF-8 with or without a mark in front, or CP932, which is what Excel writes.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(Cow::Borrowed(text));
    }
    let (text, _, broken) = encoding_rs::SHIFT_JIS.decode(bytes);
    if broken {
        return Err("it is neither UTF-8 nor CP932; save it as \"CSV UTF-8\"".to_owned());
    }
    Ok(text)
}
