//! Whatever bytes the child is given to read: it ends within its time. A panic of the engine counts as an answer, as in
//! the child.
#![no_main]

use std::sync::Once;

static QUIET: Once = Once::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // In place of the hook that ends the process.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let _ = std::panic::catch_unwind(|| mailchute::outside::pdf::read(bytes));
});
