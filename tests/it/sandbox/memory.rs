//! Without a data directory everything is in memory, which must not grow for ever.

use mailchute::sandbox::{MemoryBounds, Options};

use crate::rigs::service::{Service, letter, pdf};

async fn bounded(letters: usize, document_bytes: usize) -> Service {
    Service::with(Options { bounds: MemoryBounds { letters, document_bytes }, ..Options::default() }).await
}

#[tokio::test]
async fn documents_beyond_the_bound_take_the_place_of_the_oldest_ended_letters() {
    let one = pdf(1).len();
    let service = bounded(100, 2 * one + one / 2).await;
    let ended = service.confirmed(&letter()).await;
    assert_eq!(service.cancel(&ended.id).await.status(), 204);
    let posted = service.confirmed(&letter()).await;
    let third = service.confirmed(&letter()).await;
    assert_eq!(service.get(&format!("/v1/mails/{}", ended.id)).await.status(), 404);
    assert_eq!(service.events(&ended.id).await, Vec::<String>::new(), "with what happened to it");
    // A letter that may still change is never forgotten: then the upload is refused, and taken later.
    let fourth = service.create(&letter()).await;
    let refused = service.upload(&fourth.contents[0].upload, pdf(1)).await;
    assert_eq!(refused.status(), 500, "{}", refused.text().await.unwrap());
    for mail in [&posted.id, &third.id, &fourth.id] {
        assert_eq!(service.get(&format!("/v1/mails/{mail}")).await.status(), 200);
    }
    assert_eq!(service.cancel(&third.id).await.status(), 204);
    assert_eq!(service.upload(&fourth.contents[0].upload, pdf(1)).await.status(), 204);
    assert_eq!(service.confirm(&fourth.id).await.status(), 204);
}

#[tokio::test]
async fn of_many_letters_the_oldest_ended_ones_are_forgotten() {
    let service = bounded(3, 1 << 20).await;
    let first = service.confirmed(&letter()).await;
    let mut ended = Vec::new();
    for _ in 0..4 {
        let mail = service.confirmed(&letter()).await;
        assert_eq!(service.cancel(&mail.id).await.status(), 204);
        ended.push(mail.id);
    }
    for (mail, status) in [(&first.id, 200), (&ended[0], 404), (&ended[1], 404), (&ended[3], 200)] {
        assert_eq!(service.get(&format!("/v1/mails/{mail}")).await.status(), status, "{mail}");
    }
}
