//! A clerk who saves books and rules in place, and an administrator who renames a folder's file and changes the
//! language. What is saved in two halves is whole again after some seconds, in which everything goes on.

use chrono::TimeDelta;

use super::world::{World, rules};
use crate::rigs::dice::Dice;

/// Every address in the book ends so, except the first ones.
pub const END: &str = "号室";
/// Which names of its rules file the second folder has had.
const NAMES: [&str; 2] = ["approved", "office"];

#[derive(Debug, Default)]
pub struct Clerk {
    /// How often the book was saved.
    saved: usize,
    /// What the second folder's rules file is called.
    name: usize,
    language: usize,
}

impl Clerk {
    /// The shelves have these names now, and these had they before.
    pub fn shelf(&self, role: &str, dice: &mut Dice) -> &'static str {
        let (en, ja) = match role {
            "Held" => ("Held", "保留"),
            "Sent" => ("Sent", "送付済み"),
            "Rejected" => ("Rejected", "差し戻し"),
            "Approve" => ("Approve", "承認する"),
            _cancel => ("Cancel", "取り消す"),
        };
        // Who has an old text before the eyes uses the old name.
        let is_ja = (self.language == 1) != (matches!(role, "Approve" | "Cancel") && dice.percent(20));
        if is_ja { ja } else { en }
    }
}

impl World {
    /// One of them does something; says what.
    pub async fn clerk(&mut self) -> String {
        match self.dice.below(6) {
            0..=2 => self.save_book().await,
            3 => self.save_rules().await,
            4 => self.rename(),
            _ => self.change_language(),
        }
    }

    async fn save_book(&mut self) -> String {
        let dropped = self.drop_before().await;
        let path = self.room.dir.path().join("folders/customers.csv");
        self.clerk.saved += 1;
        let n = self.clerk.saved;
        let book = format!(
            "customer,name,honorific,postal_code,state,city,address1\n000456,株式会社見本,御中,530-0001,大阪府,大阪市北区,梅田{n}-1-1204{END}\n000123,山田 太郎,様,060-0001,北海道,札幌市中央区,北一条西{n}-1-1204{END}\n"
        );
        // In the middle of an address, or behind a whole line.
        let cut = [book.rfind("-1204"), book.rfind("-1-1204"), book.rfind("000123")];
        let cut = self.dice.pick(&cut).unwrap();
        std::fs::write(&path, &book[..cut]).unwrap();
        let seconds = self.dice.pick(&[1, 3, 7, 20]);
        self.pass(TimeDelta::milliseconds(seconds * 1000 + 1)).await;
        std::fs::write(&path, &book).unwrap();
        format!("{dropped}a book saved in place for {seconds} s")
    }

    async fn save_rules(&mut self) -> String {
        let dropped = self.drop_before().await;
        let path = self.room.dir.path().join(format!("folders/{}.yaml", NAMES[self.clerk.name]));
        let whole = std::fs::read_to_string(&path).unwrap();
        let half = whole.replace("release: approval\nlimits: {letters_per_day: 4}\n", "");
        assert_ne!(half, whole);
        std::fs::write(&path, half).unwrap();
        let seconds = self.dice.pick(&[1, 3, 7, 20]);
        self.pass(TimeDelta::milliseconds(seconds * 1000 + 1)).await;
        std::fs::write(&path, whole).unwrap();
        self.room.reload();
        format!("{dropped}rules saved in place for {seconds} s")
    }

    /// Often something was dropped just before, and settles meanwhile.
    async fn drop_before(&mut self) -> String {
        if self.dice.percent(30) {
            return String::new();
        }
        let said = self.office.drop(&self.room, &mut self.dice);
        self.pass(TimeDelta::milliseconds(3001)).await;
        format!("{said}, ")
    }

    fn rename(&mut self) -> String {
        let file = |name: usize| self.room.dir.path().join(format!("folders/{}.yaml", NAMES[name]));
        let other = 1 - self.clerk.name;
        std::fs::rename(file(self.clerk.name), file(other)).unwrap();
        self.clerk.name = other;
        self.room.reload();
        format!("the second folder's file is called {}", NAMES[other])
    }

    fn change_language(&mut self) -> String {
        let main = self.room.dir.path().join("mailchute.yaml");
        let text = std::fs::read_to_string(&main).unwrap();
        let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with("language:")).collect();
        self.clerk.language = 1 - self.clerk.language;
        let language = ["en", "ja"][self.clerk.language];
        std::fs::write(main, format!("{}\nlanguage: {language}\n", kept.join("\n"))).unwrap();
        self.room.reload();
        format!("the language is {language}")
    }

    /// No letter has half an address, and none of the second folder was posted that nobody let go.
    pub fn nothing_half_written_decided(&self) {
        let desk = self.room.desk();
        for row in desk.drops(1000).unwrap() {
            let is_in_the_book = row.name.starts_with("INV-000123") || row.name.starts_with('x');
            let is_missed = row.why.as_deref() == Some("not in the address book");
            assert!(!is_in_the_book || !is_missed, "{} was looked for in half a book", row.name);
        }
        for number in desk.numbers().unwrap() {
            let letter = desk.letter(number).unwrap().unwrap();
            let address = &letter.order.receiver.address.address1;
            let whole =
                ["北一条西1-1", "梅田1-1-1", "1-1"].contains(&address.as_str()) || address.ends_with(END);
            assert!(whole, "{number} goes to half an address: {address}");
            let is_released = || {
                let facts = desk.history(number).unwrap();
                facts.iter().any(|(_, fact)| matches!(fact, mailchute::domain::letter::Fact::Released))
            };
            let needs_word = NAMES.contains(&letter.order.source.as_str());
            let is_posted = facts_say_posted(&letter.state);
            assert!(
                !needs_word || !is_posted || is_released(),
                "{number} was posted without a person's word"
            );
        }
    }
}

fn facts_say_posted(state: &mailchute::domain::letter::State) -> bool {
    matches!(
        state,
        mailchute::domain::letter::State::Confirmed { .. } | mailchute::domain::letter::State::Shipped { .. }
    )
}

/// The rules of the second folder.
pub fn second_rules(directory: &str) -> String {
    rules(directory, "release: approval\nlimits: {letters_per_day: 4}\n")
}
