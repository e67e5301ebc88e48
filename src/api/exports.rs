//! Data that leaves a company in one answer, as a file does: the record of changes says who has it.

use actix_web::HttpRequest;
use actix_web::http::Method;

use super::State;
use super::auth::Author;
use super::error::Error;
use crate::engine::Exported;

/// Records an export before its first line goes out. A request for the head alone takes nothing.
///
/// # Errors
///
/// `service_unavailable` when it cannot be recorded: then nothing goes out.
pub(super) async fn record(
    state: &State,
    Author { company, who }: &Author,
    request: &HttpRequest,
    what: Exported,
) -> Result<(), Error> {
    if request.method() == Method::HEAD {
        return Ok(());
    }
    Ok(state.engine.contacts().record_export(who, company.id, what).await?)
}
