//! Which test holds which row of the service's contract (`docs/spec`), so that a gap is visible.
//!
//! A row of a table there that has no test here fails, and so does a test here for a row that is not there.

use mailchute::sandbox::world::Code;

use crate::house::architecture::sources;
use crate::house::documents::{Table, tables};

/// A table, as its document and heading; then rows, each by its first cell, and the test that holds them.
type Held = (&'static str, &'static str, &'static [(&'static [&'static str], &'static str)]);

#[rustfmt::skip]
const ROWS: &[Held] = &[
    ("resources.md", "Mail", &[
        (&["id", "status", "cancellable", "created_at", "scheduled_to_ship_at", "confirm_by", "shipping_method", "shipping_options",
           "sender_address", "receiver_address", "contents"], "read::a_mail_shows_every_field_of_the_document"),
        (&["cancellable"], "cancel::the_window_ends_thirty_minutes_after_creation"),
        (&["created_at", "scheduled_to_ship_at", "confirm_by"], "create::timestamps_are_utc_with_milliseconds"),
        (&["shipped_at"], "time::a_confirmed_mail_ships_on_its_date_and_is_charged_afterwards"),
        (&["shipping_method", "shipping_options"], "create::every_method_and_option_is_taken"),
        (&["tracking_number"], "time::a_tracking_number_is_there_when_the_method_is_trackable"),
        (&["reply_letterpack"], "create::a_reply_letterpack_is_enclosed_with_and_without_address"),
    ]),
    ("resources.md", "Content", &[
        (&["id", "file_name", "page_count", "paper_size", "color", "duplex"], "read::a_mail_shows_every_field_of_the_document"),
        (&["paper_size", "staple", "bind"], "create::staple_and_bind_exclude_each_other_and_defaults_are_shown"),
    ]),
    ("resources.md", "Address", &[
        (&["postal_code", "state", "city", "address1", "name", "honorific"], "read::a_mail_shows_every_field_of_the_document"),
        (&["postal_code", "state", "city", "address1", "name", "honorific"], "create::each_mistake_is_named_by_its_path"),
    ]),
    ("resources.md", "Reply letter pack", &[
        (&["address"], "create::a_reply_letterpack_is_enclosed_with_and_without_address"),
    ]),
    ("resources.md", "Upload target", &[
        (&["url", "fields", "expires_at"], "create::a_mail_is_created_as_the_document_says"),
    ]),
    ("resources.md", "Download target", &[
        (&["url", "expires_at"], "pdf::a_download_address_lives_an_hour_and_can_be_had_again"),
    ]),
    ("states.md", "Transitions", &[
        (&["nothing, create"], "create::a_mail_is_created_as_the_document_says"),
        (&["pending, confirm"], "confirm::confirmation_authorizes_and_opens_the_cancellation_period"),
        (&["pending, confirm"], "upload::the_last_upload_wins_until_the_mail_is_confirmed"),
        (&["pending, confirm"], "data::a_sealed_pdf_that_was_changed_on_disk_is_not_given_out"),
        (&["pending, the deadline"], "time::an_unconfirmed_mail_is_deleted_with_its_pdfs_when_its_time_is_over"),
        (&["pending, confirm with a declined card"], "confirm::a_declined_card_deletes_the_request"),
        (&["confirmed, cancel"], "cancel::a_cancelled_mail_costs_nothing_and_never_ships"),
        (&["confirmed, the ship date"], "time::a_confirmed_mail_ships_on_its_date_and_is_charged_afterwards"),
    ]),
    ("states.md", "Rules of states", &[
        (&["a pending mail can't be cancelled"], "cancel::what_is_not_confirmed_or_already_packed_or_shipped_is_not_cancellable"),
        (&["cancellable is read"], "cancel::the_window_ends_thirty_minutes_after_creation"),
        (&["nothing of a confirmed mail changes"], "upload::the_last_upload_wins_until_the_mail_is_confirmed"),
        (&["no other order of events"], "properties::no_sequence_breaks_a_promise"),
    ]),
    ("endpoints.md", "Operations", &[
        (&["POST {auth_url}/token"], "auth::a_token_is_issued_as_the_document_says"),
        (&["POST {auth_url}/token/revocation"], "auth::revocation_follows_rfc_7009"),
        (&["GET {auth_url}/.well-known/openid-configuration"], "auth::the_discovery_document_names_what_libraries_ask_for"),
        (&["GET /v1/account"], "read::the_account_can_be_read"),
        (&["POST /v1/mails"], "create::a_mail_is_created_as_the_document_says"),
        (&["POST to an upload target"], "upload::a_file_is_taken_with_nothing_in_the_answer"),
        (&["POST /v1/mails/{mailId}/confirm"], "confirm::confirmation_authorizes_and_opens_the_cancellation_period"),
        (&["GET /v1/mails/{mailId}"], "read::a_mail_shows_every_field_of_the_document"),
        (&["POST /v1/mails/{mailId}/cancel"], "cancel::a_cancelled_mail_costs_nothing_and_never_ships"),
        (&["GET /v1/mails/{mailId}/contents/{contentId}/pdf", "GET of a download target"],
           "pdf::a_sealed_pdf_is_read_without_a_token_byte_for_byte"),
        (&["GET of a download target"], "pdf::a_download_address_lives_an_hour_and_can_be_had_again"),
        (&["any other"], "read::unknown_operations_and_methods_are_told_apart"),
    ]),
    ("endpoints.md", "Create: request", &[
        (&["shipping_method", "shipping_options"], "create::every_method_and_option_is_taken"),
        (&["shipping_method", "shipping_options", "sender_address", "receiver_address", "files", "unknown keys"],
           "create::each_mistake_is_named_by_its_path"),
        (&["reply_letterpack"], "create::a_reply_letterpack_is_enclosed_with_and_without_address"),
    ]),
    ("endpoints.md", "Create: file", &[
        (&["file_name", "page_count", "paper_size", "color", "duplex", "staple", "bind"], "create::each_mistake_is_named_by_its_path"),
        (&["page_count"], "confirm::page_counts_that_differ_are_all_named_at_once"),
        (&["paper_size", "staple", "bind"], "create::staple_and_bind_exclude_each_other_and_defaults_are_shown"),
    ]),
    ("endpoints.md", "Create: answer", &[
        (&["id", "scheduled_to_ship_at", "confirm_by", "contents"], "create::a_mail_is_created_as_the_document_says"),
    ]),
    ("endpoints.md", "Upload", &[
        (&["fields unchanged", "a changed field, or one after file"], "upload::every_signed_field_must_be_there_unchanged_and_nothing_else"),
        (&["file last", "a changed field, or one after file"], "upload::nothing_may_follow_the_file"),
        (&["success"], "upload::a_file_is_taken_with_nothing_in_the_answer"),
        (&["failures"], "upload::the_refusal_of_a_signature_shows_what_was_compared"),
        (&["every file"], "confirm::files_that_are_missing_are_all_named"),
    ]),
    ("authentication.md", "Token request", &[
        (&["client"], "auth::credentials_are_read_raw_and_form_encoded"),
        (&["form"], "auth::token_requests_are_refused_in_the_words_of_rfc_6749"),
        (&["answer", "no refresh token"], "auth::a_token_is_issued_as_the_document_says"),
    ]),
    ("authentication.md", "Clients", &[
        (&["issued on the account page", "the secret is shown once"], "pages::clients_are_managed_on_the_account_page"),
        (&["terms of use"], "accounts::a_client_needs_agreement_to_the_terms_a_name_and_an_id_of_its_own"),
        (&["number"], "accounts::a_sixth_client_is_refused"),
        (&["reissue"], "accounts::a_reissued_secret_stops_the_old_one_at_once"),
        (&["server-side only"], "data::secrets_and_tokens_are_not_in_the_database"),
    ]),
    ("authentication.md", "Tokens", &[
        (&["account"], "accounts::each_account_sees_404_for_the_others_mails"),
        (&["scopes that are not permitted"], "auth::scopes_are_those_asked_for_and_known_the_rest_is_dropped_silently"),
        (&["checked before the API"], "auth::without_a_valid_token_nothing_reaches_the_api"),
        (&["the account is closed"], "accounts::a_closed_account_is_not_found_and_gets_no_tokens"),
        (&["standard libraries"], "standard_clients::an_openid_library_discovers_logs_in_and_revokes"),
    ]),
    ("authentication.md", "Scopes", &[
        (&["account:read", "mails:read", "mails:write"], "auth::each_operation_wants_its_scope"),
    ]),
    ("errors.md", "Format", &[
        (&["type"], "pages::every_problem_has_a_page_that_explains_it_in_both_languages"),
        (&["title", "status", "code"], "read::a_mail_that_does_not_exist_is_not_found"),
        (&["errors"], "create::all_mistakes_are_told_at_once"),
        (&["errors"], "confirm::page_counts_that_differ_are_all_named_at_once"),
    ]),
    ("errors.md", "Create", &[
        (&["400 invalid_request"], "create::each_mistake_is_named_by_its_path"),
        (&["400 invalid_request"], "create::bodies_that_are_no_json_object_are_refused"),
        (&["402 card_not_registered"], "create::without_a_card_nothing_is_created"),
        (&["404 account_not_found"], "accounts::a_closed_account_is_not_found_and_gets_no_tokens"),
        (&["422 over_weight"], "create::the_largest_mail_is_taken_and_one_sheet_more_is_over_weight"),
    ]),
    ("errors.md", "Confirm", &[
        (&["402 card_declined"], "confirm::a_declined_card_deletes_the_request"),
        (&["404 account_not_found"], "accounts::a_closed_account_is_not_found_and_gets_no_tokens"),
        (&["404 mail_not_found"], "confirm::a_request_unknown_or_gone_is_not_found"),
        (&["409 mail_already_confirmed"], "confirm::a_second_confirmation_changes_nothing"),
        (&["409 payment_in_progress"], "confirm::a_payment_in_progress_leaves_the_request_as_it_is"),
        (&["422 file_not_uploaded"], "confirm::files_that_are_missing_are_all_named"),
        (&["422 invalid_file"], "confirm::files_that_are_no_readable_pdf_are_all_named"),
        (&["422 page_count_mismatch"], "confirm::page_counts_that_differ_are_all_named_at_once"),
    ]),
    ("errors.md", "Read", &[
        (&["404 mail_not_found"], "read::a_mail_that_does_not_exist_is_not_found"),
    ]),
    ("errors.md", "Cancel", &[
        (&["404 mail_not_found"], "cancel::a_mail_unknown_or_deleted_is_not_found"),
        (&["409 mail_already_cancelled"], "cancel::a_cancelled_mail_costs_nothing_and_never_ships"),
        (&["409 mail_not_cancellable"], "cancel::what_is_not_confirmed_or_already_packed_or_shipped_is_not_cancellable"),
        (&["409 cancellation_window_expired"], "cancel::the_window_ends_thirty_minutes_after_creation"),
    ]),
    ("errors.md", "PDF", &[
        (&["409 mail_not_confirmed"], "pdf::before_confirmation_there_is_no_pdf"),
        (&["404 mail_content_not_found"], "pdf::content_and_mail_must_belong_together"),
    ]),
    ("errors.md", "Any operation", &[
        (&["500 internal_server_error"], "controls::a_status_is_answered_with_or_without_the_work"),
    ]),
    ("limits.md", "Sizes, counts and times", &[
        (&["files of a mail", "paper_size", "state", "page_count"], "create::each_mistake_is_named_by_its_path"),
        (&["a file"], "upload::sizes_are_limited_at_both_ends"),
        (&["its format"], "confirm::files_that_are_no_readable_pdf_are_all_named"),
        (&["sheets of a mail"], "create::the_largest_mail_is_taken_and_one_sheet_more_is_over_weight"),
        (&["an upload target"], "upload::a_target_lives_five_minutes"),
        (&["confirmation"], "time::an_unconfirmed_mail_is_deleted_with_its_pdfs_when_its_time_is_over"),
        (&["cancellation"], "cancel::the_window_ends_thirty_minutes_after_creation"),
        (&["a download address"], "pdf::a_download_address_lives_an_hour_and_can_be_had_again"),
        (&["an access token"], "auth::a_token_ends_after_an_hour"),
        (&["clients of an account"], "accounts::a_sixth_client_is_refused"),
    ]),
];

