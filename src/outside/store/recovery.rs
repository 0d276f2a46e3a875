//! At every start: database and ledger are made to agree, and nothing contradictory is believed.
//!
//! A damaged database is put aside and made anew from the ledger. Facts that one of them lacks are brought
//! over. The rows for listing are compared with the facts. Where facts may be missing in both (two histories,
//! damage that the other does not cover, letters without a record), every letter concerned is held as
//! uncertain.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::{Connection, params};

use super::diagnosis::{Cure, FoundRecords, LedgerHas, diagnose};
use super::moves::{Admission, Batch, Gathered, Record};
use super::place::{self, Binding, Standing};
use super::standing::count_again;
use super::{Home, StoreError, adopt, epoch, folders, incoming, read, rows, salvage, schema, search, signed};
use crate::base::clock::Time;
use crate::domain::letter::{Moment, Number, Outcome, Realm, Retry, Start};
use crate::domain::limits::Terms;
use crate::outside::spool::{Dropped, Ledger, Spool, Ulid, Written, private_file};

const LINES_PER_SYNC: usize = 1000;

/// What recovery found and did, for the journal.
#[derive(Debug, Default)]
pub struct Report {
    /// Where a damaged database was put.
    pub put_aside: Option<PathBuf>,
    /// The number of facts that only the ledger had, and that only the database had.
    pub from_ledger: usize,
    pub from_database: usize,
    /// Damage in the ledger, in words.
    pub damage: Option<String>,
    /// People's commands to release or retry that may have been carried out already.
    pub dropped: usize,
    /// Whether people's commands and pauses could not be read any more.
    pub commands_lost: bool,
    /// The number of the last fact before any was added.
    pub began: u64,
    /// These records were not bound to their place before.
    pub bound: bool,
    /// Letters held because it is not certain what happened to them.
    pub held: Vec<Number>,
}

pub(super) fn recover(
    home: &Home,
    now: Time,
    after_restore: bool,
) -> Result<(Connection, Ledger, Report), StoreError> {
    // Before anything is changed. The database's own statement is checked once it is open.
    is_copied(home, place::standing(place::beside(home)?, Binding::Matches), after_restore)?;
    if after_restore {
        // It may have been copied at another moment than the records.
        search::remove_index(&home.search_index())?;
    }
    let aside = if home.is_rebuilding() {
        home.rebuild_again(now)?
    } else if home.database().exists() {
        match reconcile(home, now, after_restore, false) {
            Err(error) if error.is_corruption() => Some(home.put_aside(now)?),
            done => return done,
        }
    } else {
        home.begin_rebuild(None)?;
        None
    };
    search::remove_index(&home.search_index())?;
    let (mut db, ledger, mut report) = reconcile(home, now, after_restore, true)?;
    if let Some(aside) = &aside {
        report.commands_lost = salvage::from_damaged(&mut db, aside).is_err();
    }
    home.rebuilt()?;
    Ok((db, ledger, Report { put_aside: aside, ..report }))
}

/// Makes database and ledger agree. `rebuilt` says that the database is new and everything comes from the
/// ledger. A database that is doubted is compared as a whole, and is trusted only after that.
fn reconcile(
    home: &Home,
    now: Time,
    after_restore: bool,
    rebuilt: bool,
) -> Result<(Connection, Ledger, Report), StoreError> {
    let mut report = Report::default();
    let spool = Spool::open(&home.spool())?;
    spool.sweep()?;
    if !home.database().exists() {
        make(home)?;
    }
    // The database's other files get its permissions.
    private_file(&home.database())?;
    let (was_doubted, mut db) = (home.is_doubted(), open(home)?);
    let standing = place::standing(place::beside(home)?, place::database(&db, home)?);
    report.bound = standing == Standing::Unbound;
    let is_copied = is_copied(home, standing, after_restore)?;
    let known: u64 = db.query_row("SELECT coalesce(max(seq), 0) FROM fact", [], |row| read::count(row, 0))?;
    let whole = rebuilt || was_doubted || !home.is_large()?;
    let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let unchanged = transaction.total_changes();
    let mut doubtful = BTreeSet::new();
    let (mut ledger, found) = Ledger::open(&home.ledger(), if whole { 1 } else { known + 1 }, |lines| {
        doubtful.extend(adopt::bring_over(&transaction, &lines, !rebuilt, &mut report)?);
        Ok::<_, StoreError>(())
    })?;
    report.began = found.last.unwrap_or_default().max(known);
    let cures = diagnose(FoundRecords {
        is_rebuilt: rebuilt,
        ledger_has: LedgerHas::of(report.began > known, report.from_ledger),
        is_ledger_damaged: found.damage.is_some(),
        may_be_old: after_restore || is_copied,
    });
    let is_needed = |cure| cures.contains(&cure);
    report.damage = found.damage;
    report.commands_lost = is_needed(Cure::ReportLostCommands);
    doubtful.extend(rows::check(&transaction, now)?);
    if is_needed(Cure::ForgetFolders) {
        folders::forget(&transaction)?;
    }
    if is_needed(Cure::HoldUnfinished) {
        doubtful.extend(rows::unfinished(&transaction)?);
    }
    if is_needed(Cure::DropRestarts) {
        report.dropped = salvage::drop_restarts(&transaction, now)?;
    }
    let (next, mut gathered) = (ledger.next().max(known + 1), Gathered::default());
    let mut batch = gathered.batch(&transaction, next);
    doubtful.extend(unknown_entries(&mut batch, &spool, is_needed(Cure::ForgetFolders), now)?);
    hold(&mut batch, doubtful, now, &mut report)?;
    if whole || transaction.total_changes() != unchanged {
        count_again(&transaction)?;
    }
    if is_needed(Cure::RestoreOriginals) {
        adopt::restore_originals(&transaction, &spool, now)?;
    }
    incoming::recover(&transaction, &spool, is_needed(Cure::CloseQueues), now)?;
    export(&transaction, &mut ledger, found.last, known, &mut report)?;
    if !gathered.lines.is_empty() {
        ledger.append(next, &gathered.lines)?;
    }
    place::bind(&transaction, home)?;
    epoch::name(&transaction, home, now, is_needed(Cure::ForgetFolders))?;
    transaction.commit()?;
    home.trust()?;
    Ok((db, ledger, report))
}

