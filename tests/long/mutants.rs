//! The checks are checked: each rule of the letter and of taking in is broken once in a copy of the package, and the
//! model check must find it. What it need not find is harmless, and says why.
//!
//! `MUTANT=3 cargo test --test long mutants -- --nocapture` tries the third alone, `MUTANT=23-36` some.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable that names the size a mutant is tried with.
pub const SIZE: &str = "MODEL_SIZE";

struct Mutant {
    what: &'static str,
    size: &'static str,
    /// File, what stands there, what is put in its place; everywhere it stands.
    edits: &'static [(&'static str, &'static str, &'static str)],
    /// Why nothing can break.
    harmless: Option<&'static str>,
}

const AFTER: &str = "src/letter/after/mod.rs";
const OPEN: &str = "src/letter/after/open.rs";
const NEXT: &str = "src/letter/next_step.rs";
const FOLD: &str = "src/letter/fold.rs";
const ORDER: &str = "src/hot/order.rs";
const CLAIMS: &str = "src/intake/claims.rs";
const SETTLE: &str = "src/intake/settle.rs";

const fn caught(
    what: &'static str,
    size: &'static str,
    edits: &'static [(&'static str, &'static str, &'static str)],
) -> Mutant {
    Mutant { what, size, edits, harmless: None }
}

