//! Why a receiver that was read from a page waits, in words.

use super::Advice;
use crate::domain::printed::{NoReceiver, ReceiverDoubt};

/// `beside` says how to write an address down, `again` how to go on.
pub(super) fn en(doubt: &ReceiverDoubt, beside: &str, again: &str) -> Advice {
    match doubt {
        ReceiverDoubt::FirstTime { who, .. } => {
            let who = who.as_ref().map_or_else(String::new, |who| format!(": {}", who.0));
            Advice::new(
                format!("Nothing was posted to the receiver on page 1 before{who}."),
                format!("If this is right, {again}"),
            )
        }
        ReceiverDoubt::NotRead { why, read } => {
            let read = read.as_ref().map_or_else(String::new, |read| format!(" What was read: {}", read.0));
            Advice::new(
                format!("Its receiver was to be read from it, but {why}.{read}"),
                format!("{beside} Then {again}"),
            )
        }
    }
}

pub(super) fn ja(doubt: &ReceiverDoubt, beside: &str, again: &str) -> Advice {
    match doubt {
        ReceiverDoubt::FirstTime { who, .. } => {
            let who = who.as_ref().map_or_else(String::new, |who| format!("「{}」", who.0));
            Advice::new(
                format!("1ページ目の宛先{who}には、これまで郵送したことがありません。"),
                format!("宛先が正しければ{again}"),
            )
        }
        ReceiverDoubt::NotRead { why, read } => {
            let read =
                read.as_ref().map_or_else(String::new, |read| format!("読み取った内容:「{}」。", read.0));
            Advice::new(
                format!("宛先をPDFから読み取る設定ですが、{}。{read}", why_ja(*why)),
                format!("{beside}その後、{again}"),
            )
        }
    }
}

fn why_ja(why: NoReceiver) -> &'static str {
    match why {
        NoReceiver::Unreadable => "1ページ目の文字を読み取れません",
        NoReceiver::NoBlock => "1ページ目に郵便番号と宛名のある宛先が見つかりません",
        NoReceiver::SeveralBlocks => "1ページ目に宛先が複数あります",
        NoReceiver::Several => "1ページ目の宛先に郵便番号または宛名が複数あります",
        NoReceiver::OtherCity => "1ページ目の住所が郵便番号の市区町村と一致しません",
        NoReceiver::Lines => "1ページ目の宛先のどこまでが住所でどこからが宛名か分かりません",
    }
}
