//! Sheets, prices, ship dates and tracking numbers: figures of this sandbox, not of any real service.

use chrono::{Datelike, Days, FixedOffset, NaiveTime, TimeZone, Utc, Weekday};
use sha2::{Digest, Sha256};

use super::ids::MailId;
use crate::base::clock::Time;
use crate::outside::api::wire::{CreateMail, File, ShippingMethod, ShippingOption};

pub const SHEETS_PER_MAIL: u32 = 995;
const SHIPS_AT_HOUR: u32 = 9;
const JAPAN_SECONDS: i32 = 9 * 3600;

pub fn sheets(files: &[File]) -> u32 {
    let pages = |duplex: bool| -> u32 {
        files.iter().filter(|file| (file.duplex == "double") == duplex).map(|file| file.page_count).sum()
    };
    pages(true).div_ceil(2) + pages(false)
}

/// The estimate that is authorized at confirmation and charged after shipment, in yen.
pub fn amount(order: &CreateMail) -> u32 {
    let printing: u32 =
        order.files.iter().map(|file| file.page_count * if file.color == "color" { 40 } else { 10 }).sum();
    let postage = match order.shipping_method {
        ShippingMethod::Normal => 110,
        ShippingMethod::LetterpackLite => 430,
        ShippingMethod::LetterpackPlus => 600,
    };
    let options: u32 = order
        .shipping_options
        .iter()
        .map(|option| match option {
            ShippingOption::Express => 300,
            ShippingOption::Trackable => 210,
            ShippingOption::SimpleRegistered => 350,
            ShippingOption::NormalRegistered => 480,
        })
        .sum();
    printing + postage + options + if order.reply_letterpack.is_some() { 430 } else { 0 }
}

pub fn trackable(order: &CreateMail) -> bool {
    match order.shipping_method {
        ShippingMethod::LetterpackLite | ShippingMethod::LetterpackPlus => true,
        ShippingMethod::Normal => order.shipping_options.iter().any(|option| match option {
            ShippingOption::Trackable
            | ShippingOption::SimpleRegistered
            | ShippingOption::NormalRegistered => true,
            ShippingOption::Express => false,
        }),
    }
}

/// 9:00 in Japan on the next day that is not a Saturday or Sunday. Always later than `confirm_by`.
pub fn ship_date(created: Time) -> Time {
    let Some(japan) = FixedOffset::east_opt(JAPAN_SECONDS) else { return created };
    let opening = NaiveTime::from_hms_opt(SHIPS_AT_HOUR, 0, 0).unwrap_or_default();
    let mut day = created.with_timezone(&japan).date_naive() + Days::new(1);
    while matches!(day.weekday(), Weekday::Sat | Weekday::Sun) {
        day = day + Days::new(1);
    }
    japan
        .from_local_datetime(&day.and_time(opening))
        .single()
        .map_or(created, |time| time.with_timezone(&Utc))
}

/// Twelve digits, the last of which is the others' remainder modulo seven, as for parcels in Japan.
pub fn tracking_number(mail: &MailId) -> String {
    let digest: [u8; 32] = Sha256::digest(mail.as_str().as_bytes()).into();
    let number =
        digest[..8].iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte)) % 100_000_000_000;
    format!("{number:011}{}", number % 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        text.parse().unwrap()
    }

    #[test]
    fn ships_the_next_working_morning_in_japan() {
        // A Friday noon in Japan: Monday. A Thursday 23:59 in Japan: Friday. A Sunday there: Monday.
        assert_eq!(ship_date(at("2026-11-20T03:00:00Z")), at("2026-11-23T00:00:00Z"));
        assert_eq!(ship_date(at("2026-11-19T14:59:00Z")), at("2026-11-20T00:00:00Z"));
        assert_eq!(ship_date(at("2026-11-21T15:00:00Z")), at("2026-11-23T00:00:00Z"));
    }

    #[test]
    fn splitting_files_does_not_change_the_sheets() {
        let file = |pages, duplex: &str| File {
            file_name: "a.pdf".into(),
            page_count: pages,
            paper_size: "a4".into(),
            color: "grayscale".into(),
            duplex: duplex.into(),
            staple: None,
            bind: None,
        };
        assert_eq!(sheets(&[file(3, "double"), file(3, "double"), file(3, "single")]), 3 + 3);
        assert_eq!(sheets(&[file(6, "double"), file(3, "single")]), 3 + 3);
        assert_eq!(sheets(&[file(1, "double")]), 1);
    }

    #[test]
    fn tracking_numbers_have_their_check_digit() {
        let number = tracking_number(&MailId::new("m1"));
        assert_eq!(number.len(), 12);
        let (body, check) = number.split_at(11);
        assert_eq!(body.parse::<u64>().unwrap() % 7, check.parse::<u64>().unwrap());
    }
}
