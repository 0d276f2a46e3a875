//! The spool and its ledger on a real disk: whole or not there, and damage is told.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use mailchute::domain::letter::{Fact, LARGEST_DOCUMENT, Number};
use mailchute::outside::spool::{
    EntryError, FoundLines, Ledger, LedgerError, Line, Spool, Ulid, Written, sha256_of,
};

use crate::proofs::model::{noon, order};

fn line(seq: u64, fact: Fact) -> Written {
    Line { seq, letter: Number(1), n: seq - 1, at: noon(), fact }.written().unwrap()
}

fn lines() -> Vec<Written> {
    let admitted = Fact::Admitted { entry: "E".into(), order: Arc::new(order(1)), queued: None };
    vec![
        line(1, admitted),
        line(2, Fact::Held(mailchute::domain::letter::Reason::ByPerson)),
        line(3, Fact::Released),
    ]
}

/// A ledger, all its lines, and whether it is damaged.
pub fn opened(dir: &Path) -> (Ledger, Vec<Line>, bool) {
    let mut all = Vec::new();
    let keep = |lines: Vec<Line>| {
        all.extend(lines);
        Ok::<_, LedgerError>(())
    };
    let (ledger, found) = Ledger::open(dir, 1, keep).unwrap();
    assert_eq!(found.last, all.iter().map(|line| line.seq).max());
    (ledger, all, found.damage.is_some())
}

#[test]
fn a_ledger_gives_back_what_was_appended() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ledger, lines_there, is_damaged) = opened(dir.path());
    assert!(lines_there.is_empty() && !is_damaged);
    ledger.append(1, &lines()).unwrap();
    ledger.append(4, &[line(4, Fact::Withdrawn)]).unwrap();
    drop(ledger);
    let (ledger, held, is_damaged) = opened(dir.path());
    assert_eq!(held.iter().map(|line| line.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(held[3].fact, Fact::Withdrawn);
    assert_eq!((ledger.next(), is_damaged), (5, false));
}

#[test]
fn a_long_ledger_is_given_some_lines_at_a_time_and_in_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = opened(dir.path()).0;
    let count = 50_000;
    for first in (1..=count).step_by(1000) {
        let held = |seq| line(seq, Fact::Held(mailchute::domain::letter::Reason::ByPerson));
        ledger.append(first, &(first..first + 1000).map(held).collect::<Vec<_>>()).unwrap();
    }
    assert!(std::fs::read_dir(dir.path()).unwrap().count() > 1, "no file is as long as all of it");
    let (mut seen, mut most) = (Vec::new(), 0);
    let found = Ledger::peek(dir.path(), |lines, _| {
        most = most.max(lines.len());
        seen.extend(lines.iter().map(|line| line.seq));
        Ok::<_, LedgerError>(())
    });
    assert_eq!(found.unwrap(), FoundLines { last: Some(count), damage: None });
    assert_eq!(seen, (1..=count).collect::<Vec<_>>());
    assert!(most <= 1000, "{most} at a time");
    // What the database has is in the files before the last: those are not read at a start.
    let mut fewest = 0;
    let count_them = |lines: Vec<Line>| {
        fewest += lines.len() as u64;
        Ok::<_, LedgerError>(())
    };
    drop(ledger);
    Ledger::open(dir.path(), count + 1, count_them).unwrap();
    assert!(fewest < count, "{fewest} lines were read");
}

#[test]
fn a_torn_end_is_cut_off_wherever_it_was_torn() {
    let dir = tempfile::tempdir().unwrap();
    opened(dir.path()).0.append(1, &lines()).unwrap();
    let path = dir.path().join("000000000001.log");
    let whole = std::fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in last..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let (mut ledger, held, is_damaged) = opened(dir.path());
        assert_eq!((held.len(), is_damaged), (2, false), "cut at {cut}");
        ledger.append(3, &[line(3, Fact::Released)]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
}

#[test]
fn a_flipped_byte_before_the_end_is_told_and_the_rest_still_read() {
    let dir = tempfile::tempdir().unwrap();
    opened(dir.path()).0.append(1, &lines()).unwrap();
    let path = dir.path().join("000000000001.log");
    let whole = std::fs::read(&path).unwrap();
    for at in [3, 40, 300] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let (mut ledger, held, is_damaged) = opened(dir.path());
        assert!(is_damaged, "byte {at}");
        assert_eq!(held.iter().map(|line| line.seq).collect::<Vec<_>>(), [2, 3]);
        // What is damaged is kept for a person to read: the next line goes into another file.
        let next = ledger.next();
        ledger.append(next, &[line(next, Fact::Withdrawn)]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        drop(ledger);
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            let other = entry.unwrap().path();
            if other != path {
                std::fs::remove_file(other).unwrap();
            }
        }
    }
}

