//! `mailchute check`: whether the configuration is valid, before anything depends on it.

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::time::Duration;

use chrono_tz::Tz;

use super::config::{ConfigPath, reach};
use super::{past, unit};
use crate::base::clock::Clock;
use crate::config::{Email, Folder, Login, PRINTERS, PostalFile, Queue, Right, Smtp, Transport, Way};
use crate::daemon::mailbox;
use crate::loops::intake::reused_names;
use crate::loops::outbox;
use crate::outside::api::Client;
use crate::outside::hot::not_shared;
use crate::outside::store::Desk;

/// The system allows no longer path for a socket.
const LONGEST_SOCKET: usize = 107;

/// Check the configuration and every folder's rules; all mistakes of all files together
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// Also log in to each account, to the mail server and to the mailboxes of queues, and show what they allow
    #[arg(long)]
    online: bool,
    /// List the letters taken in within this time, such as 30d, that these rules would treat differently
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    against_history: Option<Duration>,
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = arguments.place.config()?;
    let colour = super::is_coloured(&std::io::stderr());
    for warning in &config.warnings {
        eprint(&warning.render(colour));
    }
    let mut sound = true;
    for account in &config.accounts {
        if account.secret_is_elsewhere() && !arguments.online {
            super::say(&format!(
                "account {}: its secret comes from systemd, when it starts the service",
                account.name
            ))?;
            continue;
        }
        match account.credentials() {
            Ok(credentials) if arguments.online => {
                let client =
                    Client::new(account.places.clone(), credentials, config.patience, Clock::system())?;
                sound &= online(&account.name, &client).await?;
            }
            Ok(_) => super::say(&format!("account {}: its secret can be read", account.name))?,
            Err(wrong) => {
                eprint(&wrong.render(colour));
                sound = false;
            }
        }
    }
    if let Some(email) = &config.email {
        sound &= email_is_sound(email, arguments.online).await?;
    }
    if let Some(list) = &config.postal_data {
        sound &= postal_data_is_sound(list, config.zone)?;
    }
    // Without records, or the permission to read them, there is nothing to compare with.
    let desk = Desk::open(&config.state).ok();
    let reach = reach()?;
    for folder in &config.folders {
        if !reach.all_answer(folder.paths()) {
            let path = folder.path.display();
            eprint(&format!("folder {}: {path}, or its address book, does not answer", folder.name));
            sound = false;
            continue;
        }
        sound &= folder_is_sound(folder)?;
        sound &= hooks_are_sound(folder);
        let recorded = desk.as_ref().and_then(|desk| desk.shelf_names(&folder.name).ok().flatten());
        for wrong in reused_names(&reach, recorded.as_deref(), folder) {
            eprint(&wrong);
            sound = false;
        }
    }
    sound &= queues_are_sound(&config.queues, arguments.online).await?;
    for forbidden in unit::forbidden(&config) {
        eprint(&format!("warning: {forbidden}"));
    }
    let (accounts, folders) = (config.accounts.len(), config.folders.len());
    anyhow::ensure!(sound, "the configuration has no mistakes, but it can't be used like this");
    super::say(&format!("{}: good; {accounts} account(s), {folders} folder(s)", config.file.display()))?;
    arguments.against_history.map_or(Ok(()), |span| past::against_history(&config, span))
}

/// Checks of the e-mail settings that only this machine can make.
async fn email_is_sound(email: &Email, online: bool) -> anyhow::Result<bool> {
    match &email.transport {
        Transport::Directory(dir) => {
            super::say(&format!("email: into {}; every template can be rendered", dir.display()))?;
        }
        Transport::Smtp(smtp) => {
            let Smtp { host, port, login, ca, .. } = smtp;
            if login.as_ref().is_some_and(Login::is_elsewhere) && !online {
                super::say("email: its password comes from systemd, when it starts the service")?;
            } else if let Some(Err(wrong)) = login.as_ref().map(Login::password) {
                eprint(&wrong.to_string());
                return Ok(false);
            }
            if let Some(ca) = ca.as_ref().filter(|ca| !ca.is_file()) {
                eprint(&format!("email.smtp.ca: {} does not exist", ca.display()));
                return Ok(false);
            }
            super::say(&format!("email: through {host}:{port}; every template can be rendered"))?;
            if online {
                if let Err(why) = outbox::reach(smtp).await {
                    eprint(&format!("email: {host}:{port} can't be used: {why}"));
                    return Ok(false);
                }
                super::say("email: the mail server was reached; nothing was sent")?;
            }
        }
    }
    Ok(true)
}

