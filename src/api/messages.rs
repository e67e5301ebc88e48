//! The messages to one person, over all sends of a company.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::State;
use super::auth::Company;
use super::envelope::Envelope;
use super::error::Error;
use super::lines::{AsLines, lines};
use super::list_query::{PartParameters, Query};
use super::schema::MessageState;
use super::sends::id;
use super::sends::messages::{MessageRecord, wanted};
use crate::domain::message::Key;
use crate::domain::page::{Page, Window};
use crate::domain::phone::PhoneNumber;
use crate::engine::WithReference;
use crate::engine::records::messages::Addressed;
use crate::engine::records::sends::Filter;
use crate::error::Code;

/// A message to a person, and the send that it belongs to.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FoundMessage {
    /// The send; its record has the content.
    send_id: Uuid,
    /// The channel that sends it.
    channel_id: Uuid,
    /// The `reference` of the send.
    #[schema(example = "order-4711")]
    reference: Option<String>,
    /// The message, as in the list of the send's messages.
    #[serde(flatten)]
    message: MessageRecord,
}

impl From<Addressed> for FoundMessage {
    fn from(found: Addressed) -> Self {
        let Addressed { send_id, channel_id, reference, message, message_reference } = found;
        let message = MessageRecord::to(message, None).named(message_reference);
        Self { send_id, channel_id, reference, message }
    }
}

/// Find messages to a person, or by their reference
///
/// The company's messages to one person, of all its sends and channels, those of later sends first: attempted or not,
/// under any number of the person. Messages to groups are not among them. With `message_reference` they are the messages
/// whose recipient had this `reference` in the request, among the latest 100 of them. With `Accept: application/x-ndjson` the answer
/// has all of them, or those after `cursor`, one JSON object on each line.
#[utoipa::path(
    get,
    path = "/api/v1/messages",
    operation_id = "findMessages",
    params(
        ("recipient" = Option<String>, Query, example = "+5511988887777", description = "The person's number, in any form \
             that a send takes; it may be left out beside `message_reference`"),
        ("message_reference" = Option<String>, Query, max_length = 128, example = "crm-77", description = "Only messages with \
             this `reference` of their own, which an entry of `recipients` gave them"),
        PartParameters,
        ("state" = Option<MessageState>, Query, description = "Only messages in this state"),
        ("channel_id" = Option<Uuid>, Query, description = "Only messages through this channel"),
        ("reference" = Option<String>, Query, max_length = 128, description = "Only messages of sends with this \
             `reference`"),
        ("from" = Option<String>, Query, format = DateTime, description = "Only messages of sends accepted at this \
             time or later"),
        ("to" = Option<String>, Query, format = DateTime, description = "Only messages of sends accepted before this \
             time"),
    ),
    responses((status = 200, description = "A page of messages, or all of them", content(
        (Envelope<FoundMessage> = "application/json"),
        (FoundMessage = "application/x-ndjson"),
    ))),
)]
pub(super) async fn list(
    company: Company,
    state: Data<State>,
    query: Query,
    AsLines(as_lines): AsLines,
) -> Result<HttpResponse, Error> {
    let (listing, of_state) = (query.listing("found messages")?, wanted(&query)?);
    let (name, number) = (query.text("message_reference")?, query.text("recipient")?);
    let number = if name.is_some() && number.is_none() { None } else { Some(recipient(number)?) };
    let sends = Filter {
        stage: None,
        channel_id: id(&query, "channel_id", "a channel")?,
        source: None,
        reference: query.text("reference")?,
        search: None,
        from: query.moment("from")?,
        to: query.moment("to")?,
    };
    let read = async move |window: Window<Key>| -> Result<Page<Addressed>, Error> {
        let records = state.engine.sends();
        if let (Some(number), None) = (number, &name) {
            return Ok(records.to_person(company.id, number, of_state, sends.clone(), window).await?);
        }
        let asked = WithReference {
            reference: name.clone().unwrap_or_default(),
            number,
            state: of_state,
            channel_id: sends.channel_id,
            of_send: sends.reference.clone(),
            from: sends.from,
            to: sends.to,
        };
        Ok(records.with_reference(company.id, &asked, window).await?)
    };
    let key =
        |found: &Addressed| Key { send_id: found.send_id, ordinal: found.message.outcome.position.ordinal };
    if as_lines {
        return Ok(lines::<Addressed, FoundMessage, _>(listing.rest(), read, key));
    }
    let found = read(listing.window()).await?;
    Ok(HttpResponse::Ok().json(Envelope::<FoundMessage>::listed(&listing, found, key)))
}

/// The number of the person.
fn recipient(text: Option<String>) -> Result<PhoneNumber, Error> {
    let text = text.ok_or_else(|| {
        let sentence = "`recipient` is missing: give a person's number, such as 5511988887777, or a `message_reference`; \
                        GET /api/v1/sends lists sends without one";
        Error::refused(Code::MissingRecipient, sentence)
    })?;
    PhoneNumber::parse(&text).map_err(|invalid| {
        let sentence =
            format!("`recipient` {invalid}: give it in international format, such as 5511988887777");
        Error::refused(Code::InvalidPhoneNumber, sentence)
    })
}
