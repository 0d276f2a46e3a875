//! `mailchute doctor`: what is wrong with an installation, each with its remedy.

use std::path::Path;
use std::process::Command;

use chrono::TimeDelta;

use super::config::{ConfigPath, reach};
use super::{table, unit};
use crate::base::clock::Clock;
use crate::config::{Config, Folder, Login, Problem, Queue, Smtp, Transport, WatchMode, Way};
use crate::daemon::status::{Facts, ask, disk};
use crate::domain::alarm::{Alarm, is_nearly_full};
use crate::loops::outbox;
use crate::outside::api::Client;
use crate::outside::disk::Mounts;
use crate::outside::hot::{Hot, Reach, not_shared};
use crate::outside::store::{Desk, Home, StoreError};
use crate::words::texts::{AlertNews, Language};

/// Deadlines are compared with the service's own time, so a large difference makes planning wrong.
const SKEW: TimeDelta = TimeDelta::seconds(30);
/// Watches that one folder needs: itself and the two shelves into which people move things, with a margin.
const WATCHES_A_FOLDER: u64 = 8;

const UNREADABLE: &str =
    "provide it, readable by the service's user alone; run `mailchute doctor` as that user";

/// Find what is wrong with the installation: folders, permissions, limits, disk, clock, accounts, mail server
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: ConfigPath,
    /// Only what needs the permissions of the service's user: its records and folders
    #[arg(long, hide = true)]
    permissions: bool,
}

/// What was checked, and the remedy for what is wrong.
struct Report {
    wrong: u32,
}

impl Report {
    fn wrong(&mut self, what: &str, remedy: &str) -> std::io::Result<()> {
        self.wrong += 1;
        super::say(&format!("WRONG  {what}\n       {remedy}"))
    }
}

fn good(what: &str) -> std::io::Result<()> {
    super::say(&format!("good   {what}"))
}

pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let config = arguments.place.config()?;
    let mut report = Report { wrong: 0 };
    if arguments.permissions {
        for account in config.accounts.iter().filter(|account| !account.secret_is_elsewhere()) {
            if let Err(wrong) = account.credentials() {
                let why = wrong.problems.iter().map(Problem::in_a_line).collect::<Vec<_>>().join("; ");
                report.wrong(
                    &format!("account {}: its secret can't be read: {why}", account.name),
                    UNREADABLE,
                )?;
            }
        }
        permissions(&mut report, &config)?;
        // The caller counts what is printed.
        return Ok(());
    }
    // A state directory that is not there yet has no daemon.
    let daemon = ask(&config.state);
    match &daemon {
        Ok(Some(facts)) => as_the_daemon_says(&mut report, facts, &config)?,
        Ok(None) => good("the daemon does not run; everything is tried from here")?,
        Err(error) => report.wrong(
            &format!("the daemon does not answer: {error}"),
            "look at `systemctl status mailchute`; run `mailchute doctor` as root, or as the service's user",
        )?,
    }
    for forbidden in unit::forbidden(&config) {
        report.wrong(&forbidden, "without that the service can't use it, whoever owns it")?;
    }
    match unit::user().filter(|_| rustix::process::geteuid().is_root()) {
        Some(user) if Some(user.as_str()) != Some("root") => as_user(&mut report, &user, &config)?,
        Some(_) | None => permissions(&mut report, &config)?,
    }
    limits(&mut report, &config)?;
    let here = Clock::system().now().with_timezone(&config.zone);
    good(&format!("time zone {}: it is {} there", config.zone, here.format("%Y-%m-%d %H:%M")))?;
    for account in &config.accounts {
        let name = &account.name;
        match account.credentials() {
            Ok(credentials) => {
                let places = account.places.clone();
                let client = Client::new(places, credentials, config.patience, Clock::system())?;
                service(&mut report, name, &client).await?;
            }
            Err(why) => {
                let why: Vec<String> = why.problems.iter().map(Problem::in_a_line).collect();
                let what = format!("account {name}: its secret can't be read: {}", why.join("; "));
                report.wrong(&what, UNREADABLE)?;
            }
        }
    }
    if let Some(email) = &config.email
        && let Transport::Smtp(smtp) = &email.transport
    {
        mail_server(&mut report, smtp).await?;
    }
    anyhow::ensure!(report.wrong == 0, "{} thing(s) are wrong", report.wrong);
    Ok(())
}

