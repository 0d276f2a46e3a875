//! What is known about letters, durable in two places: for now the rule by which the two become one.

mod union;

pub use union::{Agreement, union};
