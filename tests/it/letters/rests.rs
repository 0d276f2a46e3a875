//! A service that does not answer is asked again when its rest ends, however quickly the call failed.

use std::sync::Arc;

use chrono::TimeDelta;
use mailchute::base::bells::Bells;
use mailchute::base::secret::Secret;
use mailchute::domain::alarm::Alarm;
use mailchute::domain::letter::Retry;
use mailchute::loops::dispatch::{Account, Dispatch};
use mailchute::outside::api::{Client, Credentials, Patience, Places};
use mailchute::outside::spool::Spool;
use mailchute::outside::store::Store;
use tokio::task::yield_now;

use crate::rigs::office::Office;

/// A client of a service that takes no connections.
fn client_of_nobody(office: &Office) -> Client {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let places = Places::new(&format!("http://{free}"), &format!("http://{free}")).unwrap();
    let credentials = Credentials { client_id: "nobody".to_owned(), client_secret: Secret::new("x") };
    Client::new(places, credentials, Patience::default(), office.clock.clone()).unwrap()
}

/// The look at accounts is held up by a record of the second, and the call of the first fails in the meantime.
#[tokio::test]
async fn an_account_that_fails_during_a_look_is_asked_again_when_its_rest_ends() {
    let mut office = Office::open().await;
    office.stop();
    let (store, _) = Store::open(office.dir.path(), office.clock.now(), false).unwrap();
    let store = Arc::new(store);
    // It ends when the second answers, which is recorded in the next look.
    let alarm = Alarm::Silent("second".to_owned());
    store.raise(alarm, String::new(), office.clock.now()).await.unwrap();
    let accounts = vec![
        Account::new("first".to_owned(), client_of_nobody(&office)),
        Account::new("second".to_owned(), office.client()),
    ];
    let (clock, spool) = (office.clock.clone(), Spool::open(&store.home().spool()).unwrap());
    let bells = Bells::default();
    let mut dispatch =
        Dispatch::new(Arc::clone(&store), spool, accounts, clock.clone(), Retry::default(), 8, &bells);
    dispatch.tick().await.unwrap();
    while !dispatch.is_idle() {
        dispatch.joined().await.unwrap();
    }
    let first = dispatch.accounts().swap_remove(0);
    let rest_ends = first.rests(clock.now()).unwrap();
    clock.move_by(rest_ends - clock.now() + TimeDelta::milliseconds(1)).unwrap();
    assert_eq!(first.rests(clock.now()), None);

    let holder = rusqlite::Connection::open(office.dir.path().join("mailchute.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (next, ()) = tokio::join!(dispatch.tick(), async {
        while first.rests(clock.now()).is_none() {
            yield_now().await;
        }
        holder.execute_batch("COMMIT").unwrap();
    });
    assert!(next.unwrap().is_some() || !dispatch.is_idle(), "it would wait for a bell");
    assert_eq!(dispatch.settle().await.unwrap(), first.rests(clock.now()));
    assert!(first.rests(clock.now()).is_some());
}