/// Shows what the account may do.
async fn online(name: &str, client: &Client) -> anyhow::Result<bool> {
    match client.account().await {
        Ok(_realm) => {
            super::say(&format!("account {name}: logged in and read; granted: {}", client.needs()))?;
            Ok(true)
        }
        Err(failure) => {
            eprint(&format!("account {name}: can't be read: {failure}"));
            Ok(false)
        }
    }
}

/// Checks of a folder that only the disk can answer.
fn folder_is_sound(folder: &Folder) -> anyhow::Result<bool> {
    let mut sound = true;
    let path = folder.path.display();
    if !folder.path.is_dir() {
        let what = if folder.path.exists() {
            "is a file; name a directory"
        } else {
            "does not exist; create it, or mount its share"
        };
        eprint(&format!("folder {}: {path} {what}", folder.name));
        sound = false;
    }
    for (shelf, remedy) in not_shared(&folder.path, &folder.names.all()) {
        eprint(&format!(
            "warning: folder {}: its group can't use `{shelf}` as the folder itself; {remedy}",
            folder.name
        ));
    }
    if folder.names.by_copy {
        super::say(&format!(
            "folder {}: approved by another than the owner, so its files must be writable by their owner alone (on \
             Samba: create mask = 0640); others are held, and `mailchute release` lets them go",
            folder.name
        ))?;
    }
    if let Some(book) = &folder.book {
        match book.read() {
            Ok((receivers, mistakes)) => {
                for mistake in &mistakes {
                    let (file, row, column) = (book.file.display(), mistake.row, &mistake.column);
                    eprint(&format!("{file}: row {row}, column {column}: {}", mistake.what));
                }
                sound &= mistakes.is_empty();
                super::say(&format!(
                    "folder {}: {} receivers in its address book",
                    folder.name,
                    receivers.len()
                ))?;
            }
            Err(why) => {
                eprint(&format!("folder {}: its address book can't be used: {why}", folder.name));
                sound = false;
            }
        }
    }
    super::say(&format!("folder {}: {path}, {} rule(s)", folder.name, folder.rules.rules.len()))?;
    Ok(sound)
}

/// Whether the secrets of programs that are notified can be used.
fn hooks_are_sound(folder: &Folder) -> bool {
    let mut sound = true;
    for hook in folder.notify.hooks.iter().filter(|hook| !hook.is_elsewhere()) {
        if let Err(wrong) = hook.key() {
            for problem in &wrong.problems {
                eprint(&format!("folder {}: {}", folder.name, problem.in_a_line()));
            }
            sound = false;
        }
    }
    sound
}

async fn queues_are_sound(queues: &[Queue], online: bool) -> anyhow::Result<bool> {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    let sound = queues.iter().try_fold(true, |sound, queue| {
        let is_sound = queue_is_sound(queue)? && is_socket_sound(queue);
        // A token that can't be read here was reported.
        let Ok(identity) = queue.identity() else { return Ok(sound && is_sound) };
        let before = known.insert(identity, &queue.name);
        if let Some(before) = before {
            eprint(&format!(
                "the queues {before} and {} have the same token, or the same mailbox: give each its own",
                queue.name
            ));
        }
        Ok::<_, anyhow::Error>(sound && is_sound && before.is_none())
    })?;
    Ok(sound && (!online || mailboxes_answer(queues).await?))
}

/// Logs in to the mailboxes of queues.
async fn mailboxes_answer(queues: &[Queue]) -> anyhow::Result<bool> {
    let mut sound = true;
    for queue in queues {
        let Way::Imap(way) = &queue.way else { continue };
        match mailbox::reach(&queue.name, way).await {
            Ok(()) => super::say(&format!("queue {}: the mailbox was reached", queue.name))?,
            Err(why) => {
                eprint(&format!("queue {}: the mailbox at {} can't be used: {why:#}", queue.name, way.host));
                sound = false;
            }
        }
    }
    Ok(sound)
}

