//! Checks the invariants in what is durable: database, ledger and spool against each other.
//!
//! Also while a daemon is running: nothing is changed, and what is being written at this moment is waited
//! for.

use std::collections::{BTreeMap, BTreeSet};

use super::standing::is_counted_right;
use super::{Desk, StoreError, read, rows};
use crate::domain::letter::{Fact, Number, State};
use crate::outside::spool::{Ledger, Line, Spool};

/// What was checked, and every statement that is wrongly false.
#[derive(Debug, Default)]
pub struct Findings {
    pub letters: usize,
    pub facts: usize,
    pub documents: usize,
    pub problems: Vec<String>,
}

/// What the ledger has, as far as the audit needs it. A long ledger is never whole in memory.
#[derive(Default)]
struct Compared {
    /// The unbroken ranges of line numbers: first to last.
    rows: BTreeMap<u64, u64>,
    /// Letters for which the ledger has a different fact than the database, or one the database lacks; and
    /// letters that have its number there.
    differ: BTreeSet<Number>,
}

impl Compared {
    /// Returns false if it was there already.
    fn add(&mut self, seq: u64) -> bool {
        match self.rows.range_mut(..=seq).next_back() {
            Some((_, end)) if *end >= seq => return false,
            Some((_, end)) if *end + 1 == seq => *end = seq,
            Some(_) | None => drop(self.rows.insert(seq, seq)),
        }
        true
    }

    /// Whether a letter's facts in the database are those of the ledger, which may lack the latest ones.
    fn agrees(&self, letter: Number, facts: &[Line]) -> bool {
        let last = self.rows.values().next_back().copied().unwrap_or_default();
        let has = |seq: u64| self.rows.range(..=seq).next_back().is_some_and(|(_, end)| *end >= seq);
        !self.differ.contains(&letter) && facts.iter().all(|line| line.seq > last || has(line.seq))
    }
}

impl Desk {
    pub fn audit(&self) -> Result<Findings, StoreError> {
        self.is_current()?;
        let mut findings = Findings::default();
        let mut ledger = Compared::default();
        let found = Ledger::peek(&self.home().ledger(), |lines, is_last| {
            if is_last {
                // Once the current writer has committed, the database has everything that the ledger has now.
                self.db().execute_batch("BEGIN IMMEDIATE; ROLLBACK")?;
            }
            self.compare(&lines, &mut ledger)
        })?;
        if let Some(damage) = &found.damage {
            findings.problems.push(format!("the ledger: {damage}"));
        }
        let spool = Spool::open(&self.home().spool())?;
        for number in self.numbers()? {
            self.audit_letter(number, &ledger, &spool, &mut findings)?;
        }
        for entry in spool.taken_in()? {
            if self.number_of(entry.as_str())?.is_none() {
                findings.problems.push(format!("{entry} is in the spool without a record (I13)"));
            }
        }
        for entry in self.lost_incoming(&spool)? {
            findings
                .problems
                .push(format!("a queue took {entry}, and it is neither in the spool nor in its folder"));
        }
        if !is_counted_right(self.db())? {
            findings
                .problems
                .push("the counters of letters by state and folder do not match the letters".to_owned());
        }
        for number in self.counted_wrongly()? {
            findings
                .problems
                .push(format!("letter {number} is counted wrongly for the limits of its folder"));
        }
        for number in ledger.differ {
            if self.row(number)?.is_none() {
                findings.problems.push(format!("letter {number} is in the ledger and not in the database"));
            }
        }
        Ok(findings)
    }

    fn compare(&self, lines: &[Line], ledger: &mut Compared) -> Result<(), StoreError> {
        for line in lines {
            let is_first = ledger.add(line.seq);
            let ours = read::fact(self.db(), line.letter, line.n)?;
            if !is_first || !ours.is_some_and(|ours| ours.is_same(line)) {
                ledger.differ.insert(line.letter);
                ledger.differ.extend(read::letter_of(self.db(), line.seq)?);
            }
        }
        Ok(())
    }

    fn audit_letter(
        &self,
        number: Number,
        ledger: &Compared,
        spool: &Spool,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let mut say = |what: &str| findings.problems.push(format!("letter {number}: {what}"));
        findings.letters += 1;
        // A running daemon continues meanwhile.
        let as_it_is = self.db().unchecked_transaction()?;
        let facts = match read::facts(&as_it_is, number) {
            Ok(facts) => facts,
            Err(StoreError::Damaged(_)) => {
                say("a fact in the database is damaged");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let count = read::fact_count(&as_it_is, number)?;
        let Some(row) = self.row(number)? else { return Ok(()) };
        drop(as_it_is);
        if count != Some(facts.len() as u64) {
            say("the number of its facts differs from the recorded one");
        }
        findings.facts += facts.len();
        if !ledger.agrees(number, &facts) {
            say("database and ledger do not have the same facts (I5)");
        }
        let Ok(Some(letter)) = read::fold(number, &facts) else {
            say("its facts contradict each other (I7)");
            return Ok(());
        };
        let confirmed = |line: &&Line| matches!(line.fact, Fact::Confirmed { .. });
        if facts.iter().filter(confirmed).count() > 1 {
            say("more than one of its mails was confirmed (I1)");
        }
        if row.state != letter.state.word() {
            say("its listed state differs from its facts");
        }
        if !letter.state.is_end() && row.due_at.is_some() != rows::goes_on(&letter) {
            say("it has no next look though it is unfinished, or one though it is not (I16)");
        }
        if !letter.state.is_end() && !matches!(letter.state, State::Confirmed { .. }) {
            let Ok(entry) = letter.entry.parse() else {
                say("its name in the spool is not valid");
                return Ok(());
            };
            for index in 0..letter.order.documents.len() {
                findings.documents += 1;
                if spool.document(&entry, &letter.order, index).is_err() {
                    findings.problems.push(format!(
                        "letter {number}: document {} in the spool is not what was taken in (I14)",
                        index + 1
                    ));
                }
            }
        }
        Ok(())
    }
}
