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
use crate::engine::records::changes::{self, Filter, What};
use crate::error::Code;

/// One change. Secrets are never part of it.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct Change {
    /// Names the change.
    id: Uuid,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The operator's name; `key:` and the name of a company's API key; `user:` and the e-mail of a person who signed in, or nothing more when the sign-in failed; `cli:`
    /// and a user's name for the command line; `pombo` for the program itself.
    #[schema(example = "ana")]
    who: String,
    /// What was changed.
    #[schema(value_type = ChangeSubject, example = "channel.tier")]
    what: &'static str,
    /// The tier's name, the operator's name, the recipient's number (`+5511988887777`), the person's e-mail (empty when
    /// somebody unknown failed to sign in), or the id of the channel, company, API key or sealing key. Contacts, tags and
    /// imports have the id of their company.
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

impl From<changes::Change> for Change {
    fn from(change: changes::Change) -> Self {
        let changes::Change { id, at, who, what, subject, before, after, address } = change;
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
        ("what" = Option<ChangeSubject>, Query, description = "Only of this kind"),
        ("subject" = Option<String>, Query, description = "Only of this tier, channel, company, key, operator or number"),
        ("who" = Option<String>, Query, description = "Only of this one, as changes name them: `user:ana@example.com`"),
        ("from" = Option<String>, Query, format = DateTime, description = "Only changes made at this moment or later"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only changes made before this moment"),
    ),
    responses((status = 200, description = "A page of changes", body = Envelope<Change>), Failures),
)]
pub(in crate::api) async fn list(
    _: Operator,
    state: Data<State>,
    request: HttpRequest,
) -> Result<Json<Envelope<Change>>, Error> {
    let query = ListQuery::new(request.query_string(), &state.options);
    let (page, subject, who) = (query.page()?, query.text("subject")?, query.text("who")?);
    let what = query.text("what")?.map(|word| {
        let refused = || {
            Error::refused(Code::InvalidField, "`what` must be a kind that changes have: see the reference")
        };
        What::parse(&word).ok_or_else(refused)
    });
    let what = what.transpose()?;
    let filter = Filter {
        what: what.as_slice(),
        subject: subject.as_deref(),
        who: who.as_deref(),
        from: query.moment("from")?,
        to: query.moment("to")?,
    };
    let changes = state.engine.operator().await?.changes().page(filter, page).await?;
    Ok(Json(Envelope::new(page, changes)))
}
