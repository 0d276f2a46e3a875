//! English.

use super::{Advice, Language, Names, doubts};
use crate::domain::drop::{KeyDoubt, Kind, QueueDoubt, Refusal, Waiting};
use crate::domain::letter::{Certainty, Number, Reason};
use crate::domain::printed::{OtherAddressee, PageDoubt, Unclear};

#[expect(clippy::too_many_lines, reason = "a table, one text for each")]
pub(super) fn refusal(refusal: &Refusal) -> Advice {
    match refusal {
        Refusal::NotAFile(kind) => {
            Advice::new(format!("It is {}, not a file.", thing(*kind)), "Put the PDF itself into the folder.")
        }
        Refusal::LinkedElsewhere => Advice::new(
            "The file has a second name somewhere else, so it may be somebody else's.",
            "Copy the PDF into the folder instead of linking it.",
        ),
        Refusal::NoRight => Advice::new(
            "The file's permissions do not allow reading it.",
            "Copy it into the folder once more.",
        ),
        Refusal::Empty => Advice::new("The file is empty.", "Save or copy the PDF once more."),
        Refusal::TooLarge { size } => Advice::new(
            format!("The file has {size} bytes; at most 10,000,000 can be posted."),
            "Save it with smaller pictures, or make two letters of it.",
        ),
        Refusal::NotPdf => Advice::new("It is not a PDF.", "Save it as a PDF and put that into the folder."),
        Refusal::Pdf(doubt) => super::pdf::en(*doubt),
        Refusal::NotInSubfolder => Advice::new(
            "In this folder a letter is a subfolder with its PDFs in it.",
            "Make a subfolder, put the PDFs into it, and move it here.",
        ),
        Refusal::NoDocuments => Advice::new(
            "There is no PDF in the subfolder.",
            "Put 1 to 10 PDFs into it and move it here again.",
        ),
        Refusal::TooManyDocuments { found } => Advice::new(
            format!("There are {found} PDFs in the subfolder; a letter has at most 10."),
            "Put fewer PDFs into it, or join some of them.",
        ),
        Refusal::Unfit { name } => Advice::new(
            format!("`{name}` in the subfolder is not a PDF."),
            "Take it out and move the subfolder here again.",
        ),
        Refusal::NoRule => Advice::new(
            "No rule of this folder fits it.",
            "Check the name. The person who keeps the rules can run `mailchute explain`.",
        ),
        Refusal::NoReceiver { key } => Advice::new(
            format!("The address book has no usable entry `{key}`."),
            "Correct the file's name, or enter the address; then move it into the folder again.",
        ),
        Refusal::KeyUnclear(KeyDoubt::Cut { key }) => Advice::new(
            format!(
                "Right beside the number `{key}` there is another digit, so it may not be the whole number."
            ),
            "Correct the file's name, then move it into the folder again. If the number is right, the person who keeps the rules \
             lets the expression count the digits beside it too, as in `(?<customer>\\d{6})\\d{8}`.",
        ),
        Refusal::KeyUnclear(KeyDoubt::Differs { keys: [one, other] }) => Advice::new(
            format!("Its rule finds two numbers for its receiver: `{one}` and `{other}`."),
            "Correct the one that is wrong, in the file's name or in the document; then move it into the folder again.",
        ),
        Refusal::Sidecar(why) => Advice::new(
            format!("The file with its address can't be used: {why}"),
            "Correct it, and move both into the folder again.",
        ),
        Refusal::SeveralSidecars { names } => Advice::new(
            format!("Several files with an address came with it: {}.", names.join(", ")),
            "Keep the one that is right, and move it and the PDF into the folder again.",
        ),
        Refusal::SidecarReplaced { name } => Advice::new(
            format!("`{name}` was saved again later, and the newer one counts."),
            "If this one is right, put it into the folder again, together with its PDF.",
        ),
        Refusal::NoLetter => Advice::new(
            "Its receiver is not known: the rule that matches takes it from the request, and the request had none.",
            "Send the field `letter` with a `receiver`.",
        ),
        Refusal::SidecarAlone { pdf, taken_in: Some(letter) } => Advice::new(
            format!(
                "It came after its `{pdf}`, which is letter {letter}. That letter does not use this address."
            ),
            format!(
                "If this belongs to another `{pdf}`, put both into the folder together. If letter {letter} must go to this \
                 address and is not posted yet, cancel it, and put both into the folder together. If `{pdf}` comes alone \
                 within 24 hours, it is held."
            ),
        ),
        Refusal::SidecarAlone { pdf, taken_in: None } => Advice::new(
            format!("No `{pdf}` came with it."),
            format!(
                "If `{pdf}` is still to be posted, put both into the folder together. If it is held, put this beside it \
                 there, and then approve it. If it comes alone within 24 hours, it is held."
            ),
        ),
        Refusal::NameTooLong => Advice::new(
            "It needs a file with an address beside it, and its name is too long for that.",
            "Give it a shorter name, and put it and its address into the folder together.",
        ),
        Refusal::SidecarUnwanted { rule } => Advice::new(
            format!("An address lies beside it, but the rule \"{rule}\" has one of its own."),
            "Move it into the folder without the address, or have the rules changed.",
        ),
        Refusal::OtherPages { said, found } => Advice::new(
            format!("It should have {said} pages but has {found}."),
            "Look whether it is the right PDF, or correct the number.",
        ),
        Refusal::NotPostable(problems) => Advice::new(
            format!(
                "It can't be posted like this: {}.",
                problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
            ),
            "Correct that and move it into the folder again.",
        ),
        Refusal::OwnApproval => Advice::new(
            "The person who dropped a letter can't approve it.",
            "Somebody else must copy it from the folder where it is held. The letter still waits there.",
        ),
        Refusal::OwnerNotProved { letter } => Advice::new(
            "Who dropped this letter, or who approves it, is not proved: others than the owner may write the file.",
            format!(
                "Files of this folder must be writable by their owner alone (on Samba: create mask = 0640). The \
                 administrator can approve this one with `mailchute release {letter}`."
            ),
        ),
        Refusal::Unheard(unheard) => super::unheard::en(unheard),
        Refusal::NothingWaits => Advice::new(
            "Nothing waits under this name.",
            "Nothing was approved or cancelled. To post it, put it into the folder itself. To cancel a letter, use the \
                 folder into which it was put.",
        ),
    }
}

