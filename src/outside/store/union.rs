//! Unites two records of one letter: the database's facts and the ledger's. Pure.
//!
//! Each is append-only, and the ledger is written first. So one is a beginning of the other, or the records
//! contradict each other and nothing may be concluded.

/// What two records of the same facts have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    Same,
    /// The database is older than the ledger, lost, or was stopped in the middle of a commit.
    LedgerAhead,
    /// The ledger is older or lost.
    DatabaseAhead,
    /// Two different histories.
    Contradiction,
}

/// Every fact that either record has, and how they agree. If they contradict each other, the longer one is
/// returned for a person to read.
pub fn union<T>(database: Vec<T>, ledger: Vec<T>, is_same: impl Fn(&T, &T) -> bool) -> (Vec<T>, Agreement) {
    let common = database.iter().zip(&ledger).take_while(|(one, other)| is_same(one, other)).count();
    let (ours, theirs) = (database.len(), ledger.len());
    let agreement = if common < ours && common < theirs {
        Agreement::Contradiction
    } else if ours == theirs {
        Agreement::Same
    } else if theirs > ours {
        Agreement::LedgerAhead
    } else {
        Agreement::DatabaseAhead
    };
    (if theirs > ours { ledger } else { database }, agreement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_of_two_records_counts_unless_they_tell_two_pasts() {
        let cases = [
            (vec![], vec![], vec![], Agreement::Same),
            (vec![1, 2], vec![1, 2], vec![1, 2], Agreement::Same),
            (vec![], vec![1], vec![1], Agreement::LedgerAhead),
            (vec![1], vec![1, 2], vec![1, 2], Agreement::LedgerAhead),
            (vec![1, 2], vec![1], vec![1, 2], Agreement::DatabaseAhead),
            (vec![1, 2], vec![1, 3], vec![1, 2], Agreement::Contradiction),
            (vec![2], vec![1, 3], vec![1, 3], Agreement::Contradiction),
        ];
        for (database, ledger, whole, agreement) in cases {
            assert_eq!(union(database, ledger, |one, other| one == other), (whole, agreement));
        }
    }
}
