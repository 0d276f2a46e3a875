//! What operators are told about troubles that are not a letter's. Without names and addresses of receivers.

use super::{Advice, Language};
use crate::domain::alarm::Alarm;
use crate::domain::letter::AccountProblem;
use crate::domain::pause::Cause;

/// A trouble that operators are told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlertNews<'a> {
    Paused {
        account: &'a str,
        cause: &'a Cause,
    },
    Works {
        account: &'a str,
    },
    Alarm {
        alarm: &'a Alarm,
        detail: &'a str,
    },
    Over {
        alarm: &'a Alarm,
    },
    /// The mail server will never accept an e-mail for this person, or a program takes no request.
    Unwanted {
        recipient: &'a str,
        code: &'a str,
    },
}

impl Language {
    /// A title, and what to do about it.
    pub fn told(self, told: &AlertNews<'_>) -> (String, Advice) {
        match self {
            Self::En => en(told),
            Self::Ja => ja(told),
        }
    }
}

fn en(told: &AlertNews<'_>) -> (String, Advice) {
    match told {
        AlertNews::Paused { account, cause } => (
            format!("Account {account} is paused: {cause}"),
            Advice::new(
                "Nothing new is posted by this account; what was taken in waits, and nothing is lost.",
                match cause {
                    Cause::ByPerson => format!("`mailchute account resume {account}` resumes it."),
                    Cause::Problem(
                        AccountProblem::CardDeclined
                        | AccountProblem::CardNotRegistered
                        | AccountProblem::OtherPayment(_),
                    ) => "Register another card on the service's account page. It is tried again by itself."
                        .to_owned(),
                    Cause::Problem(AccountProblem::AccountNotFound | AccountProblem::NotAllowed(_)) => {
                        "Look at the account's client and its secret; `mailchute check --online` tries them."
                            .to_owned()
                    }
                },
            ),
        ),
        AlertNews::Works { account } => {
            (format!("Account {account} works"), Advice::new("Its letters continue.", ""))
        }
        AlertNews::Alarm { alarm, detail } => {
            let (title, remedy) = alarm_en(alarm);
            (title, Advice::new(*detail, remedy))
        }
        AlertNews::Over { alarm } => (alarm_en(alarm).0, Advice::new("It works again.", "")),
        AlertNews::Unwanted { recipient, code } if recipient.contains("://") => (
            "A program takes no requests".to_owned(),
            Advice::new(
                format!("A request to {recipient} was not taken ({code}). It is not sent again."),
                "Look at the program and at its address under `notify`.",
            ),
        ),
        AlertNews::Unwanted { recipient, code } => (
            "The mail server refuses a recipient".to_owned(),
            Advice::new(
                format!("A mail for {recipient} was refused for good ({code}). It is not tried again."),
                "Correct the address in the configuration.",
            ),
        ),
    }
}

fn alarm_en(alarm: &Alarm) -> (String, &'static str) {
    match alarm {
        Alarm::Silent(account) => (
            format!("The service has not answered account {account} for 15 minutes"),
            "Look at the network and the service's own news. Nothing is lost: letters wait, and continue by themselves.",
        ),
        Alarm::Away(folder) => (
            format!("The folder {folder} can't be used"),
            "Nothing is taken from it meanwhile. What lies in it when it is back is held unless it is new.",
        ),
        Alarm::Book(folder) => (
            format!("Drops in the folder {folder} wait for its address book"),
            "Save the address book once and leave it unchanged; the drops then continue by themselves.",
        ),
        Alarm::Stuck(folder) => (
            format!("Drops in the folder {folder} can't be moved"),
            "They are not posted. Give mailchute's user the right to write in the folder and in the subfolders dropped there, or have them dropped as copies.",
        ),
        Alarm::Copied(folder) => (
            format!("The folder {folder} is a copy of another one"),
            "What lay in it is held, so that nothing is posted twice. Letters are approved and cancelled in the folder they were dropped into.",
        ),
        Alarm::LeftOut(folder) => (
            format!("The folder {folder} is not in the configuration, and has unfinished letters"),
            "They are held. Put its file back (with `accept: no`, if nothing more is to be taken in), or cancel them with `mailchute cancel`.",
        ),
        Alarm::Configuration => (
            "The new configuration is not used".to_owned(),
            "The old one stays in force. `mailchute check` shows every mistake with its place.",
        ),
        Alarm::Disk => {
            ("The disk is nearly full".to_owned(), "Make room: once it is full nothing more is taken in.")
        }
        Alarm::Mailbox(queue) => (
            format!("The mailbox of the queue {queue} can't be read"),
            "What comes by mail waits there meanwhile, and is taken when the mailbox can be read again.",
        ),
        Alarm::Mail => (
            "No e-mail can be sent".to_owned(),
            "Letters are posted all the same, and e-mails wait. `mailchute check --online` tries the mail server.",
        ),
    }
}