fn thing(kind: Kind) -> &'static str {
    match kind {
        Kind::Directory => "a folder",
        Kind::Symlink => "a link to another file",
        Kind::Fifo => "a pipe",
        Kind::Socket => "a socket",
        Kind::Device => "a device",
    }
}

pub(super) fn waiting(waiting: &Waiting, names: &Names) -> Advice {
    let Names { approve, cancel, .. } = names;
    let again = format!("move it into `{approve}`. To give it up, move it into `{cancel}`.");
    let beside = "Put the address here, beside the PDF, and not where the PDF was dropped. Name it as the PDF is named \
                  here, with `.yaml` at its end (`x.pdf.yaml`); for a subfolder put it inside, as `letter.yaml`.";
    match waiting {
        Waiting::Sidecar => Advice::new(
            "It needs an address, and none came with it. Without one it can't be approved.",
            format!("{beside} Then {again}"),
        ),
        Waiting::SidecarOfTwo => Advice::new(
            "An address came with it, but another PDF of this name waits for one, or was taken in without one not long \
             before, so nobody knows for which of them it is.",
            format!("If the address beside it is right, {again}"),
        ),
        Waiting::SidecarHandedBack { sidecar } => Advice::new(
            format!(
                "It came without an address, and `{sidecar}` was handed back not long before because its PDF did \
                 not come."
            ),
            format!("If that address is meant, use `{sidecar}`. {beside} Then {again}"),
        ),
        Waiting::Queue { queue, look, letter } => queued(queue, (*look, *letter), &again),
        Waiting::WasThere => Advice::new(
            "It lay in the folder before the folder was watched, so nobody knows whether it is to be posted.",
            format!("To post it, {again}"),
        ),
        Waiting::Doubt(doubtful) => Advice::new(
            doubts(doubtful, |doubtful| {
                format!(
                    "{} It would be posted with {} page(s).",
                    super::pdf::en(doubtful.doubt).cause,
                    doubtful.pages
                )
            }),
            format!(
                "Look whether every page is there and as it should be. If so, {again} Better: make it anew."
            ),
        ),
        Waiting::Page(doubt) => Advice::new(
            page(doubt),
            format!("If this PDF is meant for the address on the envelope all the same, {again}"),
        ),
        Waiting::Receiver(doubt) => super::from_page::en(doubt, beside, &again),
        Waiting::Print(doubt) => Advice::new(
            Language::En.print_notes(&doubt.notes),
            format!("If it may be printed like this, {again} Better: make it anew."),
        ),
        Waiting::Rules => Advice::new(
            "The rules of this folder kept changing for ten minutes, so nobody knows what they say of it.",
            format!("When they are saved and unchanged, {again}"),
        ),
        Waiting::Book(why) => Advice::new(
            format!("The address book can't be used: {why}"),
            format!("When it is mended, {again}"),
        ),
    }
}

