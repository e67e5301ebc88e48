//! The requests that the service makes itself: those to the webhook endpoints of companies, one for each type of event.

use std::borrow::Cow;

use serde_json::{Value, json};
use utoipa::ToSchema as _;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::domain::event::log::Sequence;
use crate::domain::event::{
    ChannelData, ContactData, ConversationData, Data, Event, InboundData, KeyData, LostData, MessageData,
    NoticeData, QuotaData, SendData, TemplateData, Type, WebhookDisabledData, WebhookRecoveredData,
};
use crate::domain::webhook::{EXAMPLE_ID, TEST_HEADER, known_types};
use crate::engine::example_event;

/// The company, the time and the place in the log of the examples.
const COMPANY: Uuid = Uuid::from_u128(0x0190_a0c4_7c1b_7f00_8f4e_2a9f_54b2_c003);
const AT: Timestamp = Timestamp::from_millis(1_795_253_400_000);
const PLACE: Sequence = Sequence::from_i64(458_754);

/// The headers of requests: name, description, the schema of the value, and whether each request has it.
const HEADERS: [(&str, &str, &str, bool); 4] = [
    (
        "webhook-id",
        "The `id` of the event, the same in each repetition. For a batch, an id of the request: its events may be repeated \
         beside others, so compare the `id` of each event.",
        "string",
        true,
    ),
    ("webhook-timestamp", "The time of this request, in seconds since 1970.", "integer", true),
    (
        "webhook-signature",
        "`v1,` and the HMAC-SHA256 of id, timestamp and body in base64, as the Standard Webhooks specification says. Two \
         of them, separated by a space, while a secret is being replaced.",
        "string",
        true,
    ),
    (
        TEST_HEADER,
        "`true` in a test, whose event is an example that did not happen. Other requests do not have it.",
        "string",
        false,
    ),
];

/// Adds the requests to the document, whose schemas have to be complete.
pub(super) fn add(document: &mut Value) {
    let mut webhooks = json!({});
    let schemas = &document["components"]["schemas"];
    for known in known_types() {
        let event = example(known);
        let data = data(&event.data);
        let description = &schemas[&*data]["description"];
        let schema = schema(&schemas["Event"], known, &data);
        webhooks[known.as_str()] =
            request(&format!("The event {known}"), description, &schema, &json!(event));
    }
    let events = json!({
        "type": "object",
        "required": ["events"],
        "properties": {
            "events": {
                "type": "array",
                "minItems": 1,
                "description": "The events, in the order of the log.",
                "items": { "$ref": "#/components/schemas/Event" },
            },
        },
    });
    let description = "Instead of single events, for an endpoint with a `batch` of more than 1, also if there is only one. An event that \
         is repeated may come with others: a receiver knows it by its `id`.";
    let both = json!({ "events": [example(Type::MessageSent), example(Type::SendFinished)] });
    webhooks["batch"] = request("Several events", &description.into(), &events, &both);
    document["webhooks"] = webhooks;
}

/// The example of a test delivery, which is the same in each document.
fn example(r#type: Type) -> Event {
    let event = example_event(COMPANY, r#type, AT);
    Event { id: format!("{EXAMPLE_ID}{}", COMPANY.as_simple()), sequence: PLACE, ..event }
}

/// The name of the schema of these data.
fn data(data: &Data) -> Cow<'static, str> {
    match data {
        Data::Message(_) => MessageData::name(),
        Data::Send(_) => SendData::name(),
        Data::Channel(_) => ChannelData::name(),
        Data::Inbound(_) => InboundData::name(),
        Data::Conversation(_) => ConversationData::name(),
        Data::Contact(_) => ContactData::name(),
        Data::Template(_) => TemplateData::name(),
        Data::Notice(_) => NoticeData::name(),
        Data::Quota(_) => QuotaData::name(),
        Data::Key(_) => KeyData::name(),
        Data::WebhookDisabled(_) => WebhookDisabledData::name(),
        Data::WebhookRecovered(_) => WebhookRecoveredData::name(),
        Data::Lost(_) => LostData::name(),
    }
}

/// The schema of an event of one type.
fn schema(of_every_event: &Value, r#type: Type, data: &str) -> Value {
    let mut schema = of_every_event.clone();
    let properties = &mut schema["properties"];
    properties["type"]["const"] = r#type.as_str().into();
    properties["data"] = json!({ "$ref": format!("#/components/schemas/{data}") });
    schema
}

fn request(summary: &str, description: &Value, schema: &Value, example: &Value) -> Value {
    let headers = HEADERS.map(|(name, description, kind, is_required)| {
        let schema = json!({ "type": kind });
        json!({
            "name": name, "in": "header", "required": is_required, "description": description, "schema": schema,
        })
    });
    json!({
        "post": {
            "tags": ["events"],
            "summary": summary,
            "description": description,
            "security": [{}],
            "parameters": headers,
            "requestBody": {
                "required": true,
                "content": { "application/json": { "schema": schema, "example": example } },
            },
            "responses": {
                "2XX": { "description": "The receiver has the event. A body is not needed." },
                "410": { "description": "The receiver wants no more events: the endpoint is disabled." },
                "default": {
                    "description": "Everything else, a redirect too: the event is sent again later, for some three days. \
                                    `Retry-After` makes a delay longer. With the header `webhook-delivery: abort-message`, the \
                                    event is given up instead.",
                },
            },
        },
    })
}
