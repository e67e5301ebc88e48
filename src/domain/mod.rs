//! What the service speaks about, as plain values.
//!
//! Nothing here waits, reads, writes or asks the time; every rule is an ordinary function that a table
//! test can call.

pub mod nearest;
pub mod phone;
pub mod rate;
pub mod secret;
pub mod tier;
pub mod time_span;
