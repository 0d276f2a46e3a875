//! How many calls the service gets at the same time. A letter that is being recorded makes none, so more letters
//! are on their way than calls.

use tokio::sync::futures::Notified;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// The turns to call. Letters that a person's command concerns have turns of their own, so they do not wait for slow
/// calls.
#[derive(Debug)]
pub(super) struct Turns {
    calls: Semaphore,
    of_commanded: Semaphore,
    commands: Notify,
}

/// The right to make one call. It ends when this is dropped.
pub(super) type Turn<'a> = SemaphorePermit<'a>;

impl Turns {
    pub(super) fn new(calls_at_once: usize) -> Self {
        Self {
            calls: Semaphore::new(calls_at_once),
            of_commanded: Semaphore::new(calls_at_once),
            commands: Notify::new(),
        }
    }

    /// There are commands for letters.
    pub(super) fn commands_came(&self) {
        self.commands.notify_waiters();
    }

    /// Resolves when commands come after this call.
    pub(super) fn next_commands(&self) -> Notified<'_> {
        self.commands.notified()
    }

    /// Waits for a turn. `None` if commands come first.
    pub(super) async fn wait(&self, is_commanded: bool, commands: Notified<'_>) -> Option<Turn<'_>> {
        let turns = if is_commanded { &self.of_commanded } else { &self.calls };
        tokio::select! {
            biased;
            // Nobody closes them.
            turn = turns.acquire() => turn.ok(),
            () = commands => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn look<F: Future>(at: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        at.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_turn_is_free_when_another_has_ended() {
        let turns = Turns::new(2);
        let take = || look(pin!(turns.wait(false, turns.next_commands())));
        let (Poll::Ready(Some(_first)), Poll::Ready(Some(second))) = (take(), take()) else {
            panic!("not two")
        };
        let mut third = pin!(turns.wait(false, turns.next_commands()));
        assert!(look(third.as_mut()).is_pending());
        drop(second);
        assert!(matches!(look(third.as_mut()), Poll::Ready(Some(_))));
    }

    #[test]
    fn a_command_that_came_since_the_last_look_at_them_ends_the_wait_and_its_letter_has_its_own_turn() {
        let turns = Turns::new(1);
        let Poll::Ready(Some(_first)) = look(pin!(turns.wait(false, turns.next_commands()))) else {
            panic!("no turn")
        };
        let commands = turns.next_commands();
        turns.commands_came();
        assert!(matches!(look(pin!(turns.wait(false, commands))), Poll::Ready(None)));
        assert!(look(pin!(turns.wait(false, turns.next_commands()))).is_pending());
        assert!(matches!(look(pin!(turns.wait(true, turns.next_commands()))), Poll::Ready(Some(_))));
    }
}
