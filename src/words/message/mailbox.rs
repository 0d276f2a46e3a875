//! An e-mail address as it is configured: `accounting@example.jp`, or with a name before it.

use std::fmt;
use std::str::FromStr;

/// The longest address that mail servers accept.
const LONGEST: usize = 254;

/// The receiver or the sender of an e-mail.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mailbox {
    pub name: Option<String>,
    /// Everything before the last `@`. Japanese carriers allow `a..b`, and a dot at the end.
    pub user: String,
    pub domain: String,
}

/// Recipients of e-mails must not appear in a journal.
impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mailbox(…)")
    }
}

impl Mailbox {
    pub fn address(&self) -> String {
        format!("{}@{}", self.user, self.domain)
    }
}

/// The form in the configuration, which can be parsed again.
impl fmt::Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} <{}>", self.address()),
            None => f.write_str(&self.address()),
        }
    }
}

impl FromStr for Mailbox {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.trim();
        let (name, address) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
            Some((name, address)) => (name.trim().trim_matches('"'), address),
            None => ("", text),
        };
        let (user, domain) = address.rsplit_once('@').ok_or(())?;
        let in_user = |c: char| {
            c.is_ascii_graphic()
                && !matches!(c, '@' | '<' | '>' | '"' | '(' | ')' | ',' | ';' | ':' | '\\' | '[' | ']')
        };
        let in_domain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        let labels = domain
            .split('.')
            .all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'));
        let sound = !user.is_empty()
            && user.len() <= 64
            && user.chars().all(in_user)
            && labels
            && domain.chars().all(in_domain)
            && address.len() <= LONGEST
            && !name.chars().any(|c| c.is_control() || matches!(c, '<' | '>' | '"'));
        let name = (!name.is_empty()).then(|| name.to_owned());
        sound.then(|| Self { name, user: user.to_owned(), domain: domain.to_owned() }).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_offices_and_carriers_write_them() {
        let read =
            |text: &str| text.parse::<Mailbox>().map(|mailbox| (mailbox.name.clone(), mailbox.address()));
        assert_eq!(read(" a@example.jp "), Ok((None, "a@example.jp".to_owned())));
        assert_eq!(
            read("経理部 <keiri@example.jp>"),
            Ok((Some("経理部".to_owned()), "keiri@example.jp".to_owned()))
        );
        assert_eq!(read("a..b.@docomo.ne.jp"), Ok((None, "a..b.@docomo.ne.jp".to_owned())));
        assert_eq!(read("root@localhost"), Ok((None, "root@localhost".to_owned())));
        for wrong in [
            "",
            "a",
            "@b",
            "a@",
            "a@b..c",
            "a b@c",
            "a@b\r\nBcc: x@y",
            "a@b,c@d",
            "<a@b",
            "a@-b",
            "日本@example.jp",
            "x\ny <a@b>",
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert!(!format!("{:?}", "a@example.jp".parse::<Mailbox>().unwrap()).contains("example"));
    }
}
