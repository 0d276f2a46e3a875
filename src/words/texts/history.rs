//! A letter's history fact by fact, and spans of time, as a page shows them.

use chrono_tz::Tz;

use super::{Language, ja};
use crate::base::clock::Time;
use crate::domain::address::Misplaced;
use crate::domain::drop::Refusal;
use crate::domain::letter::{Abandonment, Certainty, Fact, GoneAnswer, Kept, Reason};

impl Language {
    /// What happened. Times are in the reader's time zone.
    pub fn happened(self, fact: &Fact, zone: Tz) -> String {
        match self {
            Self::En => en(fact, zone),
            Self::Ja => ja_fact(fact, zone),
        }
    }

    /// Whether the letter may be sent again.
    pub fn certainty(self, certainty: Certainty) -> String {
        match (self, certainty) {
            (Self::En, certainty) => certainty.to_string(),
            (Self::Ja, Certainty::NothingPosted) => {
                "郵送されていません。入れ直す場合は、先にこの郵便を取り消してください。".to_owned()
            }
            (Self::Ja, Certainty::Unknown) => {
                "郵送された可能性があります。もう一度送らないでください。".to_owned()
            }
        }
    }

    /// Why a letter waits, without where its receiver lives.
    pub fn reason(self, reason: &Reason) -> String {
        match (self, reason) {
            (Self::En, reason) => reason.to_string(),
            (Self::Ja, Reason::Misplaced(Misplaced::UnknownCode)) => {
                "宛先の郵便番号が郵便番号データにありません。".to_owned()
            }
            (Self::Ja, Reason::Misplaced(Misplaced::OtherCity(_) | Misplaced::OtherTown(_))) => {
                "宛先の郵便番号と市区町村が一致しません。".to_owned()
            }
            (Self::Ja, Reason::Elsewhere(_)) => "宛先の郵便番号と都道府県が一致しません。".to_owned(),
            (
                Self::Ja,
                Reason::ByPerson
                | Reason::Approval
                | Reason::OwnerNotProved
                | Reason::Duplicate(_)
                | Reason::Limit(_)
                | Reason::Refused(_)
                | Reason::UploadRefused(_)
                | Reason::DocumentDamaged(_)
                | Reason::NotAsMeant(_)
                | Reason::PostedOtherwise(_)
                | Reason::NeverPostable(_)
                | Reason::TooManyIntents
                | Reason::NoAnswer
                | Reason::ProvedAfterDoubt
                | Reason::OtherAccount
                | Reason::NoFolder
                | Reason::Restored,
            ) => ja::reason_text(reason),
        }
    }

    /// Why a drop is not a letter, without the content of its sidecar, which may name the receiver.
    pub fn refused(self, refusal: &Refusal) -> String {
        match (self, refusal) {
            (Self::En, Refusal::Sidecar(_)) => {
                "Its sidecar can't be used; the text beside it says why.".to_owned()
            }
            (Self::Ja, Refusal::Sidecar(_)) => {
                "宛先ファイルを使えません。隣のテキストに理由があります。".to_owned()
            }
            (Self::En, Refusal::NotPostable(_)) => {
                "It can't be posted like this; the text beside it says why.".to_owned()
            }
            (Self::Ja, Refusal::NotPostable(_)) => {
                "このままでは郵送できません。隣のテキストに理由があります。".to_owned()
            }
            (
                Self::En | Self::Ja,
                Refusal::NotAFile(_)
                | Refusal::LinkedElsewhere
                | Refusal::NoRight
                | Refusal::Empty
                | Refusal::TooLarge { .. }
                | Refusal::NotPdf
                | Refusal::Pdf(_)
                | Refusal::NotInSubfolder
                | Refusal::NoDocuments
                | Refusal::TooManyDocuments { .. }
                | Refusal::Unfit { .. }
                | Refusal::NoRule
                | Refusal::NoReceiver { .. }
                | Refusal::KeyUnclear(_)
                | Refusal::NoLetter
                | Refusal::SeveralSidecars { .. }
                | Refusal::SidecarReplaced { .. }
                | Refusal::SidecarAlone { .. }
                | Refusal::NameTooLong
                | Refusal::SidecarUnwanted { .. }
                | Refusal::OtherPages { .. }
                | Refusal::NothingWaits
                | Refusal::Unheard(_)
                | Refusal::OwnApproval
                | Refusal::OwnerNotProved { .. },
            ) => self.refusal(refusal).cause,
        }
    }

