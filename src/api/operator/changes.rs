//! The record of changes.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Operator;
use crate::api::State;
use crate::api::envelope::Envelope;
use crate::api::error::Error;
use crate::api::lines::{AsLines, lines};
use crate::api::list_query::{PartParameters, Query};
use crate::api::schema::{ChangeSubject, ChangedValue};
use crate::clock::Timestamp;
use crate::domain::page::{Page, Window};
use crate::engine::records::changes::{self, Filter, What};
use crate::error::Code;

/// One change. It never contains secrets.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Change {
    /// The id of the change.
    pub(crate) id: Uuid,
    /// When the change was made.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) at: Timestamp,
    /// The author: an operator's name; `key:` and the name of a company's API key; `user:` and the e-mail of
    /// a person who signed in, or only `user:` when the sign-in failed; `cli:` and a user's name for the
    /// command line; `pombo` for the program itself.
    #[schema(example = "ana")]
    pub(crate) who: String,
    /// The kind of record that was changed.
    #[schema(value_type = ChangeSubject, example = "channel.tier")]
    pub(crate) what: &'static str,
    /// The record that was changed: the tier's name, the operator's name, the recipient's number
    /// (`+5511988887777`), the person's e-mail (empty for a failed sign-in of an unknown user), or the id of
    /// the channel, company, API key or sealing key. For contacts, tags and imports it is the id of their
    /// company.
    pub(crate) subject: String,
    /// The value before; null when there was none, and for a secret.
    #[schema(value_type = Option<ChangedValue>)]
    pub(crate) before: Option<Value>,
    /// The value after. For a secret, it says only that the secret was given or replaced.
    #[schema(value_type = ChangedValue)]
    pub(crate) after: Value,
    /// The network address of the browser; null for the command line and for changes made with a key.
    #[schema(example = "203.0.113.7")]
    pub(crate) address: Option<String>,
}

impl From<changes::Change> for Change {
    fn from(change: changes::Change) -> Self {
        let changes::Change { id, at, who, what, subject, before, after, address } = change;
        Self { id, at, who, what: what.as_str(), subject, before, after, address }
    }
}

/// List changes
///
/// The changes that people made over HTTP and on the command line, newest first. With `Accept: application/x-ndjson` the
/// answer has all changes, or those after `cursor`, one JSON object on each line.
#[utoipa::path(
    get,
    path = "/operator/v1/changes",
    operation_id = "listChanges",
    params(
        PartParameters,
        ("what" = Option<ChangeSubject>, Query, description = "Only changes of this kind"),
        ("subject" = Option<String>, Query, description = "Only changes of this tier, channel, company, key, operator or number"),
        ("who" = Option<String>, Query, description = "Only changes by this author, in the form of `who`: \
             `user:ana@example.com`"),
        ("from" = Option<String>, Query, format = DateTime, description = "Only changes made at this time or later"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only changes made before this time"),
    ),
    responses((status = 200, description = "A page of changes, or all of them", content(
        (Envelope<Change> = "application/json"),
        (Change = "application/x-ndjson"),
    ))),
)]
pub(crate) async fn list(
    _: Operator,
    state: Data<State>,
    query: Query,
    AsLines(as_lines): AsLines,
) -> Result<HttpResponse, Error> {
    let (listing, subject, who) = (query.listing("changes")?, query.text("subject")?, query.text("who")?);
    let what = query.text("what")?.map(|word| {
        let refused =
            || Error::of("what", Code::InvalidField, "must be a kind that changes have: see the reference");
        word.parse::<What>().map_err(|_| refused())
    });
    let what = what.transpose()?;
    let (from, to) = (query.moment("from")?, query.moment("to")?);
    let read = async move |window: Window<Uuid>| -> Result<Page<changes::Change>, Error> {
        let (what, subject, who) = (what.as_slice(), subject.as_deref(), who.as_deref());
        let filter = Filter { what, subject, who, from, to };
        Ok(state.engine.operator().await?.changes().page(filter, window).await?)
    };
    let key = |change: &changes::Change| change.id;
    if as_lines {
        return Ok(lines::<changes::Change, Change, _>(listing.rest(), read, key));
    }
    let changes = read(listing.window()).await?;
    Ok(HttpResponse::Ok().json(Envelope::<Change>::listed(&listing, changes, key)))
}
