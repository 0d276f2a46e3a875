//! The print-and-post service as a client sees it.
//!
//! For now this room holds the words of the line only ([`wire`]); the client that speaks them comes
//! with the letter's machine.

pub mod wire;