async fn mail_server(report: &mut Report, smtp: &Smtp) -> std::io::Result<()> {
    let login = smtp.login.as_ref().filter(|login| !login.is_elsewhere());
    if let Some(Err(wrong)) = login.map(Login::password) {
        return wrong.problems.iter().try_for_each(|problem| report.wrong(&problem.in_a_line(), UNREADABLE));
    }
    match outbox::reach(smtp).await {
        Ok(()) => good(&format!("mail server {}: reached, nothing was sent", smtp.host)),
        Err(why) => {
            let help = "look at `email.smtp` in the configuration, and whether a firewall is between";
            report.wrong(&format!("mail server {}:{}: {why}", smtp.host, smtp.port), help)
        }
    }
}

/// Whether the secrets of programs that are notified and of queues can be read here. Those that systemd has come with
/// the service.
fn other_secrets(report: &mut Report, config: &Config) -> std::io::Result<()> {
    let hooks = config.folders.iter().flat_map(|folder| &folder.notify.hooks);
    let hooks = hooks.filter(|hook| !hook.is_elsewhere()).filter_map(|hook| hook.key().err());
    let queues = config.queues.iter().filter_map(|Queue { name, way, .. }| match way {
        Way::Http(http) if !http.is_elsewhere() => http.token_hash(name).err(),
        Way::Imap(mail) if !mail.is_elsewhere() => mail.password(name).err(),
        Way::Http(_) | Way::Imap(_) | Way::Print(_) => None,
    });
    for problem in hooks.chain(queues).flat_map(|wrong| wrong.problems) {
        report.wrong(&problem.in_a_line(), UNREADABLE)?;
    }
    Ok(())
}

/// What needs the permissions of whoever runs the daemon.
fn permissions(report: &mut Report, config: &Config) -> anyhow::Result<()> {
    records(report, config)?;
    other_secrets(report, config)?;
    let reach = reach()?;
    config.folders.iter().try_for_each(|folder| look_at(report, &reach, folder))
}

/// Root may do everything, so the service's user tries it, with its groups.
fn as_user(report: &mut Report, user: &str, config: &Config) -> anyhow::Result<()> {
    let me = std::env::current_exe()?;
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", user, "--regid", user, "--init-groups"])
        .arg(me)
        .args(["doctor", "--permissions"]);
    let output = command.arg("--config").arg(config.file.canonicalize()?).output();
    match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            good(&format!("the following was tried as the service's user, {user}"))?;
            super::say(text.trim_end())?;
            report.wrong += u32::try_from(text.lines().filter(|line| line.starts_with("WRONG")).count())?;
            Ok(())
        }
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            let what = format!("the user {user} can't try it: {}", why.trim_end());
            Ok(report
                .wrong(&what, "create the user as the package does, and let it read the configuration")?)
        }
        // Without setpriv (util-linux) it is tried as root.
        Err(_) => permissions(report, config),
    }
}

