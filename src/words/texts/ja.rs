//! Japanese.

use super::Language;
use super::ja_problem::problem;
use super::{Advice, Names, doubts};
use crate::domain::drop::{KeyDoubt, Kind, QueueDoubt, Refusal, Waiting};
use crate::domain::letter::{Certainty, Limit, Number, Reason, largest_unit};
use crate::domain::printed::{OtherAddressee, PageDoubt, Unclear};

#[expect(clippy::too_many_lines, reason = "a table, one text for each")]
pub(super) fn refusal(refusal: &Refusal) -> Advice {
    match refusal {
        Refusal::NotAFile(kind) => Advice::new(
            format!("ファイルではなく{}です。", thing(*kind)),
            "PDFファイルそのものをフォルダーに入れてください。",
        ),
        Refusal::LinkedElsewhere => Advice::new(
            "このファイルには別の場所にも名前（ハードリンク）があるため、受け付けられません。",
            "リンクではなく、PDFをコピーしてフォルダーに入れてください。",
        ),
        Refusal::NoRight => Advice::new(
            "ファイルを読み取る権限がありません。",
            "もう一度コピーしてフォルダーに入れてください。",
        ),
        Refusal::Empty => {
            Advice::new("ファイルの中身が空です。", "PDFを保存し直すか、もう一度コピーしてください。")
        }
        Refusal::TooLarge { size } => Advice::new(
            format!(
                "ファイルの大きさが{size}バイトあります。郵送できるのは10,000,000バイト（10MB）までです。"
            ),
            "画像を小さくして保存し直すか、二通に分けてください。",
        ),
        Refusal::NotPdf => {
            Advice::new("PDFファイルではありません。", "PDFとして保存し、フォルダーに入れてください。")
        }
        Refusal::Pdf(doubt) => super::pdf::ja(*doubt),
        Refusal::NotInSubfolder => Advice::new(
            "このフォルダーでは、サブフォルダー一つが一通の郵便になります。",
            "サブフォルダーを作ってPDFを入れ、そのサブフォルダーをここに移してください。",
        ),
        Refusal::NoDocuments => Advice::new(
            "サブフォルダーにPDFがありません。",
            "1～10個のPDFを入れて、もう一度フォルダーに移してください。",
        ),
        Refusal::TooManyDocuments { found } => Advice::new(
            format!("サブフォルダーにPDFが{found}個あります。一通に入れられるのは10個までです。"),
            "PDFを減らすか、いくつかを一つにまとめてください。",
        ),
        Refusal::Unfit { name } => Advice::new(
            format!("サブフォルダーの中の「{name}」はPDFではありません。"),
            "取り除いてから、もう一度フォルダーに移してください。",
        ),
        Refusal::NoRule => Advice::new(
            "このファイルに当てはまる規則がありません。",
            "ファイル名をご確認ください。規則の担当者は `mailchute explain` で理由を調べられます。",
        ),
        Refusal::NoReceiver { key } => Advice::new(
            format!("住所録に「{key}」の使える宛先がありません。"),
            "ファイル名を直すか、住所録に宛先を登録してから、もう一度フォルダーに入れてください。",
        ),
        Refusal::KeyUnclear(KeyDoubt::Cut { key }) => Advice::new(
            format!("番号「{key}」のすぐ前か後ろに別の数字があるため、番号の一部かもしれません。"),
            "ファイル名を直して、もう一度フォルダーに入れてください。番号が正しい場合は、ルールの管理者が、前後の数字の桁数も\
             正規表現に含めてください（例: `(?<customer>\\d{6})\\d{8}`）。",
        ),
        Refusal::KeyUnclear(KeyDoubt::Differs { keys: [one, other] }) => Advice::new(
            format!("宛先の番号が二通りあります: 「{one}」と「{other}」。"),
            "ファイル名または文書の誤っている方を直して、もう一度フォルダーに入れてください。",
        ),
        Refusal::Sidecar(why) => Advice::new(
            format!("宛先ファイルを読み取れません: {why}"),
            "宛先ファイルを直して、PDFと一緒にもう一度フォルダーに入れてください。",
        ),
        Refusal::SeveralSidecars { names } => Advice::new(
            format!("宛先ファイルが複数あります: {}", names.join("、")),
            "正しい宛先ファイルを1つだけ残し、PDFと一緒にもう一度フォルダーに入れてください。",
        ),
        Refusal::SidecarReplaced { name } => Advice::new(
            format!("「{name}」が後からもう一度保存されたため、新しい方を使います。"),
            "こちらが正しい場合は、PDFと一緒にもう一度フォルダーに入れてください。",
        ),
        Refusal::NoLetter => Advice::new(
            "宛先が分かりません。この規則では送信元のプログラムが宛先を指定しますが、指定がありませんでした。",
            "「letter」に「receiver」を指定して送り直してください。",
        ),
        Refusal::SidecarAlone { pdf, taken_in: Some(letter) } => Advice::new(
            format!(
                "この宛先ファイルより先に「{pdf}」を受け付けました（手紙 {letter}）。手紙 {letter} には、この宛先を使いません。"
            ),
            format!(
                "別の「{pdf}」の宛先である場合は、そのPDFと一緒にフォルダーに入れてください。手紙 {letter} をこの宛先に送る場合は、まだ郵送していなければ取り消してから、PDFと宛先ファイルを一緒にフォルダーに入れてください。24時間以内に「{pdf}」だけが入れられた場合は、保留にします。"
            ),
        ),
        Refusal::SidecarAlone { pdf, taken_in: None } => Advice::new(
            format!("対になるPDF「{pdf}」が届きませんでした。"),
            format!(
                "「{pdf}」をまだ郵送していない場合は、この宛先ファイルと一緒にフォルダーに入れてください。「{pdf}」が保留になっている場合は、保留中のPDFの横に置いてから承認してください。24時間以内に「{pdf}」だけが入れられた場合は、保留にします。"
            ),
        ),
        Refusal::NameTooLong => Advice::new(
            "宛先ファイルが必要ですが、ファイル名が長すぎて宛先ファイルを作れません。",
            "名前を短くして、宛先ファイルと一緒にフォルダーに入れてください。",
        ),
        Refusal::SidecarUnwanted { rule } => Advice::new(
            format!("宛先ファイルが付いていますが、規則「{rule}」は別の宛先を使います。"),
            "宛先ファイルを付けずに入れるか、規則の変更を担当者に依頼してください。",
        ),
        Refusal::OtherPages { said, found } => Advice::new(
            format!("{said}ページのはずですが、{found}ページあります。"),
            "正しいPDFかどうか、またはページ数の指定をご確認ください。",
        ),
        Refusal::NotPostable(problems) => Advice::new(
            format!("このままでは郵送できません。{}", problems.iter().map(problem).collect::<String>()),
            "修正して、もう一度フォルダーに入れてください。",
        ),
        Refusal::OwnApproval => Advice::new(
            "入れた本人は承認できません。",
            "別の人が、保留中のフォルダーからコピーしてください。郵便はそのまま承認を待っています。",
        ),
        Refusal::OwnerNotProved { letter } => Advice::new(
            "入れた人または承認した人を確認できません（ファイルがほかの人にも書き換え可能です）。",
            format!(
                "ファイルを所有者以外が書き換えられない設定（Sambaでは create mask = 0640）にしてください。この郵便は、管理者が `mailchute release {letter}` で承認できます。"
            ),
        ),
        Refusal::Unheard(unheard) => super::unheard::ja(unheard),
        Refusal::NothingWaits => Advice::new(
            "この名前で待っている郵便はありません。",
            "承認も取り消しも行っていません。郵送する場合は、フォルダーに直接入れてください。郵便を取り消す場合は、そのPDFを入れたフォルダーで行ってください。",
        ),
    }
}

