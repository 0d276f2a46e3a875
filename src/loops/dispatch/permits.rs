//! Limits how many calls the service gets simultaneously. A letter that is being recorded makes no call, so more
//! letters are in progress than calls. While uploads are slow, only some of these may be created and not uploaded yet: the
//! targets of uploads expire within minutes, and letters wait for permits meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::futures::Notified;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// Ten documents of each letter in progress are uploaded long before their targets expire if none takes this long.
const SLOW: Duration = Duration::from_secs(1);

/// The permits to call. Letters with a person's command have permits of their own, so they do not wait for slow calls
/// of others.
#[derive(Debug)]
pub(super) struct CallPermits {
    ordinary: Semaphore,
    commanded: Semaphore,
    uploads: Semaphore,
    uploads_are_slow: AtomicBool,
    commands: Notify,
}

/// The permission to make one call. It ends when this is dropped.
pub(super) type CallPermit<'a> = SemaphorePermit<'a>;

impl CallPermits {
    pub(super) fn new(max_calls: usize) -> Self {
        Self {
            ordinary: Semaphore::new(max_calls),
            commanded: Semaphore::new(max_calls),
            uploads: Semaphore::new(max_calls + max_calls / 2),
            // Until one was fast.
            uploads_are_slow: AtomicBool::new(true),
            commands: Notify::new(),
        }
    }

    /// Wakes everyone who waits for a permit, because there are commands for letters.
    pub(super) fn notify_of_commands(&self) {
        self.commands.notify_waiters();
    }

    /// Resolves when commands come after this call.
    pub(super) fn next_commands(&self) -> Notified<'_> {
        self.commands.notified()
    }

    pub(super) fn uploaded(&self, took: Duration) {
        self.uploads_are_slow.store(took >= SLOW, Ordering::Relaxed);
    }

    /// Whether a letter needs a place before it is created.
    pub(super) fn uploads_are_slow(&self) -> bool {
        self.uploads_are_slow.load(Ordering::Relaxed)
    }

    /// Waits for a place among the letters that are created and not uploaded yet. `None` if commands come first.
    pub(super) async fn acquire_upload(&self, commands: Notified<'_>) -> Option<SemaphorePermit<'_>> {
        tokio::select! {
            biased;
            // The semaphore is never closed.
            place = self.uploads.acquire() => place.ok(),
            () = commands => None,
        }
    }

    /// Waits for a permit. `None` if commands come first.
    pub(super) async fn acquire(&self, is_commanded: bool, commands: Notified<'_>) -> Option<CallPermit<'_>> {
        let permits = if is_commanded { &self.commanded } else { &self.ordinary };
        tokio::select! {
            biased;
            // The semaphores are never closed.
            permit = permits.acquire() => permit.ok(),
            () = commands => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll_once<F: Future>(at: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        at.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_permit_is_free_when_another_has_ended() {
        let permits = CallPermits::new(2);
        let take = || poll_once(pin!(permits.acquire(false, permits.next_commands())));
        let (Poll::Ready(Some(_first)), Poll::Ready(Some(second))) = (take(), take()) else {
            panic!("fewer than two")
        };
        let mut third = pin!(permits.acquire(false, permits.next_commands()));
        assert!(poll_once(third.as_mut()).is_pending());
        drop(second);
        assert!(matches!(poll_once(third.as_mut()), Poll::Ready(Some(_))));
    }

    #[test]
    fn only_some_letters_wait_for_their_uploads_and_a_command_ends_the_wait_of_others() {
        let permits = CallPermits::new(2);
        assert!(permits.uploads_are_slow(), "nothing is known yet");
        permits.uploaded(Duration::from_millis(999));
        assert!(!permits.uploads_are_slow());
        permits.uploaded(SLOW);
        assert!(permits.uploads_are_slow());
        let take = || poll_once(pin!(permits.acquire_upload(permits.next_commands())));
        let places = [take(), take(), take()];
        assert!(places.iter().all(|place| matches!(place, Poll::Ready(Some(_)))));
        let mut fourth = pin!(permits.acquire_upload(permits.next_commands()));
        assert!(poll_once(fourth.as_mut()).is_pending());
        permits.notify_of_commands();
        assert!(matches!(poll_once(fourth.as_mut()), Poll::Ready(None)));
        drop(places);
        assert!(matches!(take(), Poll::Ready(Some(_))));
    }

    #[test]
    fn a_command_since_the_last_check_ends_the_wait_and_its_letter_has_its_own_permit() {
        let permits = CallPermits::new(1);
        let Poll::Ready(Some(_first)) = poll_once(pin!(permits.acquire(false, permits.next_commands())))
        else {
            panic!("no permit")
        };
        let commands = permits.next_commands();
        permits.notify_of_commands();
        assert!(matches!(poll_once(pin!(permits.acquire(false, commands))), Poll::Ready(None)));
        assert!(poll_once(pin!(permits.acquire(false, permits.next_commands()))).is_pending());
        assert!(matches!(
            poll_once(pin!(permits.acquire(true, permits.next_commands()))),
            Poll::Ready(Some(_))
        ));
    }
}
