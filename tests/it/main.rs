//! All tests of the package as one binary: one link, one run.
//!
//! The sandbox is tried over real HTTP on a port of its own for each test, its clock moved by hand.
//! `house/rows.rs` lists which test holds which row of the service's contract in `docs/spec`.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod rigs {
    pub mod asked;
    pub mod browser;
    pub mod dice;
    pub mod door;
    pub mod files;
    pub mod imap;
    pub mod journal;
    pub mod lives;
    pub mod mailroom;
    pub mod mails;
    pub mod nasty;
    pub mod office;
    pub mod past;
    pub mod postbox;
    pub mod printing;
    pub mod program;
    pub mod running;
    pub mod service;
    pub mod typeset;
}

mod sandbox {
    mod accounts;
    mod auth;
    mod browser;
    mod calls;
    mod cancel;
    mod command;
    mod confirm;
    mod controls;
    mod create;
    mod data;
    mod examples;
    mod hostile;
    mod memory;
    mod pages;
    mod pdf;
    mod properties;
    mod read;
    mod standard_clients;
    mod suites;
    mod time;
    mod upload;
}

mod letters {
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
    mod rests;
    pub mod spool;
    mod turns;
    mod twenty;
}

mod folders {
    mod alone;
    mod arrivals;
    mod audit;
    mod away;
    mod claimed;
    mod claimed_together;
    mod edges;
    mod epoch;
    mod flood;
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

mod queues {
    mod contract;
    mod crashes;
    mod door;
    mod mailbox;
    mod mailed_once;
    mod mails;
    mod printer;
    mod restored;
}

mod people {
    mod at_hand;
    mod corrected;
    mod doctor;
    mod explained;
    mod forms_of_a_name;
    mod found;
    mod from_page;
    mod handed_back;
    mod holds;
    mod hooks;
    mod instructions;
    mod kept;
    mod logs;
    mod lost_place;
    mod mail_server;
    pub mod mails;
    mod manager;
    mod month;
    mod names;
    mod namesakes;
    mod operators;
    mod page;
    mod page_in_a_browser;
    mod past;
    mod pictures;
    mod pictures_in_mails;
    mod postal;
    mod printed;
    mod printing;
    mod scripts;
    mod server;
    mod standing;
    mod two_of_a_name;
}

mod configuration {
    mod config;
}

mod pdfs {
    mod children;
    mod drawing;
    mod inspection;
    mod preview;
    mod reading;
}

mod proofs {
    mod addresses;
    mod golden;
    mod mailed;
    #[expect(clippy::wildcard_enum_match_arm, reason = "a property names the cases it speaks of")]
    pub mod model;
    mod model_check;
    pub mod queue;
    mod queue_check;
    mod simulation;
    pub mod taking_in;
    mod taking_in_check;
}

mod house {
    pub mod architecture;
    pub mod arrows;
    pub mod documents;
    mod invariants;
    mod mutants;
    mod packaging;
    mod rows;
    mod tidy;
}
