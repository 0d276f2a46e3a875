//! Lives by chance, each decided by its seed.

use std::fmt::Debug;
use std::ops::{AddAssign, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const THREADS: usize = 2;

/// The seeds that are asked for (`MAILCHUTE_SEEDS`), or so many.
pub fn seeds(usual: u64) -> Range<u64> {
    let Ok(wanted) = std::env::var("MAILCHUTE_SEEDS") else { return 0..usual };
    let number = |text: &str| text.parse().unwrap();
    wanted.split_once("..").map_or_else(|| 0..number(&wanted), |(from, to)| number(from)..number(to))
}

/// Lives each of them, and says what they came to. If one fails, its story is in the message.
pub fn every<T: AddAssign + Default + Debug + Send>(
    seeds: Range<u64>,
    live: impl Fn(u64) -> Result<T, Vec<String>> + Sync,
) -> T {
    let (next, sum, failed) = (AtomicU64::new(seeds.start), Mutex::new(T::default()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _thread in 0..THREADS {
            scope.spawn(|| {
                while failed.lock().unwrap().is_empty() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    match live(seed) {
                        Ok(tally) => *sum.lock().unwrap() += tally,
                        Err(story) => failed.lock().unwrap().push((seed, story)),
                    }
                }
            });
        }
    });
    let story = |(seed, story): (u64, Vec<String>)| {
        format!("seed {seed}:\n{}\nthat one again: MAILCHUTE_SEEDS={seed}..{}", story.join("\n"), seed + 1)
    };
    let stories: Vec<String> = failed.into_inner().unwrap().into_iter().map(story).collect();
    assert!(stories.is_empty(), "{}", stories.join("\n"));
    sum.into_inner().unwrap()
}
