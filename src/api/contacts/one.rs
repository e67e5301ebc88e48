//! One contact: showing, changing, merging and deleting it.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Contact;
use super::fields::{self, ContactNumber, invalid_field, wrong_field};
use super::own_fields::{ChangedFieldValue, GivenValues};
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::path_id::Id;
use crate::clock::Timestamp;
use crate::domain::contact::Person;
use crate::domain::own_field::OwnField;
use crate::engine::Whom;
use crate::engine::records::contacts::{ContactChange, Edited};
use crate::error::Code;

/// Contacts that one request may merge.
const MOST_MERGED: usize = 100;

/// A change of a contact. Fields that are left out are kept; an empty text erases the field.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ContactPatch {
    /// At most 200 characters.
    first_name: Option<String>,
    /// At most 200 characters.
    last_name: Option<String>,
    /// E-mail address.
    email: Option<String>,
    /// The number. No two contacts of a company have the same valid number.
    phone_number: Option<ContactNumber>,
    /// WhatsApp's own id of the person.
    phone_number_lid: Option<String>,
    /// The http or https address of a picture.
    profile_picture: Option<String>,
    /// The names of all tags of the contact. Tags that do not exist are created.
    tags: Option<Vec<String>>,
    /// Values of own fields, by their keys; null or an empty text erases one, and those that are left out are kept.
    #[schema(value_type = Option<std::collections::BTreeMap<String, ChangedFieldValue>>, example = json!({"birth_date": "1990-01-31"}))]
    fields: Option<GivenValues>,
}

/// Contacts that are the same person.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Merge {
    /// The other contacts, at most 100: their fields are copied into the contact of the path, and they are
    /// deleted.
    #[schema(max_items = 100)]
    contact_ids: Vec<Uuid>,
}

/// Show a contact
#[utoipa::path(
    get,
    path = "/api/v1/contacts/{id}",
    operation_id = "showContact",
    params(("id" = Uuid, Path, description = "The contact")),
    responses(
        (status = 200, description = "The contact", body = Contact),
        (status = 404, description = "`contact_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(company: Company, state: Data<State>, id: Id) -> Answer<Contact> {
    find(&state, company, id.or_nil()).await
}

/// Change a contact
///
/// Fields that are left out are kept; an empty text erases the field. `tags` are all tags that the contact
/// has from now on.
#[utoipa::path(
    patch,
    path = "/api/v1/contacts/{id}",
    operation_id = "changeContact",
    params(("id" = Uuid, Path, description = "The contact")),
    request_body = ContactPatch,
    responses(
        (status = 200, description = "The contact, changed", body = Contact),
        (status = 404, description = "`contact_not_found`", body = ErrorBody),
        (status = 409, description = "`number_taken`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<Contact> {
    let id = id.or_nil();
    let (patch, _room) = fields::read::<ContactPatch>(body, &state).await?;
    let records = state.engine.company(company.id).await?;
    let own = match patch.fields {
        Some(_) => records.fields().all().await?,
        None => Vec::new(),
    };
    let change = read_change(patch, &own).map_err(invalid_field)?;
    refuse(records.contacts().change(&who, id, &change, Timestamp::now()).await?)?;
    drop(records);
    find(&state, company, id).await
}

/// Delete a contact
#[utoipa::path(
    delete,
    path = "/api/v1/contacts/{id}",
    operation_id = "deleteContact",
    params(("id" = Uuid, Path, description = "The contact")),
    responses(
        (status = 204, description = "There is no such contact any more"),
        (status = 404, description = "`contact_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn delete(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    let whom = Whom::Named { ids: vec![id.or_nil()], numbers: Vec::new() };
    match state.engine.contacts().delete(&who, company.id, whom).await? {
        0 => Err(no_such_contact()),
        _ => Ok(HttpResponse::NoContent().finish()),
    }
}

/// Merge contacts
///
/// Merges several contacts into one: the contact of the path keeps its fields, takes its missing fields from
/// the others, and gets all of their tags. The others are deleted.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/{id}/merge",
    operation_id = "mergeContacts",
    params(("id" = Uuid, Path, description = "The contact that stays")),
    request_body = Merge,
    responses(
        (status = 200, description = "The contact that stays", body = Contact),
        (status = 404, description = "`contact_not_found`: one of the contacts does not exist", body = ErrorBody),
    ),
)]
pub(crate) async fn merge(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<Contact> {
    let id = id.or_nil();
    let (Merge { mut contact_ids }, _room) = fields::read(body, &state).await?;
    contact_ids.sort_unstable();
    contact_ids.dedup();
    if contact_ids.len() > MOST_MERGED {
        return Err(wrong_field("contact_ids", format_args!("has more than {MOST_MERGED} entries")));
    }
    let records = state.engine.company(company.id).await?;
    refuse(records.contacts().merge(&who, id, &contact_ids, Timestamp::now()).await?)?;
    drop(records);
    find(&state, company, id).await
}

async fn find(state: &State, company: Company, id: Uuid) -> Answer<Contact> {
    let found = state.engine.company(company.id).await?.contacts().find(id).await?;
    Ok(Json(found.ok_or_else(no_such_contact)?.into()))
}

fn read_change(patch: ContactPatch, own: &[OwnField]) -> Result<ContactChange, String> {
    let ContactPatch {
        first_name,
        last_name,
        email,
        phone_number,
        phone_number_lid,
        profile_picture,
        tags,
        fields: values,
    } = patch;
    let phone_number = phone_number.map(ContactNumber::into_text);
    let text = |given: &Option<String>| given.clone().unwrap_or_default();
    let checked = fields::person(&Person {
        first_name: text(&first_name),
        last_name: text(&last_name),
        email: text(&email),
        phone_number: text(&phone_number),
        phone_number_lid: phone_number_lid.clone(),
        profile_picture: text(&profile_picture),
        ..Person::default()
    })?;
    Ok(ContactChange {
        first_name: first_name.map(|_| checked.first_name),
        last_name: last_name.map(|_| checked.last_name),
        email: email.map(|_| checked.email),
        phone_number: phone_number.map(|_| checked.phone_number),
        phone_number_lid: phone_number_lid.map(|_| checked.phone_number_lid.unwrap_or_default()),
        profile_picture: profile_picture.map(|_| checked.profile_picture),
        own: values.unwrap_or_default().read(own)?,
        tags: tags.as_deref().map(fields::tags).transpose()?,
        known: None,
    })
}

fn refuse(edited: Edited) -> Result<(), Error> {
    match edited {
        Edited::Done => Ok(()),
        // A change that names no version is never outdated.
        Edited::Missing | Edited::Outdated => Err(no_such_contact()),
        Edited::Taken => Err(Error::refused(
            Code::NumberTaken,
            "another contact of this company has this number: change that one, or merge the two",
        )),
        Edited::Nameless => {
            Err(invalid_field("a contact needs a valid `phone_number` or an `email` that identifies it"))
        }
    }
}

pub(crate) fn no_such_contact() -> Error {
    Error::refused(Code::ContactNotFound, "this company has no such contact: GET /api/v1/contacts lists them")
}
