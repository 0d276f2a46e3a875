//! Whatever bytes the child is given to draw: it ends within its time. A panic of the engine counts as no picture, as
//! in the child.
#![no_main]

use std::sync::Once;

use mailchute::outside::pdf::DrawWish;

static QUIET: Once = Once::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // In place of the hook that ends the process.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let wish = DrawWish { width: 60, grayscale: true, staple: true, ..DrawWish::default() };
    let _ = std::panic::catch_unwind(|| mailchute::outside::pdf::draw(bytes, &[], &wish));
});
