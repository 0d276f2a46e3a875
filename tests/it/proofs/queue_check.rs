//! The small sizes of the model check of queues, each explored whole.

use crate::proofs::queue::{SMALL, explore};

#[test]
fn every_small_size_of_queues_holds() {
    for size in SMALL {
        let (states, time) = explore(*size);
        println!("{:<24} {states:>9} states {:>8.1} s", size.name, time.as_secs_f64());
    }
}
