//! Broken rules of taking in.

use super::{Mutant, caught};

const ORDER: &str = "src/outside/hot/order.rs";
const CLAIMS: &str = "src/loops/intake/claims.rs";
const SETTLE: &str = "src/loops/intake/settle.rs";
const JUDGING: &str = "src/loops/intake/order.rs";
const BOOKS: &str = "src/loops/intake/books.rs";
const WISH: &str = "src/loops/intake/meaning.rs";
const OBEYED: &str = "src/loops/intake/obeyed.rs";
const IDENTITY: &str = "src/loops/intake/identity.rs";
const PLACE: &str = "src/outside/store/place.rs";

pub(super) const MUTANTS: &[Mutant] = &[
    caught(
        "a claim's place need not last before anything is in it",
        "a sidecar, a power cut",
        &[(ORDER, "[MoveStep; 4] =\n    [MoveStep::SyncClaims, ", "[MoveStep; 3] =\n    [")],
    ),
    caught(
        "a drop with a sidecar: its old name is forgotten before its new one lasts",
        "a sidecar, a power cut",
        &[(
            ORDER,
            "[MoveStep::SyncClaims, MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom]",
            "[MoveStep::SyncClaims, MoveStep::Rename, MoveStep::SyncFrom, MoveStep::SyncTo]",
        )],
    ),
    caught(
        "a file that was dropped alone: its old name is forgotten before its new one lasts",
        "a power cut, no guard",
        &[(
            ORDER,
            "CLAIMING_ALONE: [MoveStep; 3] = [MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom]",
            "CLAIMING_ALONE: [MoveStep; 3] = [MoveStep::Rename, MoveStep::SyncFrom, MoveStep::SyncTo]",
        )],
    ),
    caught(
        "a file that was dropped alone: its new name need not last",
        "a power cut, no guard",
        &[(
            ORDER,
            "CLAIMING_ALONE: [MoveStep; 3] = [MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom]",
            "CLAIMING_ALONE: [MoveStep; 2] = [MoveStep::Rename, MoveStep::SyncFrom]",
        )],
    ),
    Mutant {
        what: "a claimed drop's old name is not forgotten for good",
        size: "a power cut, no guard",
        edits: &[(
            ORDER,
            "CLAIMING_ALONE: [MoveStep; 3] = [MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom]",
            "CLAIMING_ALONE: [MoveStep; 2] = [MoveStep::Rename, MoveStep::SyncTo]",
        )],
        harmless: Some("a cut then leaves it under two names, and it is refused under both"),
    },
    caught(
        "an original leaves its claim for good before it lasts on its shelf",
        "a power cut, no guard",
        &[(
            ORDER,
            "MOVING: [MoveStep; 3] = [MoveStep::Rename, MoveStep::SyncTo, MoveStep::SyncFrom];",
            "MOVING: [MoveStep; 3] = [MoveStep::Rename, MoveStep::SyncFrom, MoveStep::SyncTo];",
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
        "a claim without records is continued",
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
        &[(SETTLE, "*sighting = fresh();", "sighting.stamp = stamp.clone();")],
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
            "src/domain/limits.rs",
            "        duplicate\n            .or(letters",
            "        duplicate\n            .filter(|_| false)\n            .or(letters",
        )],
    ),
    caught(
        "a drop is compared before it is read",
        "a sidecar",
        &[(
            JUDGING,
            "    JudgeStep::Read,\n    JudgeStep::CompareDrop,\n",
            "    JudgeStep::CompareDrop,\n    JudgeStep::Read,\n",
        )],
    ),
    caught(
        "the address book is not compared after it was used",
        "a book",
        &[
            (JUDGING, "[JudgeStep; 6]", "[JudgeStep; 5]"),
            (
                JUDGING,
                "    JudgeStep::CompareBook,\n    JudgeStep::CompareRules,\n",
                "    JudgeStep::CompareRules,\n",
            ),
        ],
    ),
    caught(
        "the rules are compared before they are used",
        "rules",
        &[(
            JUDGING,
            "    JudgeStep::Judge,\n    JudgeStep::CompareBook,\n    JudgeStep::CompareRules,\n",
            "    JudgeStep::CompareRules,\n    JudgeStep::Judge,\n    JudgeStep::CompareBook,\n",
        )],
    ),
    caught(
        "an address book need not be still",
        "a book",
        &[(
            BOOKS,
            "UNFINISHED.max(settle) } else { settle }",
            "UNFINISHED.max(settle) } else { TimeDelta::zero() }",
        )],
    ),
    caught(
        "a copy says nothing",
        "wishes",
        &[(WISH, "[one] => return Meant::Copied(*one),", "[_] => return Meant::Nothing,")],
    ),
    caught(
        "of several letters that a copy may mean, the newest is meant",
        "which of two",
        &[(WISH, "_several => return Meant::Several(open),", "several => return Meant::Copied(several[0]),")],
    ),
    caught(
        "what waits and is cancelled is accepted",
        "wishes",
        &[(
            OBEYED,
            "(Instruction::Cancel, false) => Obeyed::Cancelled,",
            "(Instruction::Cancel, false) => Obeyed::Accepted,",
        )],
    ),
    caught(
        "a letter on its way can't be cancelled by a copy",
        "wishes",
        &[
            (
                WISH,
                "(Instruction::Cancel, Some(StandingLetter::OnItsWay | StandingLetter::Posted)) => true,",
                "(Instruction::Cancel, Some(StandingLetter::Posted)) => true,",
            ),
            (
                WISH,
                "(Instruction::Approve, Some(StandingLetter::OnItsWay | StandingLetter::Posted))\n",
                "(Instruction::Approve, Some(StandingLetter::Posted)) | (_, Some(StandingLetter::OnItsWay))\n",
            ),
        ],
    ),
    caught(
        "a copy of a folder is that folder",
        "another place, wishes",
        &[(
            IDENTITY,
            "(RecordedPath::Marked, Some(false) | None) => Identity::Copy,",
            "(RecordedPath::Marked, Some(false) | None) => Identity::Known,",
        )],
    ),
    caught(
        "a folder that was put back is as it was",
        "another place",
        &[(
            IDENTITY,
            "(RecordedPath::This | RecordedPath::Gone, Some(false)) | (RecordedPath::Gone, None) => {\n            Identity::Refilled",
            "(RecordedPath::This | RecordedPath::Gone, Some(false)) | (RecordedPath::Gone, None) => {\n            Identity::Known",
        )],
    ),
    caught(
        "a folder that was moved is another",
        "another place, wishes",
        &[(
            IDENTITY,
            "(RecordedPath::Marked | RecordedPath::Gone, Some(true)) => Identity::Known,",
            "(RecordedPath::Marked, Some(true)) => Identity::Known,\n        (RecordedPath::Gone, Some(true)) => Identity::Copy,",
        )],
    ),
    caught(
        "a marker that was begun is another's",
        "a first start that takes",
        &[(
            IDENTITY,
            "(Some(_), None) if is_begun => FormerUser::Unfinished,",
            "(Some(_), None) if is_begun => FormerUser::Others,",
        )],
    ),
    caught(
        "copied records may post",
        "copied records",
        &[(
            PLACE,
            "(Binding::Differs(what), _) | (_, Binding::Differs(what)) => Standing::Copied(what),",
            "(Binding::Differs(_), _) | (_, Binding::Differs(_)) => Standing::Bound,",
        )],
    ),
];
