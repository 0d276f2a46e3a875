//! A mail server with mailboxes (IMAP) that can lack what others have, lose an answer, or have no room.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What a server can do beyond the oldest ones.
#[derive(Debug, Clone, Copy)]
pub struct Can {
    pub idle: bool,
    pub move_mails: bool,
    /// Remove one mail without those that others marked.
    pub uidplus: bool,
}

pub const ALL: Can = Can { idle: true, move_mails: true, uidplus: true };
pub const NOTHING: Can = Can { idle: false, move_mails: false, uidplus: false };

#[derive(Debug, Clone)]
struct Stored {
    raw: String,
    flags: Vec<String>,
}

#[derive(Debug, Default)]
struct Folder {
    validity: u32,
    next: u32,
    mails: BTreeMap<u32, Stored>,
}

/// When the connection breaks: at the first command that begins so, before or after it was carried out.
#[derive(Debug, Clone)]
pub struct Cut {
    pub command: usize,
    pub after: bool,
}

#[derive(Debug)]
struct Inner {
    can: Can,
    folders: BTreeMap<String, Folder>,
    cut: Option<Cut>,
    /// The mailbox that takes nothing.
    full: Option<String>,
    /// Mails can't be marked as deleted.
    keeps_all: bool,
    commands: Vec<String>,
}

#[derive(Debug)]
pub struct MailServer {
    pub port: u16,
    inner: Arc<Mutex<Inner>>,
    changed: Arc<Notify>,
}

fn locked(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap()
}

impl MailServer {
    pub async fn open(can: Can) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let inbox = Folder { validity: 7, next: 1, ..Folder::default() };
        let folders = BTreeMap::from([("INBOX".to_owned(), inbox)]);
        let inner = Inner { can, folders, cut: None, full: None, keeps_all: false, commands: Vec::new() };
        let server = Self { port, inner: Arc::new(Mutex::new(inner)), changed: Arc::default() };
        let (inner, changed) = (Arc::clone(&server.inner), Arc::clone(&server.changed));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (inner, changed) = (Arc::clone(&inner), Arc::clone(&changed));
                tokio::spawn(async move { drop(converse(stream, &inner, &changed).await) });
            }
        });
        server
    }

    /// Puts a mail into a mailbox, as its server does when one arrives.
    pub fn deliver(&self, raw: &str) {
        let raw = raw.replace("\r\n", "\n").replace('\n', "\r\n");
        locked(&self.inner).folders.get_mut("INBOX").unwrap().add(Stored { raw, flags: Vec::new() });
        self.changed.notify_waiters();
    }

    /// Moves the only mail of a mailbox, as a person does.
    pub fn person_moves(&self, from: &str, to: &str) {
        let mut inner = locked(&self.inner);
        let there = &mut inner.folders.get_mut(from).unwrap().mails;
        assert_eq!(there.len(), 1, "{from}");
        let (_, mail) = there.pop_first().unwrap();
        inner.folders.entry(to.to_owned()).or_default().add(mail);
    }

    /// Copies the only mail of a mailbox beside itself.
    pub fn twin(&self, name: &str) {
        let mut inner = locked(&self.inner);
        let folder = inner.folders.get_mut(name).unwrap();
        let mail = folder.mails.values().next().unwrap().clone();
        folder.add(mail);
    }

    /// The numbers of a mailbox begin again.
    pub fn renumber(&self, name: &str) {
        let mut inner = locked(&self.inner);
        let folder = inner.folders.get_mut(name).unwrap();
        let mails = std::mem::take(&mut folder.mails);
        (folder.validity, folder.next) = (folder.validity + 1, 1);
        for mail in mails.into_values() {
            folder.add(mail);
        }
    }

    pub fn full(&self, name: Option<&str>) {
        locked(&self.inner).full = name.map(str::to_owned);
    }

    pub fn keep_all(&self) {
        locked(&self.inner).keeps_all = true;
    }

    /// Breaks the connection at a command, counted from now on.
    pub fn cut(&self, cut: Cut) {
        let mut inner = locked(&self.inner);
        inner.commands.clear();
        inner.cut = Some(cut);
    }

    /// The commands since the last cut was set.
    pub fn commands(&self) -> Vec<String> {
        locked(&self.inner).commands.clone()
    }

    /// The subjects in each mailbox that has mails, without those that are marked as deleted.
    pub fn lies(&self) -> BTreeMap<String, Vec<String>> {
        let inner = locked(&self.inner);
        let subject = |mail: &Stored| {
            let line = mail.raw.lines().find(|line| line.starts_with("Subject: "));
            line.unwrap_or("Subject: ?").trim_start_matches("Subject: ").to_owned()
        };
        let of = |folder: &Folder| {
            let there = folder.mails.values().filter(|mail| !mail.flags.contains(&"\\Deleted".to_owned()));
            there.map(subject).collect::<Vec<_>>()
        };
        let all = inner.folders.iter().map(|(name, folder)| (name.clone(), of(folder)));
        all.filter(|(_, subjects)| !subjects.is_empty()).collect()
    }

    /// The only mailbox in which something lies.
    pub fn place(&self) -> String {
        let lies = self.lies();
        assert_eq!(lies.len(), 1, "{lies:?}");
        lies.into_keys().next().unwrap()
    }
}

