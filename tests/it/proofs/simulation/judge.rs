//! What must be so at the end, whatever happened.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use mailchute::domain::letter::Number;
use mailchute::outside::spool::sha256_of;
use serde_json::Value;

use super::office::{FOLDERS, pdfs};
use super::world::World;

impl World {
    /// When nothing goes wrong any more: each drop is decided, each letter posted or held or called back, and
    /// no file is lost.
    pub async fn judge_at_rest(&mut self) {
        for folder in FOLDERS {
            let dir = self.room.dir.path().join(folder);
            let waiting = pdfs(&dir).into_iter().filter(|path| path.parent() == Some(&dir));
            assert_eq!(waiting.collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new(), "left in {folder}");
            for place in ["Approve", "Cancel", "承認する", "取り消す"] {
                assert_eq!(pdfs(&dir.join(place)), Vec::<std::path::PathBuf>::new(), "{folder}");
            }
        }
        let rows = self.room.desk().letters(None, None, 1000).unwrap();
        for row in &rows {
            let at_rest = ["confirmed", "shipped", "cancelled", "withdrawn", "closed", "held"];
            let waits = row.state == "admitted" && row.note.is_none() && row.due_at.is_some();
            assert!(at_rest.contains(&row.state.as_str()) && !waits, "{row:?}");
        }
        self.story.extend(rows.iter().map(|row| format!("  {} is {}", row.letter, row.state)));
        self.nothing_is_lost();
        self.nothing_half_written_decided();
        self.posted_as_said().await;
        self.tally.drops = self.office.drops;
        self.tally.letters = rows.len();
        let count = |states: &[&str]| rows.iter().filter(|row| states.contains(&row.state.as_str())).count();
        self.tally.posted = count(&["confirmed", "shipped"]);
        self.tally.held = count(&["held"]);
        self.tally.called_back = count(&["cancelled", "withdrawn", "closed"]);
    }

    /// Ten days later: what was posted has shipped, people were told its number, and all records agree.
    pub async fn judge_at_the_end(&mut self) {
        for _look in 0..2 {
            self.pass(TimeDelta::hours(120)).await;
        }
        let rows = self.room.desk().letters(None, None, 1000).unwrap();
        let mails = self.told();
        for row in rows.iter().filter(|row| row.state == "confirmed" || row.state == "shipped") {
            assert_eq!(row.state, "shipped", "{row:?}");
            let Some(tracking) = &row.tracking else { continue };
            let told: Vec<_> = mails.iter().filter(|mail| mail.contains(tracking.as_str())).collect();
            let times = told.len();
            let rightly = times == 1 || self.tally.losses > 0 && times > 0;
            assert!(rightly, "{} is told {times} times: {told:#?}", row.letter);
        }
        self.room.check().await;
        self.nothing_is_lost();
        self.posted_as_said().await;
    }

    /// The mails to those who hear of what has shipped.
    fn told(&self) -> Vec<String> {
        let Ok(mails) = std::fs::read_dir(self.room.dir.path().join("mails")) else { return Vec::new() };
        let paths = mails.map(|mail| mail.unwrap().path());
        let texts = paths.filter(|path| path.extension().is_some_and(|ending| ending == "txt"));
        let texts = texts.map(|path| std::fs::read_to_string(path).unwrap());
        texts.filter(|mail| mail.contains("shipped@example.jp")).collect()
    }

    /// Every file that somebody dropped, and nobody took away, lies in one place.
    fn nothing_is_lost(&self) {
        let mut lies: BTreeMap<String, i64> = BTreeMap::new();
        for folder in FOLDERS {
            for path in pdfs(&self.room.dir.path().join(folder)) {
                *lies.entry(sha256_of(&std::fs::read(path).unwrap())).or_default() += 1;
            }
        }
        let wanted = |hash: &String| self.office.lies.get(hash).copied().unwrap_or_default();
        for hash in lies.keys().chain(self.office.lies.keys()) {
            let there = lies.get(hash).copied().unwrap_or_default();
            let copies = self.office.copies.get(hash).copied().unwrap_or_default();
            let most = wanted(hash) + copies;
            assert!(
                (wanted(hash)..=most).contains(&there),
                "{hash} lies there {there} times: lost, or too often"
            );
        }
    }

    /// By the service's own book each letter is posted once or not at all, and as we say.
    async fn posted_as_said(&self) {
        let url = format!("{}/ledger", self.room.service.welcome.places.control_url);
        let ledger: Value = self.room.service.http.get(url).send().await.unwrap().json().await.unwrap();
        let mut mails: BTreeMap<String, (i64, i64, i64)> = BTreeMap::new();
        for entry in ledger["entries"].as_array().unwrap() {
            let Some(mail) = entry["mail"].as_str() else { continue };
            let (authorized, released, charged) = mails.entry(mail.to_owned()).or_default();
            match entry["event"].as_str().unwrap() {
                "authorized" => *authorized += 1,
                "released" => *released += 1,
                "charged" => *charged += 1,
                _other => {}
            }
        }
        let desk = self.room.desk();
        let mut of_letters: BTreeMap<u64, i64> = BTreeMap::new();
        let mut known = BTreeMap::new();
        for number in desk.numbers().unwrap() {
            for (_, fact) in desk.history(number).unwrap() {
                if let mailchute::domain::letter::Fact::Created(mail) = fact {
                    known.insert(mail.id.clone(), number);
                }
            }
        }
        for (mail, (authorized, released, charged)) in mails {
            assert!(authorized <= 1 && charged <= 1, "{mail}: {authorized} {charged}");
            let posted = authorized - released.min(authorized);
            match known.get(&mail) {
                Some(Number(number)) => *of_letters.entry(*number).or_default() += posted,
                None => assert_eq!(posted, 0, "{mail} is posted, and no record knows it"),
            }
        }
        for row in desk.letters(None, None, 1000).unwrap() {
            let letter = desk.letter(row.letter).unwrap().unwrap();
            let posted = of_letters.get(&row.letter.0).copied().unwrap_or_default();
            assert!(posted <= 1, "{row:?} is posted {posted} times");
            let said = matches!(row.state.as_str(), "confirmed" | "shipped");
            assert!(!said || posted == 1, "{row:?} is said to be posted");
            assert!(!letter.state.claims_nothing_posted() || posted == 0, "{row:?} is said not to be posted");
        }
    }
}
