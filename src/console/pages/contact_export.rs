//! Contacts as a CSV file that can be imported again: those of a list, or the selected ones.

use std::io;
use std::sync::Arc;

use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::{Bytes, Data};
use actix_web::{HttpResponse, HttpResponseBuilder};
use futures_util::stream::try_unfold;

use super::contacts::listed::{Listed, OF_QUERY};
use super::contacts::selection::Selected;
use super::contacts::{NONE_PICKED, of_form};
use crate::console::State;
use crate::console::answer::redirect;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::query::Query;
use crate::console::visitor::Viewer;
use crate::domain::page::PageRequest;
use crate::engine::{Exported, import_settings};
use crate::import::{FileFormat, export_csv};

/// Contacts in each read and write.
const STRETCH: usize = 500;

/// The latest imports, of which one says what separates the cells of this company's files.
const LATEST: PageRequest = PageRequest { page: 1, limit: 5 };

/// Downloads the file. Its cells are separated as in the file that the company imported last; its encoding is UTF-8, which
/// has the letters of all contacts.
pub(crate) async fn download(viewer: Viewer, state: Data<State>, query: Query) -> Result<HttpResponse> {
    let listed = Listed::read(&state, &viewer, &query, OF_QUERY).await?;
    all(&viewer, &state, &listed).await
}

/// Downloads the selected contacts.
pub(crate) async fn selected(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<HttpResponse> {
    let listed = of_form(&viewer, &state, &form).await?;
    match Selected::read(&mut form) {
        Selected::All => all(&viewer, &state, &listed).await,
        Selected::These(_) if form.has_faults() => {
            let sentence = viewer.text.get("contacts-none-picked");
            state.flashes.put(viewer.session, NONE_PICKED, sentence);
            Ok(redirect(&listed.place()))
        }
        Selected::These(ids) => {
            let delimiter = delimiter(&viewer, &state).await?;
            let records = state.engine.company(viewer.company.id).await?;
            let own = records.fields().all().await?;
            let contacts = records.contacts().with_ids(&ids).await?;
            drop(records);
            let what = Exported::Contacts(contacts.len() as u64);
            state.engine.contacts().record_export(&viewer.who(), viewer.company.id, what).await?;
            Ok(file().body(export_csv(delimiter, true, &own, &contacts)))
        }
    }
}

/// The contacts of a list, which are read and written in parts.
async fn all(viewer: &Viewer, state: &State, listed: &Listed) -> Result<HttpResponse> {
    let company = viewer.company.id;
    let delimiter = delimiter(viewer, state).await?;
    let records = state.engine.company(company).await?;
    let own = Arc::new(records.fields().all().await?);
    let found = records.contacts().search(&listed.filter()).await?;
    drop(records);
    let what = Exported::Contacts(found.len() as u64);
    state.engine.contacts().record_export(&viewer.who(), company, what).await?;
    let engine = state.engine.clone();
    let rows = try_unfold((found, true), move |(mut found, is_first)| {
        let (engine, own) = (engine.clone(), Arc::clone(&own));
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
                Bytes::from(export_csv(delimiter, is_first, &own, &contacts)),
                (found, false),
            )))
        }
    });
    Ok(file().streaming(Box::pin(rows)))
}

/// What separates the fields of the company's latest import: its people's programs write and read that.
pub(super) async fn delimiter(viewer: &Viewer, state: &State) -> Result<u8> {
    let records = state.engine.company(viewer.company.id).await?;
    let imports = records.imports().page(LATEST).await?;
    let mut latest = imports.records.iter().map(import_settings);
    let latest = latest.find(|settings| settings.delimiter.is_some()).unwrap_or_default();
    Ok(FileFormat::of(&latest).delimiter())
}

/// An answer that a browser saves as a file.
fn file() -> HttpResponseBuilder {
    let mut answer = HttpResponse::Ok();
    answer
        .content_type("text/csv; charset=utf-8")
        .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"contacts.csv\""));
    answer
}