/// The running daemon knows best what works for it.
fn as_the_daemon_says(report: &mut Report, facts: &Facts, config: &Config) -> anyhow::Result<()> {
    let Some(live) = &facts.runs else { return Ok(()) };
    good(&format!("the daemon runs: {}", live.version))?;
    let time = |time| table::time(time, config.zone);
    for paused in &facts.paused {
        let what =
            format!("account {} is paused since {}: {}", paused.account, time(paused.since), paused.why);
        report.wrong(&what, &format!("`mailchute account resume {}` ends the pause", paused.account))?;
    }
    for account in &live.accounts {
        if let Some(since) = account.silent_since {
            let why = account.silent_why.as_deref().unwrap_or("no reason is known");
            let what =
                format!("account {}: no answer for the daemon since {}: {why}", account.name, time(since));
            report.wrong(&what, "letters wait and continue by themselves")?;
        }
    }
    if let Some(list) = &live.postal_data {
        match list.remedy() {
            Some(remedy) => report.wrong(&list.to_string(), remedy)?,
            None => good(&list.to_string())?,
        }
    }
    for alarmed in &facts.alarms {
        let Ok(alarm) = alarmed.cause.parse::<Alarm>() else { continue };
        let (title, advice) = Language::En.told(&AlertNews::Alarm { alarm: &alarm, detail: &alarmed.detail });
        report.wrong(&format!("{title}, since {}: {}", time(alarmed.since), advice.cause), &advice.remedy)?;
    }
    let is_told =
        |folder: &str| facts.alarms.iter().any(|alarmed| alarmed.cause == format!("folder {folder}"));
    for folder in facts.folders.iter().filter(|folder| !is_told(&folder.folder)) {
        if let Some(why) = &folder.trouble {
            let what = format!("folder {} is away for the daemon: {why}", folder.folder);
            report.wrong(&what, "it is tried again by itself")?;
        }
    }
    Ok(())
}

fn records(report: &mut Report, config: &Config) -> anyhow::Result<()> {
    let dir = config.state.display();
    if !config.state.exists() {
        good(&format!("state {dir}: not there yet; the daemon makes it"))?;
        return Ok(());
    }
    if let Err(error) = Home::make(&config.state) {
        let help =
            "give the service's user a directory of its own on a local disk, and name it under `state`";
        report.wrong(&format!("state {dir}: {error}"), help)?;
        return Ok(());
    }
    match writable(&config.state) {
        Ok(()) => good(&format!("state {dir}: can be written"))?,
        Err(why) => {
            let help =
                "it must belong to the service's user: run `mailchute doctor` as that user, or `chown` it";
            report.wrong(&format!("state {dir}: {why}"), help)?;
        }
    }
    if let Some(disk) = disk(&config.state).filter(|disk| is_nearly_full(disk.free, disk.size)) {
        let what = format!("state {dir}: only {} MB are free", disk.free >> 20);
        report.wrong(&what, "make room, or move it to a larger disk")?;
    }
    match Desk::open(&config.state).and_then(|desk| desk.soundness()) {
        Ok(None) | Err(StoreError::Nothing(_)) => good("records: intact, or there are none yet")?,
        Ok(Some(damage)) => {
            let help = "start `mailchute run`: it puts them aside and makes them anew from the ledger";
            report.wrong(&format!("records: {damage}"), help)?;
        }
        Err(error @ StoreError::Newer { .. }) => {
            report.wrong(&format!("records: {error}"), "install that version again")?;
        }
        Err(error) => {
            let help = "start `mailchute run`: what is damaged is put aside and made anew from the ledger";
            report.wrong(&format!("records: {error}"), help)?;
        }
    }
    Ok(())
}

