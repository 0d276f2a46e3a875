//! A month in the life: twelve folders, two thousand letters, and whatever happens in offices. At its end
//! the service's ledger, our history, the folders and the mails agree letter by letter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrono::{Datelike as _, TimeDelta, Weekday};
use serde_json::Value;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::postbox::{Mood, Postbox, Security};
use crate::rigs::service::unique;

const FOLDERS: usize = 12;
const LETTERS: usize = 2000;
const DAYS: usize = 31;
const HOURS: [i64; 4] = [3600, 5 * 3600, 9 * 3600, 9 * 3600 - 7];

struct Month {
    room: Mailroom,
    postbox: Postbox,
    dropped: usize,
    held_seen: usize,
    cancelled: BTreeSet<String>,
}

fn rules(folder: usize) -> String {
    let more = match folder {
        2 => "limits: {letters_per_day: 9}\n",
        4 => "release: approval\n",
        6 => "release: '0 15 * * *'\n",
        8 => "keep: {sealed_pdf: true}\n",
        _other => "",
    };
    let notify = format!(
        "notify: {{shipped: [f{folder}@example.jp], held: [boss@example.jp], cancelled: [f{folder}@example.jp], \
         rejected: [f{folder}@example.jp]}}\n"
    );
    RULES
        .replace("../letters", &format!("../f{folder}"))
        .replace("rules:\n", &format!("{more}{notify}rules:\n"))
}

impl Month {
    async fn begin() -> Self {
        let postbox = Postbox::open(Security::Plain).await;
        let room = Mailroom::closed(RULES).await;
        std::fs::remove_file(room.dir.path().join("folders/letters.yaml")).unwrap();
        for folder in 0..FOLDERS {
            std::fs::create_dir(room.dir.path().join(format!("f{folder}"))).unwrap();
            std::fs::write(room.dir.path().join(format!("folders/f{folder}.yaml")), rules(folder)).unwrap();
        }
        let digest = "  digest: {at: '0 18 * * *', to: [boss@example.jp]}\n";
        room.add_to_main(&postbox.config(room.dir.path(), "none", digest));
        let mut month = Self { room, postbox, dropped: 0, held_seen: 0, cancelled: BTreeSet::new() };
        // It begins on a Monday, whatever today is: what goes wrong on a weekend, no letter meets.
        while month.today() != Weekday::Mon {
            month.room.clock.move_by(TimeDelta::days(1)).unwrap();
            month.room.service.advance("1day").await;
        }
        month.room.start();
        month.room.settle().await;
        month
    }

    fn today(&self) -> Weekday {
        self.room.clock.now().with_timezone(&chrono_tz::Asia::Tokyo).weekday()
    }

    fn folder(&self, folder: usize) -> PathBuf {
        self.room.dir.path().join(format!("f{folder}"))
    }

    /// A day's letters, spread over the folders that are there.
    fn drop(&mut self, letters: usize) {
        for _letter in 0..letters {
            let folder = self.dropped % FOLDERS;
            let path = self.folder(folder);
            let number = self.dropped;
            self.dropped += 1;
            let name = if number.is_multiple_of(2) {
                format!("INV-000123 {number}.pdf")
            } else {
                format!("x{number} 通知.pdf")
            };
            // A share that is away is written to when it is back.
            let path = if path.exists() { path } else { self.room.dir.path().join(format!("away{folder}")) };
            std::fs::write(path.join(name), unique(number, 1 + number % 5)).unwrap();
        }
    }

