//! The demo: the main job on an embedded default.
//!
//! In a temporary directory: a sandbox, the daemon with a configuration of its own, and sample PDFs dropped
//! into its folder. Everything is what a user would have. Only the clock runs fast, and jumps over the days
//! until letters ship.

mod picture;
mod samples;
mod show;

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use fs_err as fs;
use serde_json::json;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use crate::base::clock::Pace;
use crate::config::{Config, usual_font};
use crate::daemon::systemd::Manager;
use crate::daemon::{self, Run};
use crate::outside::pdf::Inspector;
use crate::outside::store::{Bell, Desk, DropRow};
use crate::sandbox::{self, Options, Running};
use picture::Said;
use samples::{DemoPlace, MIHON, YAMADA, letter};
use show::Show;

/// Sixty seconds in one.
const FAST: Pace = Pace::Times(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longer than any part of it takes on a slow machine.
const LONGEST: Duration = Duration::from_mins(2);
/// How long after posting the clock jumps to the day on which letters ship.
const QUIET: Duration = Duration::from_secs(8);

/// How the demo is run.
#[derive(Debug)]
pub struct Demo {
    /// Ends when its letters are done, instead of running until it is stopped.
    pub once: bool,
    /// The output is a terminal.
    pub live: bool,
    /// Where a picture of what it said is put. It ends once it has said all.
    pub record: Option<PathBuf>,
    pub inspector: Inspector,
}

/// Runs the demo. An error if a letter did not end as it should.
pub async fn run(
    demo: Demo,
    stop: impl Future<Output = ()>,
    say: &dyn Fn(&str) -> io::Result<()>,
) -> anyhow::Result<()> {
    if let Some(file) = &demo.record {
        // Whether it can be written is known before, not after.
        fs::OpenOptions::new().append(true).create(true).open(file)?;
    }
    let dir = tempfile::Builder::new().prefix("mailchute-demo-").tempdir()?;
    let (ending, ended) = watch::channel(false);
    let end = |mut ended: watch::Receiver<bool>| async move {
        // A dropped sender means the same.
        let _ = ended.wait_for(|ended| *ended).await;
    };
    let inspector = Some(demo.inspector.clone());
    let options = Options { pace: FAST, inspector, page_font: usual_font(), ..Options::default() };
    let sandbox = sandbox::start(options, end(ended.clone())).await.context("the sandbox can't start")?;
    let place = samples::configure(dir.path(), &sandbox.welcome)?;
    let config = Config::read(&place.config)?;
    let run = Run {
        clock: sandbox.clock(),
        after_restore: false,
        may_be_half_saved: false,
        inspector: demo.inspector.clone(),
        reload: Arc::new(Notify::new()),
        manager: Manager::default(),
    };
    let state = config.state.clone();
    let daemon = tokio::spawn(daemon::run(config, run, end(ended)));
    let scene = Stage { sandbox: &sandbox, place, state: &state };
    let (begun, said) = (Instant::now(), RefCell::new(Vec::new()));
    let say = |text: &str| {
        said.borrow_mut().push(Said { at: begun.elapsed(), text: text.to_owned() });
        say(text)
    };
    let outcome = tokio::select! {
        outcome = scene.play(&demo, &say) => outcome.and_then(|()| match &demo.record {
            Some(file) => Ok(fs::write(file, picture::svg(&said.borrow()))?),
            None => Ok(()),
        }),
        () = stop => Ok(()),
    };
    ending.send_replace(true);
    daemon.await??;
    sandbox.wait().await?;
    outcome
}

struct Stage<'a> {
    sandbox: &'a Running,
    place: DemoPlace,
    state: &'a Path,
}

