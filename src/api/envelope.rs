//! The answer of a handler, and the envelope of every list.

use actix_web::web::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::error::Error;
use super::list_query::Listing;
use crate::domain::page::{Page, PageRequest, cursor};

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
    /// The `cursor` of the records that follow; absent when none do, and for lists without cursors.
    #[schema(value_type = String, required = false)]
    #[serde(rename = "next_cursor", skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl<T> Envelope<T> {
    /// Puts a page of `R` into its envelope, each record as `T`.
    pub(super) fn new<R: Into<T>>(request: PageRequest, page: Page<R>) -> Self {
        Self {
            current_page: request.page,
            total_pages: page.pages(request.limit),
            total_records: page.total,
            data: page.records.into_iter().map(R::into).collect(),
            next_cursor: None,
        }
    }

    /// Puts a part of a list of `R` into its envelope, each record as `T`. The part has one record more than it shows
    /// when others follow; `key` is the key of a record.
    pub(super) fn listed<R: Into<T>, K: Serialize>(
        listing: &Listing<K>,
        part: Page<R>,
        key: impl Fn(&R) -> K,
    ) -> Self {
        let Page { mut records, total } = part;
        let shown = usize::try_from(listing.limit).unwrap_or(usize::MAX);
        let is_more = records.len() > shown;
        records.truncate(shown);
        let next = records.last().filter(|_| is_more);
        Self {
            current_page: listing.page,
            total_pages: total.div_ceil(listing.limit),
            total_records: total,
            next_cursor: next
                .map(|last| cursor::write(listing.list, listing.page.saturating_add(1), &key(last))),
            data: records.into_iter().map(R::into).collect(),
        }
    }
}