/// Makes a database with its tables beside its place, so no command sees a part of it or is in its way.
fn make(home: &Home) -> Result<(), StoreError> {
    let new = home.new_database()?;
    private_file(&new)?;
    let mut db = schema::connect(&new)?;
    schema::migrate(&mut db)?;
    db.close().map_err(|(_, error)| error)?;
    Ok(home.put_in_place(&new)?)
}

/// Opens the database, updates its tables and checks whether it is whole.
fn open(home: &Home) -> Result<Connection, StoreError> {
    let mut db = schema::connect(&home.database())?;
    schema::migrate(&mut db)?;
    let is_large = home.is_large()?;
    // A large one is checked while letters continue, unless an earlier run ended badly.
    if !is_large || home.is_doubted() {
        let check = if is_large { "PRAGMA quick_check(1)" } else { "PRAGMA integrity_check(1)" };
        if !schema::is_whole(&db, check)? {
            return Err(StoreError::Broken);
        }
    }
    for number in rows::unfinished(&db)? {
        // Reading verifies every fact.
        read::letter(&db, number)?;
    }
    Ok(db)
}

/// Refuses records that are not at their place, unless somebody says that they may continue.
fn is_copied(home: &Home, standing: Standing, after_restore: bool) -> Result<bool, StoreError> {
    let dir = home.dir().to_owned();
    if home.being_filled().exists() {
        return Err(StoreError::BeingFilled(dir));
    }
    match standing {
        Standing::Bound | Standing::Unbound => Ok(false),
        Standing::Copied(_) if after_restore => Ok(true),
        Standing::Copied(what) => Err(StoreError::Copied { dir, what }),
        Standing::Moved(to) => Err(StoreError::Moved { from: dir, to }),
    }
}

/// Entries among the letters without a record: both their records are lost. If the records as a whole are
/// distrusted, an entry that waits to become a letter may have been one as well.
fn unknown_entries(
    batch: &mut Batch<'_>,
    spool: &Spool,
    distrusted: bool,
    now: Time,
) -> Result<Vec<Number>, StoreError> {
    let mut found = Vec::new();
    let known = "SELECT 1 FROM letter WHERE ulid = ?1";
    let is_known = |db: &Connection, ulid: &Ulid| db.prepare_cached(known)?.exists([ulid.as_str()]);
    // An entry that was admitted but not moved yet is moved before anything of it can be sent.
    let mut left = Vec::new();
    for ulid in spool.arrived()? {
        if distrusted || is_known(batch.db, &ulid)? {
            left.push(ulid);
        }
    }
    spool.take_in(&left)?;
    for ulid in spool.taken_in()? {
        if is_known(batch.db, &ulid)? {
            continue;
        }
        match spool.entry(&ulid) {
            Ok(entry) => {
                let order = std::sync::Arc::new(entry.order);
                // It is held as uncertain, whatever its folder's terms are.
                let dropped = entry.dropped.map(|dropped| Dropped { terms: Terms::default(), ..dropped });
                let admission = Admission { ulid, order, at: now, dropped };
                found.push(batch.admit(&admission).map_err(StoreError::recording)?);
            }
            Err(error) => {
                tracing::error!(entry = %ulid, error = &error as &dyn std::error::Error,
                    "a spool entry without a record can't be read; it is left where it is");
            }
        }
    }
    Ok(found)
}

/// Nothing is certain about these letters any more.
fn hold(
    batch: &mut Batch<'_>,
    letters: BTreeSet<Number>,
    now: Time,
    report: &mut Report,
) -> Result<(), StoreError> {
    let moment =
        Moment { now, jitter: 0, realm: Realm(String::new()), start: Start::Go, retry: Retry::default() };
    for number in letters {
        let Some(letter) = read::letter(batch.db, number)? else { continue };
        let change = letter.after(&Outcome::Restored, &moment);
        if !change.facts.is_empty() {
            batch.record(&Record { letter, change, at: now, order: None }).map_err(StoreError::recording)?;
            report.held.push(number);
        }
    }
    Ok(())
}

/// Writes what only the database has into the ledger.
fn export(
    db: &Connection,
    ledger: &mut Ledger,
    last: Option<u64>,
    known: u64,
    report: &mut Report,
) -> Result<(), StoreError> {
    let from = last.map_or_else(|| ledger.next(), |seq| seq + 1);
    let sql = "SELECT seq, line, line_check FROM fact WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq";
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query(params![signed(from), signed(known)])?;
    let mut run: Vec<Written> = Vec::new();
    let mut first = from;
    while let Some(row) = rows.next()? {
        let seq = read::count(row, 0)?;
        if seq != first + run.len() as u64 || run.len() == LINES_PER_SYNC {
            ledger.append(first, &std::mem::take(&mut run))?;
            first = seq;
        }
        run.push(Written { json: row.get(1)?, check: row.get(2)? });
        report.from_database += 1;
    }
    if run.is_empty() { Ok(()) } else { Ok(ledger.append(first, &run)?) }
}
