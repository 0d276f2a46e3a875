//! A daemon with its loops, an office, and a service behind a bad line; what happens when is thrown by dice.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use mailchute::base::clock::Time;
use mailchute::base::secret::Secret;
use mailchute::outside::hot::Reach;
use mailchute::sandbox::Options;

use super::clerk::{Clerk, second_rules};
use super::office::{FOLDERS, Office};
use super::trouble::Trouble;
use crate::rigs::dice::Dice;
use crate::rigs::files::{helpers_below, kill};
use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::nasty::Nasty;
use crate::rigs::service::Service;

/// Each loop has its turn so often before time goes on.
const TURNS: usize = 2;
/// Lives begin from then on, within so many years.
const FIRST: &str = "2031-01-01T00:00:00Z";
const YEARS: usize = 5;
/// One life in eight has folders that helpers reach.
const HELPERS: u64 = 8;
/// In one life at least so many things happen, and at most twice as many.
const ACTIONS: usize = 6;

/// What a run came to.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    pub drops: usize,
    pub letters: usize,
    pub posted: usize,
    pub held: usize,
    pub called_back: usize,
    pub crashes: usize,
    pub losses: usize,
    pub calls: usize,
    pub wrong_calls: usize,
}

pub struct World {
    pub room: Mailroom,
    pub office: Office,
    pub clerk: Clerk,
    pub tally: Tally,
    /// What happened, in its order.
    pub story: Vec<String>,
    nasty: Nasty,
    trouble: Trouble,
    pub dice: Dice,
    /// A database of some time ago.
    old: Option<Vec<u8>>,
    /// Its folders are reached by helpers, which die now and then.
    has_helpers: bool,
}

pub fn rules(folder: &str, more: &str) -> String {
    let notify = "notify: {shipped: [shipped@example.jp], held: [held@example.jp]}\n";
    RULES
        .replace("../letters", &format!("../{folder}"))
        .replace("{poll: 1s}", "{mode: poll, poll: 2s}")
        .replace("rules:\n", &format!("{more}{notify}rules:\n"))
}

