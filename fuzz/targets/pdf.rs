//! Whatever bytes the child is given: an answer within its time, and no panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = mailchute::outside::pdf::judge(bytes);
});
