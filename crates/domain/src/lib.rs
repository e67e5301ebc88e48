//! The domain of the service, as plain values.
//!
//! Nothing here waits, reads, writes or asks the time; every rule is an ordinary function that a table
//! test can call.

pub mod address;
pub mod alert;
pub mod automatic;
pub mod block;
pub mod body;
pub mod cell;
pub mod channel;
pub mod contact;
pub mod contact_card;
pub mod content;
pub mod emoji;
pub mod error;
pub mod event;
pub mod fold;
pub mod garbled;
pub mod graph;
pub mod inbound;
pub mod interactive;
pub mod json;
pub mod limit;
pub mod link;
pub mod location;
pub mod media;
pub mod message;
pub mod nearest;
pub mod opt_out;
pub mod outlook;
pub mod own_field;
pub mod page;
pub mod payload;
pub mod phone;
pub mod plan;
pub mod plural;
pub mod price;
pub mod provider;
pub mod quick_reply;
pub mod rate;
pub mod reaction;
pub mod request;
pub mod schema;
pub mod scope;
pub mod secret;
pub mod send;
pub mod suppression;
pub mod template;
pub mod tier;
pub mod time_span;
pub mod user;
pub mod values;
pub mod web_session;
pub mod webhook;
pub mod words;
