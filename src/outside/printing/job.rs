//! What the printing system says about a job, and what is seen of its document.

use std::ffi::OsString;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use crate::domain::letter::LARGEST_DOCUMENT;

/// The name of the addresses of our printers: `mailchute://PRINTER`, or `mailchute://PRINTER/path/of/socket`.
pub(super) const SCHEME: &str = "mailchute://";
/// How much of a document's end is searched.
const EDGE: usize = 1024;

/// What a backend is started with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Started {
    pub(super) printer: String,
    /// `None`: the usual one.
    pub(super) socket: Option<PathBuf>,
    pub(super) uuid: String,
    pub(super) title: String,
    pub(super) copies: u32,
    /// The document, if it does not come by standard input.
    pub(super) file: Option<PathBuf>,
}

impl Started {
    /// `arguments` are those after the program: job, user, title, copies, options, and perhaps a file.
    pub(super) fn of(uri: &str, arguments: &[OsString]) -> Result<Self, String> {
        let [_, _, title, copies, options, file @ ..] = arguments else {
            return Err("it is started without a job, as CUPS does not do".to_owned());
        };
        let (printer, socket) = address(uri)?;
        let options = options.to_string_lossy();
        let uuid = options.split_whitespace().find_map(|option| option.strip_prefix("job-uuid="));
        let uuid = uuid.map(|uuid| uuid.trim_start_matches("urn:uuid:")).filter(|uuid| !uuid.is_empty());
        let uuid = uuid.ok_or("the printing system does not say the job's UUID; CUPS 1.7 or later does")?;
        let copies = copies.to_string_lossy();
        Ok(Self {
            printer,
            socket,
            uuid: uuid.to_owned(),
            title: title.to_string_lossy().into_owned(),
            copies: copies.trim().parse().map_err(|_| format!("`{copies}` is not a number of copies"))?,
            file: file.first().map(PathBuf::from),
        })
    }
}

fn address(uri: &str) -> Result<(String, Option<PathBuf>), String> {
    let wrong = || format!("the printer's address must be {SCHEME}NAME, with the name of the queue's file");
    let rest = uri.strip_prefix(SCHEME).ok_or_else(wrong)?;
    let (name, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(std::borrow::Cow::into_owned);
    let name = decoded(name).ok().filter(|name| !name.is_empty()).ok_or_else(wrong)?;
    let path = decoded(path).map_err(|_| wrong())?;
    Ok((name, Some(PathBuf::from(path)).filter(|path| path.components().count() > 1)))
}

/// Why a document cannot be handed in as it is.
pub(super) fn wrong_with(bytes: &[u8], is_banner: bool) -> Option<&'static str> {
    let last = &bytes[bytes.len().saturating_sub(EDGE)..];
    if !bytes.starts_with(b"%PDF-") {
        return Some(
            "it is not a PDF: set the printer up with the file mailchute.ppd, and do not print `raw`",
        );
    }
    if bytes.len() as u64 > LARGEST_DOCUMENT {
        return Some(
            "it is larger than 10 MB, which the service does not take: print it in parts, or smaller",
        );
    }
    if is_banner {
        return Some("it begins with a banner, which would be posted too: print with `job-sheets=none`");
    }
    if is_joined(bytes) {
        return Some(
            "it is several files, or has a banner: print each file alone, and with `job-sheets=none`",
        );
    }
    find(last, b"%%EOF")
        .is_none()
        .then_some("its end is missing, so that a filter has failed: print it again")
}

/// Whether a whole PDF follows another. CUPS joins the files of a job, and readers would see only the last one.
fn is_joined(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = find(rest, b"%%EOF") {
        rest = &rest[at + 5..];
        let next =
            rest.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0).unwrap_or(rest.len());
        if rest[next..].starts_with(b"%PDF-") {
            return true;
        }
    }
    false
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(uri: &str, arguments: &[&str]) -> Result<Started, String> {
        Started::of(uri, &arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_job_is_read() {
        let options = "finishings=3 job-uuid=urn:uuid:44de4e11-8643 media=A4";
        let read = started("mailchute://post", &["1", "taro", "請求書 12", "1", options]).unwrap();
        let wanted = Started {
            printer: "post".to_owned(),
            socket: None,
            uuid: "44de4e11-8643".to_owned(),
            title: "請求書 12".to_owned(),
            copies: 1,
            file: None,
        };
        assert_eq!(read, wanted);
        let uri = "mailchute://%E9%83%B5%E4%BE%BF/tmp/a%20b.sock";
        let read = started(uri, &["1", "taro", "", "2", options, "/spool/d1"]).unwrap();
        assert_eq!((read.printer.as_str(), read.copies), ("郵便", 2));
        assert_eq!((read.socket, read.file), (Some("/tmp/a b.sock".into()), Some("/spool/d1".into())));
        for (uri, arguments) in [
            ("mailchute:post", ["1", "taro", "x", "1", options]),
            ("mailchute://", ["1", "taro", "x", "1", options]),
            ("mailchute:///tmp/x", ["1", "taro", "x", "1", options]),
            ("mailchute://post", ["1", "taro", "x", "one", options]),
            ("mailchute://post", ["1", "taro", "x", "1", "media=A4"]),
            ("mailchute://post", ["1", "taro", "x", "1", "job-uuid=urn:uuid:"]),
        ] {
            assert!(started(uri, &arguments).is_err(), "{uri} {arguments:?}");
        }
        assert!(started("mailchute://post", &["1", "taro"]).is_err());
        assert_eq!(started("mailchute://post/", &["1", "u", "t", "1", options]).unwrap().socket, None);
    }

    #[test]
    fn only_one_whole_pdf_is_handed_in() {
        let pdf = b"%PDF-1.4\n1 0 obj\nendobj\n%%EOF\n".to_vec();
        let updated = [pdf.as_slice(), b"2 0 obj\nendobj\n%%EOF\n"].concat();
        assert_eq!((wrong_with(&pdf, false), wrong_with(&updated, false)), (None, None));
        assert!(wrong_with(&pdf, true).unwrap().contains("banner"));
        for (bytes, word) in [
            (b"%!PS-Adobe-3.0\n".to_vec(), "not a PDF"),
            (Vec::new(), "not a PDF"),
            ([pdf.as_slice(), &pdf].concat(), "several files"),
            ([pdf.as_slice(), b"\r\n\0", &pdf].concat(), "several files"),
            ([b"@PJL\n", pdf.as_slice()].concat(), "not a PDF"),
            ([pdf.as_slice(), &vec![b' '; 10_000_000]].concat(), "larger than 10 MB"),
            (pdf[..20].to_vec(), "its end is missing"),
        ] {
            assert!(wrong_with(&bytes, false).is_some_and(|why| why.contains(word)), "{word}");
        }
    }
}
