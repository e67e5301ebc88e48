//! The record of changes.

use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Operator;
use crate::api::State;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::Error;
use crate::api::list_query::{PageParameters, Query};
use crate::api::schema::{ChangeSubject, ChangedValue};
use crate::clock::Timestamp;
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
/// The changes that people made over HTTP and on the command line, newest first.
#[utoipa::path(
    get,
    path = "/operator/v1/changes",
    operation_id = "listChanges",
    params(
        PageParameters,
        ("what" = Option<ChangeSubject>, Query, description = "Only changes of this kind"),
        ("subject" = Option<String>, Query, description = "Only changes of this tier, channel, company, key, operator or number"),
        ("who" = Option<String>, Query, description = "Only changes by this author, in the form of `who`: \
             `user:ana@example.com`"),
        ("from" = Option<String>, Query, format = DateTime, description = "Only changes made at this time or later"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only changes made before this time"),
    ),
    responses((status = 200, description = "A page of changes", body = Envelope<Change>)),
)]
pub(in crate::api) async fn list(_: Operator, state: Data<State>, query: Query) -> Answer<Envelope<Change>> {
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