#[test]
fn an_entry_is_whole_or_not_there_and_its_bytes_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(&dir.path().join("spool")).unwrap();
    let ulid = Ulid::new(noon()).unwrap();
    let bytes: [&[u8]; 2] = [b"%PDF-1.4 not really", b"%PDF-1.7 another"];
    let mut order = order(2);
    for (document, bytes) in order.documents.iter_mut().zip(bytes) {
        (document.size, document.sha256) = (bytes.len() as u64, sha256_of(bytes));
    }
    spool.put(&ulid, &order, &bytes.map(<[u8]>::to_vec)).unwrap();
    // What a crash leaves has another name, and is no entry.
    std::fs::write(dir.path().join("spool/new/01ARZ3NDEKTSV4RRFFQ69G5FAV.part"), "%PDF").unwrap();
    let only = std::slice::from_ref(&ulid);
    assert_eq!((spool.arrived().unwrap(), spool.taken_in().unwrap()), (only.to_vec(), vec![]));
    assert_eq!(spool.entry(&ulid).unwrap().order, order);
    spool.take_in(only).unwrap();
    assert_eq!((spool.arrived().unwrap(), spool.taken_in().unwrap()), (vec![], only.to_vec()));
    assert_eq!(spool.entry(&ulid).unwrap().order, order);
    let document = |document| spool.document(&ulid, &order, document);
    assert_eq!([document(0).unwrap(), document(1).unwrap()], bytes);
    let damaged = |document| matches!(document, Err(EntryError::Damaged { .. }));
    assert!(damaged(document(2)), "there is no third");
    let path = dir.path().join(format!("spool/letters/{ulid}"));
    let whole = std::fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[bytes[0].len()] ^= 1;
    std::fs::write(&path, &flipped).unwrap();
    assert_eq!((damaged(document(0)), damaged(document(1))), (false, true));
    // Short of its end it has no order, and short of a document not that either.
    for end in 0..whole.len() {
        std::fs::write(&path, &whole[..end]).unwrap();
        assert!(spool.entry(&ulid).is_err(), "cut at {end}");
        let there = |documents: usize| end >= bytes[..documents].iter().map(|bytes| bytes.len()).sum();
        assert_eq!([damaged(document(0)), damaged(document(1))], [!there(1), !there(2)], "cut at {end}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(damaged(document(0)) && !spool.has(&ulid));
}

#[test]
fn a_document_that_cannot_be_read_is_not_called_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    let ulid = Ulid::new(noon()).unwrap();
    let read = || spool.document(&ulid, &order(1), 0).unwrap_err();
    assert!(matches!(read(), EntryError::Damaged { document: 0 }), "it is not there");
    // Reading it fails, as on a disk that does not answer: that proves nothing of what is on it.
    std::fs::create_dir(dir.path().join("new").join(ulid.as_str())).unwrap();
    assert!(matches!(read(), EntryError::Io(_)));
}

#[test]
fn a_document_that_is_larger_than_any_may_be_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    let ulid = Ulid::new(noon()).unwrap();
    let file = std::fs::File::create(dir.path().join("new").join(ulid.as_str())).unwrap();
    file.set_len(LARGEST_DOCUMENT + 1).unwrap();
    let mut order = order(1);
    for (size, is_read) in [(LARGEST_DOCUMENT, true), (LARGEST_DOCUMENT + 1, false)] {
        let zeros = vec![0; usize::try_from(size).unwrap()];
        (order.documents[0].size, order.documents[0].sha256) = (size, sha256_of(&zeros));
        assert_eq!(spool.document(&ulid, &order, 0).is_ok(), is_read, "{size} bytes");
    }
}

#[test]
fn what_root_submits_belongs_to_the_daemons_user() {
    let state = tempfile::tempdir().unwrap();
    // Only root can give a directory away.
    if std::os::unix::fs::chown(state.path(), Some(4711), Some(4712)).is_err() {
        return;
    }
    let spool = Spool::open(&state.path().join("spool")).unwrap();
    let ulid = Ulid::new(noon()).unwrap();
    spool.put(&ulid, &order(1), &[vec![1, 2, 3]]).unwrap();
    let entry = Path::new("spool/new").join(ulid.as_str());
    for made in [Path::new("spool"), Path::new("spool/incoming"), &entry] {
        let made = std::fs::metadata(state.path().join(made)).unwrap();
        assert_eq!((made.uid(), made.gid()), (4711, 4712));
    }
}
