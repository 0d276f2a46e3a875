//! Reads the body of `POST /v1/mails`. All mistakes are reported together, each with its path.
//!
//! Stricter than the contract where that leaves room (docs/design/sandbox.md), and safe against JSON's own
//! traps: a repeated key is refused, and neither `3.0` nor `"3"` is an integer.

use std::collections::{BTreeMap, BTreeSet};

use super::json::Json;
use super::world::Fault;
use crate::outside::api::wire::{Address, CreateMail, File, ReplyLetterpack, ShippingMethod, ShippingOption};

const FILES: std::ops::RangeInclusive<usize> = 1..=10;
const PAGES: std::ops::RangeInclusive<u64> = 1..=2000;
const STATE_CHARACTERS: usize = 4;
const TEXT_CHARACTERS: usize = 255;

pub fn read(bytes: &[u8]) -> Result<Box<CreateMail>, Vec<Fault>> {
    let json = Json::read(bytes).map_err(|message| vec![Fault::at("", message)])?;
    let mut faults = Vec::new();
    let order = read_order(json, &mut faults);
    match order {
        Some(order) if faults.is_empty() => Ok(Box::new(order)),
        Some(_) | None => Err(faults),
    }
}

fn read_order(json: Json, faults: &mut Vec<Fault>) -> Option<CreateMail> {
    let mut keys = Keys::of(json, String::new(), faults)?;
    let shipping_method =
        keys.word("shipping_method", &ShippingMethod::ALL.map(|method| (method.word(), method)));
    let shipping_options = read_options(&mut keys, shipping_method);
    let sender_address = keys.object("sender_address", |keys| read_address(keys, false));
    let receiver_address = keys.object("receiver_address", |keys| read_address(keys, true));
    let reply_letterpack = keys.take("reply_letterpack").and_then(|json| {
        let path = keys.path_of("reply_letterpack");
        read_reply(json, path, keys.faults)
    });
    let files = read_files(&mut keys);
    keys.finish();
    Some(CreateMail {
        shipping_method: shipping_method?,
        shipping_options: shipping_options?,
        sender_address: sender_address?,
        receiver_address: receiver_address?,
        reply_letterpack,
        files: files?,
    })
}

fn read_options(keys: &mut Keys<'_>, method: Option<ShippingMethod>) -> Option<Vec<ShippingOption>> {
    let Some(json) = keys.take("shipping_options") else { return Some(Vec::new()) };
    if method.is_some_and(|method| method != ShippingMethod::Normal) {
        return keys.fault("shipping_options", "is allowed only with the shipping_method `normal`");
    }
    let Json::Array(items) = json else {
        return keys.fault("shipping_options", "must be an array");
    };
    let words = ShippingOption::ALL.map(|option| (option.word(), option));
    let mut options = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let path = format!("shipping_options.{index}");
        let option = keys.word_in(&path, item, &words)?;
        if options.contains(&option) {
            return keys.fault(&path, "is given twice");
        }
        options.push(option);
    }
    let registered = [ShippingOption::SimpleRegistered, ShippingOption::NormalRegistered];
    if registered.iter().all(|option| options.contains(option)) {
        return keys.fault("shipping_options", "can't be registered in both ways");
    }
    Some(options)
}

fn read_address(keys: &mut Keys<'_>, receiver: bool) -> Option<Address> {
    let seven_digits = |code: &str| code.len() == 7 && code.bytes().all(|byte| byte.is_ascii_digit());
    let postal_code = keys.text_that("postal_code", seven_digits, "must be seven digits without a separator");
    let short = |state: &str| state.chars().count() <= STATE_CHARACTERS;
    let state = keys.text_that("state", short, "must have at most 4 characters");
    let (city, address1, name) = (keys.text("city"), keys.text("address1"), keys.text("name"));
    let honorific = receiver.then(|| keys.text("honorific")).flatten();
    Some(Address {
        postal_code: postal_code?,
        state: state?,
        city: city?,
        address1: address1?,
        name: name?,
        honorific,
    })
}

fn read_reply(json: Json, path: String, faults: &mut Vec<Fault>) -> Option<ReplyLetterpack> {
    let mut keys = Keys::of(json, path, faults)?;
    let given = keys.left.contains_key("address");
    let address = given.then(|| keys.object("address", |keys| read_address(keys, false))).flatten();
    keys.finish();
    Some(ReplyLetterpack { address })
}

