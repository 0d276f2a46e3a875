//! `mailchute audit`.

use std::time::Duration;

use anyhow::bail;
use chrono::TimeDelta;
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::json;

use super::config::{RecordsPath, reach};
use super::table;
use crate::base::clock::{Clock, Time};
use crate::config::{AccountSettings, Config};
use crate::domain::letter::{Fact, Letter, Mail, Number, ReadAnswer, Realm};
use crate::loops::originals;
use crate::outside::api::{Client, Failure, KnownMail};
use crate::outside::store::{Desk, Findings};

/// Check that database, ledger, spool and folders agree, and that every letter is as it must be
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: RecordsPath,
    /// Also ask the service what became of each mail it was given
    #[arg(long)]
    online: bool,
    /// With --online: only letters that were taken in within this time
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "30d", requires = "online")]
    since: Duration,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let records = arguments.place.find()?;
    let desk = Desk::open(&records.state)?;
    let mut findings = desk.audit()?;
    let (mut originals, mut away, mut mails) = (0, Vec::new(), 0);
    if let Some(config) = &records.config {
        (originals, away) = look_into_folders(config, &desk, &mut findings)?;
    } else {
        away.push("no folder was checked, because the configuration can't be used".to_owned());
        anyhow::ensure!(
            !arguments.online,
            "the service can be asked only with a configuration that can be used"
        );
    }
    if let Some(config) = records.config.as_ref().filter(|_| arguments.online) {
        let since = Clock::system().now() - TimeDelta::from_std(arguments.since)?;
        for account in &config.accounts {
            mails += ask(account, config, &desk, since, &mut findings).await?;
        }
    }
    let Findings { letters, facts, documents, problems } = &findings;
    if arguments.json {
        table::json(&json!({
            "letters": letters, "facts": facts, "documents": documents, "originals": originals, "mails": mails,
            "away": away, "problems": problems,
        }))?;
    } else {
        for line in problems.iter().chain(&away) {
            super::say(line)?;
        }
        let asked =
            if arguments.online { format!(", {mails} mail(s) at the service") } else { String::new() };
        super::say(&format!(
            "{letters} letter(s), {facts} fact(s), {documents} document(s), {originals} original(s){asked} checked"
        ))?;
    }
    match problems.len() {
        0 => Ok(()),
        problems => {
            bail!("{problems} problem(s) found; keep a copy of the state directory before anything else")
        }
    }
}

/// Compares each folder with the records. Returns how many originals were checked, and which folders could
/// not be.
fn look_into_folders(
    config: &Config,
    desk: &Desk,
    findings: &mut Findings,
) -> anyhow::Result<(usize, Vec<String>)> {
    let (mut originals, mut away) = (0, Vec::new());
    let reach = reach()?;
    let known = desk.folders()?;
    for folder in &config.folders {
        if !reach.all_answer(folder.paths()) {
            away.push(format!("folder {} was not checked: it does not answer", folder.name));
            continue;
        }
        let looked = originals::audit(desk, folder, Clock::system().now())?;
        originals += looked.originals;
        findings.problems.extend(looked.problems);
        let known = known.iter().find(|known| known.folder == folder.name);
        if let Some(error) = looked.away {
            away.push(format!("folder {} was not checked: {error}", folder.name));
        } else if let Some(why) = known.and_then(|known| known.trouble.as_ref()) {
            // The records may know nothing of what lies there.
            away.push(format!("folder {} is away for the daemon: {why}", folder.name));
        }
    }
    Ok((originals, away))
}

/// Reads every mail of an account's letters at the service. Returns their number.
async fn ask(
    account: &AccountSettings,
    config: &Config,
    desk: &Desk,
    since: Time,
    findings: &mut Findings,
) -> anyhow::Result<u64> {
    let client =
        Client::new(account.places.clone(), account.credentials()?, config.patience, Clock::system())?;
    let said = |failure: Failure| anyhow::anyhow!("account {}: {failure}", account.name);
    let realm = client.account().await.map_err(said)?;
    let rows = desk.letters(None, Some(since), u64::MAX)?;
    let rows: Vec<_> = rows.into_iter().filter(|row| row.account == account.name).collect();
    let bar = ProgressBar::with_draw_target(Some(rows.len() as u64), ProgressDrawTarget::stderr());
    let mut read = 0;
    for row in bar.wrap_iter(rows.into_iter()) {
        let Some(letter) = desk.letter(row.letter)? else { continue };
        for mail in mails(desk, row.letter)? {
            let known = KnownMail { mail: &mail, watched: TimeDelta::zero() };
            let answer = client.read(known).await.map_err(said)?;
            // A running daemon may have continued meanwhile, and then this proves nothing.
            if desk.letter(row.letter)?.is_none_or(|now| now.facts != letter.facts) {
                break;
            }
            read += 1;
            let problem = judge(&letter, &mail, &realm, &answer);
            findings.problems.extend(problem.map(|what| format!("letter {}: {what}", row.letter)));
        }
    }
    client.revoke().await;
    Ok(read)
}

fn mails(desk: &Desk, letter: Number) -> anyhow::Result<Vec<Mail>> {
    let facts = desk.history(letter)?.into_iter();
    let made = facts.filter_map(|(_, fact)| if let Fact::Created(mail) = fact { Some(*mail) } else { None });
    Ok(made.collect())
}

fn judge(letter: &Letter, mail: &Mail, realm: &Realm, answer: &ReadAnswer) -> Option<String> {
    match answer {
        ReadAnswer::Found(reading) => letter.contradicted_by(mail, Some(reading)),
        // A mail of another account is never found, which proves nothing.
        ReadAnswer::NotFound(_) if mail.realm != *realm => None,
        ReadAnswer::NotFound(_) => letter.contradicted_by(mail, None),
    }
}
