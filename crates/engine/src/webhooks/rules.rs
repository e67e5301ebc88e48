//! What people give an endpoint, and its checks, which need no engine: a command makes them, too.

use std::time::Duration;

use url::Url;
use uuid::Uuid;

use clock::Timestamp;
use connectors::webhook::{AppSecret, DeliveryFault, Sender, SigningKey, signature};
use domain::error::{Code, Refusal};
use domain::event::Type;
use domain::secret::Secret;
use domain::webhook::{Header, Headers, Schemes, Settings, Shape, WebhookProfile};

/// The longest time for which a former secret signs, too.
const MOST_OVERLAP: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Settings of an endpoint to change, or those of a new one. What is `None` stays, or has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointChange {
    /// The address of the receiver.
    pub url: Option<String>,
    /// The form in which events are sent.
    pub shape: Option<Shape>,
    /// What its receiver understands, in the shape `graph`.
    pub profile: Option<WebhookProfile>,
    /// The types of events that it gets; the default ones when there are none.
    pub types: Option<Vec<Type>>,
    /// The channels whose events it gets; all channels when there are none.
    pub channels: Option<Vec<Uuid>>,
    /// All headers that its requests have in addition to Pombo's own.
    pub headers: Option<Vec<Header>>,
    /// The most requests at the same time.
    pub max_in_flight: Option<u8>,
    /// The most events in one request.
    pub batch: Option<u8>,
    /// Whether personal numbers are masked.
    pub masks_numbers: Option<bool>,
}

impl EndpointChange {
    /// Changes the settings, and returns the headers if they are changed.
    fn apply(self, settings: &mut Settings) -> Option<Vec<Header>> {
        let Self { url, shape, profile, types, channels, headers, max_in_flight, batch, masks_numbers } =
            self;
        replace(&mut settings.url, url);
        if shape == Some(Shape::Pombo) {
            settings.profile = WebhookProfile::default();
        }
        replace(&mut settings.shape, shape);
        replace(&mut settings.profile, profile);
        replace(&mut settings.types, types);
        replace(&mut settings.channels, channels);
        replace(&mut settings.max_in_flight, max_in_flight);
        replace(&mut settings.batch, batch);
        replace(&mut settings.masks_numbers, masks_numbers);
        headers
    }
}

fn replace<T>(value: &mut T, by: Option<T>) {
    if let Some(by) = by {
        *value = by;
    }
}

/// An endpoint, new or changed, whose settings, headers and address are checked. Its channels are checked when it is
/// [written](super::StoredEndpoints).
#[derive(Debug, Clone)]
pub struct CheckedEndpoint {
    pub(super) settings: Settings,
    /// The settings before the change.
    pub(super) former: Option<Settings>,
    /// `None` when they stay.
    pub(super) headers: Option<Headers>,
    /// Whether channels were given.
    pub(super) has_channels: bool,
    /// Whether the headers stay although the address leads to another receiver, which would get to know them.
    pub(super) moves_headers: bool,
}

/// The rules for endpoints, as the operator set them.
#[derive(Clone, Copy)]
pub struct EndpointRules<'a> {
    /// What delivers to them, and checks their addresses.
    pub sender: &'a Sender,
    /// The schemes of their addresses.
    pub schemes: Schemes,
}

impl EndpointRules<'_> {
    /// Checks a new endpoint of the company, or a change of one that has the settings `present`. It may take some seconds.
    ///
    /// # Errors
    ///
    /// `invalid_field` for a setting at fault and for an address that no delivery could reach.
    pub async fn check(
        self,
        company: Uuid,
        present: Option<Settings>,
        change: EndpointChange,
    ) -> Result<CheckedEndpoint, Refusal> {
        let (has_address, has_channels) =
            (present.is_none() || change.url.is_some(), change.channels.is_some());
        let former = present.clone();
        let mut settings = present.unwrap_or_else(|| Settings::new(String::new()));
        let headers = change.apply(&mut settings);
        // An address that stays was checked when it was given, and each delivery checks it again.
        let settings = settings.checked(if has_address { self.schemes } else { Schemes::HttpToo })?;
        let headers = headers.map(Headers::checked).transpose()?;
        if has_address {
            self.check_address(company, &settings.url).await?;
        }
        let is_moved = former.as_ref().is_some_and(|former| !is_of_one_receiver(&former.url, &settings.url));
        let moves_headers = headers.is_none() && is_moved;
        Ok(CheckedEndpoint { settings, former, headers, has_channels, moves_headers })
    }

    /// Refuses an address that no delivery could reach.
    async fn check_address(self, company: Uuid, url: &str) -> Result<(), Refusal> {
        match self.sender.check(company, url).await {
            // A name server may be slow now. Each delivery checks the address again.
            Ok(()) | Err(DeliveryFault::Timeout(_)) => Ok(()),
            Err(fault) => Err(Refusal::new(Code::InvalidField, fault.to_string()).about("url")),
        }
    }
}

/// The refusal of a verify token for a receiver of Pombo's own events.
pub(super) fn no_verify_token() -> Refusal {
    let what = "is for webhook endpoints of the shape `graph`: others are tested, and not verified";
    Refusal::of("verify_token", Code::InvalidField, what)
}

/// Whether two addresses lead to the same host and port in the same way.
fn is_of_one_receiver(one: &str, other: &str) -> bool {
    let origin = |address: &str| Url::parse(address).ok().map(|url| url.origin());
    origin(one) == origin(other)
}

/// The secret of an endpoint that a person gives, or a new one. In the shape `graph` it may be the app secret that a program knows.
///
/// # Errors
///
/// `invalid_field` for a text that receivers cannot verify with.
pub fn checked_secret(given: Option<Secret>, shape: Shape) -> Result<Secret, Refusal> {
    let Some(secret) = given else { return Ok(signature::generate()) };
    let wrong = match shape {
        Shape::Pombo => SigningKey::parse(&secret).err().map(|wrong| wrong.to_string()),
        Shape::Graph => AppSecret::parse(&secret).err().map(|wrong| wrong.to_string()),
    };
    match wrong {
        None => Ok(secret),
        Some(wrong) => Err(Refusal::new(Code::InvalidField, wrong).about("secret")),
    }
}

/// Until when a secret signs that is replaced now and signs for the time `overlap`, too; `None` when it does not.
///
/// # Errors
///
/// `invalid_field` when the overlap is too long.
pub fn former_until(overlap: Duration) -> Result<Option<Timestamp>, Refusal> {
    if overlap > MOST_OVERLAP {
        let what = "is longer than 7 days, the most for which a former secret signs";
        return Err(Refusal::of("overlap", Code::InvalidField, what));
    }
    Ok((!overlap.is_zero()).then(|| Timestamp::now().plus(overlap)))
}
