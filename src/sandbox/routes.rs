//! Which address is served by what.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, any, delete, get, post};

use super::faults::Endpoint;
use super::service::Service;
use super::{auth, calls, controls, guard, letters, mails, openapi, pages, trouble, upload};

type Routes = Router<Arc<Service>>;

pub(super) fn all(service: &Arc<Service>, here: guard::OwnAddress) -> Router {
    let for_people = pages()
        .merge(Router::new().nest("/_sandbox", controls()).route("/_sandbox/", any(controls::unknown)));
    let guarded = for_people.layer(from_fn_with_state(here, guard::only_from_here));
    machines(service).merge(guarded).fallback(pages::not_found).with_state(Arc::clone(service))
}

/// What programs call: the authorization server, the API, the object store.
fn machines(service: &Arc<Service>) -> Routes {
    let at = |endpoint, handler: MethodRouter<Arc<Service>>| {
        handler.layer(from_fn_with_state((Arc::clone(service), endpoint), trouble::inflict))
    };
    let auth = Router::new()
        .route("/.well-known/openid-configuration", at(Endpoint::Discovery, get(auth::discovery)))
        .route("/token", at(Endpoint::Token, post(auth::token)))
        .route("/token/revocation", at(Endpoint::Revocation, post(auth::revocation)))
        .route("/jwks", get(auth::jwks))
        .route("/authorize", get(auth::authorize));
    let api = Router::new()
        .route("/account", at(Endpoint::Account, get(mails::account)))
        .route("/mails", at(Endpoint::Create, post(mails::create)))
        .route("/mails/{mail}", at(Endpoint::Read, get(mails::read)))
        .route("/mails/{mail}/confirm", at(Endpoint::Confirm, post(mails::confirm)))
        .route("/mails/{mail}/cancel", at(Endpoint::Cancel, post(mails::cancel)))
        .route("/mails/{mail}/contents/{content}/pdf", at(Endpoint::Pdf, get(mails::pdf)))
        .method_not_allowed_fallback(mails::wrong_method)
        .fallback(mails::unknown);
    let store = Router::new()
        .route("/upload", at(Endpoint::Upload, post(upload::upload)))
        .route("/download/{*key}", at(Endpoint::Download, get(upload::download)))
        .route("/download/", get(upload::no_such_key))
        .method_not_allowed_fallback(upload::wrong_method);
    Router::new()
        .nest("/auth", auth)
        .nest("/v1", api)
        // A nest does not match its own name with a slash behind it.
        .route("/v1/", any(mails::unknown))
        .merge(store)
        .layer(from_fn_with_state(Arc::clone(service), calls::record))
}

fn controls() -> Routes {
    Router::new()
        .route("/clock", get(controls::clock).post(controls::move_clock))
        .route("/faults", get(controls::faults).post(controls::order_fault).delete(controls::clear_faults))
        .route("/card", post(controls::set_card))
        .route("/accounts", get(controls::accounts).post(controls::open_account))
        .route("/accounts/{account}", delete(controls::close_account))
        .route("/clients", post(controls::issue_client))
        .route("/clients/{client}/secret", post(controls::reissue_secret))
        .route("/packing", post(controls::begin_packing))
        .route("/ledger", get(controls::ledger))
        .route("/letters", get(letters::letters))
        .route("/wait", get(letters::wait))
        .route("/scenario", post(controls::play))
        .route("/reset", post(controls::reset))
        .route("/openapi.json", get(openapi::controls))
        .method_not_allowed_fallback(controls::wrong_method)
        .fallback(controls::unknown)
}

fn pages() -> Routes {
    Router::new()
        .route("/", get(pages::front))
        .route("/inbox", get(pages::inbox))
        .route("/inbox/{mail}", get(pages::letter))
        .route("/inbox/{mail}/{number}", get(pages::document))
        .route("/inbox/{mail}/{number}/{page}", get(pages::page_picture))
        .route("/calls", get(pages::calls))
        .route("/controls", get(pages::controls).post(pages::carry_out))
        .route("/events", get(pages::events))
        .route("/account", get(pages::account))
        .route("/account/{account}/card", post(pages::set_card))
        .route("/account/{account}/clients", post(pages::issue_client))
        .route("/account/{account}/clients/{client}/secret", post(pages::reissue_secret))
        .route("/docs", get(pages::problems))
        .route("/docs/openapi.json", get(openapi::service))
        .route("/docs/decisions", get(pages::decisions))
        .route("/docs/problems/{code}", get(pages::problem))
        .route("/style.css", get(pages::style))
        .route("/letter.pdf", get(pages::example))
        .route("/sandbox.js", get(pages::script))
        .layer(axum::middleware::from_fn(pages::headers))
}
