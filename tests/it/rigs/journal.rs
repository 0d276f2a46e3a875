//! The journal's lines of one test, for tests that run in one process beside each other.

use std::cell::RefCell;
use std::io::Write;
use std::sync::Once;

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Keeps what is written to the journal on this thread from now on. `written` gives it.
///
/// One subscriber serves the whole process. A subscriber of a thread's own would miss lines: an event that
/// another thread meets first, without a subscriber, is switched off for all.
pub fn keep() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(|| Lines).finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
    });
    LINES.take();
}

/// What was written on this thread since `keep`.
pub fn written() -> String {
    LINES.with_borrow(|lines| String::from_utf8(lines.clone()).unwrap())
}

struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
