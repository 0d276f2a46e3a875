//! Whether the mailbox's own server says that a mail comes from the domain in its `From`. Pure.

use std::fmt;
use std::str::Chars;

use serde::{Deserialize, Serialize};

/// A field of a mail's header: its name in lower case, and its value in one line.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderField {
    pub name: String,
    pub value: String,
}

/// Values have names and addresses in them.
impl fmt::Debug for HeaderField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HeaderField").field(&self.name).finish()
    }
}

/// One result of `Authentication-Results` (RFC 8601).
#[derive(Debug, PartialEq, Eq)]
struct AuthResult {
    method: String,
    result: String,
    properties: Vec<(String, String)>,
}

const RESULTS: &str = "authentication-results";

/// Whether `server` says that a mail comes from this domain. A sender can write such a field too, so only one counts
/// that stands above the topmost `Received` of that server, and none if there are two.
pub fn is_proved(header: &[HeaderField], server: &str, domain: &str) -> bool {
    let is_of_server = |field: &&HeaderField| {
        field.name == RESULTS && server_of(&field.value).is_none_or(|name| name.eq_ignore_ascii_case(server))
    };
    let is_received = |field: &HeaderField| field.name == "received" && is_received_by(&field.value, server);
    let Some(received) = header.iter().position(is_received) else { return false };
    let mut ours = header.iter().filter(is_of_server);
    let (Some(field), None) = (ours.next(), ours.next()) else { return false };
    let stands_above = header[..received].iter().any(|above| std::ptr::eq(above, field));
    stands_above && results_of(&field.value).is_some_and(|results| vouch_for(&results, domain))
}

/// Whether these results say that a mail comes from the domain.
fn vouch_for(results: &[AuthResult], domain: &str) -> bool {
    let has = |result: &AuthResult, key: &str, is_good: &dyn Fn(&str) -> bool| {
        let mut values = result.properties.iter().filter(|(name, _)| name == key);
        matches!((values.next(), values.next()), (Some((_, value)), None) if is_good(value))
    };
    let is_from = |value: &str| value.trim_end_matches('.').eq_ignore_ascii_case(domain);
    let dmarc: Vec<&AuthResult> = results.iter().filter(|result| result.method == "dmarc").collect();
    let passes = |result: &AuthResult| result.result == "pass";
    if !dmarc.is_empty() && dmarc.iter().all(|result| passes(result)) {
        return dmarc.iter().all(|result| has(result, "header.from", &is_from));
    }
    // Where the domain has no policy, or it can't be read, its signature counts.
    let is_open = |result: &&AuthResult| matches!(result.result.as_str(), "none" | "temperror" | "permerror");
    let signed = |result: &AuthResult| {
        result.method == "dkim"
            && passes(result)
            && has(result, "header.d", &|value| is_aligned(value, domain))
    };
    dmarc.iter().all(is_open) && results.iter().any(signed)
}

/// Whether a signature of `signer` speaks for `domain`: it is the same, or a domain above it.
fn is_aligned(signer: &str, domain: &str) -> bool {
    let (signer, domain) = (signer.trim_end_matches('.').to_lowercase(), domain.to_lowercase());
    signer == domain || signer.contains('.') && domain.ends_with(&format!(".{signer}"))
}

/// Whether a `Received` field may be the server's own. The name that a sender greets with stands in it too, so `by`
/// may stand there more than once.
fn is_received_by(value: &str, server: &str) -> bool {
    let words: Vec<&str> = value.split(|c: char| c.is_ascii_whitespace() || "();".contains(c)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| {
        pair[0].eq_ignore_ascii_case("by") && pair[1].trim_end_matches('.').eq_ignore_ascii_case(server)
    })
}

/// The server that wrote a field of results. `None` if that can't be read, so that it may be any.
fn server_of(value: &str) -> Option<String> {
    let name = split(value)?.into_iter().next()?.into_iter().next()?;
    Some(name.trim_end_matches('.').to_owned())
}

/// `None` if it is malformed.
fn results_of(value: &str) -> Option<Vec<AuthResult>> {
    let mut parts = split(value)?.into_iter();
    let head = parts.next()?;
    // The server, and perhaps a version.
    if head.is_empty() || head.len() > 2 || head.iter().any(|word| word.contains('=')) {
        return None;
    }
    let parts = parts.filter(|part| !part.is_empty() && !matches!(part.as_slice(), [word] if word == "none"));
    parts.map(|part| result_of(&part)).collect()
}

fn result_of(words: &[String]) -> Option<AuthResult> {
    let mut pairs = words.iter().map(|word| word.split_once('='));
    let (method, result) = pairs.next()??;
    let method = method.split('/').next()?.to_lowercase();
    let properties = pairs.map(|pair| pair.map(|(key, value)| (key.to_lowercase(), value.to_owned())));
    Some(AuthResult { method, result: result.to_lowercase(), properties: properties.collect::<Option<_>>()? })
}

/// The parts between semicolons, as words. Comments are left out, quotes are taken off, and a name, its `=` and its
/// value are one word. `None` if a comment or a quote has no end.
fn split(value: &str) -> Option<Vec<Vec<String>>> {
    let mut words = Words { parts: vec![Vec::new()], word: None, awaits_value: false };
    let mut chars = value.chars();
    while let Some(next) = chars.next() {
        match next {
            '(' => {
                skip_comment(&mut chars)?;
                words.end();
            }
            ' ' | '\t' | '\r' | '\n' => words.end(),
            ';' => {
                words.awaits_value = false;
                words.end();
                words.parts.push(Vec::new());
            }
            '=' if !words.is_pair() => words.await_value()?,
            '"' => words.add(&quoted(&mut chars)?),
            other => words.add(other.encode_utf8(&mut [0; 4])),
        }
    }
    words.awaits_value = false;
    words.end();
    Some(words.parts)
}

