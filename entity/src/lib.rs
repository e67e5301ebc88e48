//! SeaORM entities of Pombo's schema. Each table whose rows the store or a test reads or writes one by one has a
//! module, with a field for each column.
//!
//! Tables that the store reaches by SQL or by the names of columns alone have no module: the search index of contacts, how the
//! pages of companies look, what waits for a person's code, where a send's audience came from, values of recipients, kept
//! answers, the lease, nodes and their shards, and the retries of webhook endpoints. The migrations describe all tables. Times
//! are Unix milliseconds; ids are UUIDv7.

pub mod alert_mail;
pub mod alert_subscription;
pub mod alert_thread;
pub mod api_key;
pub mod automatic_answer;
pub mod change;
pub mod channel;
pub mod channel_tier_end;
pub mod company;
pub mod company_key;
pub mod connected_program;
pub mod contact;
pub mod contact_field;
pub mod contact_import;
pub mod contact_note;
pub mod contact_refold;
pub mod conversation;
pub mod conversation_draft;
pub mod conversation_message;
pub mod conversation_note;
pub mod draft;
pub mod event;
pub mod event_block;
pub mod event_mark;
pub mod event_reader;
pub mod forgotten_send;
pub mod inbound_file;
pub mod kept_form;
pub mod link;
pub mod media_file;
pub mod membership;
pub mod message;
pub mod message_reference;
pub mod operator_key;
pub mod person_number;
pub mod personal_send;
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
