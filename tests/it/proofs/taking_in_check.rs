//! The small sizes of the model check of taking in, each explored whole.

use crate::proofs::taking_in::{SMALL, explore};

#[test]
fn every_small_size_of_taking_in_holds() {
    for size in SMALL {
        let (states, time) = explore(*size);
        println!("{:<24} {states:>9} states {:>8.1} s", size.name, time.as_secs_f64());
    }
}
