//! The page for unknown paths.

use crate::console::error::Error;
use crate::console::page::Page;

pub(in crate::console) async fn show() -> Result<Page, Error> {
    Err(Error::NotFound)
}
