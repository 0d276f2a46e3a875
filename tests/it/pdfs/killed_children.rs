//! Children that are killed or too slow: another child is asked, or an error is returned.

use std::time::Duration;

use mailchute::outside::pdf::Inspector;

use super::inspection::{program, started};
use crate::rigs::service::pdf;

#[tokio::test]
async fn a_child_that_is_killed_or_too_slow_says_nothing_about_its_input() {
    let dir = tempfile::tempdir().unwrap();
    let begun = format!("echo >> {}/started;", dir.path().display());
    let ask = async |inspector: &Inspector| loop {
        match inspector.ask_apart("x", b"mail", 100).await {
            Ok(answer) => return answer,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ExecutableFileBusy),
        }
    };
    let printed = async |inspector: &Inspector| inspector.printed(&pdf(1)).await.is_ok();
    for (end, children, is_of_the_pdf) in [
        ("kill -9 $$", 3, false),
        ("kill -TERM $$", 3, false),
        ("exec sleep 100", 3, false),
        ("kill -SEGV $$", 1, true),
        ("kill -XCPU $$", 1, true),
        ("exit 1", 1, true),
    ] {
        let _ = std::fs::remove_file(dir.path().join("started"));
        let inspector = program(dir.path(), &format!("{begun} {end}"));
        assert_eq!((ask(&inspector).await, started(dir.path())), (None, children), "{end}");
        assert_eq!(printed(&inspector).await, is_of_the_pdf, "{end}");
    }
    // The second one answers.
    let _ = std::fs::remove_file(dir.path().join("started"));
    let once = format!("[ -e {0}/started ] && echo well; {begun} kill -9 $$", dir.path().display());
    let inspector = program(dir.path(), &once).with_patience(Duration::from_mins(1));
    assert_eq!(ask(&inspector).await.as_deref(), Some("well\n"));
}
