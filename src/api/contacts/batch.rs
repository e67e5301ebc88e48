//! Creating and updating many contacts in one request.

use actix_web::web::{Data, Json};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::Batch;
use super::fields::{self, GivenNumber, invalid_field};
use crate::api::State;
use crate::api::auth::Author;
use crate::api::body::Body;
use crate::api::error::{Error, ErrorBody};
use crate::api::openapi::Failures;
use crate::domain::contact::Person;
use crate::engine::MOST_AT_ONCE;
use crate::engine::records::contacts::ContactDraft;
use crate::error::Code;

/// Contacts to be created or updated.
#[derive(Deserialize, ToSchema)]
pub(in crate::api) struct ContactBatch {
    /// At most 10,000.
    #[schema(value_type = Vec<ContactEntry>, max_items = 10000)]
    contacts: Vec<Value>,
}

/// A contact as the client knows it. Fields that are left out are kept.
#[derive(Deserialize, ToSchema)]
pub(in crate::api) struct ContactEntry {
    /// At most 200 characters.
    #[schema(example = "Ana")]
    first_name: Option<String>,
    /// At most 200 characters.
    last_name: Option<String>,
    /// Identifies a contact that has no valid number.
    email: Option<String>,
    /// Identifies a contact.
    phone_number: Option<GivenNumber>,
    /// WhatsApp's own id of the person.
    phone_number_lid: Option<String>,
    /// The http or https address of a picture.
    profile_picture: Option<String>,
    /// Names of tags that the contact gets in addition to those that it has. Tags that do not exist are
    /// created.
    tags: Option<Vec<String>>,
}

/// Create or update contacts
///
/// An entry updates the contact with the same valid number, or else the contact with the same e-mail address;
/// otherwise it creates a contact. Given fields replace the stored ones, and fields that are left out are kept.
/// An entry that cannot be written is rejected alone: see its `error`. Repeating the request changes nothing
/// more.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/batch",
    operation_id = "writeContacts",
    tag = "contacts",
    request_body = ContactBatch,
    responses(
        (status = 200, description = "What was written", body = Batch),
        (status = 408, description = "`body_too_slow`", body = ErrorBody),
        (status = 413, description = "`body_too_large`", body = ErrorBody),
        Failures,
    ),
)]
pub(in crate::api) async fn write(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
) -> Result<Json<Batch>, Error> {
    let ContactBatch { contacts } = fields::read(body, &state).await?;
    if contacts.is_empty() {
        return Err(invalid_field("`contacts` is empty: give at least one contact"));
    }
    if contacts.len() > MOST_AT_ONCE {
        let sentence = format!("`contacts` has more than {MOST_AT_ONCE} entries: split it");
        return Err(Error::refused(Code::TooManyContacts, sentence));
    }
    let (mut drafts, mut rejected) = (Vec::new(), Vec::new());
    for (index, entry) in contacts.into_iter().enumerate() {
        match draft(entry) {
            Ok(draft) => drafts.push(draft),
            Err(sentence) => rejected.push((index, sentence)),
        }
    }
    let written = state.engine.write_contacts(&who, company.id, drafts).await?;
    Ok(Json(Batch::new(rejected, written)))
}

fn draft(entry: Value) -> Result<ContactDraft, String> {
    let entry: ContactEntry = serde_json::from_value(entry).map_err(|wrong| wrong.to_string())?;
    let ContactEntry { first_name, last_name, email, phone_number, phone_number_lid, profile_picture, tags } =
        entry;
    let person = fields::person(&Person {
        first_name: first_name.unwrap_or_default(),
        last_name: last_name.unwrap_or_default(),
        email: email.unwrap_or_default(),
        phone_number: phone_number.map(GivenNumber::into_text).unwrap_or_default(),
        phone_number_lid,
        profile_picture: profile_picture.unwrap_or_default(),
    })?;
    if person.email.is_empty() && person.phone().is_none() {
        return Err(
            "has neither a valid phone number nor an e-mail address to identify the contact".to_owned()
        );
    }
    Ok(ContactDraft { person, tags: fields::tags(tags.unwrap_or_default())? })
}
