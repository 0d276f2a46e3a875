//! `mailchute audit --online`: what the service has is held against what is known here.

use mailchute::domain::letter::{Command, Fact, Number};
use serde_json::json;

use crate::rigs::mailroom::{Mailroom, RULES};
use crate::rigs::program::mailchute;

fn audit(room: &Mailroom) -> (bool, String) {
    let config = room.dir.path().join("mailchute.yaml");
    let words = ["audit", "--online", "--since", "1d", "--config", config.to_str().unwrap()];
    let output = mailchute(&words).output().unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_knows_better_is_found_and_nothing_else() {
    let mut room = Mailroom::open_today(RULES).await;
    room.drop("x posted.pdf", 1);
    room.settled().await;
    room.drop("x cancelled.pdf", 2);
    room.settled().await;
    let now = room.clock.now();
    room.desk().order(Number(2), Command::Cancel, now).unwrap();
    // The third waits for its second look at the mail, and a person holds it.
    room.service.order(json!({"endpoint": "read", "fault": "cut", "times": 50})).await;
    room.drop("x held.pdf", 3);
    room.settled().await;
    room.desk().order(Number(3), Command::Hold, now).unwrap();
    room.settle().await;
    assert_eq!(room.row_states(), ["confirmed", "cancelled", "held"]);
    room.service.control(reqwest::Method::DELETE, "faults", json!({})).await;
    let (well, said) = audit(&room);
    assert!(well && said.contains("3 mail(s) at the service checked"), "{said}");
    assert!(!said.contains("山田"), "{said}");

    // Somebody else confirms what was left to vanish, and cancels what was posted.
    let mails: Vec<String> = (1..=3)
        .map(|number| {
            let history = room.desk().history(Number(number)).unwrap();
            let made = history
                .into_iter()
                .find_map(|(_, fact)| if let Fact::Created(mail) = fact { Some(mail.id) } else { None });
            made.unwrap()
        })
        .collect();
    room.service.log_in().await;
    assert_eq!(room.service.confirm(&mails[2]).await.status(), 204);
    assert_eq!(room.service.cancel(&mails[0]).await.status(), 204);
    let (well, said) = audit(&room);
    assert!(!well && said.matches("letter #").count() == 2, "{said}");
    assert!(
        said.contains("letter #1: mail 1 is posted by what is known here, and cancelled there"),
        "{said}"
    );
    assert!(
        said.contains("letter #3: mail 1 is posted at the service, and not by what is known here (I1, I3)"),
        "{said}"
    );
}
