//! The whole print-and-post service of `mail-dispatch-api.md`, for trials and tests. Nothing is posted.
//!
//! The rules are one pure [`world`]; the rest serves it over HTTP, keeps its data, and plays the
//! faults a test orders. Where the document leaves room, this service is the stricter one, so that a
//! client which passes here passes there. A client must not depend on any of these decisions:
//!
//! | the document does not show | decided here |
//! |---|---|
//! | which fields are required | every address field, the receiver's `honorific`, and of a file `file_name`, `page_count`, `color`, `duplex` |
//! | values of `color`, `duplex`, `staple` | `grayscale` `color`; `double` `single`; `top-left`, not together with `bind: true` |
//! | forms of texts | not blank, at most 255 characters, no control characters; file names without a path, each once; postal codes of exactly seven digits |
//! | `null` for an optional key | refused |
//! | size of a create request | at most 1 MiB |
//! | a body on `confirm` or `cancel` | ignored |
//! | `shipping_options` | none twice, not both registered ones; not even empty with a letter pack |
//! | fields of `reply_letterpack` | only `address`, with the fields of a sender's |
//! | numbers | `3.0` and `"3"` are no integers; a JSON key given twice is refused |
//! | trackable | letter packs, and the options `trackable`, `simple-registered`, `normal-registered` |
//! | ship date, tariff | 9:00 in Japan on the next weekday; invented prices in yen; charged an hour after shipment |
//! | `shipped_at`, `tracking_number` before shipment | absent |
//! | 10 MB, 1 byte | 10,000,000 bytes at most, 1 at least |
//! | the moment a deadline falls on | already too late |
//! | `confirm` of a cancelled mail | 409 `mail_already_confirmed` |
//! | order of the checks of `create` | token, account, body, card, weight |
//! | order of the checks of `confirm` | token, account, mail, state, uploads, PDFs, page counts, payment, card |
//! | a card removed before `confirm` | `card_declined` |
//! | `cancel` once packing has begun, once the time is over, once shipped | `mail_not_cancellable`; `cancellation_window_expired`; `mail_not_cancellable` |
//! | scope of `cancel` | `mails:write` |
//! | account resource | `id`, `name`, `card_registered` |
//! | PDFs of a cancelled mail | still readable |
//! | a token asked without `scope` | no scope at all |
//! | tokens of a client whose secret was reissued | live on until they expire |
//! | revocation | RFC 7009: the client authenticates; 200 also for a token unknown; another client's is refused |
//! | other client authentication than Basic | `invalid_client` |
//! | uploads | a `Content-Length` is required, no field twice, nothing after the file; refused once confirmed |
//! | a closed account | no new tokens; its letters go their way |

mod answer;
mod auth;
mod blobs;
mod body;
mod controls;
mod data;
mod faults;
mod first_client;
mod guard;
mod intake;
mod json;
mod mails;
mod pages;
mod pdf;
mod places;
mod routes;
mod server;
mod service;
mod start;
mod trouble;
mod upload;
pub mod world;

pub use data::Halted;
pub use places::{Places, Welcome};
pub use start::{Options, Patience, Running, StartError, start};
