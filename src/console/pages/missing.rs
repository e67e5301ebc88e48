//! The page for unknown paths.

use crate::console::error::{Error, Result};
use crate::console::page::Page;

pub(in crate::console) async fn show() -> Result<Page> {
    Err(Error::NotFound)
}