fn read_files(keys: &mut Keys<'_>) -> Option<Vec<File>> {
    let items = match keys.take("files") {
        Some(Json::Array(items)) if FILES.contains(&items.len()) => items,
        Some(Json::Array(_)) => return keys.fault("files", "must have 1 to 10 items"),
        Some(_) => return keys.fault("files", "must be an array"),
        None => return keys.fault("files", "is missing"),
    };
    let mut names = BTreeSet::new();
    let mut files = Vec::new();
    let count = items.len();
    for (index, item) in items.into_iter().enumerate() {
        let path = format!("files.{index}");
        let file = Keys::of(item, path.clone(), keys.faults).and_then(|mut keys| {
            let file = read_file(&mut keys);
            keys.finish();
            file
        });
        if file.as_ref().is_some_and(|file| !names.insert(file.file_name.clone())) {
            let _: Option<()> =
                keys.fault(&format!("{path}.file_name"), "is the name of an earlier file too");
        }
        files.extend(file);
    }
    (files.len() == count).then_some(files)
}

fn read_file(keys: &mut Keys<'_>) -> Option<File> {
    let plain = |name: &str| !name.contains(['/', '\\']);
    let file_name = keys.text_that("file_name", plain, "must be a name without a path");
    let page_count = match keys.take("page_count") {
        Some(Json::Integer(count)) if PAGES.contains(&count) => u32::try_from(count).ok(),
        Some(Json::OtherNumber(Some(whole))) => {
            keys.fault("page_count", &format!("must be an integer; write {whole}"))
        }
        Some(_) => keys.fault("page_count", "must be an integer from 1 to 2000"),
        None => keys.fault("page_count", "is missing"),
    };
    let paper_size = keys.optional_word("paper_size", &[("a4", "a4")]);
    let color = keys.word("color", &[("grayscale", "grayscale"), ("color", "color")]);
    let duplex = keys.word("duplex", &[("double", "double"), ("single", "single")]);
    let staple = keys.optional_word("staple", &[("top-left", "top-left")]);
    let bind = match keys.take("bind") {
        None => None,
        Some(Json::Bool(bind)) => Some(bind),
        Some(_) => keys.fault("bind", "must be true or false"),
    };
    if bind == Some(true) && staple.is_some() {
        return keys.fault("bind", "is not possible together with `staple`");
    }
    Some(File {
        file_name: file_name?,
        page_count: page_count?,
        paper_size: paper_size.unwrap_or("a4").to_owned(),
        color: color?.to_owned(),
        duplex: duplex?.to_owned(),
        staple: staple.map(str::to_owned),
        bind,
    })
}

/// The keys of one object, taken one by one. Those left at [`Keys::finish`] are unknown.
struct Keys<'a> {
    path: String,
    left: BTreeMap<String, Json>,
    faults: &'a mut Vec<Fault>,
}

impl<'a> Keys<'a> {
    fn of(json: Json, path: String, faults: &'a mut Vec<Fault>) -> Option<Self> {
        if let Json::Object(left) = json {
            return Some(Self { path, left, faults });
        }
        faults.push(Fault::at(path, "must be an object"));
        None
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn fault<T>(&mut self, key: &str, message: &str) -> Option<T> {
        let path = self.path_of(key);
        self.faults.push(Fault::at(path, message));
        None
    }

    fn take(&mut self, key: &str) -> Option<Json> {
        self.left.remove(key)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.take(key) {
            None => self.fault(key, "is missing"),
            Some(Json::Text(text)) if text.trim().is_empty() => self.fault(key, "must not be empty"),
            Some(Json::Text(text)) if text.chars().count() > TEXT_CHARACTERS => {
                self.fault(key, "must have at most 255 characters")
            }
            Some(Json::Text(text)) if text.contains(char::is_control) => {
                self.fault(key, "must not contain control characters")
            }
            Some(Json::Text(text)) => Some(text),
            Some(_) => self.fault(key, "must be a string"),
        }
    }

    /// A text with a rule of its own.
    fn text_that(&mut self, key: &str, rule: impl Fn(&str) -> bool, otherwise: &str) -> Option<String> {
        let text = self.text(key)?;
        if rule(&text) { Some(text) } else { self.fault(key, otherwise) }
    }

    fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        match self.take(key) {
            None => self.fault(key, "is missing"),
            Some(json) => self.word_in(key, json, words),
        }
    }

    /// A word that may be missing. A mistake in it is added to the others.
    fn optional_word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let json = self.take(key)?;
        self.word_in(key, json, words)
    }

    fn word_in<T: Copy>(&mut self, key: &str, json: Json, words: &[(&str, T)]) -> Option<T> {
        if let Json::Text(text) = json
            && let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text)
        {
            return Some(*meaning);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        self.fault(key, &format!("must be one of: {}", known.join(", ")))
    }

    fn object<T>(&mut self, key: &str, read: impl FnOnce(&mut Keys<'_>) -> Option<T>) -> Option<T> {
        match self.take(key) {
            None => self.fault(key, "is missing"),
            Some(json) => {
                let path = self.path_of(key);
                let mut keys = Keys::of(json, path, self.faults)?;
                let value = read(&mut keys);
                keys.finish();
                value
            }
        }
    }

    fn finish(self) {
        for key in self.left.keys() {
            let path = self.path_of(key);
            self.faults.push(Fault::at(path, "is not a known key"));
        }
    }
}
