//! The mutants of the long tests run seldom, so here it is seen that each changes something that still stands there.

#[path = "../../long/mutants/letter.rs"]
mod letter;
#[path = "../../long/mutants/mutant.rs"]
mod mutant;
#[path = "../../long/mutants/queue.rs"]
mod queue;
#[path = "../../long/mutants/taking_in.rs"]
mod taking_in;

use std::path::Path;

use mutant::{Mutant, caught};

#[test]
fn what_a_mutant_changes_stands_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mutants = [letter::MUTANTS, taking_in::MUTANTS, queue::MUTANTS].concat();
    for Mutant { what, size, edits, harmless } in mutants {
        for (file, from, to) in edits {
            let text = std::fs::read_to_string(root.join(file)).unwrap();
            assert!(text.contains(from), "{what} ({size}, {harmless:?}): {file} no longer has {from}");
            assert_ne!(from, to, "{what}");
        }
    }
}
