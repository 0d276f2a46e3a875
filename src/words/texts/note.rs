//! The text file beside an original: what happened, when, and what can be done.

use chrono_tz::Tz;

use super::{Advice, Language, Names};
use crate::base::clock::Time;
use crate::domain::drop::Undecided;
use crate::domain::letter::{CancelWish, Letter, State};

/// The subject of a note.
#[derive(Debug)]
pub enum Noted<'a> {
    Letter(&'a Letter),
    /// A letter that waits, and beside it an address that is not its own.
    Corrected(&'a Letter),
    Drop(&'a Undecided),
}

/// The times of what has happened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    pub taken_in: Option<Time>,
    pub posted: Option<Time>,
    /// Whether the PDF that the service sealed is what was uploaded. `None` if it was not fetched.
    pub sealed_as_sent: Option<bool>,
}

/// The words of a note in one language.
struct Words {
    letter: &'static str,
    file: &'static str,
    receiver: &'static str,
    pages: &'static str,
    taken_in: &'static str,
    posted: &'static str,
    ships: &'static str,
    shipped: &'static str,
    cancel_until: &'static str,
    /// Contains the name of the subfolder.
    to_cancel: &'static str,
    tracking: &'static str,
    print: &'static str,
    postal_code: &'static str,
    sealed: &'static str,
    sealed_same: &'static str,
    sealed_otherwise: &'static str,
    held: &'static str,
    waits: &'static str,
    is_posted: &'static str,
    is_shipped: &'static str,
    rejected: &'static str,
    nothing_done: &'static str,
    cancelled: &'static str,
    closed: &'static str,
    nothing_posted: &'static str,
    too_late: &'static str,
    format: &'static str,
}

const EN: Words = Words {
    letter: "Letter",
    file: "File",
    receiver: "Receiver",
    pages: "Pages",
    taken_in: "Taken in",
    posted: "Posted",
    ships: "Ships on",
    shipped: "Shipped",
    cancel_until: "Can be cancelled until",
    to_cancel: "To cancel it, move it into `{}`.",
    tracking: "Tracking number",
    print: "Print",
    postal_code: "Postal code",
    sealed: "Sealed PDF",
    sealed_same: "beside it; the same as was dropped",
    sealed_otherwise: "beside it; NOT the same as was dropped. Ask the administrator.",
    held: "ON HOLD",
    waits: "WAITS FOR ITS POSTING TIME",
    is_posted: "POSTED",
    is_shipped: "SHIPPED",
    rejected: "NOT POSTED",
    nothing_done: "NOTHING WAS DONE",
    cancelled: "CANCELLED: nothing was posted",
    closed: "CLOSED: whether it was posted is not known",
    nothing_posted: "Nothing was posted.",
    too_late: "It could not be cancelled any more",
    format: "%Y-%m-%d %H:%M",
};

const JA: Words = Words {
    letter: "受付番号",
    file: "ファイル",
    receiver: "宛先",
    pages: "ページ数",
    taken_in: "受付",
    posted: "郵送手続き",
    ships: "発送予定",
    shipped: "発送",
    cancel_until: "取消期限",
    to_cancel: "取り消す場合は「{}」に移してください。",
    tracking: "追跡番号",
    print: "印刷",
    postal_code: "郵便番号",
    sealed: "保管PDF",
    sealed_same: "隣に保存しました（入れたPDFと同一です）",
    sealed_otherwise: "隣に保存しました（入れたPDFと一致しません。mailchuteの管理者にご連絡ください）",
    held: "【保留】",
    waits: "【投函待ち】",
    is_posted: "【郵送手続き済み】",
    is_shipped: "【発送済み】",
    rejected: "【郵送されていません】",
    nothing_done: "【何も行っていません】",
    cancelled: "【取消済み】郵送されていません",
    closed: "【終了】郵送されたかどうかは不明です",
    nothing_posted: "郵送されていません。",
    too_late: "取り消しは間に合いませんでした",
    format: "%Y年%m月%d日 %H:%M",
};

/// The whole text, with the line ends that Windows expects and a mark for UTF-8.
pub fn note(
    language: Language,
    names: &Names,
    zone: Tz,
    file: &str,
    about: &Noted<'_>,
    times: Times,
) -> String {
    let note = Note { language, words: language.words(), zone, lines: Vec::new() };
    let lines = match about {
        Noted::Letter(letter) => note.letter(language, names, file, letter, times),
        Noted::Corrected(letter) => {
            let mut lines = note.letter(language, names, file, letter, times);
            // Before what can be done, which comes after the headline and the cause.
            lines.insert(lines.len().min(2), language.other_address(names));
            lines
        }
        Noted::Drop(drop) => note.drop(language, names, file, drop),
    };
    format!("\u{feff}{}\r\n", lines.join("\r\n"))
}

struct Note<'a> {
    language: Language,
    words: &'a Words,
    zone: Tz,
    lines: Vec<String>,
}

