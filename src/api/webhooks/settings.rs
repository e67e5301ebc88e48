//! The settings of an endpoint in bodies: those of a new one, and changes.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use crate::api::error::Error;
use crate::api::schema::{ReceiverProfile, WebhookShape};
use crate::domain::bodies;
use crate::domain::body::Field;
use crate::domain::event::Type;
use crate::domain::secret::Secret;
use crate::domain::webhook::{Header, MOST_BATCH, MOST_IN_FLIGHT, Shape, WebhookProfile, types_of};
use crate::engine::EndpointChange;
use crate::error::{Code, Refusal};

bodies! {
    /// A webhook endpoint to add.
    pub(super) struct NewWebhook of Value {
        /// The address of the receiver, which begins with `https://`. It must not contain a user name or a password.
        #[schema(max_length = 2048)]
        url: String,
        /// The form in which it gets events; `pombo` when left out. In the shape `graph` it gets Meta's webhooks, for programs that
        /// are written for Meta's Cloud API; its types are then those of its profile when `types` is left out.
        shape: Option<WebhookShape>,
        /// What its receiver understands, in the shape `graph`; `meta` when left out.
        profile: Option<ReceiverProfile>,
        /// The types of events that it gets; `send.*` is all of a kind. Without it: `message.received`,
        /// `message.reaction`, `message.edited`, `message.deleted`, `message.failed`, `conversation.*`, `send.*`, `channel.*`,
        /// `contact.*`, `template.*`, `quota.*`, `key.*` and `webhook.*`.
        #[schema(example = json!(["message.failed", "send.*"]))]
        types: Option<Vec<String>>,
        /// Only events of these channels; all channels when left out.
        #[schema(max_items = 1000)]
        channel_ids: Option<Vec<Uuid>>,
        /// At most 20 headers that its requests have in addition to Pombo's own, by their names. The values are never shown
        /// again.
        headers: Option<BTreeMap<String, String>>,
        /// The most requests to it at the same time; 2 when left out. Events of one person are always sent one after the other.
        #[schema(minimum = 1, maximum = 4)]
        max_in_flight: Option<u8>,
        /// The most events in one request; 1 when left out. With more than 1, the body is `{"events": […]}`.
        #[schema(minimum = 1, maximum = 100)]
        batch: Option<u8>,
        /// Whether to mask the numbers of people, except for their last four digits.
        mask_numbers: Option<bool>,
        /// The secret that signs its requests: `whsec_` and the base64 of 24 to 64 random bytes; Pombo makes one when left out. In
        /// the shape `graph` it may be any text of 16 to 128 ASCII letters, digits and punctuation, such as an app secret of Meta.
        secret: Option<String>,
        /// In the shape `graph`: the token that the receiver expects. It is asked once, before the endpoint is added, as Meta asks
        /// it, and the token is not kept. Without it, the receiver is not asked.
        #[schema(max_length = 1024)]
        verify_token: Option<String>,
    }

    /// A change of a webhook endpoint. Fields that are left out are kept.
    pub(super) struct WebhookPatch of Value {
        /// The address of the receiver, which begins with `https://`.
        #[schema(max_length = 2048)]
        url: Option<String>,
        /// The form in which it gets events.
        shape: Option<WebhookShape>,
        /// What its receiver understands, in the shape `graph`.
        profile: Option<ReceiverProfile>,
        /// All types of events that it gets from now on; empty for the default types.
        #[schema(example = json!(["message.failed", "send.*"]))]
        types: Option<Vec<String>>,
        /// All channels whose events it gets from now on; empty for all channels.
        #[schema(max_items = 1000)]
        channel_ids: Option<Vec<Uuid>>,
        /// All headers that its requests have from now on in addition to Pombo's own; empty for none.
        headers: Option<BTreeMap<String, String>>,
        /// The most requests to it at the same time.
        #[schema(minimum = 1, maximum = 4)]
        max_in_flight: Option<u8>,
        /// The most events in one request.
        #[schema(minimum = 1, maximum = 100)]
        batch: Option<u8>,
        /// Whether to mask the numbers of people, except for their last four digits.
        mask_numbers: Option<bool>,
    }
}

