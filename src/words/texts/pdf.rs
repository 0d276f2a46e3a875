//! What is in doubt of a PDF, and what to do.

use super::Advice;
use crate::domain::drop::Doubt;

pub(super) fn en(doubt: Doubt) -> Advice {
    match doubt {
        Doubt::Unreadable => {
            Advice::new("It is not a PDF, or it is damaged.", "Make it again with the program it comes from.")
        }
        Doubt::Torn => Advice::new("It was not copied completely.", "Copy it into the folder once more."),
        Doubt::Repaired => Advice::new(
            "The PDF is damaged or incomplete.",
            "Copy it once more, or make it again with the program it comes from.",
        ),
        Doubt::Hole => Advice::new(
            "Part of the file is empty: a block of it holds only zeros, as a broken copy leaves it.",
            "Copy it into the folder once more, and compare the pages with the original.",
        ),
        Doubt::Damaged => Advice::new(
            "Part of the PDF is damaged, so text or pictures may be missing.",
            "Copy it once more, or make it again with the program it comes from.",
        ),
        Doubt::Placeholder => Advice::new(
            "Its pages are not its content: it is a form that only Adobe Reader fills in, or a portfolio of files.",
            "Open it in Adobe Reader, print it into a new PDF, and put that into the folder.",
        ),
        Doubt::Compression => Advice::new(
            "It is compressed in a way (Brotli) that hardly any program can read.",
            "Make it again, for instance by printing into a PDF.",
        ),
        Doubt::Encrypted => Advice::new("It is protected by a password.", "Save it without one."),
        Doubt::Restricted => Advice::new(
            "It is protected against changes or printing, and can be read without a password.",
            "Look whether it may be printed, or save it without protection.",
        ),
        Doubt::Padded => Advice::new(
            "Padding follows the end of the PDF.",
            "Look at its last pages; or make it again, for instance by printing into a PDF.",
        ),
        Doubt::Pages => Advice::new(
            "How many pages it has is not certain.",
            "Make it again with the program it comes from, for instance by printing into a PDF.",
        ),
        Doubt::TooMuch => Advice::new(
            "It takes more memory or time to read than any letter does.",
            "Make it again, for instance by printing into a PDF.",
        ),
    }
}

pub(super) fn ja(doubt: Doubt) -> Advice {
    match doubt {
        Doubt::Unreadable => Advice::new(
            "PDFとして読み取れないか、壊れています。",
            "作成元のソフトでPDFを作り直してください。",
        ),
        Doubt::Torn => {
            Advice::new("最後までコピーされていません。", "もう一度フォルダーにコピーしてください。")
        }
        Doubt::Repaired => Advice::new(
            "PDFが壊れているか、途中で切れています。",
            "もう一度コピーするか、作成元のソフトで作り直してください。",
        ),
        Doubt::Hole => Advice::new(
            "ファイルの一部が空(ゼロ)になっています。コピーが途中で中断された可能性があります。",
            "もう一度フォルダーにコピーし、元のファイルと内容を見比べてください。",
        ),
        Doubt::Damaged => Advice::new(
            "PDFの一部が壊れていて、文字や画像が欠けている可能性があります。",
            "もう一度コピーするか、作成元のソフトで作り直してください。",
        ),
        Doubt::Placeholder => Advice::new(
            "Adobe Readerでしか表示できないフォーム、または複数ファイルのポートフォリオです。このまま印刷しても内容は印刷されません。",
            "Adobe Readerで開き、「PDFとして印刷」で作り直したPDFをフォルダーに入れてください。",
        ),
        Doubt::Compression => Advice::new(
            "ほとんどのソフトが対応していない圧縮方式（Brotli）です。",
            "「PDFとして印刷」などでPDFを作り直してください。",
        ),
        Doubt::Encrypted => {
            Advice::new("パスワードで保護されています。", "パスワードを外して保存し直してください。")
        }
        Doubt::Restricted => Advice::new(
            "変更や印刷が制限されています（パスワードなしで読めます）。",
            "印刷してよいか確認するか、制限を外して保存し直してください。",
        ),
        Doubt::Padded => Advice::new(
            "PDFの終わりの後に、余分なデータがあります。",
            "最後のページをご確認いただくか、「PDFとして印刷」などで作り直してください。",
        ),
        Doubt::Pages => Advice::new(
            "ページ数を確実に数えられません。",
            "「PDFとして印刷」などでPDFを作り直してください。",
        ),
        Doubt::TooMuch => Advice::new(
            "読み取りに時間やメモリーがかかりすぎます。",
            "「PDFとして印刷」などでPDFを作り直してください。",
        ),
    }
}
