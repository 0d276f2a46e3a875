//! Accounts have their turns, and letters that are followed.

use chrono::TimeDelta;

use crate::rigs::office::Office;

#[tokio::test]
async fn an_account_does_not_wait_for_all_letters_of_another() {
    let mut office = Office::open().await;
    office.stop();
    office.at_once = 1;
    office.accounts.push("other".to_owned());
    office.start();
    office.settle().await;
    for _letter in 0..5 {
        office.submit(&[1]);
    }
    office.submit_as(&[1], |order| "other".clone_into(&mut order.account));
    for _turn in 0..3 {
        office.carries_one().await;
    }
    let states = |account: &str| -> Vec<&str> {
        let letters = (1..=6).map(|number| office.letter(number));
        letters.filter(|letter| letter.order.account == account).map(|letter| letter.state.word()).collect()
    };
    assert_eq!(states("other"), ["confirmed"], "{:?}", office.states());
    assert!(states("main").contains(&"admitted"), "{:?}", office.states());
    office.settle().await;
    assert_eq!(office.states(), [("confirmed".to_owned(), 6)].into());
    office.check().await;
}

#[tokio::test]
async fn a_letter_that_is_followed_does_not_wait_for_all_that_begin() {
    let mut office = Office::open().await;
    office.stop();
    office.at_once = 2;
    office.start();
    office.submit(&[1]);
    office.settle().await;
    office.service.advance("5days").await;
    office.clock.move_by(TimeDelta::days(5)).unwrap();
    for _letter in 0..40 {
        office.submit(&[1]);
    }
    let mut turns = 0;
    while office.state(1) != "shipped" && turns < 200 {
        office.carries_one().await;
        turns += 1;
    }
    let admitted = office.states().get("admitted").copied().unwrap_or_default();
    assert!(office.state(1) == "shipped" && admitted > 10, "{turns} turns: {:?}", office.states());
    office.settle().await;
    assert_eq!(office.states().get("confirmed"), Some(&40));
    office.check().await;
}
