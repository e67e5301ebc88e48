//! Where nothing is.

use crate::console::error::Error;
use crate::console::page::Page;

/// Says so.
pub(in crate::console) async fn show() -> Result<Page, Error> {
    Err(Error::NotFound)
}
