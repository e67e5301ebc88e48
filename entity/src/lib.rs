//! SeaORM entities of Pombo's schema. Each table whose rows the store or a test reads or writes one by one has a
//! module, with a field for each column.
//!
//! Tables that the store reaches by SQL alone have no module: contacts with their index and their imports, how the pages
//! of companies look, what waits for a person's code, where a send's audience came from, sends that are being removed, values of
//! recipients, kept answers, the lease, nodes and their shards, the log of events, conversations, and the retries of webhook
//! endpoints. The migrations describe all tables. Times are Unix milliseconds; ids are UUIDv7.

pub mod alert_mail;
pub mod alert_subscription;
pub mod alert_thread;
pub mod api_key;
pub mod change;
pub mod channel;
pub mod channel_tier_end;
pub mod company;
pub mod connected_program;
pub mod draft;
pub mod event;
pub mod event_mark;
pub mod kept_form;
pub mod link;
pub mod media_file;
pub mod membership;
pub mod message;
pub mod operator_key;
pub mod person_number;
pub mod rate_card;
pub mod recipient_block;
pub mod saved_segment;
pub mod send;
pub mod suppression;
pub mod tag;
pub mod template;
pub mod tier;
pub mod user_account;
pub mod user_session;
pub mod web_session_contact;
pub mod web_session_record;
pub mod webhook_delivery;
pub mod webhook_endpoint;
pub mod webhook_replay;
