//! SeaORM entities of Pombo's schema: one module a table, one field a column.
//!
//! Only the store of the service reads them. Times are Unix milliseconds, ids are UUIDv7.

pub mod api_key;
pub mod change;
pub mod channel;
pub mod company;
pub mod contact;
pub mod contact_book;
pub mod contact_gap;
pub mod contact_gram;
pub mod contact_import;
pub mod contact_import_chunk;
pub mod contact_import_mapping;
pub mod contact_import_reject;
pub mod contact_segment;
pub mod contact_stale;
pub mod contact_tag;
pub mod event;
pub mod forgotten_send;
pub mod idempotency_key;
pub mod lease;
pub mod link;
pub mod membership;
pub mod message;
pub mod operator_key;
pub mod recipient_block;
pub mod recovery_code;
pub mod revision;
pub mod send;
pub mod send_source;
pub mod suppression;
pub mod tag;
pub mod template;
pub mod tier;
pub mod user_account;
pub mod user_session;
pub mod web_session_contact;
pub mod web_session_record;
