//! Own fields of contacts: their list, and creating, renaming and deleting them; their values in contacts, and the conditions
//! that narrow lists by them.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::{self, wrong_field};
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query};
use crate::api::path_id::Id;
use crate::api::schema::ContactFieldType;
use crate::domain::own_field::{
    self, FieldCondition, FieldKey, FieldKind, FieldValue, MOST_CONDITIONS, MOST_FIELDS, OwnField, OwnValues,
};
use crate::domain::page::Page;
use crate::engine::no_such_field;

/// An own field of the company's contacts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ContactField {
    /// The id of the field.
    id: Uuid,
    /// Made from the name when the field was created; it stays when the field is renamed. Contacts have values under it, and
    /// templates write it as `{{contact.KEY}}`.
    #[schema(example = "birth_date")]
    key: String,
    /// What people see. Unique in the company.
    #[schema(example = "Birth date")]
    name: String,
    /// What its values are.
    #[schema(value_type = ContactFieldType, example = "date")]
    r#type: &'static str,
}

/// A field to be created.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NewContactField {
    /// At most 60 characters. Unique in the company, and no name of a field that every contact has.
    #[schema(example = "Birth date")]
    name: Option<String>,
    /// What its values are: `text`, `number` or `date`. It cannot be changed.
    #[schema(value_type = Option<ContactFieldType>, example = "date")]
    r#type: Option<String>,
}

/// Another name of a field.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ContactFieldPatch {
    /// At most 60 characters.
    name: Option<String>,
}

/// A value of an own field. A date is a text such as `2026-01-31`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(crate) enum ContactFieldValue {
    /// A number.
    Number(f64),
    /// A text or a date.
    Text(String),
}

/// A new value of an own field; null erases the one that there is.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(crate) enum ChangedFieldValue {
    /// A number.
    Number(f64),
    /// A text or a date.
    Text(String),
    /// No value.
    Erased,
}

/// The values of a contact, by the keys of their fields.
pub(super) type ShownValues = BTreeMap<String, Value>;

/// Values of own fields as a client gives them, by their keys.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct GivenValues(Map<String, Value>);

impl From<OwnField> for ContactField {
    fn from(OwnField { id, key, name, kind }: OwnField) -> Self {
        Self { id, key: key.as_str().to_owned(), name, r#type: kind.as_str() }
    }
}

impl GivenValues {
    /// The memory of the values.
    pub(super) fn weight(own: &OwnValues) -> usize {
        /// What a value takes beside its characters.
        const VALUE: usize = 128;
        let length = |value: &FieldValue| match value {
            FieldValue::Text(text) => text.len(),
            FieldValue::Number(_) | FieldValue::Date(_) => 0,
        };
        own.values().map(|value| VALUE + length(value)).sum()
    }

    /// The value of each given field of a company with these fields; `None` for null and for an empty text.
    ///
    /// # Errors
    ///
    /// A sentence about the first that the company does not have, or whose value is wrong.
    pub(super) fn read(self, own: &[OwnField]) -> Result<BTreeMap<FieldKey, Option<FieldValue>>, String> {
        if self.0.len() > MOST_FIELDS {
            return Err(format!("`fields` has more than {MOST_FIELDS} entries"));
        }
        let read = |(word, value): (String, Value)| -> Result<(FieldKey, Option<FieldValue>), String> {
            let field = FieldKey::parse(&word).and_then(|key| own_field::find(own, key));
            let field = field.ok_or_else(|| {
                let shown: String = word.chars().take(FieldKey::LONGEST).collect();
                format!("`fields` names `{shown}`, which is no field of this company: GET /api/v1/contacts/fields lists them")
            })?;
            let text = match (value, field.kind) {
                (Value::Null, _) => return Ok((field.key, None)),
                (Value::String(text), _) => text,
                (Value::Number(number), FieldKind::Number | FieldKind::Text) => number.to_string(),
                _ => return Err(format!("`fields.{word}` must be a {} or null", field.kind)),
            };
            let value = field.kind.exact(&text).map_err(|wrong| format!("`fields.{word}` {wrong}"))?;
            Ok((field.key, value))
        };
        self.0.into_iter().map(read).collect()
    }