    /// A span of time in its largest useful unit.
    pub fn span(self, seconds: i64) -> String {
        let (count, unit) = match seconds.max(0) {
            seconds @ 0..120 => (seconds, 0),
            seconds @ 120..7200 => (seconds / 60, 1),
            seconds @ 7200..172_800 => (seconds / 3600, 2),
            seconds => (seconds / 86_400, 3),
        };
        match self {
            Self::En => format!("{count} {}", ["s", "min", "h", "days"][unit]),
            Self::Ja => format!("{count}{}", ["秒", "分", "時間", "日"][unit]),
        }
    }
}

fn en(fact: &Fact, zone: Tz) -> String {
    let time = |time: &Time| Language::En.time(*time, zone);
    match fact {
        Fact::Seen { ships_at, cancellable: true, .. } => {
            format!("ships on {}; can still be cancelled", time(ships_at))
        }
        Fact::Seen { ships_at, cancellable: false, .. } => {
            format!("ships on {}; can't be cancelled any more", time(ships_at))
        }
        Fact::Shipped { at, tracking, .. } => {
            let number =
                tracking.as_ref().map_or_else(String::new, |number| format!(", tracking number {number}"));
            format!("shipped on {}{number}", time(at))
        }
        Fact::Admitted { .. }
        | Fact::Created(_)
        | Fact::Uploaded { .. }
        | Fact::Abandoned { .. }
        | Fact::Intended { .. }
        | Fact::FilesMissing { .. }
        | Fact::UploadedAgain { .. }
        | Fact::Gone { .. }
        | Fact::Reappeared { .. }
        | Fact::Confirmed { .. }
        | Fact::Dead { .. }
        | Fact::NeverPostable { .. }
        | Fact::WithdrawalAsked
        | Fact::NotWithdrawn { .. }
        | Fact::Cancelled { .. }
        | Fact::Withdrawn
        | Fact::Closed
        | Fact::Tracked { .. }
        | Fact::Held(_)
        | Fact::Released
        | Fact::Discarded(_) => fact.to_string(),
    }
}

fn ja_fact(fact: &Fact, zone: Tz) -> String {
    let time = |time: &Time| Language::Ja.time(*time, zone);
    match fact {
        Fact::Admitted { order, .. } => {
            let (documents, sheets) = (order.documents.len(), order.sheets());
            format!("受け付けました：書類{documents}件、{sheets}枚（{}）", order.source)
        }
        Fact::Created(mail) => format!("依頼{}を郵送サービスに登録しました：{}", mail.k, mail.id),
        Fact::Uploaded { mail, document } => format!("依頼{mail}：{}番目の書類を送信しました", document + 1),
        Fact::Abandoned { mail, why } => abandoned(*mail, *why),
        Fact::Intended { mail, .. } => format!("依頼{mail}：内容が依頼どおりのため、確定します"),
        Fact::FilesMissing { mail } => format!("依頼{mail}：郵送サービスに書類が届いていません"),
        Fact::UploadedAgain { mail } => format!("依頼{mail}：書類をもう一度送信しました"),
        Fact::Gone { mail, answer, late } => {
            let what = match answer {
                GoneAnswer::Declined => "カードが承認されませんでした",
                GoneAnswer::NotFound => "郵送サービスに見つかりません",
            };
            let weight = if *late {
                "期限を過ぎており、次の確認で確かになります"
            } else {
                "まだ確かではありません"
            };
            format!("依頼{mail}：{what}（{weight}）")
        }
        Fact::Reappeared { mail } => format!("依頼{mail}：郵送サービスにありました"),
        Fact::Confirmed { mail } => format!("依頼{mail}：確定しました。郵送されます"),
        Fact::Dead { mail } => format!("依頼{mail}：削除されたことを確認しました。郵送されていません"),
        Fact::NeverPostable { mail, why } => format!("依頼{mail}：この書類は郵送できません：{why}"),
        Fact::WithdrawalAsked => "担当者が取り消しを依頼しました".to_owned(),
        Fact::NotWithdrawn { why, .. } => {
            format!("取り消せませんでした：{}。郵送されます", Language::Ja.too_late(why))
        }
        Fact::Cancelled { by_us: true, .. } => "取り消しました。郵送されません".to_owned(),
        Fact::Cancelled { by_us: false, .. } => {
            "郵送サービス側で取り消されました（mailchuteによるものではありません）。郵送されません".to_owned()
        }
        Fact::Withdrawn => "取りやめました。郵送されません".to_owned(),
        Fact::Closed => "担当者が終了しました。郵送されたかどうかは不明です".to_owned(),
        Fact::Seen { ships_at, cancellable, .. } => {
            let can = if *cancellable { "まだ取り消せます" } else { "もう取り消せません" };
            format!("{}に発送予定です。{can}", time(ships_at))
        }
        Fact::Shipped { at, tracking, .. } => {
            let number = tracking.as_ref().map_or_else(String::new, |number| format!("。追跡番号 {number}"));
            format!("{}に発送されました{number}", time(at))
        }
        Fact::Tracked { tracking, .. } => format!("追跡番号 {tracking}"),
        Fact::Held(reason) => {
            let why = Language::Ja.reason(reason);
            let stop = if why.ends_with('。') { "" } else { "。" };
            format!("保留：{why}{stop}{}", Language::Ja.certainty(reason.certainty()))
        }
        Fact::Released => "担当者が保留を解除しました".to_owned(),
        Fact::Discarded(Kept::Documents) => "保管していた書類の控えを削除しました".to_owned(),
        Fact::Discarded(Kept::Original) => "フォルダーの原本を削除しました".to_owned(),
        Fact::Discarded(Kept::Receiver) => "宛先とファイル名を記録から消しました".to_owned(),
    }
}

