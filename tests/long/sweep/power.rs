//! The power is cut at every moment of the real program: what was not synced is gone.
//!
//! `cargo test --test long power -- --nocapture`; `MAILCHUTE_SWEEP_ONLY="Drop 316 after"` for one moment after
//! which some of what was not synced is lost, `before` for all of it.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::disk::{Disk, Loss};
use super::scenario::Scenario;
use super::{AT_ONCE, How, every, moments, only};

async fn cut(scenario: Scenario, at: usize, loss: Loss) -> usize {
    let room = scenario.prepare().await;
    let dir = room.dir.path().to_owned();
    let mut disk = Disk::of(&dir);
    let tape = tempfile::NamedTempFile::new().unwrap();
    scenario.run_taped(&room, Some((at, How::Before)), Some(tape.path())).await;
    disk.play(&std::fs::read(tape.path()).unwrap());
    let unsynced = disk.unsynced();
    disk.cut(loss);
    scenario.run(&room, None).await;
    scenario.judge(&room).await;
    unsynced
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn power_may_be_cut_at_any_moment() {
    let (scenarios, one) = only();
    if let Some((at, how)) = one {
        let loss = if how == How::Before { Loss::All } else { Loss::Some(at as u64) };
        println!("{}", cut(scenarios[0], at, loss).await);
        return;
    }
    for scenario in scenarios {
        if matches!(scenario, Scenario::Reload | Scenario::Backup) {
            continue;
        }
        let moments = moments(scenario).await;
        let (turns, mut cuts) = (Arc::new(Semaphore::new(AT_ONCE)), JoinSet::new());
        for at in (1..=moments).step_by(every(scenario)) {
            for loss in [Loss::All, Loss::Some(at as u64)] {
                let turns = Arc::clone(&turns);
                cuts.spawn(async move {
                    let _turn = turns.acquire_owned().await.unwrap();
                    let cut = tokio::spawn(cut(scenario, at, loss)).await;
                    cut.unwrap_or_else(|error| panic!("{scenario:?}, moment {at}, {loss:?}: {error}"))
                });
            }
        }
        let (mut many, mut unsynced) = (0, 0);
        while let Some(cut) = cuts.join_next().await {
            many += 1;
            unsynced += cut.unwrap();
        }
        assert!(unsynced > many, "nothing was ever lost");
        println!(
            "{scenario:?}: the power was cut {many} times, with {unsynced} changes that were not synced"
        );
    }
}
