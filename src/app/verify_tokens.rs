//! Verify tokens of webhook handshakes. They are random, stored sealed, and created when first requested.

pub use crate::engine::verify_token as of;
