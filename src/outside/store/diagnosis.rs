//! What a start does about what it found of its records: the table of docs/design/records.md as code. Pure.

/// What a start found, once database and ledger were held against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundRecords {
    /// The database was missing or broken, so all there is comes from the ledger.
    pub(super) is_rebuilt: bool,
    /// What the ledger had that the database lacked.
    pub(super) ledger_has: LedgerHas,
    pub(super) is_ledger_damaged: bool,
    /// The records stand where they were not made, or somebody says that they were put back from a backup.
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
    /// `brought_over`: how many facts the database lacked.
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
    /// Every unfinished letter is held as uncertain: facts of it may be missing.
    HoldUnfinished,
    /// No folder is known any more, so what lies in them is held; so is what waits in the spool to become a letter.
    ForgetFolders,
    /// Orders to release or retry go: they may have been carried out.
    DropRestarts,
    /// People's orders and pauses are gone, as far as they can't be read from the broken database: that is reported.
    ReportLostWishes,
    /// Originals are looked for again, by what the spool's entries say.
    KnowOriginalsAgain,
}

pub(super) fn diagnose(found: FoundRecords) -> Vec<Cure> {
    let FoundRecords { is_rebuilt, ledger_has, is_ledger_damaged, may_be_old } = found;
    let is_older = ledger_has == LedgerHas::LaterFacts;
    // Damage of the ledger that a whole and present database covers is only reported.
    let may_lack_facts = is_ledger_damaged && (is_rebuilt || is_older);
    let cures = [
        (may_lack_facts || may_be_old, Cure::HoldUnfinished),
        (may_be_old, Cure::ForgetFolders),
        (is_older, Cure::DropRestarts),
        (is_rebuilt && is_older, Cure::ReportLostWishes),
        (is_rebuilt || ledger_has != LedgerHas::NothingMore, Cure::KnowOriginalsAgain),
    ];
    cures.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, cure)| cure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_that_can_be_wrong_with_records_has_its_cures_and_no_others() {
        use Cure::{DropRestarts, ForgetFolders, HoldUnfinished, KnowOriginalsAgain, ReportLostWishes};
        use LedgerHas::{LaterFacts, MissingFacts, NothingMore};
        let rebuilt = [DropRestarts, ReportLostWishes, KnowOriginalsAgain].as_slice();
        let (old, both) =
            ([HoldUnfinished, ForgetFolders], [HoldUnfinished, DropRestarts, KnowOriginalsAgain]);
        // Rebuilt, what the ledger has, damaged, old.
        for (found, cures) in [
            ((false, NothingMore, false, false), [].as_slice()),
            // A damaged ledger beside a whole database that is not older.
            ((false, NothingMore, true, false), &[]),
            ((false, MissingFacts, true, false), &[KnowOriginalsAgain]),
            // A database that is missing or broken: with facts in the ledger, with none, and with a damaged one.
            ((true, LaterFacts, false, false), rebuilt),
            ((true, NothingMore, false, false), &[KnowOriginalsAgain]),
            ((true, NothingMore, true, false), &[HoldUnfinished, KnowOriginalsAgain]),
            ((true, LaterFacts, true, false), &[&[HoldUnfinished], rebuilt].concat()),
            // A database that is older, or lacks facts in its middle.
            ((false, LaterFacts, false, false), &[DropRestarts, KnowOriginalsAgain]),
            ((false, LaterFacts, true, false), &both),
            ((false, MissingFacts, false, false), &[KnowOriginalsAgain]),
            // Put back from a backup, or a copy that may go on.
            ((false, NothingMore, false, true), &old),
            ((false, NothingMore, true, true), &old),
            ((false, LaterFacts, false, true), &[&old[..], &[DropRestarts, KnowOriginalsAgain]].concat()),
            ((true, LaterFacts, true, true), &[&old[..], rebuilt].concat()),
        ] {
            let (is_rebuilt, ledger_has, is_ledger_damaged, may_be_old) = found;
            let found = FoundRecords { is_rebuilt, ledger_has, is_ledger_damaged, may_be_old };
            assert_eq!(diagnose(found), cures, "{found:?}");
        }
    }
}
