//! What is printed becomes a letter once: over the real socket, and by the backend as CUPS starts it.

use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mailchute::outside::printing::PrintAnswer;

use crate::rigs::door::{OTHER_TOKEN, TOKEN, queue};
use crate::rigs::mailroom::Mailroom;
use crate::rigs::printing::{Printed, backend, handed_in, heard, print, printer, run, socket};
use crate::rigs::program::mailchute;
use crate::rigs::running::{Daemon, room as running_room};
use crate::rigs::service::pdf;

const AUTOMATIC: &str = "  release: automatic\n";

async fn room(more: &str) -> Mailroom {
    let room = running_room().await;
    printer(&room, more);
    room
}

/// A daemon that listens at the printer's socket.
async fn started(room: &Mailroom) -> Daemon {
    let daemon = Daemon::start(room);
    until(|| UnixStream::connect(socket(room)).is_ok()).await;
    daemon
}

async fn until(mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Every letter is posted, and the records agree.
async fn end(room: &Mailroom, daemon: Daemon) {
    until(|| room.row_states().iter().all(|state| state == "confirmed")).await;
    drop(daemon);
    room.check().await;
}

fn letters(room: &Mailroom) -> usize {
    room.desk().letters(None, None, 1000).unwrap().len()
}

fn job(uuid: &str, pages: usize) -> Printed {
    Printed::new(uuid, "INV-000123", pdf(pages))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_printed_is_held_until_somebody_has_looked_and_then_posted() {
    let room = room("").await;
    let daemon = started(&room).await;
    let ended = print(&room, &job("a", 2)).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.said.contains("INFO: held: what is printed waits for approval"), "{ended:?}");
    until(|| room.path("Held/INV-000123.txt").exists()).await;
    let note = room.note("Held/INV-000123.txt");
    assert!(note.contains("printed on `post`"), "{note}");
    assert_eq!(letters(&room), 0);
    std::fs::rename(room.path("Held/INV-000123.pdf"), room.path("Approve/INV-000123.pdf")).unwrap();
    until(|| letters(&room) == 1).await;
    until(|| room.row_states() == ["confirmed"]).await;
    // Somebody lets the printing system print the job again. It is neither posted nor forgotten.
    let ended = print(&room, &job("a", 2)).await;
    assert!(ended.code == 0 && ended.said.contains("held: its print job came before"), "{ended:?}");
    until(|| room.path("Held/INV-000123.txt").exists()).await;
    let note = room.note("Held/INV-000123.txt");
    assert!(note.contains("same print job") && note.contains("The earlier one is letter #1."), "{note}");
    // Another document of the job, too.
    let ended = print(&room, &job("a", 3)).await;
    assert!(ended.said.contains("held: its print job came before"), "{ended:?}");
    assert_eq!(letters(&room), 1);
    let (_, metrics) = daemon.get("/metrics").await;
    assert!(metrics.contains("mailchute_queue_taken_total{queue=\"post\"} 3\n"), "{metrics}");
    end(&room, daemon).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_answer_was_lost_is_the_same_when_it_is_handed_in_again() {
    let room = room(AUTOMATIC).await;
    let daemon = started(&room).await;
    let one = job("a", 1);
    let answer = handed_in(&room, &one, "run 1", false).await;
    assert_eq!(answer, PrintAnswer::Letter(1));
    // The printing system runs the backend again.
    assert_eq!(handed_in(&room, &one, "run 2", true).await, PrintAnswer::Letter(1));
    // The same run may have missed that its word arrived.
    assert_eq!(handed_in(&room, &one, "run 2", true).await, PrintAnswer::Letter(1));
    // It is so after the daemon was killed.
    drop(daemon);
    let daemon = started(&room).await;
    assert_eq!(handed_in(&room, &one, "run 2", false).await, PrintAnswer::Letter(1));
    let again = PrintAnswer::Held("its print job came before".to_owned());
    assert_eq!(handed_in(&room, &one, "run 3", false).await, again);
    assert_eq!(handed_in(&room, &one, "run 4", true).await, again, "the held one, not one more");
    assert_eq!(handed_in(&room, &one, "run 5", false).await, again, "one more");
    // Two jobs with the same document are two letters; duplicates are the folder's matter.
    let other = handed_in(&room, &Printed::new("b", "INV-000456", pdf(3)), "run 1", true).await;
    assert_eq!(other, PrintAnswer::Letter(2));
    assert_eq!(letters(&room), 2);
    assert_eq!(room.desk().queues().unwrap()[0].taken, 4);
    end(&room, daemon).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_t_be_posted_is_refused_with_words_and_its_job_ends() {
    let room = room(AUTOMATIC).await;
    let daemon = started(&room).await;
    let whole = pdf(1);
    let two = Printed { copies: 2, ..job("a", 1) };
    for (job, word) in [
        (two, "2 copies are 2 letters"),
        (Printed::new("b", "x", [whole.clone(), whole.clone()].concat()), "several files"),
        (Printed::new("c", "x", whole[..whole.len() / 2].to_vec()), "its end is missing"),
        (Printed::new("d", "x", b"%!PS\n%%EOF\n".to_vec()), "not a PDF"),
        (Printed::new("e", "x", [b"%PDF-1.4\n", vec![b' '; 11 << 20].as_slice(), b"%%EOF"].concat()), ""),
        (Printed::new("f", "x", b"%PDF-1.4\nnothing\n%%EOF\n".to_vec()), ""),
    ] {
        let ended = print(&room, &job).await;
        assert_eq!(ended.code, 5, "{}: {ended:?}", job.uuid);
        let told = ended.said.lines().find_map(|line| line.strip_prefix("ERROR: not posted: "));
        assert!(told.is_some_and(|told| told.len() > 10 && told.contains(word)), "{}: {ended:?}", job.uuid);
        assert!(ended.said.contains("STATE: +com.mailchute.refused-warning"), "{ended:?}");
    }
    let mut banner = backend(&room, &job("g", 1));
    banner.env("CUPS_FILETYPE", "job-sheet");
    let ended = run(banner, pdf(1)).await;
    assert!(ended.code == 5 && ended.said.contains("job-sheets=none"), "{ended:?}");
    assert_eq!(letters(&room), 0);
    // What was refused uses up nothing: the same job may come again as it should be.
    let ended = print(&room, &job("f", 1)).await;
    assert!(ended.code == 0 && ended.said.contains("INFO: letter #1"), "{ended:?}");
    end(&room, daemon).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_waits_until_the_daemon_is_there_and_its_folder_is_open() {
    let room = room(AUTOMATIC).await;
    let one = job("a", 1);
    let waiting = tokio::spawn(run(backend(&room, &one), one.bytes.clone()));
    let config = room.dir.path().join("folders/letters.yaml");
    let rules = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("accept: no\n{rules}")).unwrap();
    let daemon = started(&room).await;
    let later = handed_in(&room, &one, "x", false).await;
    assert!(matches!(&later, PrintAnswer::Later(why) if why.contains("accept: no")), "{later:?}");
    std::fs::write(&config, rules).unwrap();
    assert!(Command::new("kill").args(["-HUP", &daemon.child.id().to_string()]).status().unwrap().success());
    let ended = waiting.await.unwrap();
    assert!(ended.code == 0 && ended.said.contains("INFO: letter #1"), "{ended:?}");
    assert!(ended.said.contains("STATE: +connecting-to-device"), "{ended:?}");
    assert_eq!(letters(&room), 1);
    drop(daemon);
    // Who cancels the job while it waits is obeyed.
    let mut child = backend(&room, &job("b", 1)).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &pdf(1)).unwrap();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("can't be reached") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut said, &mut line).unwrap() > 0);
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    // It is obeyed also if the daemon is there before the job is tried again.
    let daemon = started(&room).await;
    // Whoever ended it: a job that nobody cancelled in CUPS is run again.
    assert_eq!(child.wait().unwrap().code(), Some(6));
    assert_eq!((letters(&room), room.desk().queues().unwrap()[0].taken), (1, 1));
    drop(daemon);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_that_is_killed_lets_cups_run_the_job_again() {
    let room = room(AUTOMATIC).await;
    let one = job("a", 1);
    let mut child = backend(&room, &one).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, &one.bytes).unwrap();
    // CUPS takes a backend that is killed for one that is done, so the one that it knows does no work.
    let workers = format!("/proc/{0}/task/{0}/children", child.id());
    let worker = || std::fs::read_to_string(&workers).unwrap().trim().to_owned();
    until(|| !worker().is_empty()).await;
    assert!(Command::new("kill").args(["-KILL", &worker()]).status().unwrap().success());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(6));
    assert!(String::from_utf8(output.stderr).unwrap().contains("ERROR: the backend was killed"));
    let daemon = started(&room).await;
    assert_eq!(print(&room, &one).await.code, 0);
    assert_eq!(letters(&room), 1);
    end(&room, daemon).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_records_were_lost_a_job_that_comes_again_is_held() {
    let room = room(AUTOMATIC).await;
    let daemon = started(&room).await;
    let one = job("a", 1);
    assert_eq!(handed_in(&room, &one, "run 1", false).await, PrintAnswer::Letter(1));
    until(|| room.row_states() == ["confirmed"]).await;
    drop(daemon);
    for name in ["mailchute.db", "mailchute.db-wal", "mailchute.db-shm"] {
        let _ = std::fs::remove_file(room.dir.path().join("state").join(name));
    }
    let daemon = started(&room).await;
    // The queue is closed, since keys of what was held are not in the ledger.
    let lost = PrintAnswer::Held("it may have been posted before the records were lost".to_owned());
    assert_eq!(handed_in(&room, &one, "run 2", true).await, lost);
    assert!(room.desk().open_queue("post").unwrap());
    let again = PrintAnswer::Held("its print job came before".to_owned());
    assert_eq!(handed_in(&room, &one, "run 3", true).await, again);
    let other = Printed::new("b", "INV-000456", pdf(2));
    assert_eq!(handed_in(&room, &other, "run 1", true).await, PrintAnswer::Letter(2));
    assert_eq!(letters(&room), 2);
    end(&room, daemon).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_print_and_what_is_no_job_is_turned_away() {
    let room = room("").await;
    let daemon = started(&room).await;
    let no_printer = r#"{"job":{"printer":"fax","uuid":"a","run":"r","title":"t","copies":1,"size":9}}"#;
    let answer = heard(&room, format!("{no_printer}\n").as_bytes()).await;
    assert!(answer.contains("there is no printer `fax`; there is: post"), "{answer}");
    for nothing in ["", "\n", "{}\n", "GET / HTTP/1.1\r\n\r\n", "\"printers\"x\n"] {
        assert_eq!(heard(&room, nothing.as_bytes()).await, "", "{nothing}");
    }
    assert_eq!(heard(&room, &vec![b'x'; 1 << 20]).await, "");
    // A document that breaks off is not taken.
    let size = pdf(1).len() + 1;
    let short = format!(
        r#"{{"job":{{"printer":"post","uuid":"a","run":"r","title":"t","copies":1,"size":{size}}}}}"#
    );
    let bytes = [short.as_bytes(), b"\n", &pdf(1)].concat();
    assert_eq!(heard(&room, &bytes).await, "\"send\"\n");
    let incoming = room.dir.path().join("state/spool/incoming");
    until(|| std::fs::read_dir(&incoming).unwrap().next().is_none()).await;
    assert_eq!(room.desk().queues().unwrap()[0].taken, 0);
    // CUPS asks which printers there are.
    let list = |socket: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mailchute"));
        command.arg0("mailchute").env("CUPS_SERVERBIN", "/usr/lib/cups").stdin(Stdio::null());
        let output = command.env("MAILCHUTE_PRINTERS", socket).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let here = socket(&room);
    assert_eq!(list("/nowhere"), "network mailchute \"Unknown\" \"mailchute paper mail\"\n");
    let wanted = "network mailchute://post \"mailchute paper mail\" \"mailchute post\"\n";
    assert_eq!(list(here.to_str().unwrap()), wanted);
    let config = room.dir.path().join("mailchute.yaml");
    let checked = mailchute(&["check", "--config", config.to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8(checked.stdout).unwrap();
    assert!(
        text.contains("queue post: into folder letters; a printer, and what is printed is held"),
        "{text}"
    );
    drop(daemon);
}

/// What would end the service at its start, or leave a queue without a socket, is said before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_names_what_keeps_a_queue_from_being_served() {
    let room = running_room().await;
    let config = room.dir.path().join("mailchute.yaml");
    let check = || {
        let output = mailchute(&["check", "--config", config.to_str().unwrap()]).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    queue(&room, "erp", TOKEN, "");
    printer(&room, AUTOMATIC);
    assert_eq!(check(), (true, String::new()));
    queue(&room, "crm", TOKEN, "");
    let (is_sound, said) = check();
    assert!(!is_sound && said.contains("the queues crm and erp have the same token"), "{said}");
    queue(&room, "crm", OTHER_TOKEN, "");
    let long = format!("  socket: {}\n", "s".repeat(120));
    for (more, why) in [
        ("  socket: ../mailchute.yaml\n", "something else is there"),
        ("  socket: nowhere/print.sock\n", "its directory does not exist"),
        (long.as_str(), "too long"),
    ] {
        let text = format!("into: letters\nprint:\n  users: ['0']\n{more}");
        std::fs::write(room.dir.path().join("queues/post.yaml"), text).unwrap();
        let (is_sound, said) = check();
        assert!(
            !is_sound && said.contains("queue post: it can't listen on ") && said.contains(why),
            "{said}"
        );
    }
}