/// Whether a queue can listen on its socket, as far as that can be seen.
fn is_socket_sound(queue: &Queue) -> bool {
    let socket = match &queue.way {
        Way::Http(http) => http.socket.as_deref(),
        Way::Print(print) => Some(print.socket.as_path()),
        Way::Imap(_) => None,
    };
    let Some(socket) = socket else { return true };
    let is_of_service = socket == Path::new(PRINTERS);
    let wrong = if socket.as_os_str().len() > LONGEST_SOCKET {
        Some("its path is too long for a socket; at most 107 bytes")
    } else if socket.symlink_metadata().is_ok_and(|there| !there.file_type().is_socket()) {
        Some("something else is there, which is left alone")
    } else if !is_of_service && socket.parent().is_some_and(|dir| !dir.is_dir()) {
        Some("its directory does not exist")
    } else {
        None
    };
    if let Some(wrong) = wrong {
        eprint(&format!("queue {}: it can't listen on {}: {wrong}", queue.name, socket.display()));
    }
    wrong.is_none()
}

/// Whether a queue can be used as it is written.
fn queue_is_sound(queue: &Queue) -> anyhow::Result<bool> {
    let Queue { name, into, .. } = queue;
    match &queue.way {
        Way::Http(http) if http.is_elsewhere() => {
            super::say(&format!(
                "queue {name}: into folder {into}; its token comes from systemd, when it starts the service"
            ))?;
            Ok(true)
        }
        Way::Http(http) => match http.token_hash(name) {
            Ok(_) => {
                let rights: Vec<&str> = http.rights.iter().copied().map(Right::word).collect();
                super::say(&format!(
                    "queue {name}: into folder {into}; its token allows {}",
                    rights.join(", ")
                ))?;
                Ok(true)
            }
            Err(wrong) => {
                wrong.problems.iter().for_each(|problem| eprint(&problem.in_a_line()));
                Ok(false)
            }
        },
        Way::Imap(mail) => {
            let proof = match &mail.authenticated_by {
                Some(server) => format!("senders are believed if {server} says so"),
                None => "no sender is believed, so that all letters wait for approval".to_owned(),
            };
            super::say(&format!(
                "queue {name}: into folder {into}; the mailbox of {}; {proof}",
                mail.place()
            ))?;
            let wrong = if mail.is_elsewhere() { None } else { mail.password(name).err() };
            wrong.iter().flat_map(|wrong| &wrong.problems).for_each(|problem| eprint(&problem.in_a_line()));
            Ok(wrong.is_none())
        }
        Way::Print(print) => {
            let how = if print.is_approved { "held for approval" } else { "posted as the folder says" };
            super::say(&format!(
                "queue {name}: into folder {into}; a printer, and what is printed is {how}"
            ))?;
            let (_, unknown) = print.users();
            for user in &unknown {
                eprint(&format!(
                    "queue {name}: there is no user `{user}` in /etc/passwd: install cups, or write the user's \
                     number into `users`"
                ));
            }
            Ok(unknown.is_empty())
        }
    }
}

fn postal_data_is_sound(list: &PostalFile, zone: Tz) -> anyhow::Result<bool> {
    match super::config::postal_data(list)? {
        Ok(data) => {
            let (as_of, codes) = (data.as_of(), data.codes());
            super::say(&format!("postal codes: {} of {as_of}, {codes} codes", list.file.display()))?;
            if !data.is_recent(Clock::system().now().with_timezone(&zone).date_naive()) {
                let why = "older than six months, so a postal code of another city is only a note";
                eprint(&format!("warning: the list of postal codes is {why}; get Japan Post's present one"));
            }
            Ok(true)
        }
        Err(why) => {
            eprint(&format!("the list of postal codes {} can't be used: {why}", list.file.display()));
            Ok(false)
        }
    }
}

/// Writes to standard error, if anybody reads it.
fn eprint(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}