impl World {
    pub async fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed);
        let nasty = Nasty::open().await;
        // With this secret, one that is not accepted is asked for in both forms.
        let secret = dice.pick(&["as-it-is", "form/encoded+otherwise"]);
        let client = Some(("simulated".to_owned(), Secret::new(secret)));
        let service = Service::behind_with(&nasty, Options { client, ..Options::default() }).await;
        // Any minute of some years that no file here is of.
        let minute = i64::try_from(dice.below(YEARS * 366 * 24 * 60)).unwrap();
        service.set_clock(FIRST.parse::<Time>().unwrap() + TimeDelta::minutes(minute)).await;
        // Nothing here is about this machine's disk.
        let memory = PathBuf::from("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let mut room = Mailroom::at(service, dir, &rules("letters", "")).await;
        room.at_once = Some(1);
        // Nor about how busy it is.
        room.patience = Duration::from_mins(1);
        let [_, second] = FOLDERS;
        std::fs::create_dir(room.dir.path().join(second)).unwrap();
        std::fs::write(room.dir.path().join(format!("folders/{second}.yaml")), second_rules(second)).unwrap();
        room.add_to_main(
            "email:\n  from: mailchute <mailchute@files.example.jp>\n  operators: [admin@example.jp]\n  \
             directory: mails\n  together: 0s\n",
        );
        let trouble = Trouble::on(&nasty, dice.split());
        let has_helpers = seed % HELPERS == 3;
        if has_helpers {
            room.reach = Arc::new(Reach::of(&room.counts_pages).always_apart());
        }
        room.start();
        let (office, tally) = (Office::default(), Tally::default());
        let clerk = Clerk::default();
        let mut world = Self {
            room,
            office,
            clerk,
            tally,
            story: Vec::new(),
            nasty,
            trouble,
            dice,
            old: None,
            has_helpers,
        };
        world.settle().await;
        world
    }

    /// Everything that can happen now, the loops in any order; the daemon may die in the middle.
    pub async fn settle(&mut self) {
        for _turn in 0..TURNS {
            // The index of names decides nothing, and takes its own time.
            let [mut order @ .., _] = Loop::ALL;
            assert!(!order.contains(&Loop::Names));
            self.dice.shuffle(&mut order);
            for which in order {
                let dies = tokio::select! {
                    biased;
                    () = self.trouble.dead.notified() => true,
                    _next = self.room.turn(which) => false,
                };
                if dies {
                    self.die("in a call").await;
                }
            }
        }
        let calls = self.trouble.calls();
        self.tally.calls += calls.len();
        self.tally.wrong_calls += calls.iter().filter(|call| call.contains(": ")).count();
        if !calls.is_empty() {
            self.story.push(format!("    {}", calls.join(", ")));
        }
    }

    /// The process is gone, and perhaps more with it.
    async fn die(&mut self, when: &str) {
        self.tally.crashes += 1;
        self.room.crash().await;
        let database = self.room.dir.path().join("state/mailchute.db");
        let with = |ending: &str| database.with_file_name(format!("mailchute.db{ending}"));
        let lost = match self.dice.below(10) {
            0 => {
                std::fs::remove_file(&database).unwrap();
                "the database is gone"
            }
            1 => {
                let half = std::fs::metadata(&database).unwrap().len() / 2;
                std::fs::File::options().write(true).open(&database).unwrap().set_len(half).unwrap();
                "half of the database is gone"
            }
            2 if self.old.is_some() => {
                std::fs::write(&database, self.old.as_ref().unwrap()).unwrap();
                "an old database is put back"
            }
            _ => "",
        };
        if !lost.is_empty() {
            self.tally.losses += 1;
            for ending in ["-wal", "-shm"] {
                drop(std::fs::remove_file(with(ending)));
            }
        }
        self.story.push(format!("  it dies {when}; {lost}"));
        self.room.start();
    }

    async fn restart(&mut self) {
        self.room.crash().await;
        if self.dice.percent(50) {
            self.old = Some(std::fs::read(self.room.dir.path().join("state/mailchute.db")).unwrap());
        }
        self.room.start();
    }

    pub async fn pass(&mut self, time: TimeDelta) {
        if self.has_helpers && time.num_seconds() % 2 == 0 {
            // Whatever reaches the folders dies now and then, as it does when it is given up.
            helpers_below(self.room.dir.path()).into_iter().for_each(kill);
        }
        self.room.clock.move_by(time).unwrap();
        self.room.service.advance(&format!("{}ms", time.num_milliseconds())).await;
        self.settle().await;
    }

    /// So many things happen, one after the other.
    pub async fn live(&mut self) {
        for _action in 0..ACTIONS + self.dice.below(ACTIONS) {
            let said = self.act().await;
            self.story.extend(said);
            let seconds = [1, 3, 5, 6, 7, 20, 60, 61, 600, 660, 3600, 20_000, 90_000];
            let wait = seconds[self.dice.below(seconds.len()).min(self.dice.below(seconds.len()))];
            self.story.push(format!("  {wait} s"));
            self.pass(TimeDelta::milliseconds(wait * 1000 + 1)).await;
        }
    }

    async fn act(&mut self) -> Option<String> {
        match self.dice.below(26) {
            0..=7 => Some(self.office.drop(&self.room, &mut self.dice)),
            8..=10 => self.office.hand(&self.room, &self.clerk, &mut self.dice),
            11 | 12 => Office::command(&self.room, &mut self.dice),
            13 | 14 => {
                let percent = self.dice.pick(&[0, 10, 30, 60]);
                self.trouble.percent(percent);
                Some(format!("{percent} % of the calls go wrong"))
            }
            15 => {
                let down = self.dice.percent(50);
                self.trouble.is_down(down);
                Some(format!("down: {down}"))
            }
            16 => {
                let card = self.dice.pick(&["declining", "ok", "ok", "none"]);
                self.room.service.set_card(card).await;
                Some(format!("card {card}"))
            }
            17..=19 => {
                let (after, done) = (self.dice.below(6), self.dice.percent(50));
                self.trouble.dies(after, done);
                Some(format!("it dies after {after} more calls, done: {done}"))
            }
            20 => {
                self.die("between two looks").await;
                None
            }
            21 => {
                self.restart().await;
                Some("restart".to_owned())
            }
            22 => Some(format!("{} late calls arrive", self.nasty.deliver_late().await)),
            23 | 24 => Some(self.clerk().await),
            _ => {
                self.office.write_on();
                None
            }
        }
    }

    /// Nothing goes wrong any more, until everything has ended.
    pub async fn come_to_rest(&mut self) {
        self.trouble.is_over();
        self.nasty.deliver_late().await;
        self.office.write_on();
        self.room.service.set_card("ok").await;
        let desk = self.room.desk();
        desk.order_account("main", mailchute::outside::store::AccountCommand::Resume, self.room.clock.now())
            .unwrap();
        self.story.push("all is well".to_owned());
        for seconds in [7, 610, 3600, 14_400] {
            self.pass(TimeDelta::seconds(seconds)).await;
        }
    }
}
