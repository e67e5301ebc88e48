//! Lists in one answer: a JSON object on each line, for clients that accept `application/x-ndjson`.

use std::convert::Infallible;

use actix_web::http::header::ACCEPT;
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::TryStreamExt as _;
use futures_util::stream::try_unfold;
use serde::Serialize;

use super::error::Error;
use crate::domain::page::{Page, Start, Window};
use crate::surface::paths::argument;

/// The media type.
pub(super) const NDJSON: &str = "application/x-ndjson";
/// The media type of tables.
pub(super) const CSV: &str = "text/csv";
/// Records that are read at once.
const STEP: u64 = 1_000;

/// Whether the client asks for lines by the name of their type.
pub(super) struct AsLines(pub(super) bool);

argument!(AsLines, Infallible, |request: &HttpRequest| Ok(Self(accepts(request, NDJSON))));

/// Whether the client accepts a media type by its name.
pub(super) fn accepts(request: &HttpRequest, media_type: &str) -> bool {
    accepted(request).any(|name| name.eq_ignore_ascii_case(media_type))
}

/// The media types that the client names, in its order.
pub(super) fn accepted(request: &HttpRequest) -> impl Iterator<Item = &str> {
    let accepted = request.headers().get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).filter_map(|part| part.split(';').next()).map(str::trim)
}

/// An answer with all records from `start` on, each on a line. Each step is read once the client has received the one
/// before, so a broken connection leaves an incomplete answer.
pub(super) fn lines<R, T, K>(
    start: Start<K>,
    read: impl AsyncFn(Window<K>) -> Result<Page<R>, Error> + 'static,
    key: impl Fn(&R) -> K + 'static,
) -> HttpResponse
where
    R: Into<T> + 'static,
    T: Serialize + 'static,
    K: Copy + 'static,
{
    let steps = try_unfold((Some(start), read, key), async |(start, read, key)| {
        let Some(start) = start else { return Ok(None) };
        let Page { records, total: _ } = read(Window { start, limit: STEP }).await?;
        let next =
            records.last().filter(|_| records.len() as u64 == STEP).map(|last| Start::After(key(last)));
        let mut written = Vec::new();
        for record in records {
            serde_json::to_writer(&mut written, &record.into()).map_err(|_| Error::Internal)?;
            written.push(b'\n');
        }
        Ok(Some((Bytes::from(written), (next, read, key))))
    });
    let steps = steps.map_err(|error: Error| {
        tracing::error!(%error, "a list broke off");
        std::io::Error::other("the list broke off")
    });
    HttpResponse::Ok().content_type(NDJSON).streaming(Box::pin(steps))
}