    /// The values of a contact of a batch: those that are null or empty are kept as they are.
    ///
    /// # Errors
    ///
    /// As [`GivenValues::read`].
    pub(super) fn known(self, own: &[OwnField]) -> Result<OwnValues, String> {
        Ok(self.read(own)?.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
    }
}

/// The values of a contact as clients read them; `None` without any.
pub(super) fn shown(own: &OwnValues) -> Option<ShownValues> {
    let value = |value: &FieldValue| match value {
        // Fifteen digits of any number are a JSON number, whole or a double.
        FieldValue::Number(number) => {
            serde_json::from_str(&number.to_string()).unwrap_or_else(|_| Value::String(number.to_string()))
        }
        FieldValue::Text(_) | FieldValue::Date(_) => Value::String(value.plain()),
    };
    let values = own.iter().map(|(key, known)| (key.as_str().to_owned(), value(known)));
    let values: ShownValues = values.collect();
    (!values.is_empty()).then_some(values)
}

/// The conditions that these texts of a request are, which stand in what has the name.
///
/// # Errors
///
/// `invalid_field` for one that is none, and for more than [`MOST_CONDITIONS`].
pub(super) async fn conditions(
    state: &State,
    company: Company,
    name: &str,
    given: &[String],
) -> Result<Vec<FieldCondition>, Error> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    if given.len() > MOST_CONDITIONS {
        return Err(wrong_field(name, format_args!("has more than {MOST_CONDITIONS} conditions")));
    }
    let own = state.engine.company(company.id).await?.fields().all().await?;
    let read = |text: &String| FieldCondition::parse(text, &own).map_err(|fault| wrong_field(name, fault));
    given.iter().map(read).collect()
}

/// List own fields
///
/// The company's own fields of contacts, oldest first.
#[utoipa::path(
    get,
    path = "/api/v1/contacts/fields",
    operation_id = "listContactFields",
    params(PageParameters),
    responses((status = 200, description = "A page of fields", body = Envelope<ContactField>)),
)]
pub(crate) async fn list(
    company: Company,
    state: Data<State>,
    query: Query,
) -> Answer<Envelope<ContactField>> {
    let page = query.page()?;
    let all = state.engine.company(company.id).await?.fields().all().await?;
    let total = all.len() as u64;
    let [offset, limit] =
        [page.offset(), page.limit].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let records = all.into_iter().skip(offset).take(limit).collect();
    Ok(Json(Envelope::new(page, Page { records, total })))
}

/// Create an own field
///
/// From then on, contacts can have a value of it, files can have a column for it, and templates can write it as
/// `{{contact.KEY}}`. A company has at most 50 fields.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/fields",
    operation_id = "createContactField",
    request_body = NewContactField,
    responses(
        (status = 201, description = "The field", body = ContactField),
        (status = 409, description = "`field_name_taken`, `too_many_fields`", body = ErrorBody),
    ),
)]
pub(crate) async fn create(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (NewContactField { name, r#type }, _room) = fields::read(body, &state).await?;
    let kind = r#type.unwrap_or_default().parse::<FieldKind>();
    let kind = kind.map_err(|_| wrong_field("type", "must be text, number or date"))?;
    let name = name.unwrap_or_default();
    let field = state.engine.contacts().add_field(&who, company.id, &name, kind).await?;
    Ok(HttpResponse::Created().json(ContactField::from(field)))
}

/// Rename an own field
///
/// Its key stays, so that templates and programs go on.
#[utoipa::path(
    patch,
    path = "/api/v1/contacts/fields/{id}",
    operation_id = "renameContactField",
    params(("id" = Uuid, Path, description = "The field")),
    request_body = ContactFieldPatch,
    responses(
        (status = 200, description = "The field, renamed", body = ContactField),
        (status = 404, description = "`field_not_found`", body = ErrorBody),
        (status = 409, description = "`field_name_taken`", body = ErrorBody),
    ),
)]
pub(crate) async fn rename(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<ContactField> {
    let id = id.or_nil();
    let (ContactFieldPatch { name }, _room) = fields::read(body, &state).await?;
    if let Some(name) = name.filter(|name| !name.trim().is_empty()) {
        state.engine.contacts().rename_field(&who, company.id, id, &name).await?;
    }
    let all = state.engine.company(company.id).await?.fields().all().await?;
    let field = all.into_iter().find(|field| field.id == id).ok_or_else(no_such_field)?;
    Ok(Json(field.into()))
}

/// Delete an own field
///
/// No contact has a value of it any more. A message that waits, and whose template names the field, goes on as for a contact
/// without a value.
#[utoipa::path(
    delete,
    path = "/api/v1/contacts/fields/{id}",
    operation_id = "deleteContactField",
    params(("id" = Uuid, Path, description = "The field")),
    responses(
        (status = 204, description = "There is no such field any more"),
        (status = 404, description = "`field_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    state.engine.contacts().delete_field(&who, company.id, id.or_nil()).await?;
    Ok(HttpResponse::NoContent().finish())
}