fn abandoned(mail: u32, why: Abandonment) -> String {
    let said = match why {
        Abandonment::TargetsExpired => "送信の期限が切れました",
        Abandonment::TargetsLost => "送信の途中でmailchuteが再起動しました",
        Abandonment::UploadRefused => "書類の送信を断られました",
        Abandonment::DeadlineNear => "確定の期限が迫っていました",
        Abandonment::OtherAccount => "アカウントが変わりました",
        Abandonment::NotFound => "読み取れませんでした",
        Abandonment::NotAsMeant => "内容が依頼と違いました",
        Abandonment::Held => "保留になりました",
        Abandonment::Withdrawn => "取りやめになりました",
    };
    // The hold that follows says what is certain.
    let end = if why == Abandonment::Held { "" } else { "。郵送されません" };
    format!("依頼{mail}：確定せずに破棄しました（{said}）{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_told_in_both_languages_and_in_the_readers_time() {
        let zone = Tz::Asia__Tokyo;
        let at = "2026-11-20T05:00:00Z".parse().unwrap();
        let shipped = Fact::Shipped { mail: 1, at, tracking: Some("1234".to_owned()) };
        assert_eq!(
            Language::En.happened(&shipped, zone),
            "shipped on 2026-11-20 14:00, tracking number 1234"
        );
        assert_eq!(
            Language::Ja.happened(&shipped, zone),
            "2026年11月20日 14:00に発送されました。追跡番号 1234"
        );
        // The text must not contain where somebody lives.
        let held = Fact::Held(Reason::Elsewhere("東京都".to_owned()));
        for language in [Language::En, Language::Ja] {
            assert!(!language.happened(&held, zone).contains("東京都"));
        }
        assert!(Language::Ja.happened(&held, zone).starts_with("保留：宛先の郵便番号"));
        let refused = Fact::Held(Reason::Refused("over_weight".to_owned()));
        assert!(Language::Ja.happened(&refused, zone).contains("over_weight。郵送されていません。"));
        let sidecar = Refusal::Sidecar("x.pdf.yaml:1: there is no key `山田太郎` here".to_owned());
        assert!(
            [Language::En, Language::Ja].iter().all(|language| !language.refused(&sidecar).contains("山田"))
        );
    }

    #[test]
    fn spans_are_told_in_one_unit() {
        let told = |seconds| (Language::En.span(seconds), Language::Ja.span(seconds));
        for (seconds, en, ja) in [
            (-5, "0 s", "0秒"),
            (119, "119 s", "119秒"),
            (3600, "60 min", "60分"),
            (7200, "2 h", "2時間"),
            (200_000, "2 days", "2日"),
        ] {
            assert_eq!(told(seconds), (en.to_owned(), ja.to_owned()));
        }
    }
}