    /// Whoever may, approves what waits.
    fn approve(&mut self, folder: usize) {
        let held = self.folder(folder).join("Held");
        let Ok(entries) = std::fs::read_dir(&held) else { return };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|extension| extension == "pdf") {
                self.held_seen += 1;
                std::fs::rename(&path, self.folder(folder).join("Approve").join(path.file_name().unwrap()))
                    .unwrap();
            }
        }
    }

    /// Somebody thinks better of the first few that were posted.
    fn cancel(&mut self, folder: usize, few: usize) {
        let month = self.room.sent();
        let Ok(entries) = std::fs::read_dir(self.folder(folder).join(month)) else { return };
        let mut pdfs: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| is_original(path.to_str().unwrap()))
            .collect();
        pdfs.sort_by_key(|path| std::cmp::Reverse(path.metadata().unwrap().modified().unwrap()));
        for path in pdfs.into_iter().take(few) {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            std::fs::rename(&path, self.folder(folder).join("Cancel").join(&name)).unwrap();
            self.cancelled.insert(name);
        }
    }

    fn vanish(&self, folder: usize) {
        std::fs::rename(self.folder(folder), self.room.dir.path().join(format!("away{folder}"))).unwrap();
    }

    fn come_back(&self, folder: usize) {
        std::fs::rename(self.room.dir.path().join(format!("away{folder}")), self.folder(folder)).unwrap();
    }

    /// What goes wrong in the morning of a day, and is right again another morning.
    async fn morning(&mut self, day: usize) {
        match day {
            3 => self.vanish(3),
            4 => self.come_back(3),
            7 => self.postbox.always(Mood::Closed),
            8 => self.postbox.take_again(),
            9 => self.room.service.set_card("declining").await,
            10 => self.room.service.set_card("ok").await,
            13 => {
                self.vanish(5);
                self.room.stop();
                self.room.start();
            }
            14 => self.come_back(5),
            16 => {
                let file = self.room.dir.path().join("folders/f7.yaml");
                std::fs::write(&file, rules(7).replace("shipping:", "shiping:")).unwrap();
                let wrong = mailchute::config::Config::read(&self.room.dir.path().join("mailchute.yaml"));
                let wrong = wrong.unwrap_err().to_string();
                assert!(wrong.contains("did you mean `shipping`?"), "{wrong}");
                // As the daemon does it: what is in force was decided in spite of these files.
                let registry = self.room.registry();
                registry.set_has_mistakes(true);
                registry.decided_by(mailchute::config::FilesOnDisk::look(
                    &self.room.dir.path().join("mailchute.yaml"),
                ));
                self.room.outbox().configuration(Some(wrong)).await.unwrap();
            }
            17 => {
                std::fs::write(self.room.dir.path().join("folders/f7.yaml"), rules(7)).unwrap();
                self.room.reload();
                self.room.registry().set_has_mistakes(false);
                self.room.outbox().configuration(None).await.unwrap();
            }
            _quiet => {}
        }
    }

    async fn day(&mut self, day: usize, letters: usize) {
        self.morning(day).await;
        self.drop(letters);
        self.room.settled().await;
        if day.is_multiple_of(5) {
            self.cancel(day % FOLDERS, 3);
            self.room.settled().await;
        }
        for seconds in HOURS {
            self.room.pass(seconds).await;
            for folder in [2, 3, 4, 5] {
                self.approve(folder);
            }
            self.room.settled().await;
        }
    }

    /// Every letter: its number, its state, its name and the mail that was confirmed of it.
    fn letters(&self) -> Vec<(u64, String, String, Option<String>)> {
        let database = rusqlite::Connection::open(self.room.dir.path().join("state/mailchute.db")).unwrap();
        let sql = "SELECT number, state, (SELECT name FROM document WHERE letter = number AND n = 0),
                   (SELECT id FROM mail WHERE letter = number AND outcome IN ('confirmed', 'shipped', 'cancelled'))
                   FROM letter ORDER BY number";
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?, row.get(2)?, row.get(3)?))
        });
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// How often each happened to each mail, by the service's own ledger.
    async fn ledger(&self, event: &str) -> BTreeMap<String, usize> {
        let url = format!("{}/ledger?event={event}", self.room.service.welcome.places.control_url);
        let ledger: Value = self.room.service.http.get(url).send().await.unwrap().json().await.unwrap();
        let mut times = BTreeMap::new();
        for entry in ledger["entries"].as_array().unwrap() {
            *times.entry(entry["mail"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        times
    }

    async fn agree(&self) {
        let letters = self.letters();
        assert_eq!(letters.len(), LETTERS, "each drop is a letter");
        let of = |state: &str| -> BTreeSet<String> {
            letters.iter().filter(|letter| letter.1 == state).filter_map(|letter| letter.3.clone()).collect()
        };
        let (shipped, cancelled) = (of("shipped"), of("cancelled"));
        assert_eq!(shipped.len() + cancelled.len(), LETTERS, "{:?}", self.desk_states());
        // The service's ledger.
        let once = |times: &BTreeMap<String, usize>| times.values().all(|times| *times == 1);
        let (authorized, charged) = (self.ledger("authorized").await, self.ledger("charged").await);
        assert!(once(&authorized) && once(&charged));
        assert_eq!(charged.keys().cloned().collect::<BTreeSet<_>>(), shipped);
        assert_eq!(
            authorized.keys().cloned().collect::<BTreeSet<_>>(),
            shipped.union(&cancelled).cloned().collect()
        );
        // The folders.
        let mut lies: BTreeMap<String, String> = BTreeMap::new();
        for folder in 0..FOLDERS {
            collect(&self.folder(folder), "", &mut lies);
        }
        for (number, state, name, _) in &letters {
            let place = if state == "shipped" { "Sent" } else { "Cancelled" };
            assert_eq!(lies.remove(name).as_deref(), Some(place), "#{number} {name}");
        }
        assert_eq!(lies, BTreeMap::new(), "and nothing else");
        // The mails: every letter that has shipped is told in one mail of its folder, no other in any.
        let mut told: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
        for mail in self.postbox.got().into_iter().filter(|mail| mail.to.starts_with('f')) {
            for line in mail.text.lines().filter(|_| mail.subject.starts_with("Shipped")) {
                if let Some(number) =
                    line.strip_prefix('#').and_then(|rest| rest.split(' ').next()?.parse().ok())
                {
                    told.entry(number).or_default().insert(mail.id.clone());
                }
            }
        }
        for (number, state, name, _) in &letters {
            let times = told.get(number).map_or(0, BTreeSet::len);
            assert_eq!(times, usize::from(state == "shipped"), "#{number} {name} is {state}");
        }
        assert_eq!(self.room.desk().totals(self.room.clock.now()).unwrap().owed, 0);
        assert_eq!(self.room.desk().audit().unwrap().problems, Vec::<String>::new());
    }

    fn desk_states(&self) -> BTreeMap<String, usize> {
        let mut states = BTreeMap::new();
        for (_, state, _, _) in self.letters() {
            *states.entry(state).or_default() += 1;
        }
        states
    }
}

/// Neither a text nor a sealed PDF.
fn is_original(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "pdf") && !name.contains(".sealed.")
}

/// Each original by its name, and the shelf on which it lies.
fn collect(dir: &Path, shelf: &str, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            if name != ".mailchute" {
                collect(&entry.path(), if shelf.is_empty() { &name } else { shelf }, found);
            }
        } else if is_original(&name) {
            assert_eq!(found.insert(name.clone(), shelf.to_owned()), None, "{name} lies in two places");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_month_in_the_life() {
    let mut month = Month::begin().await;
    for day in 0..DAYS {
        // Two days of the month are holidays.
        let works = month.today().number_from_monday() < 6 && day != 11 && day != 23;
        let left = LETTERS - month.dropped;
        let letters = if day + 1 == DAYS {
            left
        } else if works {
            left.min(110)
        } else {
            0
        };
        month.day(day, letters).await;
    }
    for day in DAYS..DAYS + 14 {
        month.day(day, 0).await;
    }
    month.agree().await;
    assert!(
        month.held_seen > 150 && month.cancelled.len() >= 10,
        "{} {}",
        month.held_seen,
        month.cancelled.len()
    );
    let digests = month.postbox.subjects("boss@example.jp");
    let digests = digests.iter().filter(|subject| subject.contains("Letters of the day")).count();
    assert!((43..=46).contains(&digests), "{digests}");
    let alerts = month.postbox.subjects("admin@example.jp");
    let of = |words: &str| alerts.iter().filter(|subject| subject.contains(words)).count();
    let told = ["folder f3", "folder f5", "card was declined", "works", "configuration is not used"].map(of);
    assert_eq!(told, [2, 2, 1, 1, 2], "{alerts:#?}");
    println!(
        "{:?}, {} approved, {} mails, {alerts:#?}",
        month.desk_states(),
        month.held_seen,
        month.postbox.got().len()
    );
}
