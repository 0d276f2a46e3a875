//! A thousand folders and fifty thousand letters being followed, and nothing to do.

use std::time::{Duration, Instant};

use mailchute::outside::store::Desk;
use rusqlite::Connection;

use super::flood::{PDF, Running, mailchute, office, until};
use crate::rigs::past::copies;

/// What a process has used, in hundredths of a second.
fn ticks(process: &Running) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.0.id())).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    fields.split_whitespace().skip(11).take(4).map(|field| field.parse::<u64>().unwrap()).sum()
}

#[test]
fn a_crowd_at_rest_costs_nothing() {
    let folders: usize = std::env::var("MAILCHUTE_FOLDERS").map_or(1000, |folders| folders.parse().unwrap());
    let letters: u64 = std::env::var("MAILCHUTE_LETTERS").map_or(50_000, |letters| letters.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let (_sandbox, daemon) = office(dir.path(), &[("  # settle: 5s", "  settle: 1s")]);
    std::fs::write(dir.path().join("hot/invoices/INV-000123.pdf"), PDF).unwrap();
    let confirmed = || Desk::open(&state).unwrap().letters(Some("confirmed"), None, 1).unwrap().len() == 1;
    until(confirmed);
    drop(daemon);
    copies(&state, letters - 1);
    // Each is looked at again when it ships: tomorrow, spread over the day.
    let db = Connection::open(state.join("mailchute.db")).unwrap();
    let sql = "UPDATE letter SET due_at = (strftime('%s') + 86400 + number % 86400) * 1000 WHERE number > 1";
    db.execute(sql, []).unwrap();
    drop(db);
    let rules = std::fs::read_to_string(dir.path().join("folders/invoices.yaml")).unwrap();
    for n in 1..folders {
        let hot = dir.path().join(format!("hot/folder-{n}"));
        std::fs::create_dir(&hot).unwrap();
        let text = rules.replace("hot/invoices", &format!("hot/folder-{n}"));
        assert_ne!(text, rules);
        std::fs::write(dir.path().join(format!("folders/folder-{n}.yaml")), text).unwrap();
    }
    let config = dir.path().join("mailchute.yaml");
    let began = Instant::now();
    let daemon = Running(mailchute(&["run", "--config", config.to_str().unwrap()]).spawn().unwrap());
    let last = dir.path().join(format!("hot/folder-{}/Approve", folders - 1));
    until(|| last.is_dir());
    println!("{folders} folders, {letters} letters: all are watched after {:.1?}", began.elapsed());
    let calm = Instant::now();
    until(|| calm.elapsed() > Duration::from_secs(20));
    let (before, began) = (ticks(&daemon), Instant::now());
    until(|| began.elapsed() > Duration::from_mins(2));
    let used = ticks(&daemon) - before;
    let share = f64::from(u32::try_from(used).unwrap()) / began.elapsed().as_secs_f64();
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.0.id())).unwrap();
    let memory = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    println!("at rest: {share:.2} % of a core over two minutes; {memory}");
    assert!(share < 1.0, "less than 1 % of a core");
}