const MUTANTS: &[Mutant] = &[
    caught(
        "a confirm without an answer counts as dead: a new mail is made",
        "messages",
        &[(
            AFTER,
            "            State::Confirming { open, .. } | State::Withdrawing { open, .. } => self.ask_again(open, moment),\n            State::Admitted",
            "            State::Confirming { open, .. } | State::Withdrawing { open, .. } => Change::facts([Fact::Dead { mail: open.mail.k }]),\n            State::Admitted",
        )],
    ),
    caught(
        "`payment_in_progress` counts as dead",
        "messages",
        &[(
            OPEN,
            "if busy { change.due(Due::At(moment.now + wait)).attempts(self.attempts) } else { change }",
            "if busy { Change::facts([Fact::Dead { mail: open.mail.k }]) } else { change.due(Due::At(moment.now + wait)) }",
        )],
    ),
    caught(
        "a late 402 or 404 alone is proof",
        "messages",
        &[(
            OPEN,
            "        let news = (open.key",
            "        if late {\n            return Change::facts([Fact::Dead { mail: open.mail.k }]);\n        }\n        let news = (open.key",
        )],
    ),
    caught(
        "402 and 404 need not be late",
        "messages",
        &[(
            "src/letter/mail.rs",
            "(server >= self.confirm_by + LATE_BY_SERVER,",
            "(server >= self.confirm_by - TimeDelta::hours(1),",
        )],
    ),
    caught(
        "without a `Date`, knowing a mail for a moment is enough",
        "no Date",
        &[(
            "src/letter/mail.rs",
            "evidence.watched >= window + LATE_BY_WATCH,",
            "evidence.watched >= TimeDelta::zero().min(window),",
        )],
    ),
    caught(
        "our wall clock is proof of lateness",
        "card and clock",
        &[
            (
                OPEN,
                "            Lateness::NotYet => false,",
                "            Lateness::NotYet => moment.now >= open.mail.late_from(),",
            ),
            (
                OPEN,
                "Lateness::Proof if open.key.is_some_and(|key| key.late) => {}",
                "Lateness::Proof | Lateness::NotYet if open.key.is_some_and(|key| key.late) => {}",
            ),
            (
                OPEN,
                "ReadAnswer::Found(reading) => self.after_reading_open(open, reading.status, moment),",
                "ReadAnswer::Found(reading) if reading.status != Status::Pending => self.after_reading_open(open, reading.status, moment),\n            ReadAnswer::Found(_) => Change::facts([Fact::Dead { mail }]),",
            ),
        ],
    ),
    caught(
        "giving up after half an hour is proof",
        "messages",
        &[
            (
                "src/letter/retry.rs",
                "pub const HOLD_AFTER: TimeDelta = TimeDelta::hours(24);",
                "pub const HOLD_AFTER: TimeDelta = TimeDelta::minutes(30);",
            ),
            (
                AFTER,
                "            change.facts.push(Fact::Held(Reason::NoAnswer));",
                "            change.facts.push(Fact::Dead { mail: open.mail.k });",
            ),
        ],
    ),
    caught(
        "confirm is sent without an intent",
        "messages",
        &[(
            NEXT,
            "        Start::Go => Step::Read,\n        Start::WaitUntil(time) => Step::Wait(time),\n    }\n}\n\nimpl Open",
            "        Start::Go => Step::Confirm,\n        Start::WaitUntil(time) => Step::Wait(time),\n    }\n}\n\nimpl Open",
        )],
    ),
    caught(
        "a mail with an intent is abandoned when its deadline is near",
        "messages",
        &[(
            NEXT,
            "            State::Confirming { open, resend } => open.probe(",
            "            State::Confirming { open, .. } if moment.now >= open.mail.confirm_until => {\n                Step::Abandon(Abandonment::DeadlineNear)\n            }\n            State::Confirming { open, resend } => open.probe(",
        )],
    ),
    caught(
        "an intent may be abandoned, and is once its deadline has passed",
        "messages",
        &[
            (
                NEXT,
                "            State::Confirming { open, resend } => open.probe(",
                "            State::Confirming { open, .. } if moment.now >= open.mail.confirm_until => {\n                Step::Hold(Reason::ByPerson)\n            }\n            State::Confirming { open, resend } => open.probe(",
            ),
            (
                AFTER,
                "            State::Admitted | State::Confirming { .. } | State::Withdrawing { .. } => None,",
                "            State::Confirming { open, .. } => Some(Fact::Abandoned { mail: open.mail.k, why: Abandonment::Held }),\n            State::Admitted | State::Withdrawing { .. } => None,",
            ),
            (
                FOLD,
                "        let (State::Created { mail, .. } | State::Uploaded { mail }) = &self.state else { return None };",
                "        if let State::Confirming { open, .. } = &self.state {\n            return Some(&open.mail);\n        }\n        let (State::Created { mail, .. } | State::Uploaded { mail }) = &self.state else { return None };",
            ),
        ],
    ),
    caught(
        "an open intent is asked about as another account",
        "another account",
        &[(
            NEXT,
            "        if self.mail.realm != moment.realm {",
            "        if self.mail.realm.0.is_empty() {",
        )],
    ),
    Mutant {
        what: "a mail of another account is uploaded and checked on",
        size: "another account",
        edits: &[(NEXT, "    if mail.realm != moment.realm {", "    if mail.realm.0.is_empty() {")],
        harmless: Some("its check before the intent is answered 404, so no intent is ever made"),
    },
    caught(
        "the ledger is not looked at when the database is lost",
        "losses",
        &[(
            "src/store/union.rs",
            "(if theirs > ours { ledger } else { database }, agreement)",
            "(if theirs > ours && ours == 0 { ledger.into_iter().take(1).collect() } else { database }, agreement)",
        )],
    ),
    Mutant {
        what: "two pasts are believed instead of held",
        size: "losses",
        edits: &[(
            "src/store/union.rs",
            "Agreement::Contradiction\n    } else if",
            "Agreement::Same\n    } else if",
        )],
        harmless: Some(
            "after one loss one record is still a beginning of the other; `union` has its own test",
        ),
    },
    caught(
        "a second daemon's writes are not checked against what it has seen",
        "two daemons",
        &[("tests/it/model/sizes.rs", "checks_version: true,", "checks_version: false,")],
    ),
    caught(
        "a withdrawal asks by confirm in its turns",
        "a person",
        &[(NEXT, "            _odd => Step::Read,", "            _odd => Step::Confirm,")],
    ),
    caught(
        "an open intent that a person cancels goes on being confirmed",
        "a person",
        &[(
            FOLD,
            "            return Some(State::Withdrawing { open: open.clone(), then: Then::End });",
            "            return Some(State::Confirming { open: open.clone(), resend: Resend::NotNeeded });",
        )],
    ),
    caught(
        "`mail_not_cancellable` means that nothing is posted",
        "a person",
        &[(
            OPEN,
            "                self.ask_again(open, moment).trouble(\"it is not confirmed yet, or already being packed\")",
            "                Change::facts([Fact::Dead { mail: open.mail.k }])",
        )],
    ),
    caught(
        "a cancelling that came too late counts as cancelled",
        "a person",
        &[(
            OPEN,
            "            CancelAnswer::WindowExpired => self.too_late(mail, TOO_LATE, moment),\n            CancelAnswer::NotCancellable => {",
            "            CancelAnswer::WindowExpired => Change::facts([Fact::Cancelled { mail, by_us: true }]),\n            CancelAnswer::NotCancellable => {",
        )],
    ),
    caught(
        "a withdrawal whose answer is lost is given up as done",
        "a person",
        &[(
            AFTER,
            "            State::Confirming { open, .. } | State::Withdrawing { open, .. } => self.ask_again(open, moment),\n            State::Admitted",
            "            State::Withdrawing { open, .. } => Change::facts([Fact::Dead { mail: open.mail.k }]),\n            State::Confirming { open, .. } => self.ask_again(open, moment),\n            State::Admitted",
        )],
    ),
    Mutant {
        what: "a first key stays good though the mail was read after it",
        size: "messages",
        edits: &[(
            OPEN,
            "let void = open.key.is_some().then_some(Fact::Reappeared { mail });",
            "let void = open.key.is_none().then_some(Fact::Reappeared { mail });",
        )],
        harmless: Some(
            "it takes a second untrue answer to turn the second key, and against two nothing holds",
        ),
    },
    Mutant {
        what: "there is no limit to intents that were proved dead",
        size: "messages",
        edits: &[(OPEN, "const INTENTS: u32 = 3;", "const INTENTS: u32 = 3000;")],
        harmless: Some("each is proved; the limit only brings a person to look"),
    },
    caught(
        "a claim's place need not last before anything is in it",
        "a power cut, no guard",
        &[(ORDER, "[MoveStep; 4] =\n    [MoveStep::SyncClaims, ", "[MoveStep; 3] =\n    [")],
    ),
    caught(
        "a claimed drop's old name is forgotten before its new one lasts",
        "a power cut, no guard",
        &[(
            ORDER,
            "[MoveStep::SyncClaims, MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom]",
            "[MoveStep::SyncClaims, MoveStep::Rename, MoveStep::SyncFrom, MoveStep::SyncTo]",
        )],
    ),
    Mutant {
        what: "a claimed drop's old name is not forgotten for good",
        size: "a power cut, no guard",
        edits: &[(
            ORDER,
            "[MoveStep; 4] =\n    [MoveStep::SyncClaims, MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom]",
            "[MoveStep; 3] =\n    [MoveStep::SyncClaims, MoveStep::Rename, MoveStep::SyncTo]",
        )],
        harmless: Some("a cut then leaves it under two names, and it is refused under both"),
    },
    caught(
        "an original leaves its claim for good before it lasts on its shelf",
        "a power cut, no guard",
        &[(
            ORDER,
            "[MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom];",
            "[MoveStep::Rename, MoveStep::SyncFrom, MoveStep::SyncTo];",
        )],
    ),
    caught(
        "what is recorded of a claim is not looked at",
        "there before, approved",
        &[
            (CLAIMS, "in_claim: true }) => Next::Leave,", "in_claim: true }) => Next::Judge,"),
            (CLAIMS, "in_claim: false }) => Next::BackToShelf,", "in_claim: false }) => Next::Judge,"),
        ],
    ),
    Mutant {
        what: "an entry in the spool is made once more",
        size: "crashes",
        edits: &[(CLAIMS, "| None if in_spool => Next::Leave,", "| None if in_spool => Next::Judge,")],
        harmless: Some("it has its claim's name, and a name is admitted once"),
    },
    caught(
        "what was there before is taken for a drop",
        "there before, approved",
        &[(CLAIMS, "None if was_there => Next::Hold,", "None if was_there => Next::Judge,")],
    ),
    Mutant {
        what: "what a person moved before a crash stays in its claim",
        size: "a duplicate, approved",
        edits: &[(CLAIMS, "in_claim: false }) => Next::BackToShelf,", "in_claim: false }) => Next::Leave,")],
        harmless: Some("the shelf looks for an original in its claim too"),
    },
    caught(
        "what a person accepted before a crash stays in its claim",
        "there before, approved",
        &[(CLAIMS, "in_claim: false }) => Next::BringAlong,", "in_claim: false }) => Next::Leave,")],
    ),
    caught(
        "a claim of which there are no records is gone on with",
        "records lost",
        &[(CLAIMS, "(folder_is_locked && was_claimed_since_our_marker)", "folder_is_locked")],
    ),
    caught(
        "without a lock a claim is ours all the same",
        "two daemons, no locks",
        &[(CLAIMS, "(folder_is_locked && was_claimed_since_our_marker)", "was_claimed_since_our_marker")],
    ),
    caught(
        "what was written to is as still as before",
        "a writer",
        &[(
            SETTLE,
            "Some(before) if before.stamp == stamp => before.since,\n                Some(_) | None => now,",
            "Some(before) => before.since,\n                None => now,",
        )],
    ),
    caught(
        "a drop need not be still",
        "a writer",
        &[(SETTLE, "if until <= now {", "if until <= now + still {")],
    ),
    caught(
        "a duplicate goes at once",
        "duplicates",
        &[(
            "src/guard/admission.rs",
            "        duplicate\n            .or(letters",
            "        duplicate\n            .filter(|_| false)\n            .or(letters",
        )],
    ),
];

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs one size in the copy: the first line of what broke, if something did.
fn violated(package: &Path, size: &str) -> Option<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--quiet", "--test", "long", "one_small_size_holds", "--", "--nocapture"]);
    cargo.current_dir(package).env("CARGO_TARGET_DIR", package.join("target")).env(SIZE, size);
    // Most end early, so quick to build counts for more than quick to run.
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
    let output = cargo.env("RUSTFLAGS", "--cap-lints warn").env("RUST_BACKTRACE", "0").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    if output.status.success() {
        return None;
    }
    let line = text.lines().find(|line| line.contains("is violated after")).map(str::to_owned);
    Some(line.unwrap_or_else(|| panic!("a mutant does not compile or run:\n{text}")))
}

