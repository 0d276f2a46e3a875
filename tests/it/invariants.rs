//! Which test holds which invariant of the design, so that a gap is visible. A test that is named here
//! and does not exist fails.

use crate::architecture::sources;

/// The model's properties are checked by `model_check` and, larger, by `tests/long`.
#[rustfmt::skip]
const INVARIANTS: &[(&str, &[&str])] = &[
    ("I1", &["model_check::every_small_size_holds", "kill::a_daemon_killed_at_every_point_posts_each_letter_exactly_once",
        "twenty::twenty_letters_are_posted_once_each_whatever_goes_wrong"]),
    ("I2", &["model_check::every_small_size_holds", "answers::a_confirm_without_an_answer_is_sent_again_on_the_same_id"]),
    ("I3", &["model_check::every_small_size_holds", "people::a_cancel_while_nobody_knows_whether_it_is_posted_never_confirms_again",
        "answers::documents_the_service_will_not_take_are_held_once_that_is_proved"]),
    ("I4", &["model_check::every_small_size_holds", "answers::a_declined_card_pauses_the_account_once_and_the_letter_waits_for_proof"]),
    ("I5", &["model_check::every_small_size_holds", "kill::a_daemon_killed_at_every_point_posts_each_letter_exactly_once"]),
    ("I6", &["model_check::every_small_size_holds", "records::facts_are_final_and_a_second_live_intent_is_refused_by_the_database_itself"]),
    ("I7", &["model_check::every_small_size_holds", "records::facts_are_final_and_a_second_live_intent_is_refused_by_the_database_itself",
        "records::whoever_has_not_seen_every_fact_writes_none"]),
    ("I8", &["model_check::every_small_size_holds", "people::an_intent_without_an_answer_alarms_after_a_quarter_of_an_hour_and_is_held_after_a_day"]),
    ("I9", &["model_check::every_small_size_holds", "people::an_intent_without_an_answer_alarms_after_a_quarter_of_an_hour_and_is_held_after_a_day"]),
    ("I10", &["model_check::every_small_size_holds", "people::another_account_s_credentials_decide_nothing_about_an_open_intent"]),
    ("I11", &["model_check::every_small_size_holds", "people::a_cancel_while_nobody_knows_whether_it_is_posted_never_confirms_again"]),
    ("I12", &["taking_in_check::every_small_size_of_taking_in_holds",
        "kill::a_daemon_killed_anywhere_between_drop_and_shelf_makes_each_drop_one_letter",
        "mod::whatever_happens_each_letter_is_posted_once_and_no_file_is_lost"]),
    ("I13", &["taking_in_check::every_small_size_of_taking_in_holds",
        "mod::whatever_happens_each_letter_is_posted_once_and_no_file_is_lost",
        "kill::a_daemon_killed_anywhere_between_drop_and_shelf_makes_each_drop_one_letter",
        "away::a_move_that_can_t_be_made_stays_owed_and_posts_nothing_again"]),
    ("I14", &["client::a_document_that_changed_in_the_spool_is_not_uploaded"]),
    ("I15", &["as_meant::a_mail_that_is_not_as_meant_is_never_confirmed"]),
    ("I16", &["model_check::every_small_size_holds", "damage::one_flipped_byte_anywhere_in_the_database_posts_nothing_twice_and_loses_nothing"]),
    ("I17", &["people::the_same_letter_twice_is_held_and_names_the_first"]),
    ("I18", &["people::more_than_a_folder_sends_on_a_day_waits"]),
    // I19 takes a disk that fails: tests/failing-disk.
    ("I20", &["commands::a_letter_from_submit_to_its_tracking_number"]),
    ("I21", &["taking_in_check::every_small_size_of_taking_in_holds",
        "settled::a_sidecar_that_is_rewritten_after_the_claim_settles_again",
        "settled::two_sidecars_of_one_name_are_refused_together_and_none_stays_for_the_next_drop",
        "settled::while_a_rules_file_is_being_saved_its_drops_wait_where_they_were_dropped",
        "settled::rules_that_change_while_a_drop_is_read_do_not_decide_over_it",
        "settled::a_book_that_is_being_saved_in_place_is_waited_for_and_only_by_those_who_need_it",
        "settled::a_book_that_changes_while_a_drop_is_read_does_not_decide_over_it",
        "arrivals::a_scanner_that_rests_between_its_pages_is_waited_for",
        "arrivals::a_subfolder_that_is_empty_or_has_a_pdf_without_an_end_is_waited_for",
        "edges::a_drop_does_not_go_without_its_sidecar_when_the_daemon_died_between_the_two",
        "alone::a_sidecar_whose_pdf_does_not_come_is_handed_back_and_a_pdf_of_that_name_is_held",
        "held_up::rules_that_keep_changing_are_told_in_the_folder_and_after_ten_minutes_the_drop_is_held",
        "held_up::files_that_may_be_half_saved_at_a_start_decide_nothing_until_they_are_read_again"]),
    ("I22", &["taking_in_check::every_small_size_of_taking_in_holds",
        "renamed::who_says_something_in_a_folder_whose_file_was_renamed_is_heard",
        "renamed::a_copy_of_a_folder_is_a_folder_of_its_own_in_which_everything_is_held",
        "wishes::a_copy_says_what_a_move_says_and_is_taken_away",
        "wishes::who_says_something_that_can_not_be_done_is_told_of_the_letter_and_never_to_send_it_again",
        "left_out::a_configuration_that_leaves_out_a_folder_with_unfinished_letters_is_refused",
        "rights::people_of_the_folder_s_group_can_use_shelves_and_texts"]),
    // A start after the disk became another device takes root: tests/moved-disk.
    ("I23", &["taking_in_check::every_small_size_of_taking_in_holds",
        "copied::a_copy_of_the_records_is_refused_beside_them_and_after_them",
        "copied::records_put_back_are_refused_in_a_new_directory_and_over_the_ones_that_stand_there",
        "copied::a_move_holds_nothing_loses_nothing_and_may_end_at_any_file",
        "epoch::a_twin_of_records_that_work_on_a_folder_does_not_start"]),
    ("I24", &["holds::an_owner_proves_nothing_if_others_may_write_the_file",
        "holds::whoever_dropped_a_letter_cant_approve_it"]),
    // A real file system that stops answering takes root: tests/hanging-share.
    ("I25", &["helper::a_folder_that_does_not_answer_holds_up_no_other_and_is_back_when_it_does",
        "helper::a_helper_that_does_not_answer_is_waited_for_no_longer_than_the_patience",
        "helper::letters_go_their_whole_way_in_a_folder_that_a_helper_reaches",
        "away::a_corner_that_somebody_swapped_holds_up_no_other_folder"]),
];

/// Whether a file of this name has a test of this name.
fn is_there(tests: &[(std::path::PathBuf, String)], full: &str) -> bool {
    let (module, name) = full.split_once("::").unwrap();
    tests.iter().any(|(path, text)| {
        path.file_stem().is_some_and(|stem| stem == module) && text.contains(&format!("fn {name}("))
    })
}

#[test]
fn every_invariant_names_tests_that_exist() {
    let tests = sources("tests/it");
    for (invariant, names) in INVARIANTS {
        assert!(!names.is_empty(), "{invariant}");
        for full in *names {
            assert!(is_there(&tests, full), "{invariant}: there is no {full}");
        }
    }
}

#[test]
fn every_claim_of_security_names_tests_that_exist() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with("Security")).unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() >= 11, "{rows:?}");
    let tests = [sources("tests/it"), sources("src")].concat();
    let word = regex::Regex::new("`([a-z_]+::[a-z_]+)`").unwrap();
    for row in rows {
        let names: Vec<&str> = word.captures_iter(row).map(|found| found.get(1).unwrap().as_str()).collect();
        assert!(!names.is_empty(), "nothing holds: {row}");
        for full in names {
            assert!(is_there(&tests, full), "there is no {full}");
        }
    }
}
