//! The page for unknown paths.

use crate::console::error::{Error, Result};
use crate::console::page::Page;

pub(crate) async fn show() -> Result<Page> {
    Err(Error::NotFound)
}
