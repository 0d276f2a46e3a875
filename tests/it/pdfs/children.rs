//! Children that read PDFs: how many there are, which of them is asked again, and what one costs that fails, hangs or
//! is killed.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use mailchute::domain::drop::Doubt;
use mailchute::outside::pdf::Inspector;

use crate::rigs::service::pdf;

const MAILCHUTE: &str = env!("CARGO_BIN_EXE_mailchute");

/// A program that is no mailchute.
fn program(dir: &Path, script: &str) -> Inspector {
    let path = dir.join("child");
    let mut file = std::fs::OpenOptions::new();
    let mut file = file.write(true).create(true).truncate(true).mode(0o755).open(&path).unwrap();
    writeln!(file, "#!/bin/sh\n{script}").unwrap();
    Inspector::of(&path).with_patience(Duration::from_millis(500))
}

/// Asks a program that was written just now: whoever is being started may have it open still.
async fn asked(inspector: &Inspector) -> Result<u32, Doubt> {
    loop {
        match inspector.pages(&pdf(1)).await {
            Ok(answer) => return answer,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ExecutableFileBusy),
        }
    }
}

#[tokio::test]
async fn whatever_becomes_of_the_child_costs_one_answer() {
    let dir = tempfile::tempdir().unwrap();
    for (what, script) in [
        ("it is killed", "kill -9 $$"),
        ("it hangs", "exec sleep 100"),
        ("it hangs within an answer", "printf '{\"pages\":1}'; exec sleep 100"),
        ("it fails within an answer", "printf '{\"pages\":1'; exit 1"),
        ("it is silent", "cat > /dev/null; exec sleep 100"),
        ("it talks nonsense", "echo one page"),
        ("it never ends talking", "exec cat /dev/zero"),
        ("it talks after its answer", "printf '{\"pages\":1}\n{\"pages\":2}\n'"),
    ] {
        assert_eq!(asked(&program(dir.path(), script)).await, Err(Doubt::TooMuch), "{what}");
    }
    let well = program(dir.path(), "echo '{\"pages\":1}'").with_patience(Duration::from_mins(1));
    assert_eq!(asked(&well).await, Ok(1));
    // The one thing that is nobody's fault who dropped a PDF.
    assert!(Inspector::of(&dir.path().join("gone")).pages(&pdf(1)).await.is_err());
}

/// How many children a program has started, each of which leaves a line.
fn started(dir: &Path) -> usize {
    std::fs::read_to_string(dir.join("started")).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn a_child_that_only_counts_is_asked_again_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let begun = format!("echo >> {}/started;", dir.path().display());
    let real = format!("{begun} exec {MAILCHUTE} \"$@\"");
    let inspector = program(dir.path(), &real).with_patience(Duration::from_mins(1));
    assert_eq!(asked(&inspector).await, Ok(1));
    for pages in 1..20 {
        assert_eq!(inspector.pages(&pdf(pages)).await.unwrap(), Ok(u32::try_from(pages).unwrap()));
    }
    assert_eq!(started(dir.path()), 1, "one for all");
    // Whatever else a PDF makes it say was its last word.
    assert!(inspector.pages(b"%PDF-1.4 and no more").await.unwrap().is_err());
    assert_eq!(inspector.pages(&pdf(2)).await.unwrap(), Ok(2));
    assert_eq!(started(dir.path()), 2);
    // Two at once are asked of two.
    let (one, other) = (pdf(7), pdf(8));
    let (one, other) = tokio::join!(inspector.pages(&one), inspector.pages(&other));
    assert_eq!((one.unwrap(), other.unwrap()), (Ok(7), Ok(8)));
    assert_eq!(started(dir.path()), 3);
}

#[tokio::test]
async fn no_more_children_count_than_there_are_cores_unless_these_are_slow() {
    let dir = tempfile::tempdir().unwrap();
    let cores = std::thread::available_parallelism().unwrap().get().max(2);
    let script = format!(
        "cd {}; echo >> started; [ -e slow ] && [ $(wc -l < started) -le {cores} ] && exec tail -f /dev/null
         exec {MAILCHUTE} \"$@\"",
        dir.path().display()
    );
    let pdfs: Vec<_> = (1..=cores * 8).map(|pages| (pages, pdf(pages))).collect();
    let count_all = async |inspector: &Inspector| {
        let counts = pdfs.iter().map(|(pages, pdf)| async move {
            assert_eq!(inspector.pages(pdf).await.unwrap(), Ok(u32::try_from(*pages).unwrap()));
        });
        futures_util::future::join_all(counts).await;
    };
    let inspector = program(dir.path(), &script).with_patience(Duration::from_hours(1));
    assert_eq!(asked(&inspector).await, Ok(1));
    count_all(&inspector).await;
    assert!(started(dir.path()) <= cores, "{} children on {cores} cores", started(dir.path()));

    // Now the first ones never answer.
    std::fs::write(dir.path().join("slow"), "").unwrap();
    std::fs::write(dir.path().join("started"), "").unwrap();
    let inspector = Inspector::of(&dir.path().join("child")).with_patience(Duration::from_mins(1));
    let ask_a_slow_one = |_| {
        let inspector = inspector.clone();
        tokio::spawn(async move { inspector.pages(&pdf(1)).await })
    };
    let slow: Vec<_> = (0..cores).map(ask_a_slow_one).collect();
    while started(dir.path()) < cores {
        tokio::task::yield_now().await;
    }
    let began = Instant::now();
    count_all(&inspector).await;
    assert!(began.elapsed() < Duration::from_secs(30), "they waited for those that are slow");
    assert!(slow.iter().all(|one| !one.is_finished()));
}

#[tokio::test]
async fn what_an_old_child_fails_at_a_new_one_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    // Its first answer is right, and then it is no use any more.
    for (what, ends) in [("it ends", "exit"), ("it is killed", "kill -9 $$")] {
        std::fs::write(dir.path().join("started"), "").unwrap();
        let script = format!(
            "echo >> {}/started; head -c 16 <&2 > /dev/null; echo '{{\"pages\":1}}'; {ends}",
            dir.path().display()
        );
        let inspector = program(dir.path(), &script).with_patience(Duration::from_secs(10));
        for n in 1..4 {
            assert_eq!(asked(&inspector).await, Ok(1), "{what}");
            assert_eq!(started(dir.path()), n, "{what}");
        }
    }
}

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
