//! A small picture of the page in question, in e-mails about what is held.

use mail_parser::{MessageParser, MimeHeaders as _};
use mailchute::outside::pdf::{DrawWish, Inspector};

use crate::people::mails::room_with;
use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::postbox::{Got, Postbox, Security};
use crate::rigs::typeset::{Line, typeset, with_contents};

const YAMADA: [Line<'_>; 3] =
    [(20.0, 40.0, "〒060-0001"), (20.0, 46.0, "北海道札幌市北一条西1-1"), (20.0, 52.0, "山田 太郎 様")];
const YAMAMOTO: [Line<'_>; 3] =
    [(20.0, 40.0, "〒530-0001"), (20.0, 46.0, "大阪府大阪市北区梅田1-1"), (20.0, 52.0, "山本商事 御中")];

async fn room(more_rules: &str, pictures: bool) -> (Mailroom, Postbox) {
    let rules = RULES.replace("rules:\n", &format!("{more_rules}\nrules:\n"));
    room_with(Security::Plain, &rules, if pictures { "  pictures: true\n" } else { "" }).await
}

/// The pictures of an e-mail with their Content-IDs.
fn pictures(mail: &Got) -> Vec<(String, Vec<u8>)> {
    let parsed = MessageParser::default().parse(mail.raw.as_bytes()).unwrap();
    let is_png =
        |kind: &mail_parser::ContentType<'_>| kind.ctype() == "image" && kind.subtype() == Some("png");
    let found = parsed.parts.iter().filter(|part| part.content_type().is_some_and(is_png));
    found.map(|part| (part.content_id().unwrap().to_owned(), part.contents().to_vec())).collect()
}

/// A page as it should look, from 0.
async fn drawn(room: &Mailroom, pdf: &[u8], page: u32, grayscale: bool) -> Vec<u8> {
    let inspector = Inspector::of(std::path::Path::new(env!("CARGO_BIN_EXE_mailchute")));
    let wish = DrawWish { page, width: 420, grayscale, ..DrawWish::default() };
    inspector.drawn(pdf, room.config().page_font.as_deref(), &wish).await.unwrap().unwrap().png()
}

fn to_boss(postbox: &Postbox) -> Vec<Got> {
    postbox.got().into_iter().filter(|got| got.to == "boss@example.jp").collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_that_is_for_somebody_else_is_in_the_mail() {
    let (mut room, postbox) = room("check_page: hold", true).await;
    let merged = typeset(&[&YAMADA, &[(20.0, 100.0, "ご請求書")], &YAMAMOTO]);
    std::fs::write(room.path("x merged.pdf"), &merged).unwrap();
    room.settled().await;
    room.pass(60).await;
    let mail = to_boss(&postbox).remove(0);
    let [(id, png)] = pictures(&mail).try_into().unwrap();
    assert!(id.ends_with("@files.example.jp") && mail.html.contains(&format!("cid:{id}")), "{}", mail.html);
    assert!(png == drawn(&room, &merged, 2, false).await, "it is the third page");
    // Who rejects or ships gets none, and neither does an operator.
    std::fs::write(room.path("broken.pdf"), "no PDF").unwrap();
    room.settled().await;
    room.pass(60).await;
    let others: Vec<Got> = postbox.got().into_iter().filter(|got| got.to != "boss@example.jp").collect();
    assert!(!others.is_empty() && others.iter().all(|mail| pictures(mail).is_empty()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letters_first_page_is_drawn_as_it_would_be_printed() {
    let (mut room, postbox) = room("limits: {letters_per_day: 1}", true).await;
    let red = |name: &str| with_contents(&[format!("1 0 0 rg 0 742 100 100 re f %{name}")]);
    for name in ["x one.pdf", "x two.pdf", "x three.pdf"] {
        std::fs::write(room.path(name), red(name)).unwrap();
        room.settled().await;
    }
    room.pass(3600).await;
    let mails = to_boss(&postbox);
    let found: Vec<_> =
        mails.iter().flat_map(|mail| pictures(mail).into_iter().map(move |it| (mail, it))).collect();
    assert_eq!(found.len(), 2, "each letter that waits has one");
    let gray = drawn(&room, &red(""), 0, true).await;
    for (mail, (id, png)) in found {
        assert!(mail.html.contains(&format!("cid:{id}")) && png == gray, "the folder prints in grayscale");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_changed_meanwhile_is_not_shown_and_delays_nothing() {
    let (mut room, postbox) = room("check_page: hold", true).await;
    std::fs::write(room.path("x wrong.pdf"), typeset(&[&YAMAMOTO])).unwrap();
    room.settled().await;
    assert!(to_boss(&postbox).is_empty(), "it waits for others of its kind");
    std::fs::write(room.path("Held/x wrong.pdf"), typeset(&[&YAMADA])).unwrap();
    room.pass(60).await;
    let mail = to_boss(&postbox).remove(0);
    assert!(mail.text.contains("山本商事 御中") && pictures(&mail).is_empty() && !mail.html.contains("cid:"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_shown_without_the_key() {
    let (mut room, postbox) = room("check_page: hold", false).await;
    std::fs::write(room.path("x wrong.pdf"), typeset(&[&YAMAMOTO])).unwrap();
    room.settled().await;
    room.pass(60).await;
    assert!(pictures(&to_boss(&postbox).remove(0)).is_empty());
}
