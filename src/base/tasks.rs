//! Tasks that go on as long as the daemon. One that ends in a panic must be noticed, or nobody would see that it does
//! nothing any more.

use std::future::pending;

use tokio::task::{JoinError, JoinSet};

/// Resolves when one of them has ended in a panic. They may also end without.
pub async fn panicked(tasks: &mut JoinSet<()>) -> JoinError {
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Err(error) if error.is_panic() => return error,
            Ok(()) | Err(_) => {}
        }
    }
    pending().await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_task_that_ends_in_a_panic_is_noticed_among_others() {
        let mut tasks = JoinSet::new();
        tasks.spawn(async {});
        tasks.spawn(pending());
        assert!(timeout(Duration::from_millis(50), panicked(&mut tasks)).await.is_err(), "nothing is wrong");
        tasks.spawn(async { panic!("a defect") });
        assert!(panicked(&mut tasks).await.to_string().contains("a defect"));
    }
}
