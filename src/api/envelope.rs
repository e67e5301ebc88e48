//! The answer of a handler, and the envelope of every list.

use actix_web::web::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::error::Error;
use crate::domain::page::{Page, PageRequest};

/// A record, or why there is none.
pub(super) type Answer<T> = Result<Json<T>, Error>;

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Envelope<T> {
    /// The records of this page.
    data: Vec<T>,
    /// The page that was asked for, from 1; it may be past the last one.
    #[schema(value_type = usize, minimum = 1)]
    current_page: u128,
    /// How many pages there are; 0 when nothing matches.
    total_pages: u64,
    /// Matching records across all pages.
    total_records: u64,
}

impl<T> Envelope<T> {
    /// Puts a page of `R` into its envelope, each record as `T`.
    pub(super) fn new<R: Into<T>>(request: PageRequest, page: Page<R>) -> Self {
        Self {
            current_page: request.page,
            total_pages: page.pages(request.limit),
            total_records: page.total,
            data: page.records.into_iter().map(R::into).collect(),
        }
    }
}