impl NewWebhook {
    /// The settings of the endpoint to add, its secret if one is given, and the verify token of its receiver.
    pub(super) fn read(self) -> Result<(EndpointChange, Option<Secret>, Option<Secret>), Error> {
        let Self {
            url,
            shape,
            profile,
            types,
            channel_ids,
            headers,
            max_in_flight,
            batch,
            mask_numbers,
            secret,
            verify_token,
        } = self;
        let token = given_token(&verify_token)?;
        let secret = super::actions::given_secret(&secret)?;
        let settings = EndpointChange {
            url: Some(url.required()?.to_owned()),
            shape: read_shape(&shape)?,
            profile: read_profile(&profile)?,
            types: read_types(&types)?,
            channels: read_channels(&channel_ids)?,
            headers: read_headers(&headers)?,
            max_in_flight: number(&max_in_flight, MOST_IN_FLIGHT)?,
            batch: number(&batch, MOST_BATCH)?,
            masks_numbers: mask_numbers.choice()?,
        };
        Ok((settings, secret, token))
    }
}

impl WebhookPatch {
    /// The settings to change.
    pub(super) fn read(self) -> Result<EndpointChange, Error> {
        let Self { url, shape, profile, types, channel_ids, headers, max_in_flight, batch, mask_numbers } =
            self;
        Ok(EndpointChange {
            url: url.text()?.map(str::to_owned),
            shape: read_shape(&shape)?,
            profile: read_profile(&profile)?,
            types: read_types(&types)?,
            channels: read_channels(&channel_ids)?,
            headers: read_headers(&headers)?,
            max_in_flight: number(&max_in_flight, MOST_IN_FLIGHT)?,
            batch: number(&batch, MOST_BATCH)?,
            masks_numbers: mask_numbers.choice()?,
        })
    }
}

/// The most characters of a verify token.
const TOKEN_CHARS: usize = 1_024;

/// The verify token that a client gives.
pub(super) fn given_token(field: &Field<Value, Option<String>>) -> Result<Option<Secret>, Refusal> {
    field.text()?.map(token).transpose()
}

/// A verify token.
pub(super) fn token(text: &str) -> Result<Secret, Refusal> {
    let token = text.trim();
    if token.chars().count() > TOKEN_CHARS {
        let what = format_args!("is longer than {TOKEN_CHARS} characters");
        return Err(Refusal::of("verify_token", Code::InvalidField, what));
    }
    Ok(Secret::new(token.to_owned()))
}

fn read_shape(field: &Field<Value, Option<WebhookShape>>) -> Result<Option<Shape>, Refusal> {
    let Some(word) = super::actions::word(field)? else { return Ok(None) };
    word.parse().map(Some).map_err(|_| field.wrong_type("pombo or graph"))
}

fn read_profile(field: &Field<Value, Option<ReceiverProfile>>) -> Result<Option<WebhookProfile>, Refusal> {
    let Some(word) = super::actions::word(field)? else { return Ok(None) };
    word.parse().map(Some).map_err(|_| field.wrong_type("meta, strict or chatwoot"))
}

/// Whether a field has a value. An empty list is one: it stands for the default.
fn is_given<T>(field: &Field<Value, T>) -> bool {
    !matches!(field.given(), None | Some(Value::Null))
}

pub(super) fn read_types(field: &Field<Value, Option<Vec<String>>>) -> Result<Option<Vec<Type>>, Error> {
    if !is_given(field) {
        return Ok(None);
    }
    let words = field.list("a list of types of events", |word| Some(word.to_owned()))?;
    Ok(Some(types_of(words.iter().map(String::as_str))?))
}

fn read_channels(field: &Field<Value, Option<Vec<Uuid>>>) -> Result<Option<Vec<Uuid>>, Error> {
    if !is_given(field) {
        return Ok(None);
    }
    Ok(Some(field.list("a list of ids of channels (UUIDs)", |id| Uuid::try_parse(id.trim()).ok())?))
}

fn read_headers(
    field: &Field<Value, Option<BTreeMap<String, String>>>,
) -> Result<Option<Vec<Header>>, Error> {
    let wrong = || field.wrong_type("an object that has the value of each header, a text, by its name");
    let given = match field.given() {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(given)) => given,
        Some(_) => return Err(wrong().into()),
    };
    let mut headers = Vec::with_capacity(given.len());
    for (name, value) in given {
        let value = value.as_str().ok_or_else(wrong)?;
        headers.push(Header { name: name.clone(), value: Secret::new(value.to_owned()) });
    }
    Ok(Some(headers))
}

fn number(field: &Field<Value, Option<u8>>, most: u8) -> Result<Option<u8>, Error> {
    if !is_given(field) {
        return Ok(None);
    }
    let given = field.given().and_then(Value::as_u64).and_then(|given| u8::try_from(given).ok());
    let wrong = || field.wrong_type(format_args!("a number from 1 to {most}"));
    Ok(Some(given.filter(|given| (1..=most).contains(given)).ok_or_else(wrong)?))
}