impl Folder {
    fn add(&mut self, mail: Stored) {
        self.validity = self.validity.max(1);
        let uid = self.next.max(1);
        self.next = uid + 1;
        self.mails.insert(uid, mail);
    }
}

async fn converse(stream: TcpStream, inner: &Mutex<Inner>, changed: &Notify) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"* OK ready\r\n").await?;
    let mut open = None;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let (tag, command) = line.trim_end().split_once(' ').unwrap();
        if command == "IDLE" {
            let heard = changed.notified();
            stream.write_all(b"+ idling\r\n").await?;
            let mut done = String::new();
            tokio::select! {
                _ = stream.read_line(&mut done) => {}
                () = heard => {
                    stream.write_all(b"* 1 EXISTS\r\n").await?;
                    stream.read_line(&mut done).await?;
                }
            }
            stream.write_all(format!("{tag} OK\r\n").as_bytes()).await?;
            continue;
        }
        let answer = {
            let mut inner = locked(inner);
            let n = inner.commands.len();
            inner.commands.push(command.split(' ').take(2).collect::<Vec<_>>().join(" "));
            let cut = inner.cut.clone().filter(|cut| cut.command == n);
            if cut.as_ref().is_some_and(|cut| !cut.after) {
                return Ok(());
            }
            let answer = inner.answer(command, &mut open);
            if cut.is_some() {
                return Ok(());
            }
            answer
        };
        let (before, end) = answer.map_or_else(|no| (String::new(), no), |said| (said, "OK done".to_owned()));
        stream.write_all(format!("{before}{tag} {end}\r\n").as_bytes()).await?;
    }
}

/// The words of a command. What is in quotes or brackets is one.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quoted, mut depth) = (false, 0);
    for c in command.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted && depth == 0 => words.push(String::new()),
            _ => {
                depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
                words.last_mut().unwrap().push(c);
            }
        }
    }
    words
}

