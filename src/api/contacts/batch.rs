//! Creating and updating many contacts in one request.

use actix_web::web::{Data, Json};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::Batch;
use super::fields::{self, ContactNumber, Entries, GivenTags, wrong_field};
use super::own_fields::{ContactFieldValue, GivenValues};
use crate::api::State;
use crate::api::auth::Author;
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::Error;
use crate::domain::contact::Person;
use crate::domain::own_field::OwnField;
use crate::engine::MOST_AT_ONCE;
use crate::engine::records::contacts::ContactDraft;
use crate::error::Code;
use crate::surface::body::Room;

/// Contacts to be created or updated.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ContactBatch<'a> {
    /// At most 10,000.
    #[serde(borrow)]
    #[schema(value_type = Vec<ContactEntry>, max_items = 10000)]
    contacts: &'a RawValue,
}

/// A contact as the client knows it. Fields that are left out are kept.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ContactEntry {
    /// At most 200 characters.
    #[schema(example = "Ana")]
    first_name: Option<String>,
    /// At most 200 characters.
    last_name: Option<String>,
    /// Identifies a contact if it or the entry has no valid number.
    email: Option<String>,
    /// Identifies a contact.
    phone_number: Option<ContactNumber>,
    /// WhatsApp's own id of the person.
    phone_number_lid: Option<String>,
    /// The http or https address of a picture.
    profile_picture: Option<String>,
    /// Names of tags that the contact gets in addition to those that it has. Tags that do not exist are
    /// created.
    #[schema(value_type = Option<Vec<String>>)]
    tags: Option<GivenTags>,
    /// Values of own fields, by their keys; those that are left out or null are kept.
    #[schema(value_type = Option<std::collections::BTreeMap<String, ContactFieldValue>>, example = json!({"birth_date": "1990-01-31"}))]
    fields: Option<GivenValues>,
}

/// Create or update contacts
///
/// An entry updates the contact with the same valid number, or else one with the same e-mail address, unless both have
/// valid numbers: people who share an address are different people. Otherwise it creates a contact. Given fields replace the stored ones, and fields that are left out are kept.
/// An entry that cannot be written is rejected alone: see its `error`. Repeating the request changes nothing
/// more.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/batch",
    operation_id = "writeContacts",
    request_body = ContactBatch,
    responses(
        (status = 200, description = "What was written", body = Batch),
    ),
)]
pub(crate) async fn write(Author { company, who }: Author, body: Body, state: Data<State>) -> Answer<Batch> {
    let own = state.engine.company(company.id).await?.fields().all().await?;
    let read = move |body: &str, room: &mut Room| read(body, room, &own);
    let (Entries { valid, rejected }, _room) = fields::read_with(body, &state, read).await?;
    let written = state.engine.contacts().write(&who, company.id, valid).await?;
    Ok(Json(Batch::new(rejected, written)))
}

fn read(body: &str, room: &mut Room, own: &[OwnField]) -> Result<Entries<ContactDraft>, Error> {
    let ContactBatch { contacts } = fields::fields(body)?;
    let too_many = || {
        let what = format_args!("has more than {MOST_AT_ONCE} entries: split it");
        Error::of("contacts", Code::TooManyContacts, what)
    };
    let entries = fields::entries(contacts, "contacts", (MOST_AT_ONCE, too_many), room, |entry| {
        let draft = draft(entry, own)?;
        let bytes = weight(&draft);
        Ok((draft, bytes))
    })?;
    if entries.is_empty() {
        return Err(wrong_field("contacts", "is empty: give at least one contact"));
    }
    Ok(entries)
}

/// The memory of a draft's texts.
fn weight(draft: &ContactDraft) -> usize {
    /// What a text takes beside its characters, when it is a field of the draft and when it is in a list.
    const FIELD: usize = 16;
    const LISTED: usize = 64;
    let Person { first_name, last_name, email, phone_number, phone_number_lid, profile_picture, own } =
        &draft.person;
    let lid = phone_number_lid.as_ref().map_or(0, String::len);
    let texts = [first_name, last_name, email, phone_number, profile_picture];
    let texts: usize = texts.into_iter().map(|text| text.len() + FIELD).sum();
    let tags: usize = draft.tags.iter().map(|tag| tag.len() + LISTED).sum();
    texts + lid + FIELD + tags + GivenValues::weight(own)
}

fn draft(entry: &str, own: &[OwnField]) -> Result<ContactDraft, String> {
    let ContactEntry {
        first_name,
        last_name,
        email,
        phone_number,
        phone_number_lid,
        profile_picture,
        tags,
        fields: values,
    } = fields::entry(entry)?;
    let person = fields::person(&Person {
        first_name: first_name.unwrap_or_default(),
        last_name: last_name.unwrap_or_default(),
        email: email.unwrap_or_default(),
        phone_number: phone_number.map(ContactNumber::into_text).unwrap_or_default(),
        phone_number_lid,
        profile_picture: profile_picture.unwrap_or_default(),
        own: values.unwrap_or_default().known(own)?,
    })?;
    if person.email.is_empty() && person.phone().is_none() {
        return Err(
            "has neither a valid phone number nor an e-mail address to identify the contact".to_owned()
        );
    }
    Ok(ContactDraft { person, tags: tags.unwrap_or_default().names()? })
}