fn thing(kind: Kind) -> &'static str {
    match kind {
        Kind::Directory => "フォルダー",
        Kind::Symlink => "別のファイルへのリンク",
        Kind::Fifo => "パイプ",
        Kind::Socket => "ソケット",
        Kind::Device => "デバイス",
    }
}

pub(super) fn waiting(waiting: &Waiting, names: &Names) -> Advice {
    let Names { approve, cancel, .. } = names;
    let again = format!("「{approve}」に移してください。取りやめる場合は「{cancel}」に移してください。");
    let beside = "宛先ファイルを、PDFを最初に入れた場所ではなく、ここにあるPDFの横に、同じ名前の後に「.yaml」を付けて置いてください（例: x.pdf.yaml）。\
                  サブフォルダーの場合は、その中に letter.yaml として置いてください。";
    match waiting {
        Waiting::Sidecar => Advice::new(
            "宛先ファイルが届いていません。宛先がないままでは承認できません。",
            format!("{beside}その後、{again}"),
        ),
        Waiting::SidecarOfTwo => Advice::new(
            "宛先ファイルと一緒に届きましたが、同じ名前の別のPDFが宛先を待っているか、少し前に宛先なしで受け付けられているため、どちらの宛先か分かりません。",
            format!("横にある宛先で正しければ、{again}"),
        ),
        Waiting::SidecarHandedBack { sidecar } => Advice::new(
            format!(
                "宛先ファイルなしで入れられましたが、少し前に「{sidecar}」をPDFが届かないため差し戻しています。"
            ),
            format!("その宛先に送る場合は「{sidecar}」を使ってください。{beside}その後、{again}"),
        ),
        Waiting::Queue { queue, look, letter } => queued(queue, (*look, *letter), &again),
        Waiting::WasThere => Advice::new(
            "監視を始める前からフォルダーにあったため、郵送してよいか分かりません。",
            format!("郵送する場合は{again}"),
        ),
        Waiting::Doubt(doubtful) => Advice::new(
            doubts(doubtful, |doubtful| {
                format!(
                    "{}このまま郵送すると{}ページになります。",
                    super::pdf::ja(doubtful.doubt).cause,
                    doubtful.pages
                )
            }),
            format!(
                "すべてのページが正しく表示されるか確認してください。問題がなければ{again}作り直すとより確実です。"
            ),
        ),
        Waiting::Page(doubt) => {
            Advice::new(page(doubt), format!("封筒の宛先に送るPDFで間違いなければ、{again}"))
        }
        Waiting::Receiver(doubt) => super::from_page::ja(doubt, beside, &again),
        Waiting::Print(doubt) => Advice::new(
            Language::Ja.print_notes(&doubt.notes),
            format!("このまま印刷してよければ{again}作り直すとより確実です。"),
        ),
        Waiting::Rules => Advice::new(
            "フォルダーの規則が10分間変更され続けていたため、どう扱うか分かりません。",
            format!("規則の変更が終わってから、{again}"),
        ),
        Waiting::Book(why) => {
            Advice::new(format!("住所録を使えません: {why}"), format!("住所録が直ったら、このPDFを{again}"))
        }
    }
}

