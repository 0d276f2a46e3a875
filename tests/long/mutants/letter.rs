//! Broken rules of the letter.

use super::{Mutant, caught};

const AFTER: &str = "src/domain/letter/after/mod.rs";
const OPEN: &str = "src/domain/letter/after/open.rs";
const NEXT: &str = "src/domain/letter/next_step.rs";
const FOLD: &str = "src/domain/letter/fold.rs";

pub(super) const MUTANTS: &[Mutant] = &[
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
            "src/domain/letter/mail.rs",
            "(server >= self.confirm_by + LATE_BY_SERVER,",
            "(server >= self.confirm_by - TimeDelta::hours(1),",
        )],
    ),
    caught(
        "without a `Date`, knowing a mail for a moment is enough",
        "no Date",
        &[(
            "src/domain/letter/mail.rs",
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
                "src/domain/letter/retry.rs",
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
            "src/outside/store/union.rs",
            "(if theirs > ours { ledger } else { database }, agreement)",
            "(if theirs > ours && ours == 0 { ledger.into_iter().take(1).collect() } else { database }, agreement)",
        )],
    ),
    Mutant {
        what: "two pasts are believed instead of held",
        size: "losses",
        edits: &[(
            "src/outside/store/union.rs",
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
        &[("tests/it/proofs/model/sizes.rs", "checks_version: true,", "checks_version: false,")],
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
];