/// What a queue took after records were lost.
fn queued(queue: &str, (look, letter): (QueueDoubt, Option<Number>), again: &str) -> Advice {
    match look {
        QueueDoubt::Lost => Advice::new(
            format!(
                "The queue `{queue}` took it after records were lost. If it came before that too, it may have been posted \
                 already."
            ),
            format!("Ask who sent it, and look for its letter. If it was not posted, {again}"),
        ),
        QueueDoubt::Printed => Advice::new(
            format!("It was printed on `{queue}`, and is posted when somebody has looked at it."),
            format!("To post it, {again}"),
        ),
        QueueDoubt::PrintedAgain => Advice::new(
            format!(
                "A document of the same print job came on `{queue}` before. It may be the same letter once more."
            ),
            match letter {
                Some(Number(letter)) => {
                    format!("The earlier one is letter #{letter}. If this is to be posted too, {again}")
                }
                None => format!("Look whether the letter exists. If this is to be posted too, {again}"),
            },
        ),
        QueueDoubt::NotProved => Advice::new(
            format!(
                "It came by mail to `{queue}`, and the mail server does not say that the mail is really from its sender. \
                 Anybody can write such a mail."
            ),
            format!("Ask the sender by telephone. If it is to be posted, {again}"),
        ),
        QueueDoubt::MailedAgain => Advice::new(
            format!(
                "Its mail came to `{queue}` before, or another mail with the same documents of the same sender. It may be \
                 the same letter once more."
            ),
            format!("Look whether the letter exists. If this is to be posted too, {again}"),
        ),
        QueueDoubt::MailedTwice => Advice::new(
            format!(
                "The same documents are in one mail to `{queue}` more than once. The first are another letter."
            ),
            format!("If these are to be posted too, {again}"),
        ),
        QueueDoubt::WasInMailbox => Advice::new(
            format!(
                "Its mail was in the mailbox of `{queue}` before mails counted there. It may be an old one."
            ),
            format!("Look whether it was posted already. If it is to be posted, {again}"),
        ),
    }
}

/// Whom the page and the envelope are for.
fn page(doubt: &PageDoubt) -> String {
    let document =
        if doubt.document == 1 { String::new() } else { format!(" of document {}", doubt.document) };
    match &doubt.found {
        OtherAddressee::Named { page: 1, people: Some(people) } => {
            format!("Page 1{document} is for {}; the envelope would be for {}.", people.0, people.1)
        }
        OtherAddressee::Named { page, people: Some(people) } => {
            format!(
                "Page {page}{document} begins a letter to {}; the envelope would be for {}.",
                people.0, people.1
            )
        }
        OtherAddressee::Named { page, people: None } => {
            format!("Page {page}{document} is for somebody else than the envelope.")
        }
        OtherAddressee::Unclear(Unclear::Unreadable) => {
            format!("Nothing on page 1{document} can be read, so nobody knows whom it is for.")
        }
        OtherAddressee::Unclear(Unclear::NobodyFound) => {
            format!("There is no address on page 1{document}, so nobody knows whom it is for.")
        }
        OtherAddressee::Unclear(Unclear::OtherCount) => {
            format!(
                "Programs count the pages{document} in two ways, so nobody knows which of them are printed."
            )
        }
        OtherAddressee::Unclear(Unclear::Partly) => {
            format!("Page 1{document} has only a part of the receiver's name and postal code.")
        }
    }
}

pub(super) fn hold(reason: &Reason, names: &Names) -> Advice {
    let Names { approve, cancel, .. } = names;
    let remedy = match (reason, reason.certainty()) {
        (_, Certainty::Unknown) => "It may have been posted: DO NOT SEND IT AGAIN. Ask the \
                                    administrator."
            .to_owned(),
        (Reason::NeverPostable(_), Certainty::NothingPosted) => {
            format!("Nothing was posted. Move it into `{cancel}` and send a better PDF.")
        }
        // mailchute's own copy stays damaged.
        (Reason::DocumentDamaged(_), Certainty::NothingPosted) => {
            format!("Nothing was posted. Move it into `{cancel}`, and put the PDF into the folder again.")
        }
        (Reason::OwnerNotProved, Certainty::NothingPosted) => format!(
            "Nothing was posted. Only the administrator can approve it (`mailchute release`). To give it up, move it into \
             `{cancel}`."
        ),
        (_, Certainty::NothingPosted) if names.by_copy => format!(
            "Nothing was posted. To post it, somebody else than who dropped it COPIES it into `{approve}` (a \
             move does not tell who it was). To give it up, move it into `{cancel}`."
        ),
        (_, Certainty::NothingPosted) => format!(
            "Nothing was posted. To post it, move it into `{approve}`. To give it up, move it into `{cancel}`."
        ),
    };
    let cause = if let Reason::Elsewhere(there) = reason {
        format!("the receiver's postal code belongs to {there}, and the address says another prefecture")
    } else if let Reason::Misplaced(what) = reason {
        what.to_string()
    } else {
        reason.to_string()
    };
    let mut letters = cause.chars();
    let cause =
        letters.next().map_or_else(String::new, |c| c.to_uppercase().collect::<String>() + letters.as_str());
    Advice::new(format!("{cause}."), remedy)
}