#[test]
fn mutants_are_noticed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package: PathBuf = root.join("target/mutants");
    for dir in ["src", "config", "tests", "benches", "systemd"] {
        let _ = std::fs::remove_dir_all(package.join(dir));
        copy(&root.join(dir), &package.join(dir));
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        std::fs::copy(root.join(file), package.join(file)).unwrap();
    }
    let wanted = std::env::var("MUTANT").unwrap_or_else(|_| format!("1-{}", MUTANTS.len()));
    let (from, to) = wanted.split_once('-').unwrap_or((&wanted, &wanted));
    let wanted: std::ops::RangeInclusive<usize> = from.parse().unwrap()..=to.parse().unwrap();
    let mut wrong = Vec::new();
    for (index, mutant) in MUTANTS.iter().enumerate() {
        let number = index + 1;
        if !wanted.contains(&number) {
            continue;
        }
        for (file, from, to) in mutant.edits {
            let text = std::fs::read_to_string(package.join(file)).unwrap();
            assert!(text.contains(from), "mutant {number}: {file} no longer has {from}");
            std::fs::write(package.join(file), text.replace(from, to)).unwrap();
        }
        let found = violated(&package, mutant.size);
        for (file, _, _) in mutant.edits {
            std::fs::copy(root.join(file), package.join(file)).unwrap();
        }
        let how = match (&found, mutant.harmless) {
            (Some(line), None) => line.split('`').nth(1).unwrap_or_default().to_owned(),
            (None, Some(why)) => format!("harmless: {why}"),
            (Some(line), Some(_)) => format!("NOT HARMLESS: {line}"),
            (None, None) => "NOT NOTICED".to_owned(),
        };
        if found.is_some() == mutant.harmless.is_some() {
            wrong.push(number);
        }
        println!("| {number} | {} | {} | {how} |", mutant.what, mutant.size);
    }
    assert!(wrong.is_empty(), "mutants {wrong:?}");
}