fn queued(queue: &str, (look, letter): (QueueDoubt, Option<Number>), again: &str) -> Advice {
    match look {
        QueueDoubt::Lost => Advice::new(
            format!(
                "記録の一部が失われた後に「{queue}」から届きました。それより前にも届いていた場合は、すでに郵送されている可能性があります。"
            ),
            format!("送信元に確認し、郵送済みでないことを確かめてから、{again}"),
        ),
        QueueDoubt::Printed => Advice::new(
            format!("「{queue}」で印刷されました。内容の確認後に郵送されます。"),
            format!("郵送する場合は{again}"),
        ),
        QueueDoubt::PrintedAgain => Advice::new(
            format!(
                "同じ印刷ジョブの文書がすでに「{queue}」で届いています。同じ手紙が二重になる可能性があります。"
            ),
            match letter {
                Some(Number(letter)) => {
                    format!("すでに手紙 #{letter} があります。これも郵送する場合は{again}")
                }
                None => format!("すでに手紙があるか確かめてください。これも郵送する場合は{again}"),
            },
        ),
        QueueDoubt::NotProved => Advice::new(
            format!(
                "「{queue}」にメールで届きましたが、差出人本人からのメールであることをメールサーバーが確認していません。差出人は誰でも偽ることができます。"
            ),
            format!("差出人に電話で確認してください。郵送する場合は{again}"),
        ),
        QueueDoubt::MailedAgain => Advice::new(
            format!(
                "同じメール、または同じ差出人からの同じ文書のメールが、すでに「{queue}」に届いています。同じ手紙が二重になる可能性があります。"
            ),
            format!("すでに手紙があるか確かめてください。これも郵送する場合は{again}"),
        ),
        QueueDoubt::MailedTwice => Advice::new(
            format!(
                "「{queue}」に届いた一通のメールに、同じ文書が複数あります。最初のものは別の手紙になっています。"
            ),
            format!("これも郵送する場合は{again}"),
        ),
        QueueDoubt::WasInMailbox => Advice::new(
            format!("「{queue}」のメールボックスに以前からあったメールです。古いものかもしれません。"),
            format!("郵送済みでないことを確かめてください。郵送する場合は{again}"),
        ),
    }
}

/// ページと封筒の宛先。
fn page(doubt: &PageDoubt) -> String {
    let document =
        if doubt.document == 1 { String::new() } else { format!("{}番目の書類の", doubt.document) };
    match &doubt.found {
        OtherAddressee::Named { page: 1, people: Some(people) } => {
            format!("{document}1ページ目の宛先は「{}」ですが、封筒の宛先は「{}」です。", people.0, people.1)
        }
        OtherAddressee::Named { page, people: Some(people) } => format!(
            "{document}{page}ページ目から「{}」宛ての別の郵便が始まっています。封筒の宛先は「{}」です。",
            people.0, people.1
        ),
        OtherAddressee::Named { page, people: None } => {
            format!("{document}{page}ページ目の宛先が封筒の宛先と違います。")
        }
        OtherAddressee::Unclear(Unclear::Unreadable) => {
            format!("{document}1ページ目の文字を読み取れないため、誰宛てか分かりません。")
        }
        OtherAddressee::Unclear(Unclear::NobodyFound) => {
            format!("{document}1ページ目に宛先が見つからないため、誰宛てか分かりません。")
        }
        OtherAddressee::Unclear(Unclear::OtherCount) => {
            format!("{document}ページ数がソフトによって違うため、どのページが印刷されるか分かりません。")
        }
        OtherAddressee::Unclear(Unclear::Partly) => {
            format!("{document}1ページ目には、宛先の氏名と郵便番号の一部しかありません。")
        }
    }
}

