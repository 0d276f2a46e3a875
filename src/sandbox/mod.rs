//! The whole print-and-post service of `docs/spec`, for trials and tests. Nothing is posted.
//!
//! The rules are one pure `world`. The rest serves it over HTTP, keeps its data, and plays the faults that
//! a test orders. Where the contract leaves room, this service is stricter, so that a client which passes
//! here passes there. Its decisions are listed in docs/design/sandbox.md.

mod answer;
mod auth;
mod blobs;
mod body;
mod calls;
mod controls;
mod data;
mod faults;
mod finding;
mod first_client;
mod guard;
mod happened;
mod intake;
mod json;
mod letters;
mod mails;
mod openapi;
mod pages;
mod pdf;
mod places;
mod routes;
mod scenario;
mod server;
mod service;
mod start;
mod trouble;
mod upload;
pub mod world;

pub use data::Halted;
pub use places::{Places, Welcome};
pub use scenario::{BadScenario, Scenario};
pub use start::{MemoryBounds, Options, Patience, Running, StartError, start};
