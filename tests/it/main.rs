//! Everything that is tested through the library's public face, in one binary.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where it fails")]

mod accounts;
mod api;
mod backup;
mod child;
mod cli;
#[cfg(debug_assertions)]
mod clock_jumps;
mod commit_answers;
mod connections;
mod console;
mod contacts;
mod database;
mod delivery;
mod documents;
mod doubt;
mod dropped;
#[cfg(feature = "web-session")]
mod fake_whatsapp;
mod faults;
mod harness;
mod hostile_clients;
mod imports;
mod layers;
mod lease;
mod lease_lost;
mod linking;
mod live;
mod media;
mod outage;
mod overlooked;
mod own_process;
mod packaging;
mod plan;
mod postgres_proxy;
mod program;
mod proxy;
mod receipts;
mod refused_rows;
mod release_build;
mod retention;
mod running;
mod scenarios;
mod scripted_driver;
mod sealing;
mod serving;
mod statement_time;
mod stopping;
mod store_changes;
mod store_contact_edits;
mod store_contacts;
mod store_import;
mod store_locks;
mod store_log;
mod store_receipts;
mod store_records;
mod store_retention;
mod store_search;
mod store_selections;
mod store_sends;
mod store_settling;
mod store_suppressions;
mod store_template_recipients;
mod store_web_contacts;
mod store_web_session;
mod taken_over;
mod unreliable;
mod waiting;
#[cfg(feature = "web-session")]
mod web_chat;
#[cfg(feature = "web-session")]
mod web_session;