fn ja(told: &AlertNews<'_>) -> (String, Advice) {
    match told {
        AlertNews::Paused { account, cause } => (
            format!("アカウント「{account}」を停止しました：{}", cause_ja(cause)),
            Advice::new(
                "このアカウントでは新しい郵送を始めません。受け付けた郵便は待機しており、失われません。",
                match cause {
                    Cause::ByPerson => format!("`mailchute account resume {account}` で再開できます。"),
                    Cause::Problem(AccountProblem::CardDeclined | AccountProblem::CardNotRegistered | AccountProblem::OtherPayment(_)) => {
                        "郵送サービスのアカウントページでカードを登録し直してください。自動で再試行します。".to_owned()
                    }
                    Cause::Problem(AccountProblem::AccountNotFound | AccountProblem::NotAllowed(_)) => {
                        "クライアントIDとシークレットをご確認ください。`mailchute check --online` で試せます。".to_owned()
                    }
                },
            ),
        ),
        AlertNews::Works { account } => (
            format!("アカウント「{account}」は正常に戻りました"),
            Advice::new("待機していた郵便の処理を再開しました。", ""),
        ),
        AlertNews::Alarm { alarm, detail } => {
            let (title, remedy) = alarm_ja(alarm);
            (title, Advice::new(*detail, remedy))
        }
        AlertNews::Over { alarm } => (alarm_ja(alarm).0, Advice::new("正常に戻りました。", "")),
        AlertNews::Unwanted { recipient, code } if recipient.contains("://") => (
            "プログラムへの通知が受け取られません".to_owned(),
            Advice::new(
                format!("{recipient} への通知が受け取られませんでした（{code}）。この通知は再送しません。"),
                "プログラムと、設定の notify にあるアドレスをご確認ください。",
            ),
        ),
        AlertNews::Unwanted { recipient, code } => (
            "メールサーバーが宛先を拒否しました".to_owned(),
            Advice::new(
                format!("{recipient} 宛てのメールが拒否されました（{code}）。このメールは再送しません。"),
                "設定のメールアドレスをご確認ください。",
            ),
        ),
    }
}

fn cause_ja(cause: &Cause) -> String {
    match cause {
        Cause::ByPerson => "担当者による停止".to_owned(),
        Cause::Problem(AccountProblem::CardDeclined) => "カードが承認されませんでした".to_owned(),
        Cause::Problem(AccountProblem::CardNotRegistered) => "カードが登録されていません".to_owned(),
        Cause::Problem(AccountProblem::AccountNotFound) => "アカウントが見つかりません".to_owned(),
        Cause::Problem(AccountProblem::NotAllowed(why)) => format!("認証できません（{why}）"),
        Cause::Problem(AccountProblem::OtherPayment(code)) => format!("支払いが拒否されました（{code}）"),
    }
}

fn alarm_ja(alarm: &Alarm) -> (String, &'static str) {
    match alarm {
        Alarm::Silent(account) => (
            format!("郵送サービスから15分間応答がありません（アカウント「{account}」）"),
            "ネットワークと、サービスの障害情報をご確認ください。郵便は待機しており、復旧後に自動で再開します。",
        ),
        Alarm::Away(folder) => (
            format!("フォルダー「{folder}」を処理できません"),
            "その間、このフォルダーからは何も受け付けません。復旧時にあったファイルは、新しいもの以外は保留にします。",
        ),
        Alarm::Book(folder) => (
            format!("フォルダー「{folder}」のファイルがアドレス帳の保存完了を待っています"),
            "アドレス帳を保存して閉じてください。変更がなくなれば自動で処理を再開します。",
        ),
        Alarm::Stuck(folder) => (
            format!("フォルダー「{folder}」のファイルを移動できません"),
            "郵送されていません。mailchuteのユーザーに、フォルダーと入れられたサブフォルダーへの書き込み権を与えてください。",
        ),
        Alarm::Copied(folder) => (
            format!("フォルダー「{folder}」は別のフォルダーのコピーです"),
            "二重に郵送しないよう、中にあったファイルは保留にしました。承認と取消は、元のフォルダーで行ってください。",
        ),
        Alarm::LeftOut(folder) => (
            format!("フォルダー「{folder}」が設定になく、終わっていない郵便があります"),
            "その郵便は保留にしました。フォルダーの設定ファイルを戻すか（受付を止める場合は `accept: no`）、`mailchute cancel` で取り消してください。",
        ),
        Alarm::Configuration => (
            "新しい設定は使われていません".to_owned(),
            "以前の設定のまま動いています。`mailchute check` で誤りの場所を確認できます。",
        ),
        Alarm::Disk => (
            "ディスクの空き容量が残りわずかです".to_owned(),
            "空きを作ってください。いっぱいになると、受け付けができなくなります。",
        ),
        Alarm::Mailbox(queue) => (
            format!("キュー「{queue}」のメールボックスを読めません"),
            "届いたメールはそこで待っています。読めるようになれば受け付けます。",
        ),
        Alarm::Mail => (
            "メールを送信できません".to_owned(),
            "郵送は続いており、メールは送信を待っています。`mailchute check --online` でメールサーバーを試せます。",
        ),
    }
}
