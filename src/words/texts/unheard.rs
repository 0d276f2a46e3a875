//! Why a file in `Approve` or `Cancel` is not obeyed, although a letter is known by it.

use super::Advice;
use crate::domain::drop::{StandingLetter, Unheard};

pub(super) fn en(unheard: &Unheard) -> Advice {
    match unheard {
        Unheard::Several { letters, .. } if letters.is_empty() => Advice::new(
            "Several PDFs with this name and these contents are held.",
            "Nothing was done. MOVE the one that is meant from where it is held.",
        ),
        Unheard::Several { letters, receivers } => {
            let receivers = receivers.0.iter().map(String::as_str).chain(std::iter::repeat("?"));
            let listed: Vec<String> = letters
                .iter()
                .zip(receivers)
                .map(|(letter, receiver)| format!("{letter} to {receiver}"))
                .collect();
            Advice::new(
                format!("Several letters have this name and these contents: {}.", listed.join("; ")),
                "Nothing was done. MOVE the one that is meant from where it is held.",
            )
        }
        Unheard::Known { letter, standing, same } => {
            let is = match standing {
                StandingLetter::Waits => "waits for a person",
                StandingLetter::OnItsWay => "is on its way and will be posted",
                StandingLetter::Posted => "is posted",
                StandingLetter::Shipped => "is posted and has shipped",
                StandingLetter::NotPosted => "was cancelled; nothing was posted",
                StandingLetter::Closed => "was closed; it may have been posted",
            };
            let cause = if *same {
                format!("This is letter {letter}, which {is}.")
            } else {
                format!("Letter {letter} has this name and other contents; it {is}.")
            };
            Advice::new(cause, en_remedy(*standing))
        }
        Unheard::Changed => Advice::new(
            "The PDF of this name that waits has other contents.",
            "Nothing was done. If this one is right, first cancel the one that waits, and then put this one into the \
             folder itself.",
        ),
        Unheard::CopyOfHeld => Advice::new(
            "This is a copy of a PDF that is held.",
            "Nothing was done. MOVE the PDF itself from where it is held; do not send it again.",
        ),
        Unheard::OtherAddress { letter } => Advice::new(
            format!(
                "A file with an address lies beside it or beside letter {letter}, and asks for something else than that \
                 letter, or can't be read."
            ),
            format!(
                "Nothing was done, and letter {letter} still waits. If the letter is right, take that file away and \
                 approve it again. If the file is right, cancel letter {letter}, and put both into the folder together."
            ),
        ),
        Unheard::Unread => Advice::new(
            "It can't be compared with what is held under this name: it can't be read, or the disk has it under a \
             second name.",
            "Nothing was done. MOVE the file that is held from where it is held; do not send it again.",
        ),
    }
}

fn en_remedy(standing: StandingLetter) -> &'static str {
    match standing {
        StandingLetter::Waits => {
            "Nothing was done. Move the file of the letter itself from where it is held. If it is not there, ask the \
             administrator; do not send it again."
        }
        StandingLetter::OnItsWay | StandingLetter::Posted | StandingLetter::Shipped => {
            "Nothing was done. Do not send it again."
        }
        StandingLetter::NotPosted => "Nothing was done.",
        StandingLetter::Closed => "Nothing was done. Do not send it again; ask the administrator.",
    }
}

pub(super) fn ja(unheard: &Unheard) -> Advice {
    match unheard {
        Unheard::Several { letters, .. } if letters.is_empty() => Advice::new(
            "同じ名前・同じ内容のPDFが複数、保留になっています。",
            "何も行っていません。保留の場所から、該当するファイルを移動してください。",
        ),
        Unheard::Several { letters, receivers } => {
            let receivers = receivers.0.iter().map(String::as_str).chain(std::iter::repeat("？"));
            let listed: Vec<String> = letters
                .iter()
                .zip(receivers)
                .map(|(letter, receiver)| format!("{letter}（{receiver}）"))
                .collect();
            Advice::new(
                format!("同じ名前・同じ内容の郵便が複数あります: {}", listed.join("、")),
                "何も行っていません。保留の場所から、該当するファイルを移動してください。",
            )
        }
        Unheard::Known { letter, standing, same } => {
            let is = match standing {
                StandingLetter::Waits => "担当者の操作を待っています",
                StandingLetter::OnItsWay => "郵送の手続き中です",
                StandingLetter::Posted => "郵送の手続きが済んでいます",
                StandingLetter::Shipped => "発送済みです",
                StandingLetter::NotPosted => "取り消されており、郵送されていません",
                StandingLetter::Closed => "終了していますが、郵送された可能性があります",
            };
            let cause = if *same {
                format!("これは郵便{letter}です。{is}。")
            } else {
                format!("同じ名前で内容の違う郵便{letter}があります。{is}。")
            };
            Advice::new(cause, ja_remedy(*standing))
        }
        Unheard::Changed => Advice::new(
            "同じ名前で待っているPDFとは内容が違います。",
            "何も行っていません。このPDFを郵送する場合は、待っているPDFを先に取り消してから、フォルダーに直接入れてください。",
        ),
        Unheard::CopyOfHeld => Advice::new(
            "これは保留中のPDFのコピーです。",
            "何も行っていません。保留の場所にあるPDFそのものを移動してください。もう一度送らないでください。",
        ),
        Unheard::OtherAddress { letter } => Advice::new(
            format!(
                "このファイル、または手紙 {letter} の横にある宛先ファイルの内容が、手紙 {letter} と違うか、読み取れません。"
            ),
            format!(
                "何も行っていません。手紙 {letter} は保留のままです。手紙 {letter} が正しい場合は、その宛先ファイルを取り除いてから、もう一度承認してください。宛先ファイルが正しい場合は、手紙 {letter} を取り消してから、PDFと宛先ファイルを一緒にフォルダーに入れてください。"
            ),
        ),
        Unheard::Unread => Advice::new(
            "このファイルは読み取れないか、ディスク上に別名があるため、保留中のものと比べられません。",
            "何も行っていません。保留の場所にあるファイルそのものを移動してください。もう一度送らないでください。",
        ),
    }
}

fn ja_remedy(standing: StandingLetter) -> &'static str {
    match standing {
        StandingLetter::Waits => {
            "何も行っていません。保留の場所にある郵便そのもののファイルを移動してください。見当たらない場合は管理者にお尋ねください。もう一度送らないでください。"
        }
        StandingLetter::OnItsWay | StandingLetter::Posted | StandingLetter::Shipped => {
            "何も行っていません。もう一度送らないでください。"
        }
        StandingLetter::NotPosted => "何も行っていません。",
        StandingLetter::Closed => "何も行っていません。もう一度送らず、管理者にお尋ねください。",
    }
}
