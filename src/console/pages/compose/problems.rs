//! The rows of the recipients' file to which nothing can be sent, as a file in the form of the uploaded one: corrected, it can be
//! uploaded itself.

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::Data;

use super::step::SendStep;
use super::{Around, Asked, kept, looked, request};
use crate::console::State;
use crate::console::error::Error;
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::domain::request::SkippedEntry;
use crate::engine::records::imports::Rejected;
use crate::engine::{self, WantedRows, import_settings};
use crate::import::{FileFormat, rejected_csv};

/// Downloads them: the first ones of many, as a check keeps them.
pub(in crate::console) async fn download(
    viewer: Viewer,
    state: Data<State>,
    Id(id): Id,
) -> Result<HttpResponse, Error> {
    let company = viewer.company.id;
    let mut form = kept::read(&viewer, &state, id).await?.ok_or(Error::NotFound)?;
    let around = Around::read(&state, &viewer, &form, SendStep::Check).await?;
    let asked = request(&state, &viewer, &around, &mut form);
    let (Some(channel), Some(Asked::Bulk(mut bulk))) = (around.choice.channel.clone(), asked) else {
        return Err(Error::NotFound);
    };
    let attached = bulk.attached.take().ok_or(Error::NotFound)?;
    let found = attached.attach(&state, company, &mut bulk.request).await?;
    let skipped = match state.engine.dry_run(&channel, bulk.request).await {
        Ok(dry_run) => dry_run.skipped,
        Err(engine::Error::Nobody { skipped, .. }) => skipped,
        Err(other) => return Err(other.into()),
    };
    let entries: HashMap<u64, SkippedEntry> =
        skipped.first.into_iter().filter_map(|entry| Some((entry.index?, entry))).collect();
    let imports = state.engine.imports();
    let wanted = WantedRows::At(entries.keys().copied().collect());
    let rows = imports.recipient_rows(company, attached.file, wanted).await?;
    let file = imports.recipients(company, attached.file).await?.ok_or(Error::NotFound)?;
    let (settings, text) = (import_settings(&file), viewer.text);
    let format = FileFormat::of(&settings);
    let rejected: Vec<Rejected> = rows
        .into_iter()
        .filter_map(|(place, row)| {
            let reason = looked::reason(text, &found, entries.get(&place)?, &row.cells);
            Some(Rejected { line: row.line, reason, code: None, details: Vec::new(), fields: row.cells })
        })
        .collect();
    let names = [text.get("imports-csv-line"), text.get("imports-csv-reason")];
    let written = rejected_csv(format.delimiter(), names, Some(&settings.header), &rejected, |row| {
        [row.line.to_string(), row.reason.clone()]
    });
    let written = format!("{}{}", format.mark(), String::from_utf8_lossy(&written));
    Ok(HttpResponse::Ok()
        .content_type(format!("text/csv; charset={}", format.encoding()))
        .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"problems.csv\""))
        .body(format.encoded(&written)))
}