pub(super) fn hold(reason: &Reason, names: &Names) -> Advice {
    let Names { approve, cancel, .. } = names;
    let remedy = match (reason, reason.certainty()) {
        (_, Certainty::Unknown) => {
            "郵送された可能性があります。もう一度送らないでください。mailchuteの管理者にご連絡ください。"
                .to_owned()
        }
        (Reason::NeverPostable(_), Certainty::NothingPosted) => {
            format!("郵送されていません。「{cancel}」に移し、正しいPDFを入れ直してください。")
        }
        // mailchute's own copy stays damaged.
        (Reason::DocumentDamaged(_), Certainty::NothingPosted) => {
            format!("郵送されていません。「{cancel}」に移し、PDFをもう一度フォルダーに入れてください。")
        }
        (Reason::OwnerNotProved, Certainty::NothingPosted) => format!(
            "郵送されていません。承認できるのはmailchuteの管理者だけです（mailchute release）。取りやめる場合は「{cancel}」に移してください。"
        ),
        (_, Certainty::NothingPosted) if names.by_copy => format!(
            "郵送されていません。郵送する場合は、入れた本人以外の人が「{approve}」にコピーしてください（移動では承認者を確認できません）。取りやめる場合は「{cancel}」に移してください。"
        ),
        (_, Certainty::NothingPosted) => format!(
            "郵送されていません。郵送する場合は「{approve}」に、取りやめる場合は「{cancel}」に移してください。"
        ),
    };
    Advice::new(reason_text(reason), remedy)
}

pub(super) fn reason_text(reason: &Reason) -> String {
    match reason {
        Reason::ByPerson => "担当者が保留にしました。".to_owned(),
        Reason::OwnerNotProved => {
            "入れた人を確認できません（ファイルがほかの人にも書き換え可能です）。".to_owned()
        }
        Reason::Approval => "このフォルダーの郵便は、承認されるまで待ちます。".to_owned(),
        Reason::Duplicate(earlier) => {
            format!("同じ書類・同じ宛先の郵便（{earlier}）がすでに受け付けられています。")
        }
        Reason::Limit(Limit::LettersPerDay(limit)) => format!("一日の上限（{limit}通）に達しました。"),
        Reason::Limit(Limit::SheetsPerDay(limit)) => format!("一日の上限（{limit}枚）に達しました。"),
        Reason::Limit(Limit::Burst { letters, seconds, usually }) => {
            let (count, unit) = largest_unit(*seconds);
            let unit = ["日", "時間", "分", "秒"][unit];
            let usually = usually
                .map_or_else(String::new, |(usually, now)| format!("（普段は一日{usually}通、現在{now}通）"));
            format!("{count}{unit}の間に{letters}通を超える郵便が入りました{usually}。")
        }
        Reason::Elsewhere(there) => {
            format!("宛先の郵便番号は{there}のもので、住所の都道府県と一致しません。")
        }
        Reason::Misplaced(what) => Language::Ja.misplaced(what),
        Reason::Refused(why) => format!("郵送サービスに断られました: {why}"),
        Reason::UploadRefused(why) => format!("PDFの送信を繰り返し断られました: {why}"),
        Reason::DocumentDamaged(document) => {
            format!("保管していた{}番目のPDFが、受け付けたときと違っています。", document + 1)
        }
        Reason::NotAsMeant(why) => format!("郵送サービスの内容が依頼と違います: {why}"),
        Reason::PostedOtherwise(why) => format!("別の人が確定した内容が依頼と違います: {why}"),
        Reason::NeverPostable(why) => format!("郵送サービスがこのPDFを受け付けません: {why}"),
        Reason::TooManyIntents => "三回確定を試みましたが、受け付けられませんでした。".to_owned(),
        Reason::NoAnswer => "郵送サービスから一日以上、確かな返事がありません。確認中です。".to_owned(),
        Reason::NoFolder => "このフォルダーは現在の設定にありません。".to_owned(),
        Reason::ProvedAfterDoubt => "長い間不明でしたが、郵送されていないことが確認できました。".to_owned(),
        Reason::OtherAccount => "別のアカウントで確定しようとしていた郵便です。".to_owned(),
        Reason::Restored => "mailchuteの記録が失われたか、古い状態に戻りました。".to_owned(),
    }
}
