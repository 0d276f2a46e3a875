//! What is in doubt of a PDF, and what to do.

use super::Said;
use crate::domain::drop::Doubt;

pub(super) fn en(doubt: Doubt) -> Said {
    match doubt {
        Doubt::Unreadable => {
            Said::new("It is no PDF, or a damaged one.", "Make it anew with the program it comes from.")
        }
        Doubt::Torn => Said::new("It was not copied to its end.", "Copy it into the folder once more."),
        Doubt::Repaired => Said::new(
            "The PDF is damaged or incomplete.",
            "Copy it once more, or make it anew with the program it comes from.",
        ),
        Doubt::Hole => Said::new(
            "Part of the file is empty: a block of it holds only zeros, as a broken copy leaves it.",
            "Copy it into the folder once more, and compare the pages with the original.",
        ),
        Doubt::Damaged => Said::new(
            "Part of the PDF is damaged, so text or pictures may be missing.",
            "Copy it once more, or make it anew with the program it comes from.",
        ),
        Doubt::Placeholder => Said::new(
            "Its pages are not its content: it is a form that only Adobe Reader fills in, or a portfolio of files.",
            "Open it in Adobe Reader, print it into a new PDF, and put that into the folder.",
        ),
        Doubt::Compression => Said::new(
            "It is compressed in a way (Brotli) that hardly any program can read.",
            "Make it anew, for instance by printing into a PDF.",
        ),
        Doubt::Encrypted => Said::new("It is protected by a password.", "Save it without one."),
        Doubt::Restricted => Said::new(
            "It is protected against changes or printing, and can be read without a password.",
            "Look whether it may be printed, or save it without protection.",
        ),
        Doubt::Padded => Said::new(
            "Something without meaning follows the end of the PDF.",
            "Look at its last pages; or make it anew, for instance by printing into a PDF.",
        ),
        Doubt::Pages => Said::new(
            "How many pages it has is not certain.",
            "Make it anew with the program it comes from, for instance by printing into a PDF.",
        ),
        Doubt::TooMuch => Said::new(
            "It takes more memory or time to read than any letter does.",
            "Make it anew, for instance by printing into a PDF.",
        ),
    }
}

pub(super) fn ja(doubt: Doubt) -> Said {
    match doubt {
        Doubt::Unreadable => {
            Said::new("PDFとして読み取れないか、壊れています。", "作成元のソフトでPDFを作り直してください。")
        }
        Doubt::Torn => {
            Said::new("最後までコピーされていません。", "もう一度フォルダーにコピーしてください。")
        }
        Doubt::Repaired => Said::new(
            "PDFが壊れているか、途中で切れています。",
            "もう一度コピーするか、作成元のソフトで作り直してください。",
        ),
        Doubt::Hole => Said::new(
            "ファイルの一部が空(ゼロ)になっています。コピーが途中で中断された可能性があります。",
            "もう一度フォルダーにコピーし、元のファイルと内容を見比べてください。",
        ),
        Doubt::Damaged => Said::new(
            "PDFの一部が壊れていて、文字や画像が欠けている可能性があります。",
            "もう一度コピーするか、作成元のソフトで作り直してください。",
        ),
        Doubt::Placeholder => Said::new(
            "Adobe Readerでしか表示できないフォーム、または複数ファイルのポートフォリオです。このまま印刷しても内容は印刷されません。",
            "Adobe Readerで開き、「PDFとして印刷」で作り直したPDFをフォルダーに入れてください。",
        ),
        Doubt::Compression => Said::new(
            "ほとんどのソフトが対応していない圧縮方式（Brotli）です。",
            "「PDFとして印刷」などでPDFを作り直してください。",
        ),
        Doubt::Encrypted => {
            Said::new("パスワードで保護されています。", "パスワードを外して保存し直してください。")
        }
        Doubt::Restricted => Said::new(
            "変更や印刷が制限されています（パスワードなしで読めます）。",
            "印刷してよいか確認するか、制限を外して保存し直してください。",
        ),
        Doubt::Padded => Said::new(
            "PDFの終わりの後に、余分なデータがあります。",
            "最後のページをご確認いただくか、「PDFとして印刷」などで作り直してください。",
        ),
        Doubt::Pages => {
            Said::new("ページ数を確実に数えられません。", "「PDFとして印刷」などでPDFを作り直してください。")
        }
        Doubt::TooMuch => Said::new(
            "読み取りに時間やメモリーがかかりすぎます。",
            "「PDFとして印刷」などでPDFを作り直してください。",
        ),
    }
}
