//! SeaORM entities of Pombo's schema. Each table whose rows the store or a test reads or writes one by one has a
//! module, with a field for each column.
//!
//! Tables that the store reaches by SQL alone have no module: contacts with their index and their imports, links,
//! people's sessions, how the pages of companies look, where a send's audience came from, sends that are being removed, values of
//! recipients, kept answers, the lease, nodes and their shards, the log of events, conversations, drafts, and webhook endpoints. The
//! migrations describe all tables. Times are Unix milliseconds; ids are UUIDv7.

pub mod api_key;
pub mod change;
pub mod channel;
pub mod company;
pub mod event;
pub mod message;
pub mod operator_key;
pub mod recipient_block;
pub mod send;
pub mod suppression;
pub mod template;
pub mod tier;
pub mod user_account;
pub mod web_session_contact;
pub mod web_session_record;
