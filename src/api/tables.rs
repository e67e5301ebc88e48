//! Answers that are tables (CSV), for clients that accept `text/csv`.

use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::{HttpResponse, HttpResponseBuilder};

use super::error::Error;
use crate::engine::{SkippedEntry, skipped_csv};

/// The head of an answer that is a table, for a file of this name.
pub(super) fn csv_head(name: &str) -> HttpResponseBuilder {
    let mut answer = HttpResponse::Ok();
    answer
        .content_type("text/csv; charset=utf-8; header=present")
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.csv\"")));
    answer
}

/// Skipped entries as a table, for a file of this name.
pub(super) fn csv_answer(name: &str, entries: &[SkippedEntry]) -> Result<HttpResponse, Error> {
    Ok(csv_head(name).body(skipped_csv(entries, true)?))
}
