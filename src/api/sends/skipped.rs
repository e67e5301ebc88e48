//! The entries of its request that a send skipped: a page of them, or all that are kept.

use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::TryStreamExt as _;
use futures_util::stream::try_unfold;
use uuid::Uuid;

use super::send_id;
use crate::api::State;
use crate::api::auth::Company;
use crate::api::envelope::Envelope;
use crate::api::error::{Error, ErrorBody};
use crate::api::lines::{CSV, NDJSON, accepted, lines};
use crate::api::list_query::{PartParameters, Query};
use crate::api::path_id::Id;
use crate::api::skipped::SkippedRecord;
use crate::api::tables::csv_head;
use crate::domain::page::{Page, Start, Window};
use crate::engine::{self, Engine, SkippedEntry, no_such_send, skipped_csv};

/// Entries of a table that are read at once.
const STRETCH: u64 = 1_000;

/// A skipped entry and its place among all of its send.
type Placed = (u64, SkippedEntry);

/// List a send's skipped entries
///
/// The entries of the request that were skipped, in the order in which they were found: the first 20,000. `totalRecords` counts all.
/// With `Accept: application/x-ndjson` or `Accept: text/csv` the answer has all that are kept, or for lines those after
/// `cursor`; the first line of the CSV names the columns.
#[utoipa::path(
    get,
    path = "/api/v1/sends/{id}/skipped",
    operation_id = "listSkippedEntries",
    params(("id" = Uuid, Path, description = "The send"), PartParameters),
    responses(
        (status = 200, description = "A page of skipped entries, or all of them", content(
            (Envelope<SkippedRecord> = "application/json"),
            (SkippedRecord = "application/x-ndjson"),
            (String = "text/csv"),
        )),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn list(
    company: Company,
    state: Data<State>,
    id: Id,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let id = send_id(id)?;
    let listing = query.listing::<u64>("skipped entries")?;
    let engine = state.engine.clone();
    let read = async move |window: Window<u64>| -> Result<Page<Placed>, Error> {
        Ok(part(&engine, company.id, id, window).await?)
    };
    let form =
        accepted(&request).find(|name| [CSV, NDJSON].iter().any(|form| name.eq_ignore_ascii_case(form)));
    let Some(form) = form else {
        let found = read(listing.window()).await?;
        return Ok(
            HttpResponse::Ok().json(Envelope::<SkippedRecord>::listed(&listing, found, |entry| entry.0))
        );
    };
    // Another company's send is refused before the answer begins.
    read(Window { start: Start::Offset(0), limit: 1 }).await?;
    if form.eq_ignore_ascii_case(NDJSON) {
        return Ok(lines::<Placed, SkippedRecord, _>(listing.rest(), read, |entry| entry.0));
    }
    let steps = try_unfold((state.engine.clone(), Some(0)), move |(engine, next)| async move {
        let Some(from) = next else { return Ok(None) };
        let window = Window { start: Start::Offset(from), limit: STRETCH };
        let Page { records, total: _ } = part(&engine, company.id, id, window).await?;
        let entries: Vec<_> = records.into_iter().map(|(_, entry)| entry).collect();
        let written = skipped_csv(&entries, from == 0)?;
        let next = (entries.len() as u64 == STRETCH).then_some(from + STRETCH);
        Ok(Some((Bytes::from(written), (engine, next))))
    });
    let steps = steps.map_err(move |error: engine::Error| {
        tracing::error!(%error, send.id = %id, "the list of skipped entries broke off");
        std::io::Error::other("the list broke off")
    });
    Ok(csv_head(&format!("send-{id}-skipped")).streaming(Box::pin(steps)))
}

/// A part of the entries, each with its place.
async fn part(
    engine: &Engine,
    company_id: Uuid,
    send_id: Uuid,
    window: Window<u64>,
) -> Result<Page<Placed>, engine::Error> {
    let (offset, after) = window.parts();
    let first = after.map_or(offset, |place| place.saturating_add(1));
    let found = engine.company(company_id).await?.sends().skipped(send_id, window).await?;
    let Page { records, total } = found.ok_or_else(no_such_send)?;
    Ok(Page { records: (first..).zip(records).collect(), total })
}