impl Note<'_> {
    fn line(&mut self, key: &str, value: impl std::fmt::Display) {
        self.lines.push(format!("{key}: {value}"));
    }

    fn time(&mut self, key: &str, time: Option<Time>) {
        if let Some(time) = time {
            self.line(key, self.language.time(time, self.zone));
        }
    }

    fn drop(mut self, language: Language, names: &Names, file: &str, drop: &Undecided) -> Vec<String> {
        self.lines = language.status_of_drop(names, drop);
        self.lines.push(String::new());
        self.line(self.words.file, file);
        self.lines
    }

    fn letter(
        mut self,
        language: Language,
        names: &Names,
        file: &str,
        letter: &Letter,
        times: Times,
    ) -> Vec<String> {
        let words = self.words;
        self.lines = language.status(names, self.zone, letter);
        self.lines.push(String::new());
        self.line(words.letter, letter.number);
        self.line(words.file, file);
        self.line(
            words.receiver,
            format!("{} {}", letter.order.receiver.address.name, letter.order.receiver.honorific),
        );
        let pages = letter.order.documents.iter().map(|document| document.pages).fold(0, u32::saturating_add);
        self.line(words.pages, pages);
        self.time(words.taken_in, times.taken_in);
        let is_undone = matches!(letter.state, State::Cancelled { .. } | State::Withdrawn);
        self.time(words.posted, times.posted.filter(|_| !is_undone));
        match &letter.state {
            State::Confirmed { seen, mail, wish, .. } => {
                self.time(words.ships, Some(seen.map_or(mail.ships_at, |seen| seen.ships_at)));
                let open =
                    seen.is_none_or(|seen| seen.cancellable) && !matches!(wish, CancelWish::Refused(_));
                if open {
                    self.time(words.cancel_until, Some(mail.confirm_by));
                    self.lines.push(words.to_cancel.replace("{}", &names.cancel));
                }
            }
            State::Shipped { at, tracking, .. } => {
                self.time(words.shipped, Some(*at));
                if let Some(tracking) = tracking {
                    self.line(words.tracking, tracking);
                }
            }
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. }
            | State::Cancelled { .. }
            | State::Withdrawn
            | State::Closed
            | State::Held { .. } => {}
        }
        if !letter.order.print_notes.is_empty() {
            self.line(words.print, language.print_notes(&letter.order.print_notes));
        }
        if let Some(doubt) = &letter.order.place_doubt {
            self.line(words.postal_code, language.misplaced(&doubt.what));
        }
        if let Some(same) = times.sealed_as_sent {
            self.line(words.sealed, if same { words.sealed_same } else { words.sealed_otherwise });
        }
        self.lines
    }
}

