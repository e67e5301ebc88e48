//! What the service speaks about, as plain values.
//!
//! Nothing here waits, reads, writes or asks the time; every rule is an ordinary function that a table
//! test can call.

pub mod content;
pub mod interactive;
pub mod link;
mod payload;
pub mod phone;
pub mod request;
pub mod template;