fn look_at(report: &mut Report, reach: &Reach, folder: &Folder) -> anyhow::Result<()> {
    let name = format!("folder {} ({})", folder.name, folder.path.display());
    if !reach.all_answer(folder.paths()) {
        let help = "is its file server up? It is tried again by itself, and other folders do not wait for it";
        report.wrong(&format!("{name}: it, or its address book, does not answer"), help)?;
        return Ok(());
    }
    if !folder.path.is_dir() {
        let what = if folder.path.exists() { "is not a directory" } else { "does not exist" };
        report.wrong(
            &format!("{name}: {what}"),
            "create it, or mount its share; `path` in its rules file names it",
        )?;
        return Ok(());
    }
    match writable(&folder.path) {
        Ok(()) => good(&format!("{name}: files can be made, renamed and removed"))?,
        Err(why) => {
            let help = "the service's user must be able to write there: add it to the folder's group, and look \
                        at ReadWritePaths= of the unit";
            report.wrong(&format!("{name}: {why}"), help)?;
        }
    }
    for (shelf, remedy) in not_shared(&folder.path, &folder.names.all()) {
        let what = format!("{name}: its group can't use `{shelf}` as the folder itself");
        report.wrong(&what, &format!("make mailchute's user a member of the folder's group, or {remedy}"))?;
    }
    let kind = kind_of(&folder.path);
    match (Hot::is_remote_at(&folder.path), folder.mode) {
        (true, WatchMode::Events) => {
            let help = "write `mode: auto` or `mode: poll` under `watch` in its rules file";
            report.wrong(
                &format!("{name}: on {kind}, the kernel does not report what other machines write"),
                help,
            )?;
        }
        (true, WatchMode::Auto | WatchMode::Poll) | (false, WatchMode::Poll) => {
            good(&format!("{name}: on {kind}, polled at intervals"))?;
        }
        (false, WatchMode::Auto | WatchMode::Events) => good(&format!("{name}: on {kind}, watched"))?,
    }
    if let Some(book) = &folder.book {
        match book.read() {
            Ok((_, mistakes)) if mistakes.is_empty() => {}
            Ok((_, mistakes)) => {
                let what = format!("{name}: its address book has {} mistakes", mistakes.len());
                report.wrong(&what, "`mailchute check` names row and column of each")?;
            }
            Err(why) => {
                report.wrong(&format!("{name}: its address book: {why}"), "letters that need it wait")?;
            }
        }
    }
    Ok(())
}

/// The type of the file system at a path, in the kernel's words.
fn kind_of(path: &Path) -> String {
    let mounts = Mounts::now();
    let (path, _) = mounts.resolve(path);
    mounts.kind(&path).unwrap_or("an unknown filesystem").to_owned()
}

/// Creates, renames and removes a file, as the daemon will. Its name is hidden, so that it is not taken in.
fn writable(dir: &Path) -> Result<(), String> {
    let said = |what: &str, error: &std::io::Error| format!("no file can be {what}: {error}");
    let probe = tempfile::Builder::new().prefix(".mailchute-doctor-").tempfile_in(dir);
    let probe = probe.map_err(|error| said("made", &error))?;
    let other = probe.path().with_extension("renamed");
    std::fs::rename(probe.path(), &other).map_err(|error| said("renamed", &error))?;
    std::fs::remove_file(&other).map_err(|error| said("removed", &error))
}

/// The kernel's limits for watches of one user.
fn limits(report: &mut Report, config: &Config) -> anyhow::Result<()> {
    let needed = [
        ("max_user_watches", WATCHES_A_FOLDER * config.folders.len() as u64 + 64),
        ("max_user_instances", 8),
    ];
    for (name, needed) in needed {
        let limit = std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}"));
        let Some(limit) = limit.ok().and_then(|text| text.trim().parse::<u64>().ok()) else { continue };
        if limit < needed {
            let what = format!("fs.inotify.{name} is {limit}, and {needed} may be needed");
            report.wrong(
                &what,
                &format!("`sysctl fs.inotify.{name}={}`, in /etc/sysctl.d for good", needed * 4),
            )?;
        } else {
            good(&format!("fs.inotify.{name}: {limit}"))?;
        }
    }
    Ok(())
}

async fn service(report: &mut Report, name: &str, client: &Client) -> anyhow::Result<()> {
    match client.clock_difference().await {
        Ok(difference) => {
            good(&format!("account {name}: logged in and read"))?;
            let Some(difference) = difference.filter(|difference| difference.abs() > SKEW) else {
                return Ok(());
            };
            let seconds = difference.num_seconds();
            let how = if seconds > 0 { "behind" } else { "ahead of" };
            let what = format!("this machine's clock is {} s {how} the service's", seconds.abs());
            report.wrong(&what, "let NTP set it: `timedatectl set-ntp true`")?;
        }
        Err(failure) => {
            let help = "look at client and secret on the account's page, at `base_url` and `auth_url`, and \
                        whether a firewall is between";
            report.wrong(&format!("account {name}: {failure}"), help)?;
        }
    }
    Ok(())
}