/// The tables of the contract. Its README only lists the documents.
fn contract() -> Vec<Table> {
    let mut found = tables("docs/spec");
    found.retain(|table| table.document != "docs/spec/README.md");
    found
}

#[test]
fn every_row_of_the_contract_has_a_test_and_no_test_is_for_another() {
    let contract = contract();
    for table in &contract {
        let document = table.document.trim_start_matches("docs/spec/");
        let held = ROWS.iter().find(|(name, heading, _)| *name == document && *heading == table.heading);
        let (_, _, held) = held.unwrap_or_else(|| panic!("{document}, {}: no row has a test", table.heading));
        let held: Vec<&str> = held.iter().flat_map(|(rows, _)| *rows).copied().collect();
        for row in &table.rows {
            assert!(
                held.contains(&row[0].as_str()),
                "{document}, {}: nothing holds {:?}",
                table.heading,
                row[0]
            );
        }
        for row in held {
            let there = table.rows.iter().any(|cells| cells[0] == row);
            assert!(there, "{document}, {}: there is no row {row:?}", table.heading);
        }
    }
    assert_eq!(contract.len(), ROWS.len(), "a table of `ROWS` is not in the contract");
}

#[test]
fn every_row_names_a_test_that_exists() {
    let tests = sources("tests/it/sandbox");
    for (document, heading, rows) in ROWS {
        for (_, test) in *rows {
            let (module, name) = test.split_once("::").unwrap();
            let source = tests.iter().find(|(path, _)| path.ends_with(format!("{module}.rs")));
            let (_, text) =
                source.unwrap_or_else(|| panic!("{document}, {heading}: there is no {module}.rs"));
            let at = text
                .find(&format!("fn {name}("))
                .unwrap_or_else(|| panic!("{document}, {heading}: there is no {test}"));
            let before = text[..at].trim_end().trim_end_matches("async").trim_end();
            assert!(before.ends_with("test]"), "{document}, {heading}: {test} is not a test");
        }
    }
}

#[test]
fn every_problem_of_the_service_is_in_the_contract() {
    let errors: Vec<String> = contract()
        .into_iter()
        .filter(|table| table.document.ends_with("errors.md"))
        .flat_map(|table| table.rows.into_iter().map(|mut row| row.remove(0)))
        .collect();
    // The last four are plain HTTP's.
    for code in &Code::ALL[..17] {
        let named = format!("{} {}", code.status(), code.as_str());
        assert!(errors.contains(&named), "{named} is not in docs/spec/errors.md");
    }
}
