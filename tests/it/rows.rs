//! Which test holds which row of `mail-dispatch-api.md`, so that a gap is visible.
//!
//! The rows are named as the document names them; a test that is named here and does not exist fails.

use mailchute::sandbox::world::Code;

use crate::architecture::sources;

#[rustfmt::skip]
const ROWS: &[(&str, &[(&str, &str)])] = &[
    ("Mail request", &[
        ("every field", "read::a_mail_shows_every_field_of_the_document"),
        ("cancellable", "cancel::the_window_ends_thirty_minutes_after_creation"),
        ("created_at, scheduled_to_ship_at, confirm_by", "create::a_mail_is_created_as_the_document_says"),
        ("shipped_at", "time::a_confirmed_mail_ships_on_its_date_and_is_charged_afterwards"),
        ("shipping_method, shipping_options", "create::every_method_and_option_is_taken"),
        ("tracking_number", "time::a_tracking_number_is_there_when_the_method_is_trackable"),
        ("reply_letterpack", "create::a_reply_letterpack_is_enclosed_with_and_without_address"),
        ("timestamps", "create::timestamps_are_utc_with_milliseconds"),
    ]),
    ("Content object, file object, address object", &[
        ("every field, required or not, its values", "create::each_mistake_is_named_by_its_path"),
        ("paper_size default, staple, bind", "create::staple_and_bind_exclude_each_other_and_defaults_are_shown"),
    ]),
    ("Upload target, download target", &[
        ("url, fields, expires_at", "create::a_mail_is_created_as_the_document_says"),
        ("download url, expires_at", "pdf::a_download_address_lives_an_hour_and_can_be_had_again"),
    ]),
    ("States and transitions", &[
        ("(none) -> pending", "create::a_mail_is_created_as_the_document_says"),
        ("pending -> confirmed", "confirm::confirmation_authorizes_and_opens_the_cancellation_period"),
        ("pending -> deleted at confirm_by", "time::an_unconfirmed_mail_is_deleted_with_its_pdfs_when_its_time_is_over"),
        ("pending -> deleted on card_declined", "confirm::a_declined_card_deletes_the_request"),
        ("confirmed -> cancelled", "cancel::a_cancelled_mail_costs_nothing_and_never_ships"),
        ("confirmed -> shipped, billed after", "time::a_confirmed_mail_ships_on_its_date_and_is_charged_afterwards"),
        ("sealed on confirmation", "upload::the_last_upload_wins_until_the_mail_is_confirmed"),
        ("sealed on confirmation, on disk", "data::a_sealed_pdf_that_was_changed_on_disk_is_not_given_out"),
        ("no order of events breaks a promise", "properties::no_sequence_breaks_a_promise"),
    ]),
    ("Endpoints", &[
        ("POST token", "auth::a_token_is_issued_as_the_document_says"),
        ("POST token/revocation", "auth::revocation_follows_rfc_7009"),
        ("GET openid-configuration", "auth::the_discovery_document_names_what_libraries_ask_for"),
        ("GET account", "read::the_account_can_be_read"),
        ("POST mails", "create::a_mail_is_created_as_the_document_says"),
        ("POST mails: unknown keys", "create::each_mistake_is_named_by_its_path"),
        ("POST upload: fields unchanged", "upload::every_signed_field_must_be_there_unchanged_and_nothing_else"),
        ("POST upload: file last", "upload::nothing_may_follow_the_file"),
        ("POST upload: 204", "upload::a_file_is_taken_with_nothing_in_the_answer"),
        ("POST upload: XML failures", "upload::the_refusal_of_a_signature_shows_what_was_compared"),
        ("POST confirm", "confirm::confirmation_authorizes_and_opens_the_cancellation_period"),
        ("GET mail", "read::a_mail_shows_every_field_of_the_document"),
        ("POST cancel", "cancel::a_cancelled_mail_costs_nothing_and_never_ships"),
        ("GET pdf, then without a token", "pdf::a_sealed_pdf_is_read_without_a_token_byte_for_byte"),
        ("anything else", "read::unknown_operations_and_methods_are_told_apart"),
    ]),
    ("Authentication", &[
        ("client_secret_basic", "auth::credentials_are_read_raw_and_form_encoded"),
        ("token errors", "auth::token_requests_are_refused_in_the_words_of_rfc_6749"),
        ("secret shown once", "pages::clients_are_managed_on_the_account_page"),
        ("secret stored hashed", "data::secrets_and_tokens_are_not_in_the_database"),
        ("terms of use", "accounts::a_client_needs_agreement_to_the_terms_a_name_and_an_id_of_its_own"),
        ("reissue", "accounts::a_reissued_secret_stops_the_old_one_at_once"),
        ("scopes by operation", "auth::each_operation_wants_its_scope"),
        ("scopes not permitted", "auth::scopes_are_those_asked_for_and_known_the_rest_is_dropped_silently"),
        ("401 before the API", "auth::without_a_valid_token_nothing_reaches_the_api"),
        ("account gone", "accounts::a_closed_account_is_not_found_and_gets_no_tokens"),
        ("tokens act as their account", "accounts::each_account_sees_404_for_the_others_mails"),
        ("standard libraries", "standard_clients::an_openid_library_discovers_logs_in_and_revokes"),
    ]),
    ("Errors: create", &[
        ("400 invalid_request", "create::each_mistake_is_named_by_its_path"),
        ("400 invalid_request, body", "create::bodies_that_are_no_json_object_are_refused"),
        ("400 invalid_request, all at once", "create::all_mistakes_are_told_at_once"),
        ("402 card_not_registered", "create::without_a_card_nothing_is_created"),
        ("404 account_not_found", "accounts::a_closed_account_is_not_found_and_gets_no_tokens"),
        ("422 over_weight", "create::the_largest_mail_is_taken_and_one_sheet_more_is_over_weight"),
    ]),
    ("Errors: confirm", &[
        ("402 card_declined", "confirm::a_declined_card_deletes_the_request"),
        ("404 account_not_found", "accounts::a_closed_account_is_not_found_and_gets_no_tokens"),
        ("404 mail_not_found", "confirm::a_request_unknown_or_gone_is_not_found"),
        ("409 mail_already_confirmed", "confirm::a_second_confirmation_changes_nothing"),
        ("409 payment_in_progress", "confirm::a_payment_in_progress_leaves_the_request_as_it_is"),
        ("422 file_not_uploaded", "confirm::files_that_are_missing_are_all_named"),
        ("422 invalid_file", "confirm::files_that_are_no_readable_pdf_are_all_named"),
        ("422 page_count_mismatch", "confirm::page_counts_that_differ_are_all_named_at_once"),
    ]),
    ("Errors: read, cancel, PDF, all", &[
        ("read 404 mail_not_found", "read::a_mail_that_does_not_exist_is_not_found"),
        ("cancel 404 mail_not_found", "cancel::a_mail_unknown_or_deleted_is_not_found"),
        ("cancel 409 mail_already_cancelled", "cancel::a_cancelled_mail_costs_nothing_and_never_ships"),
        ("cancel 409 mail_not_cancellable", "cancel::what_is_not_confirmed_or_already_packed_or_shipped_is_not_cancellable"),
        ("cancel 409 cancellation_window_expired", "cancel::the_window_ends_thirty_minutes_after_creation"),
        ("pdf 409 mail_not_confirmed", "pdf::before_confirmation_there_is_no_pdf"),
        ("pdf 404 mail_content_not_found", "pdf::content_and_mail_must_belong_together"),
        ("500 internal_server_error", "controls::a_status_is_answered_with_or_without_the_work"),
        ("type opens an explanation", "pages::every_problem_has_a_page_that_explains_it_in_both_languages"),
    ]),
    ("Limits", &[
        ("files per request, page_count, state, paper_size", "create::each_mistake_is_named_by_its_path"),
        ("file size", "upload::sizes_are_limited_at_both_ends"),
        ("file format", "confirm::files_that_are_no_readable_pdf_are_all_named"),
        ("sheets", "create::the_largest_mail_is_taken_and_one_sheet_more_is_over_weight"),
        ("upload target validity", "upload::a_target_lives_five_minutes"),
        ("confirmation deadline", "time::an_unconfirmed_mail_is_deleted_with_its_pdfs_when_its_time_is_over"),
        ("cancellation period", "cancel::the_window_ends_thirty_minutes_after_creation"),
        ("download validity", "pdf::a_download_address_lives_an_hour_and_can_be_had_again"),
        ("token lifetime", "auth::a_token_ends_after_an_hour"),
        ("clients per account", "accounts::a_sixth_client_is_refused"),
    ]),
];

#[test]
fn every_row_names_a_test_that_exists() {
    let tests = sources("tests/it/sandbox");
    for (table, rows) in ROWS {
        for (row, test) in *rows {
            let (module, name) = test.split_once("::").unwrap();
            let source = tests.iter().find(|(path, _)| path.ends_with(format!("{module}.rs")));
            let (_, text) = source.unwrap_or_else(|| panic!("{table}, {row}: there is no {module}.rs"));
            let at = text
                .find(&format!("fn {name}("))
                .unwrap_or_else(|| panic!("{table}, {row}: there is no {test}"));
            let before = text[..at].trim_end().trim_end_matches("async").trim_end();
            assert!(before.ends_with("test]"), "{table}, {row}: {test} is no test");
        }
    }
}

#[test]
fn every_problem_of_the_document_has_a_row() {
    // The last four are plain HTTP's.
    for code in &Code::ALL[..17] {
        let rows = ROWS.iter().filter(|(table, _)| table.starts_with("Errors")).flat_map(|(_, rows)| *rows);
        let named = rows.filter(|(row, _)| row.contains(&format!("{} {}", code.status(), code.as_str())));
        assert!(named.count() > 0, "{} has no row", code.as_str());
    }
}
