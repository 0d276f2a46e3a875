//! Each call of the client times each way in which its answer can go wrong: no letter is posted twice, none
//! is lost, and each goes on to its end once the service is well again.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::TimeDelta;
use mailchute::domain::letter::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::rigs::nasty::{Call, Nasty, Wrong};
use crate::rigs::office::Office;

const AT_ONCE: usize = 6;

/// How a letter ends, and how often it was to be confirmed, whose calls went wrong for a while.
fn expected(call: Call, wrong: Wrong) -> (&'static str, usize) {
    match (call, wrong) {
        (Call::Cancel, _) => ("cancelled", 1),
        // Any 200 of a store means that it has the document; the service says at confirm that it has none.
        (Call::Upload, Wrong::Page | Wrong::EvilId | Wrong::Bomb) => ("shipped", 2),
        (Call::Token | Call::Account | Call::Create | Call::Upload | Call::Read | Call::Confirm, _) => {
            ("shipped", 1)
        }
    }
}

async fn cell(call: Call, wrong: Wrong) {
    let nasty = Nasty::open().await;
    let mut office = Office::behind(&nasty).await;
    if call == Call::Cancel {
        office.submit(&[1]);
        office.settle().await;
        assert_eq!(office.state(1), "confirmed");
    }
    nasty.spoil(call, wrong, if wrong.is_slow() { 1 } else { 3 });
    if call == Call::Cancel {
        office.order(1, Command::Cancel);
    } else {
        office.submit(&[1]);
    }
    office.go_on_for(TimeDelta::hours(2)).await;
    nasty.be_well();
    office.go_on_for(TimeDelta::days(5)).await;
    office.check().await;
    assert!(nasty.spoilt.load(Ordering::Relaxed) > 0, "{call:?} {wrong:?} was never called");
    let swallowed = nasty.swallowed.load(Ordering::Relaxed);
    assert!(swallowed < 32 << 20, "{call:?}: {swallowed} bytes of a body without end");
    assert!(!nasty.decompresses.load(Ordering::Relaxed), "{call:?}: compressed answers are asked for");
    let intents = office.facts(1).iter().filter(|fact| **fact == "intended").count();
    assert_eq!(
        (office.state(1), intents),
        expected(call, wrong),
        "{call:?} {wrong:?}: {:?}",
        office.row(1).note
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_call_is_answered_each_letter_ends_as_it_should() {
    let (places, mut cells) = (Arc::new(Semaphore::new(AT_ONCE)), JoinSet::new());
    for call in Call::ALL {
        for wrong in Wrong::ALL {
            let places = Arc::clone(&places);
            cells.spawn(async move {
                let _place = places.acquire_owned().await.unwrap();
                cell(call, wrong).await;
            });
        }
    }
    let mut well = 0;
    while let Some(cell) = cells.join_next().await {
        cell.unwrap();
        well += 1;
    }
    assert_eq!(well, 7 * 23);
}
