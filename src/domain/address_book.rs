//! Reads an address book: CSV with a heading line, in UTF-8 or in CP932 as Excel in Japan writes it.
//!
//! Keys and postal codes are stored and compared in their usual width. Each mistake is reported with row and
//! column. A row with a mistake gives no receiver; the other rows are used. A book of which it is not certain where its
//! rows and columns are is not used at all.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization as _;

use crate::base::encoding::decode;
use crate::domain::address::{Address, AddressMistake, Receiver};

/// The heading of each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    pub key: String,
    pub postal_code: String,
    pub state: String,
    pub city: String,
    pub address1: String,
    pub name: String,
    /// Optional.
    pub honorific: String,
}

#[derive(Debug, Default)]
pub struct AddressBook {
    ends_with_a_line: bool,
    receivers: BTreeMap<String, Receiver>,
    /// The keys of all rows, also of those with mistakes.
    keys: BTreeSet<String>,
}

/// A mistake in a row. Rows are counted from 1, and the headings are row 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowMistake {
    pub row: u64,
    pub column: String,
    pub what: String,
}

impl AddressBook {
    /// Reads a whole book. Returns `Err` if required columns are missing. The mistakes returned are those of
    /// single rows.
    pub fn read(bytes: &[u8], columns: &Columns) -> Result<(Self, Vec<RowMistake>), String> {
        let text = decode(bytes)?;
        if let Some(line) = unclear_quote(&text) {
            return Err(format!(
                "line {line}: a quoted field has no end, or text follows its closing quote; save the file again as CSV"
            ));
        }
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let headings: Vec<String> = reader
            .headers()
            .map_err(|error| format!("it is not CSV: {error}"))?
            .iter()
            .map(|heading| heading.trim().to_owned())
            .collect();
        let find = |name: &String| {
            let mut found = headings.iter().enumerate().filter(|(_, heading)| *heading == name);
            match (found.next(), found.next()) {
                (_, Some(_)) => Err(format!("its first row has the heading `{name}` more than once")),
                (found, None) => Ok(found.map(|(place, _)| place)),
            }
        };
        let need = |name: &String| {
            find(name)?.ok_or_else(|| {
                format!("its first row has no heading `{name}` among its {} columns", headings.len())
            })
        };
        let places = Places {
            key: need(&columns.key)?,
            fields: [
                need(&columns.postal_code)?,
                need(&columns.state)?,
                need(&columns.city)?,
                need(&columns.address1)?,
                need(&columns.name)?,
            ],
            honorific: find(&columns.honorific)?,
            columns: headings.len(),
            headed: headings.iter().rposition(|heading| !heading.is_empty()).map_or(0, |last| last + 1),
        };
        let mut book = Self { ends_with_a_line: text.ends_with('\n'), ..Self::default() };
        let mut mistakes = Vec::new();
        // As a spreadsheet counts: the headings are row 1.
        for (record, row) in reader.records().zip(2..) {
            let record = record.map_err(|error| format!("it is not CSV: {error}"))?;
            book.take(&record, row, &places, columns, &mut mistakes);
        }
        Ok((book, mistakes))
    }

    pub fn receiver(&self, key: &str) -> Option<&Receiver> {
        self.receivers.get(&usual(key))
    }

    /// All receivers with their keys.
    pub fn receivers(&self) -> impl Iterator<Item = (&str, &Receiver)> {
        self.receivers.iter().map(|(key, receiver)| (key.as_str(), receiver))
    }

    /// Whether the last line ends with a line end. Without one, the file may still be growing.
    pub fn ends_with_a_line(&self) -> bool {
        self.ends_with_a_line
    }

    pub fn len(&self) -> usize {
        self.receivers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.receivers.is_empty()
    }

