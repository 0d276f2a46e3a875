//! How often a right address is called another city's.
//!
//! `POSTAL_DATA=DIR cargo test --release --test long postal -- --nocapture` with the JSON files of jpostcode-data:
//! every row and every company's own address, written in the usual variants.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::NaiveDate;
use mailchute::domain::address::{Address, PlaceList, PostalData};
use serde_json::Value;

/// How people write a city and what follows it.
fn variants(city: &str, rest: &str) -> Vec<(String, String)> {
    let both = |city: &str, rest: &str| (city.to_owned(), rest.to_owned());
    let mut all = vec![
        both(city, rest),
        both(&city.replace('ヶ', "ケ"), &rest.replace('ヶ', "ケ")),
        both(&city.replace(['ヶ', 'ケ'], "が"), rest),
        both(&city.replace('竜', "龍"), rest),
        both(&city.replace('斉', "齋"), rest),
        both(&city.replace('浜', "濱"), rest),
        both(&city.replace('沢', "澤"), rest),
        both(&city.replace('崎', "﨑"), rest),
        both(&format!("{city}　"), rest),
        (city.chars().flat_map(|c| [c, ' ']).collect(), rest.to_owned()),
        // All in one field.
        both("", &format!("{city}{rest}")),
    ];
    // Without the district, in either field.
    if let Some((district, town)) = city.split_once('郡')
        && !town.is_empty()
        && !district.is_empty()
        && (town.ends_with('町') || town.ends_with('村'))
    {
        all.push(both(town, rest));
        all.push((format!("{district}郡"), format!("{town}{rest}")));
    }
    // A designated city without its ward, and with the ward in the other field.
    if let Some((name, ward)) = city.split_once('市')
        && ward.ends_with('区')
    {
        all.push((format!("{name}市"), rest.to_owned()));
        all.push((format!("{name}市"), format!("{ward}{rest}")));
    }
    all
}

/// Every row of the JSON files.
fn rows(dir: &std::ffi::OsStr) -> impl Iterator<Item = Value> {
    std::fs::read_dir(dir).unwrap().flat_map(|file| {
        let file = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let codes: BTreeMap<String, Value> = serde_json::from_str(&file).unwrap();
        codes.into_values().flat_map(|row| row.as_array().cloned().unwrap_or_else(|| vec![row]))
    })
}

/// The towns as Japan Post's file has them.
fn list(dir: &std::ffi::OsStr) -> PostalData {
    let mut csv = String::new();
    for row in rows(dir).filter(|row| row["office_name"].is_null()) {
        let [code, prefecture, city, town] = ["postcode", "prefecture", "city", "town"]
            .map(|key| row[key].as_str().unwrap_or_default().to_owned());
        writeln!(csv, "0,0,\"{code}\",,,,\"{prefecture}\",\"{city}\",\"{town}\",0,0,0,0,0,0").unwrap();
    }
    PostalData::read(csv.as_bytes(), NaiveDate::from_ymd_opt(2024, 12, 1).unwrap()).unwrap()
}

#[test]
fn postal_codes_of_right_addresses_are_right() {
    let Some(dir) = std::env::var_os("POSTAL_DATA") else { return };
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let mut counts: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    let mut shown = 0;
    let list = list(&dir);
    let places = PlaceList::new(&list, list.as_of());
    for row in rows(&dir) {
        let kind = if row["office_name"].is_null() { "towns" } else { "companies" };
        let rest = format!("{}{}", text(&row, "town"), text(&row, "street"));
        for (city, address1) in variants(&text(&row, "city"), &rest) {
            let address = Address {
                postal_code: text(&row, "postcode"),
                state: text(&row, "prefecture"),
                city,
                address1,
                name: "山田 太郎".to_owned(),
            };
            let count = counts.entry(kind).or_default();
            let doubt = places.doubt(&address);
            let [other_city, waits, noted] = [
                address.elsewhere().or_else(|| address.other_city()).is_some(),
                address.elsewhere().is_some() || doubt.as_ref().is_some_and(|doubt| doubt.holds),
                doubt.is_some_and(|doubt| !doubt.holds),
            ];
            *count = [
                count[0] + 1,
                count[1] + u64::from(other_city),
                count[2] + u64::from(waits),
                count[3] + u64::from(noted),
            ];
            if other_city || waits || noted {
                shown += 1;
                if shown <= 30 {
                    println!(
                        "{other_city} {waits} {noted} {} {} | {}",
                        address.postal_code, address.city, address.address1
                    );
                }
            }
        }
    }
    println!(
        "| rows | written addresses | another city's by the built-in list | wait by the whole list | noted |"
    );
    for (kind, [many, wrong, waits, noted]) in &counts {
        println!("| {kind} | {many} | {wrong} | {waits} | {noted} |");
        assert!(wrong.max(waits) * 200 <= *many, "more than 0.5 %");
    }
    assert!(counts.values().map(|[many, ..]| many).sum::<u64>() > 1_000_000, "the data are not whole");
}