impl Inner {
    /// What is said before the end of a command. `Err`: how it ends otherwise.
    fn answer(&mut self, command: &str, open: &mut Option<String>) -> Result<String, String> {
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["CAPABILITY"] => {
                let Can { idle, move_mails, uidplus } = self.can;
                let has = [(idle, " IDLE"), (move_mails, " MOVE"), (uidplus, " UIDPLUS")];
                let can: String = has.into_iter().filter(|(has, _)| *has).map(|(_, word)| word).collect();
                Ok(format!("* CAPABILITY IMAP4rev1{can}\r\n"))
            }
            ["LIST", "", ""] => Ok("* LIST (\\Noselect) \"/\" \"\"\r\n".to_owned()),
            ["LIST", "", name] if self.folders.contains_key(*name) => {
                Ok(format!("* LIST () \"/\" \"{name}\"\r\n"))
            }
            ["LOGIN", "post", "secret"] | ["LIST" | "LOGOUT" | "SUBSCRIBE", ..] => Ok(String::new()),
            ["CREATE", name] => {
                let folder = Folder { validity: 1, next: 1, ..Folder::default() };
                self.folders.insert((*name).to_owned(), folder);
                Ok(String::new())
            }
            ["SELECT", name] => {
                let folder = self.folders.get(*name).ok_or("NO no such mailbox")?;
                *open = Some((*name).to_owned());
                let (count, validity, next) = (folder.mails.len(), folder.validity, folder.next);
                Ok(format!(
                    "* {count} EXISTS\r\n* OK [UIDVALIDITY {validity}] .\r\n* OK [UIDNEXT {next}] .\r\n"
                ))
            }
            ["UID", rest @ ..] => {
                let name = open.clone().ok_or("BAD no mailbox")?;
                self.of_mail(rest, &name)
            }
            _ => Err(format!("BAD {}", words[0])),
        }
    }

    fn of_mail(&mut self, words: &[&str], open: &str) -> Result<String, String> {
        let folder = self.folders.get_mut(open).unwrap();
        match *words {
            ["FETCH", "1:*", "(UID RFC822.SIZE FLAGS)"] => {
                let line = |(n, (uid, mail)): (usize, (&u32, &Stored))| {
                    let (size, flags, n) = (mail.raw.len(), mail.flags.join(" "), n + 1);
                    format!("* {n} FETCH (UID {uid} RFC822.SIZE {size} FLAGS ({flags}))\r\n")
                };
                Ok(folder.mails.iter().enumerate().map(line).collect())
            }
            ["FETCH", uid, what] => {
                let uid: u32 = uid.parse().unwrap();
                let Some(mail) = folder.mails.get(&uid) else { return Ok(String::new()) };
                let (section, text) = match what {
                    "(UID BODY.PEEK[])" => ("", mail.raw.as_str()),
                    "(UID BODY.PEEK[HEADER])" => {
                        ("HEADER", &mail.raw[..mail.raw.find("\r\n\r\n").unwrap() + 4])
                    }
                    other => panic!("{other}"),
                };
                let size = text.len();
                Ok(format!("* 1 FETCH (UID {uid} BODY[{section}] {{{size}}}\r\n{text})\r\n"))
            }
            [word @ ("MOVE" | "COPY"), uid, into] => {
                if word == "MOVE" && !self.can.move_mails {
                    return Err("BAD MOVE".to_owned());
                }
                if self.full.as_deref() == Some(into) {
                    return Err("NO [OVERQUOTA] no room".to_owned());
                }
                let uid: u32 = uid.parse().unwrap();
                let mut mail = folder.mails.get(&uid).cloned().ok_or("NO no such mail")?;
                mail.flags.clear();
                if word == "MOVE" {
                    folder.mails.remove(&uid);
                }
                self.folders.get_mut(into).ok_or("NO [TRYCREATE]")?.add(mail);
                Ok(String::new())
            }
            ["STORE", ..] if self.keeps_all => Err("NO you may not".to_owned()),
            ["STORE", uid, "+FLAGS.SILENT", flags] => {
                let mail = folder.mails.get_mut(&uid.parse().unwrap()).ok_or("NO no such mail")?;
                mail.flags.extend(flags.trim_matches(['(', ')']).split(' ').map(str::to_owned));
                Ok(String::new())
            }
            ["EXPUNGE", uid] if self.can.uidplus => {
                folder.mails.remove(&uid.parse().unwrap());
                Ok(String::new())
            }
            _ => Err(format!("BAD {words:?}")),
        }
    }
}
