//! All tests of the package as one binary: one link, one run.
//!
//! The sandbox is tried over real HTTP on a port of its own for each test, its clock moved by hand.
//! `rows.rs` lists which test holds which row of the service's contract in `docs/spec`.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod architecture;
mod config;
mod documents;
mod files;
mod golden;
mod inspection;
mod invariants;
mod journal;
mod logs;
mod mailroom;
mod manager;
#[expect(clippy::wildcard_enum_match_arm, reason = "a property names the cases it speaks of")]
mod model;
mod model_check;
mod nasty;
mod office;
mod page;
mod past;
mod postbox;
mod program;
mod reading;
mod rows;
mod running;
mod service;
mod simulation;
mod spool;
mod standing;
mod taking_in;
mod taking_in_check;
mod tidy;
mod typeset;

mod folders {
    mod alone;
    mod arrivals;
    mod audit;
    mod away;
    mod edges;
    mod epoch;
    mod held_up;
    mod helper;
    mod kill;
    mod left_out;
    mod not_files;
    mod people;
    mod reload;
    mod renamed;
    mod rights;
    mod settled;
    mod shelf_names;
    mod together;
}

mod packaging;
mod people {
    mod at_hand;
    mod doctor;
    mod from_page;
    mod holds;
    mod instructions;
    mod kept;
    mod mail_server;
    mod mails;
    mod month;
    mod names;
    mod namesakes;
    mod operators;
    mod past;
    mod printed;
    mod printing;
    mod scripts;
    mod server;
    mod two_of_a_name;
}

mod posting {
    mod answers;
    mod as_meant;
    pub mod certificates;
    mod client;
    mod commands;
    mod copied;
    mod damage;
    mod kill;
    mod misbehaving;
    mod online;
    mod people;
    mod records;
    mod twenty;
}

mod sandbox {
    mod accounts;
    mod auth;
    mod cancel;
    mod command;
    mod confirm;
    mod controls;
    mod create;
    mod data;
    mod hostile;
    mod memory;
    mod pages;
    mod pdf;
    mod properties;
    mod read;
    mod standard_clients;
    mod time;
    mod upload;
}