impl Stage<'_> {
    async fn play(&self, demo: &Demo, say: &dyn Fn(&str) -> io::Result<()>) -> anyhow::Result<()> {
        let mut show = Show::new(demo.live, say);
        show.say(
            "A rehearsal of print-and-post: nothing is printed, posted or charged.\n\n\
             In the next seconds three PDFs are dropped into a folder. Two are posted, and the damaged one\n\
             is rejected. A second copy waits until somebody approves it, and an invoice under the name of\n\
             another customer is held. Then days pass in a moment, and the letters have tracking numbers.\n",
        )?;
        let letters = self.place.letters.display();
        show.say(&format!("The folder is {letters}. Dropped into it:"))?;
        let desk = self.desk().await?;
        self.drop_samples()?;
        wait_for(&desk, &mut show, "the samples to be posted or rejected", |drops| {
            count(drops, "confirmed") == 2 && count(drops, "rejected") == 1
        })
        .await?;
        self.tell_note(&show, "Rejected", "damaged.txt", "NOT POSTED").await?;
        show.say("\nThe same invoice once more, as it happens in every office:")?;
        let again = "INV-000123 again.pdf";
        fs::write(self.place.letters.join(again), letter(&YAMADA, "Invoice 1", 2)?)?;
        wait_for(&desk, &mut show, "the second copy to be held", |drops| count(drops, "held") == 1).await?;
        self.tell_note(&show, "Held", "INV-000123 again.txt", "ON HOLD").await?;
        show.say("\nSomebody moves it from Held/ into Approve/, since it is meant:")?;
        fs::rename(
            self.place.letters.join("Held").join(again),
            self.place.letters.join("Approve").join(again),
        )?;
        wait_for(&desk, &mut show, "the held letter to be posted", |drops| count(drops, "confirmed") == 3)
            .await?;
        show.say("\nAn invoice for one customer under the name of another's:")?;
        let wrong = self.place.letters.join("INV-000456 wrong.pdf");
        fs::write(wrong, letter(&YAMADA, "Invoice 3", 1)?)?;
        wait_for(&desk, &mut show, "the wrong invoice to be held", |drops| count(drops, "held") == 1).await?;
        self.tell_note(&show, "Held", "INV-000456 wrong.txt", "ON HOLD").await?;
        show.say("\nThe days until they ship go by in a moment:")?;
        self.to_ship_date().await?;
        wait_for(&desk, &mut show, "the letters to ship", |drops| {
            drops.iter().filter(|drop| drop.state == "shipped" && drop.tracking.is_some()).count() == 3
        })
        .await?;
        self.tell_note(&show, "Sent", "INV-000123.txt", "SHIPPED").await?;
        self.tell_mail(&mut show).await?;
        let charged = self.charged().await?;
        ensure!(charged == 3, "{charged} letters were charged, not 3");
        show.say("\n3 letters posted, each once; 1 rejected; 1 held before it went to the wrong person.")?;
        if demo.once {
            return Ok(());
        }
        self.invite(&show)?;
        if demo.record.is_some() {
            return Ok(());
        }
        self.go_on(&desk, &mut show).await
    }

    /// The daemon creates its records at its start.
    async fn desk(&self) -> anyhow::Result<Desk> {
        let begun = Instant::now();
        loop {
            match Desk::open(self.state) {
                Ok(desk) if self.place.letters.join("Approve").is_dir() => return Ok(desk),
                Err(error) if begun.elapsed() > LONGEST => return Err(error.into()),
                Ok(_) | Err(_) => sleep(LOOK_EVERY).await,
            }
        }
    }

    fn drop_samples(&self) -> anyhow::Result<()> {
        let invoice = letter(&YAMADA, "Invoice 1", 2)?;
        let drop = |name: &str, bytes: &[u8]| fs::write(self.place.letters.join(name), bytes);
        drop("INV-000123.pdf", &invoice)?;
        drop("INV-000456.pdf", &letter(&MIHON, "Invoice 2", 3)?)?;
        drop("damaged.pdf", &invoice[..invoice.len() / 2])?;
        Ok(())
    }

    /// Shows the text in the folder about a drop, once it has this title. It is written after what it says is recorded.
    async fn tell_note(&self, show: &Show<'_>, place: &str, name: &str, title: &str) -> anyhow::Result<()> {
        let begun = Instant::now();
        let (dir, text) = loop {
            if let Some(found) = self.note(place, name).filter(|(_, text)| text.contains(title)) {
                break found;
            }
            ensure!(begun.elapsed() < LONGEST, "waited in vain for {name} to say {title}");
            sleep(LOOK_EVERY).await;
        };
        let inside = dir.strip_prefix(&self.place.letters)?.display();
        show.say(&format!("\n{inside}/{name} says:"))?;
        for line in text.trim_start_matches('\u{feff}').lines().filter(|line| !line.is_empty()) {
            show.say(&format!("  | {line}"))?;
        }
        Ok(())
    }

    /// The directory of a text, which may be one for a month, and the text.
    fn note(&self, place: &str, name: &str) -> Option<(PathBuf, String)> {
        let above = self.place.letters.join(place);
        let months = fs::read_dir(&above).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut all = [above].into_iter().chain(months);
        all.find_map(|dir| fs::read_to_string(dir.join(name)).ok().map(|text| (dir, text)))
    }

    /// Shows the e-mail with the tracking number, as its reader gets it.
    async fn tell_mail(&self, show: &mut Show<'_>) -> anyhow::Result<()> {
        let begun = Instant::now();
        let mail = loop {
            if let Some(mail) = self.mail_about("INV-000123.pdf (#")? {
                break mail;
            }
            ensure!(begun.elapsed() < LONGEST, "waited in vain for the mail with the tracking number");
            self.knock();
            sleep(LOOK_EVERY).await;
        };
        show.say("\nAnd the mail to office@example.jp says:")?;
        mail.lines().filter(|line| !line.is_empty()).try_for_each(|line| show.say(&format!("  | {line}")))?;
        Ok(())
    }

    /// The e-mail whose subject contains these words.
    fn mail_about(&self, words: &str) -> anyhow::Result<Option<String>> {
        let Ok(entries) = fs::read_dir(&self.place.mails) else { return Ok(None) };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == "txt") {
                let text = fs::read_to_string(path)?;
                if text
                    .lines()
                    .next()
                    .is_some_and(|subject| subject.contains(words) && subject.contains("Shipped"))
                {
                    return Ok(Some(text));
                }
            }
        }
        Ok(None)
    }

    async fn to_ship_date(&self) -> anyhow::Result<()> {
        let url = format!("{}/clock", self.sandbox.welcome.places.control_url);
        let body = json!({"advance": "4days"});
        reqwest::Client::new().post(url).json(&body).send().await?.error_for_status()?;
        // The daemon uses the same clock, and looks immediately.
        self.knock();
        Ok(())
    }

    fn knock(&self) {
        if let Ok(home) = crate::outside::store::Home::existing(self.state) {
            Bell::ring(&home);
        }
    }

    async fn charged(&self) -> anyhow::Result<usize> {
        let url = format!("{}/ledger?event=charged", self.sandbox.welcome.places.control_url);
        let ledger: serde_json::Value = reqwest::get(url).await?.json().await?;
        Ok(ledger["entries"].as_array().map_or(0, Vec::len))
    }

    fn invite(&self, show: &Show<'_>) -> io::Result<()> {
        let places = &self.sandbox.welcome.places;
        show.say(&format!("\nYour turn. Drop a PDF of your own into   {}", self.place.letters.display()))?;
        show.say(&format!(
            "Its rules, which you may edit            {}",
            self.place.config.with_file_name("folders").join("letters.yaml").display()
        ))?;
        show.say("Ctrl-C ends it, and removes all of it.\n")?;
        show.say(&format!("The letters as they would be posted      {}", places.inbox_url))?;
        show.say(&format!("What mailchute says about itself         http://{}/", self.place.page))
    }

    /// Shows what the user drops. What is posted ships after a while.
    async fn go_on(&self, desk: &Desk, show: &mut Show<'_>) -> anyhow::Result<()> {
        let mut since: Option<Instant> = None;
        loop {
            let drops = desk.drops(1000)?;
            show.update(&drops)?;
            let waiting = count(&drops, "confirmed") > 0 && drops.iter().all(DropRow::is_still_or_posted);
            since = since.filter(|_| waiting).or_else(|| waiting.then(Instant::now));
            if since.is_some_and(|since| since.elapsed() > QUIET) {
                self.to_ship_date().await?;
                since = None;
            }
            sleep(LOOK_EVERY).await;
        }
    }
}

async fn wait_for(
    desk: &Desk,
    show: &mut Show<'_>,
    what: &str,
    done: impl Fn(&[DropRow]) -> bool,
) -> anyhow::Result<()> {
    let begun = Instant::now();
    loop {
        let drops = desk.drops(1000)?;
        show.update(&drops)?;
        if done(&drops) {
            return Ok(());
        }
        ensure!(begun.elapsed() < LONGEST, "waited in vain for {what}");
        sleep(LOOK_EVERY).await;
    }
}

fn count(drops: &[DropRow], state: &str) -> usize {
    drops.iter().filter(|drop| drop.state == state && drop.is_shelved()).count()
}
