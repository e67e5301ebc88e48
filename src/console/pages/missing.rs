//! Where nothing is.

use crate::console::error::Error;

/// Says so.
pub(in crate::console) async fn show() -> Error {
    Error::NotFound
}
