//! Why a mail was not posted.

use super::{Advice, Language};
use crate::domain::mailed::MailRefusal;

impl Language {
    pub fn mail_refusal(self, refusal: &MailRefusal) -> Advice {
        match self {
            Self::En => en(refusal),
            Self::Ja => ja(refusal),
        }
    }
}

fn en(refusal: &MailRefusal) -> Advice {
    match refusal {
        MailRefusal::NotListed => Advice::new(
            "Its sender may not post by mail.",
            "If the sender may, add the address to `from` in the queue's file, and move the mail back.",
        ),
        MailRefusal::NoPdf => Advice::new("The mail has no PDF.", "Send the letter as a PDF."),
        MailRefusal::Unfit { name } => Advice::new(
            format!("Beside its PDFs the mail has `{name}`, which can't be posted."),
            "Send everything that is to be posted as PDFs, each attached to the mail itself.",
        ),
        MailRefusal::TooLarge { size } => Advice::new(
            format!("The mail, or a PDF in it, is too large: {size} bytes."),
            "Send PDFs of at most 10 MB, in several mails if need be.",
        ),
        MailRefusal::TooManyDocuments { found } => {
            Advice::new(format!("The mail has {found} PDFs."), "Send them in several mails.")
        }
    }
}

fn ja(refusal: &MailRefusal) -> Advice {
    match refusal {
        MailRefusal::NotListed => Advice::new(
            "差出人はメールでの郵送を許可されていません。",
            "許可する場合は、キューの設定の「from」にアドレスを加え、メールを元に戻してください。",
        ),
        MailRefusal::NoPdf => Advice::new("メールにPDFがありません。", "手紙をPDFで送ってください。"),
        MailRefusal::Unfit { name } => Advice::new(
            format!("PDFのほかに、郵送できない「{name}」が添付されています。"),
            "郵送するものをすべてPDFにして、メールに直接添付してください。",
        ),
        MailRefusal::TooLarge { size } => Advice::new(
            format!("メールまたはPDFが大きすぎます（{size}バイト）。"),
            "PDFは10MBまでです。必要な場合は複数のメールに分けてください。",
        ),
        MailRefusal::TooManyDocuments { found } => {
            Advice::new(format!("メールにPDFが{found}個あります。"), "複数のメールに分けて送ってください。")
        }
    }
}
