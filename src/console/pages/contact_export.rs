//! Contacts as a CSV file that can be imported again: all contacts, or those of a tag, or those that a search
//! finds.

use std::io;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::{Bytes, Data};
use futures_util::stream::try_unfold;

use crate::console::State;
use crate::console::error::Error;
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::domain::page::PageRequest;
use crate::engine::import_settings;
use crate::import::export_csv;

/// Contacts in each read and write.
const STRETCH: usize = 500;

/// The latest imports, of which one says what separates the cells of this company's files.
const LATEST: PageRequest = PageRequest { page: 1, limit: 5 };

/// Downloads the file. Its cells are separated as in the file that the company imported last; its encoding is UTF-8, which
/// has the letters of all contacts.
pub(in crate::console) async fn download(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<HttpResponse, Error> {
    let company = viewer.company.id;
    let records = state.engine.company(company).await?;
    let tag = match query.text("tag", 64) {
        Some(id) => Some(id.parse().map_err(|_| Error::NotFound)?),
        None => None,
    };
    let found = records.contacts().search(query.text("search", 200), tag).await?;
    let imports = records.imports().page(LATEST).await?;
    let delimiter = imports.records.iter().find_map(|import| import_settings(import).delimiter);
    let delimiter = delimiter.and_then(|delimiter| u8::try_from(delimiter).ok()).unwrap_or(b',');
    drop(records);
    let engine = state.engine.clone();
    let rows = try_unfold((found, true), move |(mut found, is_first)| {
        let engine = engine.clone();
        async move {
            if found.is_empty() && !is_first {
                return Ok(None);
            }
            let broken = |error: &dyn std::fmt::Display| {
                tracing::error!(%error, "an export of contacts broke off");
                io::Error::other("the export broke off")
            };
            // Oldest first, in the order of an import. Each part takes its own turn, so that a slow browser
            // delays no other request.
            let stretch = found.split_off(found.len().saturating_sub(STRETCH));
            let records = engine.company(company).await.map_err(|error| broken(&error))?;
            let contacts =
                records.contacts().with_ordinals(&stretch).await.map_err(|error| broken(&error))?;
            Ok::<_, io::Error>(Some((
                Bytes::from(export_csv(delimiter, is_first, &contacts)),
                (found, false),
            )))
        }
    });
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"contacts.csv\""))
        .streaming(Box::pin(rows)))
}
