//! PDFs of one name, in both forms of Unicode, each with its address, in the hands of people who move, copy, delete and
//! bring back. Whatever the order, no letter goes to a receiver for whom its PDF was not meant, and none is posted that
//! needed a word and has none. One seed decides everything.
//!
//! `MAILCHUTE_SEEDS=100000 cargo test --release --test it addresses -- --nocapture` for more;
//! `MAILCHUTE_SEEDS=17..18` for one, with its story; with `MAILCHUTE_TREES=1` and what lies in the folder all the while.

mod office;

use std::ops::AddAssign;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use chrono::TimeDelta;
use mailchute::domain::letter::State;

use crate::rigs::dice::Dice;
use crate::rigs::journal;
use crate::rigs::lives::{every, seeds};
use crate::rigs::mailroom::{Loop, Mailroom, RULES};
use crate::rigs::service::Service;
use office::Office;

const SEEDS: u64 = 150;
/// In one life at least so many things happen, and at most twice as many.
const ACTIONS: usize = 40;

/// What the lives came to.
#[derive(Debug, Default, Clone)]
struct Tally {
    lives: usize,
    pairs: usize,
    posted: usize,
    without_word: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.lives += other.lives;
        self.pairs += other.pairs;
        self.posted += other.posted;
        self.without_word += other.without_word;
    }
}

struct World {
    room: Mailroom,
    office: Office,
    dice: Dice,
    is_approval: bool,
    aside: PathBuf,
    story: Vec<String>,
}

impl World {
    async fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed);
        let memory = PathBuf::from("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let is_approval = dice.percent(30);
        let mut rules = RULES.replace("{poll: 1s}", "{mode: poll, poll: 1s}");
        if is_approval {
            rules = rules.replace("rules:\n", "release: approval\nrules:\n");
        }
        if dice.percent(30) {
            rules = rules.replace("rules:\n", "duplicates: {action: allow}\nrules:\n");
        }
        let mut room = Mailroom::at(Service::start().await, dir, &rules).await;
        room.at_once = Some(1);
        let aside = room.dir.path().join("aside");
        std::fs::create_dir(&aside).unwrap();
        room.start();
        room.settle().await;
        Self { room, office: Office::default(), dice, is_approval, aside, story: Vec::new() }
    }

    async fn live(&mut self) {
        for _action in 0..ACTIONS + self.dice.below(ACTIONS) {
            let done = self.act().await;
            self.story.extend(done);
            self.go_on(&[0, 0, 1, 1, 2, 5, 6, 7, 20, 601]).await;
        }
        self.story.extend(self.office.complete());
        for seconds in [7, 610, 7, 3600, 7] {
            self.room.pass(seconds).await;
        }
    }

    /// Time goes on, and some of the loops have their turn.
    async fn go_on(&mut self, seconds: &[i64]) {
        let seconds = self.dice.pick(seconds);
        self.story.push(format!("  {seconds} s"));
        self.room.clock.move_by(TimeDelta::seconds(seconds)).unwrap();
        self.room.service.advance(&format!("{seconds}s")).await;
        for _turn in 0..self.dice.below(12) {
            let which = self.dice.pick(&[Loop::Intake, Loop::Intake, Loop::Letters, Loop::Shelves]);
            self.room.turn(which).await;
        }
        if std::env::var_os("MAILCHUTE_TREES").is_some() {
            self.story.extend(self.room.tree().into_iter().map(|path| format!("        {path}")));
        }
    }

    /// Somebody takes files from one place to another, and is seen doing it.
    async fn hand(&mut self) -> Option<String> {
        let (said, steps) = self.office.hand(&self.room, &self.aside, &mut self.dice)?;
        self.story.push(said);
        for step in &steps {
            self.office.take(step);
            if self.dice.percent(20) {
                self.go_on(&[0, 0, 0, 1]).await;
            }
        }
        None
    }

    async fn act(&mut self) -> Option<String> {
        match self.dice.below(20) {
            0..=4 => self.office.drop(&self.room, self.is_approval, &mut self.dice),
            5..=7 => self.office.complete(),
            8..=14 => self.hand().await,
            15 | 16 => self.office.give_address(&self.room, &mut self.dice),
            17 => self.office.release(&self.room, &mut self.dice),
            18 => {
                self.room.crash().await;
                self.room.start();
                Some("restart".to_owned())
            }
            _ => {
                self.room.settled().await;
                Some("all have their turn".to_owned())
            }
        }
    }

    fn judge(&mut self) -> Tally {
        let desk = self.room.desk();
        let mut posted = Vec::new();
        for number in desk.numbers().unwrap() {
            let letter = desk.letter(number).unwrap().unwrap();
            let receiver = &letter.order.receiver.address.name;
            let content = &letter.order.documents[0].sha256;
            self.story.push(format!("  {number}: {content:.8} to {receiver}: {:?}", letter.state.stage()));
            if matches!(letter.state, State::Confirmed { .. } | State::Shipped { .. }) {
                posted.push((number, receiver.clone(), content.clone()));
            }
        }
        for (number, receiver, content) in &posted {
            let pair = self.office.pairs.iter().find(|pair| pair.receiver == *receiver).unwrap();
            assert_eq!(pair.content, *content, "{number}: what {receiver} gets was not meant for them");
            assert!(!pair.needs_word || pair.has_word, "{number} to {receiver}: nobody approved it");
            let times = posted.iter().filter(|(_, other, _)| other == receiver).count();
            assert!(times <= pair.drops, "{receiver} gets {times} letters");
        }
        let pairs = &self.office.pairs;
        Tally {
            lives: 1,
            pairs: pairs.len(),
            posted: posted.len(),
            without_word: pairs.iter().filter(|pair| !pair.has_word).count(),
        }
    }
}

/// One life; what it came to, or what happened in it.
fn live(seed: u64) -> Result<Tally, Vec<String>> {
    journal::keep();
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut world = threads.block_on(World::of(seed));
    let lived = catch_unwind(AssertUnwindSafe(|| {
        threads.block_on(async {
            world.live().await;
            let tally = world.judge();
            world.room.check().await;
            tally
        })
    }));
    lived.map_err(|_| {
        world.story.extend(world.room.tree());
        world.story
    })
}

#[test]
fn whatever_people_do_no_letter_goes_to_the_receiver_of_another() {
    let tally = every(seeds(SEEDS), live);
    println!("{tally:?}");
    assert!(tally.lives < 100 || tally.posted > tally.lives, "too little happened");
}
