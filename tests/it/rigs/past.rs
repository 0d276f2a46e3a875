//! A long history without the years it takes: one letter that has ended, copied.

use std::path::Path;
use std::sync::Arc;

use chrono::TimeDelta;
use mailchute::domain::letter::{Fact, Number};
use mailchute::outside::spool::{Line, Ulid};
use rusqlite::{Connection, params};

/// Copies letter 1 so many times, with all its facts, of each minute before it one; the program must not
/// run. Copy `n` was dropped as `past-<n>.pdf`.
pub fn copies(state: &Path, count: u64) {
    let mut db = Connection::open(state.join("mailchute.db")).unwrap();
    let db = db.transaction().unwrap();
    let facts: Vec<Line> = {
        let mut statement =
            db.prepare("SELECT line, line_check FROM fact WHERE letter = 1 ORDER BY n").unwrap();
        let lines = statement.query_map([], |row| {
            Ok(Line::read(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?).unwrap())
        });
        lines.unwrap().map(Result::unwrap).collect()
    };
    let one = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let first = one("SELECT max(number) FROM letter") + 1;
    let mut seq = one("SELECT max(seq) FROM fact").unsigned_abs();
    for copy in 0..count {
        let number = first + i64::try_from(copy).unwrap();
        let earlier = TimeDelta::minutes(i64::try_from(count - copy).unwrap());
        let entry = Ulid::new(facts[0].at - earlier).unwrap();
        let name = format!("past-{copy}.pdf");
        let values = params![number, entry.as_str(), earlier.num_milliseconds()];
        let sql = "INSERT INTO letter (number, ulid, account, source, admitted_at, state, facts, changed_at, urgency,
                       due_at, attempts, trouble, tracking, sheets, discarded, counted)
                   SELECT ?1, ?2, account, source, admitted_at - ?3, state, facts, changed_at - ?3, urgency,
                       NULL, 0, NULL, tracking, sheets, discarded, counted FROM letter WHERE number = 1";
        db.prepare_cached(sql).unwrap().execute(values).unwrap();
        let sql = "INSERT INTO document SELECT ?1, n, ?2, size, pages, sha256, receiver FROM document WHERE letter = 1";
        db.prepare_cached(sql).unwrap().execute(params![number, name]).unwrap();
        let sql = "INSERT INTO mail SELECT ?1, k, id || '-' || ?1, realm, confirm_by, intent_at, outcome
                   FROM mail WHERE letter = 1";
        db.prepare_cached(sql).unwrap().execute([number]).unwrap();
        let sql = "INSERT INTO original (ulid, folder, name, letter, arrived_at, place, changes)
                   SELECT ?2, folder, CAST(?3 AS BLOB), ?1, arrived_at, 'gone', changes FROM original
                   WHERE letter = 1";
        db.prepare_cached(sql).unwrap().execute(params![number, entry.as_str(), name]).unwrap();
        for line in &facts {
            seq += 1;
            let line = Line {
                seq,
                letter: Number(number.unsigned_abs()),
                at: line.at - earlier,
                fact: copied(&line.fact, &entry, &name, number),
                n: line.n,
            };
            let written = line.written().unwrap();
            let values = params![
                i64::try_from(seq).unwrap(),
                number,
                i64::try_from(line.n).unwrap(),
                written.json,
                written.check
            ];
            let sql = "INSERT INTO fact (seq, letter, n, line, line_check) VALUES (?1, ?2, ?3, ?4, ?5)";
            db.prepare_cached(sql).unwrap().execute(values).unwrap();
        }
    }
    let counted = "DELETE FROM standing;
        INSERT INTO standing SELECT state, source, count(*) FROM letter GROUP BY state, source";
    db.execute_batch(counted).unwrap();
    db.commit().unwrap();
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only what names the letter is another")]
fn copied(fact: &Fact, entry: &Ulid, name: &str, number: i64) -> Fact {
    let mut fact = fact.clone();
    match &mut fact {
        Fact::Admitted { entry: its, order, .. } => {
            entry.as_str().clone_into(its);
            name.clone_into(&mut Arc::make_mut(order).documents[0].name);
        }
        Fact::Created(mail) => mail.id = format!("{}-{number}", mail.id),
        _about_them => {}
    }
    fact
}
