//! One sync that serves everybody who asks for it at the same time. Many threads write into one directory;
//! one sync makes the work of all of them durable.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The syncs of one directory.
#[derive(Debug, Default)]
pub struct Syncs {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The number of syncs begun, and the number of the latest one that succeeded.
    begun: u64,
    done: u64,
    /// The latest sync that failed. Everybody who waited for it gets the same error, because after a failure
    /// the kernel may treat lost pages as written.
    failed: Option<(u64, io::ErrorKind)>,
    is_running: bool,
}

impl Syncs {
    /// Returns when a sync has ended that began after this call, whoever started it.
    pub fn sync(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut state = self.state();
        // A sync that is already running may have begun before our write.
        let wanted = state.begun + 1;
        while state.is_running {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
            if let Some((failed, kind)) = state.failed
                && failed >= wanted
            {
                return Err(kind.into());
            }
            if state.done >= wanted {
                return Ok(());
            }
        }
        state.begun += 1;
        state.is_running = true;
        let own = state.begun;
        drop(state);
        let synced = sync();
        let mut state = self.state();
        state.is_running = false;
        match &synced {
            Ok(()) => state.done = own,
            Err(error) => state.failed = Some((own, error.kind())),
        }
        drop(state);
        self.ended.notify_all();
        synced
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc;

    use super::*;

    /// Starts one sync that runs until it may end, while `others` more ask for one.
    fn asked_during_one(others: usize, first: io::Result<()>, then: io::ErrorKind) -> (u32, Vec<bool>) {
        let (syncs, count) = (Syncs::default(), AtomicU32::new(0));
        let (begun, has_begun) = mpsc::channel();
        let (end, ends) = mpsc::channel();
        let fails = then != io::ErrorKind::Other;
        let answers = std::thread::scope(|scope| {
            let one = scope.spawn({
                let syncs = &syncs;
                move || {
                    syncs.sync(|| {
                        begun.send(()).unwrap();
                        ends.recv().unwrap();
                        first
                    })
                }
            });
            has_begun.recv().unwrap();
            let ask = || {
                let sync = || {
                    count.fetch_add(1, Ordering::SeqCst);
                    if fails { Err(then.into()) } else { Ok(()) }
                };
                syncs.sync(sync).is_ok()
            };
            let asking: Vec<_> = (0..others).map(|_| scope.spawn(ask)).collect();
            end.send(()).unwrap();
            drop(one.join().unwrap());
            asking.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        (count.load(Ordering::SeqCst), answers)
    }

    #[test]
    fn whoever_asks_while_one_runs_waits_for_a_later_one() {
        // In any order of arrival: a sync that has already begun is never enough, and nobody syncs for itself
        // alone.
        let (syncs, answers) = asked_during_one(8, Ok(()), io::ErrorKind::Other);
        assert!((1..=8).contains(&syncs), "{syncs}");
        assert_eq!(answers, [true; 8]);
        let (syncs, answers) = asked_during_one(1, Ok(()), io::ErrorKind::Other);
        assert_eq!((syncs, answers), (1, vec![true]), "the one that ran was too early");
    }

    #[test]
    fn a_failed_sync_is_no_sync() {
        let (_, answers) = asked_during_one(8, Ok(()), io::ErrorKind::StorageFull);
        assert_eq!(answers, [false; 8]);
        // A failure from before they asked is not theirs.
        let (_, answers) = asked_during_one(8, Err(io::ErrorKind::StorageFull.into()), io::ErrorKind::Other);
        assert_eq!(answers, [true; 8]);
    }
}
