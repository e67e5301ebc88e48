//! The record of what was changed.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Operator;
use super::reference::{ChangedValue, PlainPageParameters};
use crate::api::State;
use crate::api::envelope::Envelope;
use crate::api::error::Error;
use crate::api::list_query::ListQuery;
use crate::api::openapi::{ChangeSubject, Failures};
use crate::clock::Timestamp;
use crate::store::change::{self, Filter};

/// One change. Secrets are never part of it.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct Change {
    /// Names the change.
    id: Uuid,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The operator's name; `user:` and the e-mail of a person who signed in, or nothing more when the sign-in failed; `cli:`
    /// and a user's name for the command line; `pombo` for the program itself.
    #[schema(example = "ana")]
    who: String,
    /// What was changed.
    #[schema(value_type = ChangeSubject, example = "channel.tier")]
    what: &'static str,
    /// The tier's name, the operator's name, the recipient's number (`+5511988887777`), the person's e-mail (empty when
    /// somebody unknown failed to sign in), or the id of the channel, company, API key or sealing key.
    subject: String,
    /// What it was; null when it was not there before, and for a secret.
    #[schema(value_type = Option<ChangedValue>)]
    before: Option<Value>,
    /// What it is since; of a secret only that it was given or replaced.
    #[schema(value_type = ChangedValue)]
    after: Value,
    /// The network address of the browser; null for the command line and for changes made with a key.
    #[schema(example = "203.0.113.7")]
    address: Option<String>,
}

impl From<change::Change> for Change {
    fn from(change: change::Change) -> Self {
        let change::Change { id, at, who, what, subject, before, after, address } = change;
        Self { id, at, who, what: what.as_str(), subject, before, after, address }
    }
}

/// List changes
///
/// What people changed, over HTTP and by the command line, newest first.
#[utoipa::path(
    get,
    path = "/operator/v1/changes",
    operation_id = "listChanges",
    tag = "operator",
    security(("operator_key" = [])),
    params(
        PlainPageParameters,
        ("subject" = Option<String>, Query, description = "Only of this tier, channel, company, key, operator or number"),
    ),
    responses((status = 200, description = "A page of changes", body = Envelope<Change>), Failures),
)]
pub(in crate::api) async fn list(
    _: Operator,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<Change>>, Error> {
    let query = ListQuery::new(request.query_string(), &state.options);
    let (page, subject) = (query.page()?, query.text("subject")?);
    let filter = Filter { what: &[], subject: subject.as_deref() };
    let changes = state.engine.all_records().await?.changes(filter, page).await?;
    Ok(Json(Envelope::new(page, changes)))
}
