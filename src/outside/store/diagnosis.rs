//! What a start does about the state in which it finds its records: the table of docs/design/records.md as
//! code. Pure.

/// What a start found when it compared database and ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundRecords {
    /// The database was missing or damaged, so everything comes from the ledger.
    pub(super) is_rebuilt: bool,
    /// What the ledger had that the database lacked.
    pub(super) ledger_has: LedgerHas,
    pub(super) is_ledger_damaged: bool,
    /// The records are not at the place to which they are bound, or somebody says that they were restored
    /// from a backup.
    pub(super) may_be_old: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LedgerHas {
    NothingMore,
    /// Facts before the database's last one.
    MissingFacts,
    /// Facts after it: the database is older.
    LaterFacts,
}

impl LedgerHas {
    /// `brought_over` is the number of facts that the database lacked.
    pub(super) fn of(is_later: bool, brought_over: usize) -> Self {
        match brought_over {
            _facts if is_later => Self::LaterFacts,
            0 => Self::NothingMore,
            _facts => Self::MissingFacts,
        }
    }
}

/// Something that is done about it. All of it is one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cure {
    /// Holds every unfinished letter as uncertain, because facts of it may be missing.
    HoldUnfinished,
    /// Forgets all folders, so that everything in them is held, and so is what waits in the spool to become a
    /// letter.
    ForgetFolders,
    /// Drops people's commands to release or retry, which may have been carried out.
    DropRestarts,
    /// Reports that people's commands and pauses are lost, except those read from the damaged database.
    ReportLostCommands,
    /// Finds originals again by what the spool's entries say.
    RestoreOriginals,
    /// Closes every queue, because keys of what they took may be missing: the ledger has only those of letters.
    CloseQueues,
}

pub(super) fn diagnose(found: FoundRecords) -> Vec<Cure> {
    let FoundRecords { is_rebuilt, ledger_has, is_ledger_damaged, may_be_old } = found;
    let is_older = ledger_has == LedgerHas::LaterFacts;
    // Damage of the ledger that an intact database covers is only reported.
    let may_lack_facts = is_ledger_damaged && (is_rebuilt || is_older);
    let cures = [
        (may_lack_facts || may_be_old, Cure::HoldUnfinished),
        (may_be_old, Cure::ForgetFolders),
        (is_older, Cure::DropRestarts),
        (is_rebuilt && is_older, Cure::ReportLostCommands),
        (is_rebuilt || ledger_has != LedgerHas::NothingMore, Cure::RestoreOriginals),
        (may_be_old || (is_rebuilt && is_older), Cure::CloseQueues),
    ];
    cures.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, cure)| cure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_that_can_be_wrong_with_records_has_its_cures_and_no_others() {
        use Cure::{
            CloseQueues, DropRestarts, ForgetFolders, HoldUnfinished, ReportLostCommands, RestoreOriginals,
        };
        use LedgerHas::{LaterFacts, MissingFacts, NothingMore};
        let rebuilt = [DropRestarts, ReportLostCommands, RestoreOriginals, CloseQueues].as_slice();
        let old = [HoldUnfinished, ForgetFolders];
        let old_alone = [&old[..], &[CloseQueues]].concat();
        let both = [HoldUnfinished, DropRestarts, RestoreOriginals];
        // Is rebuilt, what the ledger has, is damaged, may be old.
        for (found, cures) in [
            ((false, NothingMore, false, false), [].as_slice()),
            // A damaged ledger beside an intact database that is not older.
            ((false, NothingMore, true, false), &[]),
            ((false, MissingFacts, true, false), &[RestoreOriginals]),
            // A database that is missing or damaged: with facts in the ledger, with none, and with a damaged
            // ledger.
            ((true, LaterFacts, false, false), rebuilt),
            ((true, NothingMore, false, false), &[RestoreOriginals]),
            ((true, NothingMore, true, false), &[HoldUnfinished, RestoreOriginals]),
            ((true, LaterFacts, true, false), &[&[HoldUnfinished], rebuilt].concat()),
            // A database that is older, or lacks facts in its middle.
            ((false, LaterFacts, false, false), &[DropRestarts, RestoreOriginals]),
            ((false, LaterFacts, true, false), &both),
            ((false, MissingFacts, false, false), &[RestoreOriginals]),
            // Restored from a backup, or a copy that may continue.
            ((false, NothingMore, false, true), &old_alone),
            ((false, NothingMore, true, true), &old_alone),
            (
                (false, LaterFacts, false, true),
                &[&old[..], &[DropRestarts, RestoreOriginals, CloseQueues]].concat(),
            ),
            ((true, LaterFacts, true, true), &[&old[..], rebuilt].concat()),
        ] {
            let (is_rebuilt, ledger_has, is_ledger_damaged, may_be_old) = found;
            let found = FoundRecords { is_rebuilt, ledger_has, is_ledger_damaged, may_be_old };
            assert_eq!(diagnose(found), cures, "{found:?}");
        }
    }
}
