//! The small sizes of the model check, each explored whole.

use crate::proofs::model::{SMALL, explore};

#[test]
fn every_small_size_holds() {
    for size in SMALL {
        let (states, time) = explore(*size);
        println!("{:<20} {states:>9} states {:>8.1} s", size.name, time.as_secs_f64());
    }
}