impl Language {
    fn words(self) -> &'static Words {
        match self {
            Self::En => &EN,
            Self::Ja => &JA,
        }
    }

    /// A time as people write it.
    pub fn time(self, time: Time, zone: Tz) -> String {
        time.with_timezone(&zone).format(self.words().format).to_string()
    }

    /// A letter's condition: a headline, then the cause and what to do, if there are any.
    pub fn status(self, names: &Names, zone: Tz, letter: &Letter) -> Vec<String> {
        let words = self.words();
        if let (State::Admitted, Some(time)) = (&letter.state, letter.not_before) {
            let Advice { cause, remedy } = self.posting_time(&self.time(time, zone), names);
            return vec![words.waits.to_owned(), cause, remedy];
        }
        if let Some(reason) = letter.state.hold() {
            let Advice { cause, remedy } = self.hold(reason, names);
            return vec![words.held.to_owned(), cause, remedy];
        }
        match &letter.state {
            State::Confirmed { wish: CancelWish::Refused(why), .. } => {
                let why = self.too_late(why);
                vec![words.is_posted.to_owned(), format!("{}: {why}", words.too_late)]
            }
            State::Confirmed { .. } => vec![words.is_posted.to_owned()],
            State::Shipped { .. } => vec![words.is_shipped.to_owned()],
            State::Cancelled { .. } | State::Withdrawn => vec![words.cancelled.to_owned()],
            State::Closed => vec![words.closed.to_owned()],
            // On its way: a note is shown only once the letter is posted or held.
            State::Admitted
            | State::Created { .. }
            | State::Uploaded { .. }
            | State::Confirming { .. }
            | State::Withdrawing { .. }
            | State::Held { .. } => Vec::new(),
        }
    }

    /// The headline of what was not posted.
    pub fn not_posted(self) -> &'static str {
        self.words().rejected
    }

    /// The condition of a drop that is not a letter.
    pub fn status_of_drop(self, names: &Names, drop: &Undecided) -> Vec<String> {
        let words = self.words();
        match drop {
            Undecided::Refused(refusal) => {
                let Advice { cause, remedy } = self.refusal(refusal);
                let headline = if refusal.is_of_an_order() { words.nothing_done } else { words.rejected };
                vec![headline.to_owned(), cause, remedy]
            }
            Undecided::Waits(waiting) => {
                let Advice { cause, remedy } = self.waiting(waiting, names);
                // Where it may have been posted, its remedy says to ask first.
                let said = if waiting.may_have_been_posted() {
                    remedy
                } else {
                    format!("{remedy} {}", words.nothing_posted)
                };
                vec![words.held.to_owned(), cause, said]
            }
            Undecided::Cancelled => vec![words.cancelled.to_owned()],
            // About to be decided: it has no text.
            Undecided::Accepted { .. } => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::drop::{QueueDoubt, Refusal, Waiting};
    use crate::domain::letter::{Abandonment, Fact, Reason};

    #[test]
    fn nothing_says_that_nothing_was_posted_where_it_may_have_been() {
        let queue = |look| Waiting::Queue { queue: "erp".to_owned(), look, letter: None };
        for language in [Language::En, Language::Ja] {
            let (names, nothing) = (Names::usual(language), language.words().nothing_posted);
            let says = |waiting: Waiting| {
                language.status_of_drop(&names, &Undecided::Waits(waiting)).concat().contains(nothing)
            };
            for look in [QueueDoubt::Printed, QueueDoubt::NotProved, QueueDoubt::MailedTwice] {
                assert!(says(queue(look)), "{look:?}");
            }
            assert!(says(Waiting::Rules) && says(Waiting::Sidecar) && !says(Waiting::WasThere));
            for look in [
                QueueDoubt::Lost,
                QueueDoubt::PrintedAgain,
                QueueDoubt::MailedAgain,
                QueueDoubt::WasInMailbox,
            ] {
                assert!(!says(queue(look)), "{look:?}");
            }
            let handed_back =
                |refusal| language.status_of_drop(&names, &Undecided::Refused(refusal)).remove(0);
            assert_eq!(handed_back(Refusal::NoRule), language.words().rejected);
            for order in [Refusal::NothingWaits, Refusal::OwnApproval] {
                assert_eq!(handed_back(order), language.words().nothing_done);
            }
        }
        let abandoned = Fact::Abandoned { mail: 1, why: Abandonment::Held };
        assert!(!abandoned.to_string().contains("unposted"));
    }

    #[test]
    fn no_remedy_is_named_that_cannot_work() {
        for language in [Language::En, Language::Ja] {
            let names = Names { by_copy: true, ..Names::usual(language) };
            for reason in [Reason::DocumentDamaged(0), Reason::OwnerNotProved] {
                let said = language.hold(&reason, &names).remedy;
                assert!(said.contains(&names.cancel) && !said.contains(&names.approve), "{said}");
            }
        }
    }
}
