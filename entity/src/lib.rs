//! SeaORM entities of Pombo's schema: a module for each table whose rows are read or written one by one, by the store or
//! by a test that looks into a table; a field for each column.
//!
//! Tables that the store reaches by SQL alone have none: contacts with their index and their imports, links, sessions of
//! people, kept answers, the lease, nodes and what they own, the outbox of events. The migrations describe all tables. Times are Unix milliseconds, ids are
//! UUIDv7.

pub mod api_key;
pub mod change;
pub mod channel;
pub mod company;
pub mod event;
pub mod forgotten_send;
pub mod message;
pub mod operator_key;
pub mod recipient_block;
pub mod send;
pub mod send_source;
pub mod suppression;
pub mod template;
pub mod tier;
pub mod user_account;
pub mod web_session_contact;
pub mod web_session_record;