struct Words {
    parts: Vec<Vec<String>>,
    word: Option<String>,
    /// After `name =`, the value may follow after a space.
    awaits_value: bool,
}

impl Words {
    fn is_pair(&self) -> bool {
        self.word.as_ref().is_some_and(|word| word.contains('='))
    }

    fn add(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
        self.awaits_value = false;
    }

    fn end(&mut self) {
        if !self.awaits_value
            && let (Some(part), Some(word)) = (self.parts.last_mut(), self.word.take())
        {
            part.push(word);
        }
    }

    fn await_value(&mut self) -> Option<()> {
        let name = self.word.take().or_else(|| self.parts.last_mut()?.pop());
        self.word = Some(format!("{}=", name.filter(|name| !name.contains('='))?));
        self.awaits_value = true;
        Some(())
    }
}

fn skip_comment(chars: &mut Chars<'_>) -> Option<()> {
    let mut depth = 1;
    while depth > 0 {
        match chars.next()? {
            '\\' => drop(chars.next()?),
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    Some(())
}

fn quoted(chars: &mut Chars<'_>) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => text.push(chars.next()?),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "mail.example.jp";
    const RECEIVED: &str =
        "Received: from mx.office.jp by mail.example.jp with ESMTPS; Thu, 26 Nov 2026 10:00:00 +0900";

    fn header(lines: &[&str]) -> Vec<HeaderField> {
        let field = |line: &&str| {
            let (name, value) = line.split_once(':').unwrap();
            HeaderField { name: name.to_lowercase(), value: value.trim().to_owned() }
        };
        lines.iter().map(field).collect()
    }

    fn says(results: &str) -> bool {
        let field = format!("Authentication-Results: mail.example.jp; {results}");
        is_proved(&header(&[&field, RECEIVED]), SERVER, "office.jp")
    }

    #[test]
    fn the_server_vouches_for_the_domain() {
        for results in [
            "dmarc=pass (p=reject dis=none) header.from=office.jp",
            "spf=fail smtp.mailfrom=a@evil.jp; dkim=pass header.d=office.jp header.s=k1 header.b=\"ab=\"; dmarc=pass header.from=OFFICE.JP",
            "dkim = pass (2048-bit key) header.d = office.jp",
            "dkim=fail header.d=office.jp; dkim=pass header.d=office.jp",
            "dmarc=none header.from=office.jp; dkim=pass header.d=office.jp",
            "dmarc/1=pass header.from=office.jp.",
            "dkim=pass header.i=@office.jp header.b=a=b= header.d=office.jp",
        ] {
            assert!(says(results), "{results}");
        }
        let sub =
            header(&["Authentication-Results: mail.example.jp 1; dkim=pass header.d=office.jp", RECEIVED]);
        assert!(is_proved(&sub, SERVER, "tokyo.office.jp"));
        assert!(!is_proved(&sub, SERVER, "notoffice.jp"));
    }

    #[test]
    fn whatever_else_it_says_is_no_proof() {
        for results in [
            "none",
            "",
            "spf=pass smtp.mailfrom=office.jp",
            "dmarc=fail header.from=office.jp",
            "dmarc=fail (dmarc=pass header.from=office.jp) header.from=office.jp",
            "dmarc=pass header.from=evil.jp",
            "dmarc=pass",
            "dmarc=pass header.from=evil.jp header.from=office.jp",
            "dmarc=pass header.from=office.jp; dmarc=fail header.from=office.jp",
            "dmarc=fail header.from=office.jp; dkim=pass header.d=office.jp",
            "dkim=pass header.d=evil.jp header.i=@office.jp",
            "dkim=pass header.d=jp",
            "dkim=pass header.d=mail.office.jp",
            "dkim=fail header.d=office.jp",
            "spf=pass smtp.mailfrom=\"x; dmarc=pass header.from=office.jp\"@evil.jp",
            "spf=pass (no end; dmarc=pass header.from=office.jp",
            "spf=pass smtp.mailfrom=\"no end; dmarc=pass header.from=office.jp",
            "dmarc pass header.from=office.jp",
            "=; dmarc=pass header.from=office.jp",
        ] {
            assert!(!says(results), "{results}");
        }
    }

    #[test]
    fn what_a_sender_can_write_is_no_proof() {
        let good = "Authentication-Results: mail.example.jp; dmarc=pass header.from=office.jp";
        let foreign = "Authentication-Results: mx.evil.jp; dmarc=pass header.from=office.jp";
        let proved = |lines: &[&str]| is_proved(&header(lines), SERVER, "office.jp");
        assert!(proved(&[good, RECEIVED, foreign]));
        assert!(proved(&["Received: by store.example.jp with LMTP", good, RECEIVED]));
        for forged in [
            &[RECEIVED, good][..],
            &[good],
            &[foreign, RECEIVED],
            &[good, good, RECEIVED],
            &[good, RECEIVED, good],
            &["Authentication-Results: (x) \"mail.example.jp\"; dmarc=fail", RECEIVED, good],
            &["Authentication-Results: (no end", good, RECEIVED],
            &["Received: from by (x [192.0.2.1]) by mail.example.jp; now", good, RECEIVED],
            // The line of another server is not above it.
            &["Received: from a by mx.evil.jp; now", good],
            &["Received: from mail.example.jp by mx.evil.jp; now", good],
        ] {
            assert!(!proved(forged), "{forged:?}");
        }
    }
}