    fn take(
        &mut self,
        record: &csv::StringRecord,
        row: u64,
        places: &Places,
        columns: &Columns,
        mistakes: &mut Vec<RowMistake>,
    ) {
        let field = |place: usize| record.get(place).unwrap_or_default().trim();
        let key = usual(field(places.key));
        let mut wrong = |column: &String, what: &str| {
            mistakes.push(RowMistake { row, column: column.clone(), what: what.to_owned() });
        };
        if record.iter().all(|field| field.trim().is_empty()) {
            return;
        }
        if key.is_empty() {
            return wrong(&columns.key, "the key is missing");
        }
        if places.fields.iter().all(|place| field(*place).is_empty()) {
            return wrong(&columns.name, "the row has a key and no address");
        }
        let is_first = self.keys.insert(key.clone());
        // Of several rows with a key none is used, unless all have the same address.
        let before = self.receivers.remove(&key);
        let is_beyond = record.iter().skip(places.headed).any(|field| !field.trim().is_empty());
        if record.len() > places.columns || is_beyond {
            let what =
                "the row has more fields than the first row has headings: a comma in a field needs quotes";
            return wrong(&columns.key, what);
        }
        let receiver = places.receiver(field);
        let problems = receiver.problems();
        for AddressMistake { field, wrong: what } in &problems {
            wrong(&columns.heading(field.key()), &what.to_string());
        }
        if !is_first && before.as_ref() != Some(&receiver) {
            let what = "the key is in an earlier row too, with another address; none of these rows is used";
            return wrong(&columns.key, what);
        }
        if problems.is_empty() {
            self.receivers.insert(key, receiver);
        }
    }
}

struct Places {
    key: usize,
    fields: [usize; 5],
    honorific: Option<usize>,
    columns: usize,
    /// The number of columns up to the last one that has a heading.
    headed: usize,
}

impl Places {
    fn receiver<'a>(&self, field: impl Fn(usize) -> &'a str) -> Receiver {
        let [postal_code, state, city, address1, name] = self.fields.map(&field);
        let address = Address {
            postal_code: digits(postal_code),
            state: state.to_owned(),
            city: city.to_owned(),
            address1: address1.to_owned(),
            name: name.to_owned(),
        };
        let honorific = self.honorific.map(field).filter(|text| !text.is_empty()).unwrap_or("様");
        Receiver { address, honorific: honorific.to_owned() }
    }
}

impl Columns {
    fn heading(&self, field: &str) -> String {
        let known = [
            ("postal_code", &self.postal_code),
            ("state", &self.state),
            ("city", &self.city),
            ("address1", &self.address1),
            ("name", &self.name),
            ("honorific", &self.honorific),
        ];
        known
            .iter()
            .find(|(name, _)| *name == field)
            .map_or_else(String::new, |(_, heading)| (*heading).clone())
    }
}

/// The line of a quoted field that has no end, or whose closing quote is followed by text. A CSV reader continues into
/// later rows there, and gives one row the fields of another.
fn unclear_quote(text: &str) -> Option<usize> {
    let (mut line, mut begun) = (1, 1);
    let mut state = CsvPart::FieldBegins;
    for c in text.chars() {
        state = match (state, c) {
            // Blanks behind a quote belong to the field, and are left out.
            (CsvPart::Quoted, '"') | (CsvPart::QuoteInQuoted, ' ' | '\t') => CsvPart::QuoteInQuoted,
            (CsvPart::FieldBegins, '"') => {
                begun = line;
                CsvPart::Quoted
            }
            (CsvPart::Quoted, _) | (CsvPart::QuoteInQuoted, '"') => CsvPart::Quoted,
            (CsvPart::FieldBegins | CsvPart::Plain | CsvPart::QuoteInQuoted, ',' | '\r' | '\n') => {
                CsvPart::FieldBegins
            }
            (CsvPart::QuoteInQuoted, _) => return Some(line),
            (CsvPart::FieldBegins | CsvPart::Plain, _) => CsvPart::Plain,
        };
        line += usize::from(c == '\n');
    }
    (state == CsvPart::Quoted).then_some(begun)
}

