//! The whole daemon by chance: intake, dispatcher, shelves, mails and what is kept, on real files and a real
//! database, against the sandbox behind a bad line, in an office full of people; the clock by hand. One seed
//! decides every arrival, hand, command, fault, order of the loops and end of the process, and the same seed
//! does it all again.
//!
//! `MAILCHUTE_SEEDS=1000000 cargo test --release --test it simulation -- --nocapture` for more;
//! `MAILCHUTE_SEEDS=17..18` for one, with its story.

mod clerk;
mod judge;
mod office;
mod trouble;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::rigs::journal;
use crate::rigs::lives::{every, seeds};
use world::{Tally, World};

const SEEDS: u64 = 2000;

/// One life; what it came to, and what happened in it.
fn live(seed: u64) -> Result<(Tally, Vec<String>), Vec<String>> {
    journal::keep();
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut world = threads.block_on(World::of(seed));
    let lived = catch_unwind(AssertUnwindSafe(|| {
        threads.block_on(async {
            world.live().await;
            world.come_to_rest().await;
            world.judge_at_rest().await;
            world.judge_at_the_end().await;
        });
    }));
    let story = std::mem::take(&mut world.story);
    match lived {
        Ok(()) => Ok((world.tally.clone(), story)),
        Err(_) => Err(story),
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.drops += other.drops;
        self.letters += other.letters;
        self.posted += other.posted;
        self.held += other.held;
        self.called_back += other.called_back;
        self.crashes += other.crashes;
        self.losses += other.losses;
        self.calls += other.calls;
        self.wrong_calls += other.wrong_calls;
    }
}

#[test]
fn whatever_happens_each_letter_is_posted_once_and_no_file_is_lost() {
    let (seeds, begun) = (seeds(SEEDS), Instant::now());
    let sum = every(seeds.clone(), |seed| live(seed).map(|(tally, _story)| tally));
    let Tally { drops, letters, posted, held, called_back, crashes, losses, calls, wrong_calls } = sum;
    println!(
        "{} seeds in {:.1} s: {drops} drops, {letters} letters ({posted} posted, {held} held, {called_back} \
         called back), {crashes} crashes ({losses} with a lost or old database), {calls} calls ({wrong_calls} \
         of them went wrong)",
        seeds.end - seeds.start,
        begun.elapsed().as_secs_f64()
    );
    if seeds == (0..SEEDS) {
        let enough = posted > 1300 && crashes > 900 && losses > 150 && wrong_calls > 1000;
        assert!(enough, "too little happened");
    }
}

#[test]
fn a_seed_tells_the_same_story_each_time() {
    let seeds = std::env::var("MAILCHUTE_SEEDS").map_or(1_000_003..1_000_033, |_| seeds(SEEDS));
    let mut longest = 0;
    for seed in seeds {
        let [one, other] = [live(seed), live(seed)].map(|lived| lived.map(|(_, story)| story).unwrap());
        let differs = one.iter().zip(&other).position(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {seed}: {one:#?} {other:#?}");
        longest = longest.max(one.len());
    }
    // A short life has a short story; not all are short.
    assert!(longest > 8);
}