/// The part of CSV in which a character is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CsvPart {
    FieldBegins,
    Plain,
    Quoted,
    QuoteInQuoted,
}

/// The text in its usual width, without blanks around it.
fn usual(text: &str) -> String {
    text.trim().nfkc().collect()
}

/// A postal code as the service takes it: `〒０６０−０００１` becomes 0600001.
fn digits(text: &str) -> String {
    let text = usual(text);
    let is_dash = |c: char| matches!(c, '-' | '‐' | '‑' | '–' | '—' | '−' | 'ー' | '〒' | ' ');
    text.chars().filter(|c| !is_dash(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        let [key, postal_code, state, city, address1, name, honorific] =
            ["顧客番号", "郵便番号", "都道府県", "市区町村", "番地", "氏名", "敬称"].map(str::to_owned);
        Columns { key, postal_code, state, city, address1, name, honorific }
    }

    const BOOK: &str = "顧客番号,氏名,郵便番号,都道府県,市区町村,番地,敬称\r\n\
        000123,山田 太郎,060-0001,北海道,札幌市中央区,北一条西1-1,\r\n\
        ００４５６,株式会社見本,〒１００−０００１,東京都,千代田区,千代田1-1,御中\r\n";

    #[test]
    fn a_book_from_excel_is_read_in_either_encoding_and_width() {
        let (cp932, _, _) = encoding_rs::SHIFT_JIS.encode(BOOK);
        for bytes in
            [BOOK.as_bytes().to_vec(), [b"\xef\xbb\xbf", BOOK.as_bytes()].concat(), cp932.into_owned()]
        {
            let (book, mistakes) = AddressBook::read(&bytes, &columns()).unwrap();
            assert_eq!((book.len(), mistakes), (2, vec![]));
            let first = book.receiver("０００１２３").unwrap();
            assert_eq!((first.address.postal_code.as_str(), first.honorific.as_str()), ("0600001", "様"));
            assert_eq!(book.receiver("00456").unwrap().address.postal_code, "1000001");
        }
    }

    #[test]
    fn each_mistake_has_its_row_and_column_and_costs_only_its_row() {
        let text = format!(
            "{BOOK}000124,山田,0600001,神奈川県横浜,横浜市,1,\r\n000123,別人,0600001,北海道,札幌市,1,\r\n,x,0600001,北海道,y,1,\r\n\
             000125,名前,06,北海道,,1,\r\n"
        );
        let (book, mistakes) = AddressBook::read(text.as_bytes(), &columns()).unwrap();
        let told: Vec<_> = mistakes.iter().map(|m| (m.row, m.column.as_str())).collect();
        assert_eq!(
            told,
            [(4, "都道府県"), (5, "顧客番号"), (6, "顧客番号"), (7, "郵便番号"), (7, "市区町村")]
        );
        assert!(book.receiver("000123").is_none(), "which of the two?");
        assert_eq!(book.len(), 1);
        assert!(AddressBook::read(b"\xff\xff\xff", &columns()).is_err());
    }

    #[test]
    fn a_key_of_several_rows_is_used_in_none_however_many_they_are() {
        let row = |address1: &str| format!("000123,山田 太郎,0600001,北海道,札幌市中央区,{address1},\r\n");
        let wrong = "000123,山田 太郎,06,北海道,札幌市中央区,1,\r\n".to_owned();
        let long = "000123,山田 太郎,0600001,北海道,札幌市中央区,1,様,2F\r\n".to_owned();
        for rows in [
            vec![row("1"), row("2")],
            vec![row("1"), row("2"), row("3")],
            vec![row("1"), row("2"), row("3"), row("4"), row("5")],
            vec![wrong.clone(), row("2")],
            vec![row("1"), wrong],
            vec![long.clone(), row("2")],
            vec![row("1"), long, row("1")],
            vec![row("1"), row("1"), row("2"), row("2")],
        ] {
            let text = format!("顧客番号,氏名,郵便番号,都道府県,市区町村,番地,敬称\r\n{}", rows.concat());
            let (book, mistakes) = AddressBook::read(text.as_bytes(), &columns()).unwrap();
            assert!(book.receiver("０００１２３").is_none(), "{text}");
            assert!(!mistakes.is_empty());
        }
        // Rows with the same address leave no doubt.
        let same = format!("顧客番号,氏名,郵便番号,都道府県,市区町村,番地,敬称\r\n{}", row("1").repeat(3));
        let (book, mistakes) = AddressBook::read(same.as_bytes(), &columns()).unwrap();
        assert!(book.receiver("000123").is_some() && mistakes.is_empty());
        // As a spreadsheet writes it that has empty cells behind the headings.
        let wide =
            "顧客番号,氏名,郵便番号,都道府県,市区町村,番地,敬称,,\n000123,山田,0600001,北海道,札幌市,1,,,\n";
        assert_eq!(AddressBook::read(wide.as_bytes(), &columns()).unwrap().0.len(), 1);
        // Also by a program that leaves out empty cells at the end of a row.
        let short = wide.replace("1,,,\n", "1,様\n");
        assert_eq!(AddressBook::read(short.as_bytes(), &columns()).unwrap().0.len(), 1);
        let moved = wide.replace("1,,,\n", "1,2F,様\n");
        assert_eq!(AddressBook::read(moved.as_bytes(), &columns()).unwrap().0.len(), 0);
        let shifted = wide.replace("山田,", "山田, 太郎,");
        assert_eq!(AddressBook::read(shifted.as_bytes(), &columns()).unwrap().0.len(), 0);
    }

    #[test]
    fn a_row_that_does_not_fit_its_headings_gives_no_receiver() {
        let book = |row: &str| {
            let text = format!("顧客番号,郵便番号,都道府県,市区町村,氏名,番地\n{row}\n");
            AddressBook::read(text.as_bytes(), &columns())
                .map(|(book, mistakes)| (book.len(), mistakes.len()))
        };
        // A floor behind a comma would be left out, and the letter would not arrive.
        assert_eq!(book("1,0600001,北海道,札幌市中央区,山田 太郎,北一条西1-1, 2F"), Ok((0, 1)));
        assert_eq!(book("1,0600001,北海道,札幌市中央区,山田 太郎,\"北一条西1-1, 2F\""), Ok((1, 0)));
        assert_eq!(book("1,0600001,北海道,札幌市中央区,山田 太郎,\"北一条西1-1, 2F\" "), Ok((1, 0)));
        // A comma without quotes moves what follows, and what is left out at the end is empty.
        assert_eq!(book("1,0600001,北海道,札幌市中央区,山田, 太郎,"), Ok((0, 1)));
        assert_eq!(book("1,0600001,北海道,札幌市中央区,山田 太郎,北一条西1-1,"), Ok((0, 1)));
        // A quote that is not closed would give this customer the name of the next one.
        let open = "1,0600001,北海道,札幌市中央区,\"山田 太郎,1\n2,0600001,北海道,札幌市中央区,\"佐藤\",2";
        assert!(book(open).unwrap_err().starts_with("line 3:"));
        assert!(book("1,0600001,北海道,札幌市中央区,\"山田,1").unwrap_err().starts_with("line 2:"));
        assert_eq!(book("1,0600001,北海道,札幌市中央区,山田\"太郎,1"), Ok((1, 0)));
        let twice = "顧客番号,郵便番号,都道府県,市区町村,氏名,番地,氏名\n";
        let why = AddressBook::read(twice.as_bytes(), &columns()).unwrap_err();
        assert!(why.contains("`氏名` more than once"), "{why}");
    }

    #[test]
    fn a_file_that_is_no_book_is_refused() {
        let missing = AddressBook::read(b"a,b\n1,2\n", &columns()).unwrap_err();
        assert!(missing.contains("`顧客番号`") && missing.contains("2 columns"), "{missing}");
    }
}
