//! The settings of an endpoint, as a client writes them, and their checks.

use url::Url;
use uuid::Uuid;

use super::{DEFAULT_TYPES, SetFor, Shape, WebhookProfile};
use crate::error::{Code, Refusal};
use crate::event::Type;
use crate::link::{InvalidLink, Link};
use crate::nearest::nearest;

/// The most requests to one endpoint at the same time.
pub const MOST_IN_FLIGHT: u8 = 4;
/// The most events in one request.
pub const MOST_BATCH: u8 = 100;
/// The requests to one endpoint at the same time when a client does not say.
const DEFAULT_IN_FLIGHT: u8 = 2;
/// The most characters of an address.
const MOST_CHARS: usize = 2_048;
/// The most channels that an endpoint names. It gets the events of all channels when it names none.
const MOST_CHANNELS: usize = 1_000;
/// The characters of an unknown type that a refusal shows.
const SHOWN_CHARS: usize = 60;

/// The schemes of the addresses that the operator allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schemes {
    /// Only https.
    Https,
    /// Also http.
    HttpToo,
}

/// The settings of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The address of the receiver.
    pub url: String,
    /// The form in which events are sent.
    pub shape: Shape,
    /// What its receiver understands, in the shape `graph`.
    pub profile: WebhookProfile,
    /// For what a program set it at the door that speaks Graph; `None` for one that a person added. It never changes.
    pub set_for: Option<SetFor>,
    /// The types of events that it gets; the default ones of its shape when there are none.
    pub types: Vec<Type>,
    /// The channels whose events it gets; all channels when there are none.
    pub channels: Vec<Uuid>,
    /// The most requests at the same time.
    pub max_in_flight: u8,
    /// The most events in one request.
    pub batch: u8,
    /// Whether personal numbers are masked.
    pub masks_numbers: bool,
}

impl Settings {
    /// The default settings of an endpoint with this address.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            shape: Shape::default(),
            profile: WebhookProfile::default(),
            set_for: None,
            types: Vec::new(),
            channels: Vec::new(),
            max_in_flight: DEFAULT_IN_FLIGHT,
            batch: 1,
            masks_numbers: false,
        }
    }

    /// Checks the settings, and returns them in the form in which they are stored: the address as it is requested, and
    /// each type and each channel once.
    ///
    /// # Errors
    ///
    /// `invalid_field`, with the setting at fault.
    pub fn checked(mut self, schemes: Schemes) -> Result<Self, Refusal> {
        self.url =
            address(&self.url, schemes).map_err(|what| Refusal::of("url", Code::InvalidField, what))?;
        if self.types.contains(&Type::OutboxLost) {
            return Err(unknown_type(Type::OutboxLost.as_str()));
        }
        self.types.sort_unstable();
        self.types.dedup();
        match self.shape {
            Shape::Pombo if self.profile != WebhookProfile::default() => {
                let what = "is for the shape `graph`, and the shape is `pombo`";
                return Err(Refusal::of("profile", Code::InvalidField, what));
            }
            Shape::Pombo => {}
            Shape::Graph => self.check_graph()?,
        }
        self.channels.sort_unstable();
        self.channels.dedup();
        if self.channels.len() > MOST_CHANNELS {
            let what = format!(
                "has more than {MOST_CHANNELS} entries: leave it empty for the events of all channels"
            );
            return Err(Refusal::of("channel_ids", Code::InvalidField, what));
        }
        for (name, value, most) in
            [("max_in_flight", self.max_in_flight, MOST_IN_FLIGHT), ("batch", self.batch, MOST_BATCH)]
        {
            if !(1..=most).contains(&value) {
                return Err(Refusal::of(
                    name,
                    Code::InvalidField,
                    format!("must be a number from 1 to {most}"),
                ));
            }
        }
        Ok(self)
    }

    /// Checks what is different in the shape `graph`.
    fn check_graph(&self) -> Result<(), Refusal> {
        let known = self.profile.types();
        if let Some(other) = self.types.iter().find(|one| !known.contains(one)) {
            let what = format_args!(
                "has `{other}`, which has no form in the shape `graph` with the profile `{}`",
                self.profile
            );
            return Err(Refusal::of("types", Code::InvalidField, what));
        }
        if self.batch != 1 {
            let what = "must be 1 in the shape `graph`: programs read one item of a request";
            return Err(Refusal::of("batch", Code::InvalidField, what));
        }
        if self.masks_numbers {
            let what = "must be false in the shape `graph`: programs find their conversations by the numbers";
            return Err(Refusal::of("mask_numbers", Code::InvalidField, what));
        }
        Ok(())
    }

    /// The types of events that an endpoint gets when its settings name none.
    pub const fn default_types(&self) -> &'static [Type] {
        match self.shape {
            Shape::Pombo => DEFAULT_TYPES,
            Shape::Graph => self.profile.types(),
        }
    }

    /// The types of events that the endpoint gets.
    pub fn effective_types(&self) -> &[Type] {
        if self.types.is_empty() { self.default_types() } else { &self.types }
    }

    /// Whether the endpoint gets events of this type.
    pub fn wants_type(&self, r#type: Type) -> bool {
        self.effective_types().contains(&r#type)
    }

    /// Whether the endpoint gets events of this channel. One that names its channels gets no event that has none.
    pub fn wants_channel(&self, channel: Option<Uuid>) -> bool {
        self.channels.is_empty() || channel.is_some_and(|channel| self.channels.contains(&channel))
    }

    /// The address without its query, which may contain a secret: for records and logs.
    pub fn public_url(&self) -> String {
        match self.url.split_once('?') {
            Some((before, _)) => format!("{before}?…"),
            None => self.url.clone(),
        }
    }
}

/// The address as it is requested. The error completes "`url` …".
fn address(text: &str, schemes: Schemes) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("is missing".to_owned());
    }
    if text.chars().count() > MOST_CHARS {
        return Err(too_long());
    }
    let link = Link::parse(text).map_err(|invalid| match invalid {
        InvalidLink::Scheme => "must begin with https://",
        InvalidLink::Malformed | InvalidLink::File => {
            "is not a complete web address such as https://example.com/webhooks"
        }
    })?;
    let malformed = |_| "is not a complete web address such as https://example.com/webhooks";
    let url = Url::parse(link.as_str()).map_err(malformed)?;
    if url.scheme() != "https" && schemes == Schemes::Https {
        return Err(
            "must begin with https://; the operator allows http:// by `webhooks.allow_http`".to_owned()
        );
    }
    if has_credentials(link.as_str()) {
        return Err("must not contain a user name or a password: send them in a header".to_owned());
    }
    if url.fragment().is_some() {
        return Err("must not contain a fragment: what follows the # is never sent".to_owned());
    }
    let address = String::from(url);
    // Characters outside of ASCII become longer.
    if address.len() > MOST_CHARS { Err(too_long()) } else { Ok(address) }
}

fn too_long() -> String {
    format!("is longer than {MOST_CHARS} characters")
}

/// Whether there is something before the host, even if it is empty.
fn has_credentials(link: &str) -> bool {
    let after_scheme = link.split_once("://").map_or(link, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '\\', '?', '#']).next();
    authority.is_some_and(|authority| authority.contains('@'))
}

/// The types of these words, in the order of [`Type::ALL`]; `send.*` is all of a kind.
///
/// # Errors
///
/// `invalid_field` for a word that names no type.
pub fn types_of<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Vec<Type>, Refusal> {
    let mut types = Vec::new();
    for word in words.into_iter().map(str::trim) {
        let before = types.len();
        match word.strip_suffix('*').filter(|kind| kind.ends_with('.')) {
            Some(kind) => types.extend(known_types().filter(|known| known.as_str().starts_with(kind))),
            None => types.extend(known_types().find(|known| known.as_str() == word)),
        }
        if types.len() == before {
            return Err(unknown_type(word));
        }
    }
    types.sort_unstable();
    types.dedup();
    Ok(types)
}

/// The type of this word.
///
/// # Errors
///
/// `invalid_field` for a word that names no type.
pub fn type_of(word: &str) -> Result<Type, Refusal> {
    known_types().find(|known| known.as_str() == word).ok_or_else(|| {
        let (shown, near) = hint(word);
        Refusal::of(
            "type",
            Code::InvalidField,
            format_args!("is `{shown}`, which is no type of an event{near}"),
        )
    })
}

/// The types that an endpoint can get. The events that the outbox lost concern only the stream at NATS.
pub fn known_types() -> impl Iterator<Item = Type> {
    Type::ALL.iter().copied().filter(|known| *known != Type::OutboxLost)
}

fn unknown_type(word: &str) -> Refusal {
    let (shown, near) = hint(word);
    Refusal::of("types", Code::InvalidField, format_args!("has no type `{shown}`{near}"))
}

/// How a refusal shows a word that names no type, and the type that it comes closest to.
fn hint(word: &str) -> (String, String) {
    let near = nearest(word, known_types().map(Type::as_str));
    let near = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
    (word.chars().take(SHOWN_CHARS).collect(), near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(url: &str) -> Result<String, String> {
        let settings = Settings::new(url).checked(Schemes::Https);
        settings.map(|settings| settings.url).map_err(|refusal| refusal.sentence)
    }

    #[test]
    fn an_address_is_complete_and_encrypted() {
        assert_eq!(checked(" https://Example.com "), Ok("https://example.com/".to_owned()));
        assert_eq!(checked("https://h:8443/a b?x=ç"), Ok("https://h:8443/a%20b?x=%C3%A7".to_owned()));
        for (url, sentence) in [
            ("", "`url` is missing"),
            ("example.com/hooks", "`url` must begin with https://"),
            ("ftp://example.com", "`url` must begin with https://"),
            (
                "http://example.com",
                "`url` must begin with https://; the operator allows http:// by `webhooks.allow_http`",
            ),
            ("https://", "`url` is not a complete web address such as https://example.com/webhooks"),
            (
                "https://ana:secret@example.com",
                "`url` must not contain a user name or a password: send them in a header",
            ),
            (
                "https://@example.com",
                "`url` must not contain a user name or a password: send them in a header",
            ),
            ("https://h/#part", "`url` must not contain a fragment: what follows the # is never sent"),
        ] {
            assert_eq!(checked(url), Err(sentence.to_owned()), "{url}");
        }
        assert!(checked("https://h/a@b?c=d@e").is_ok(), "only the part before the path can have credentials");
    }

    #[test]
    fn an_address_may_be_plain_where_the_operator_allows_it() {
        let plain = Settings::new("http://10.0.0.7:8080/hooks");
        assert_eq!(plain.clone().checked(Schemes::HttpToo), Ok(plain.clone()));
        assert!(plain.checked(Schemes::Https).is_err());
    }

    #[test]
    fn an_address_has_a_bounded_length() {
        let long = |characters: &str, count| format!("https://h/{}", characters.repeat(count));
        assert_eq!(checked(&long("a", MOST_CHARS - 10)), Ok(long("a", MOST_CHARS - 10)));
        let sentence = Err("`url` is longer than 2048 characters".to_owned());
        assert_eq!(checked(&long("a", MOST_CHARS - 9)), sentence);
        assert_eq!(checked(&long("ç", 400)), sentence, "six characters for each");
    }

    #[test]
    fn numbers_have_bounds_and_lists_no_repetitions() {
        let settings = Settings::new("https://h/");
        for (changed, param) in [
            (Settings { max_in_flight: 0, ..settings.clone() }, "max_in_flight"),
            (Settings { max_in_flight: 5, ..settings.clone() }, "max_in_flight"),
            (Settings { batch: 0, ..settings.clone() }, "batch"),
            (Settings { batch: 101, ..settings.clone() }, "batch"),
            (
                Settings { channels: (0..1_001).map(Uuid::from_u128).collect(), ..settings.clone() },
                "channel_ids",
            ),
            (Settings { types: vec![Type::OutboxLost], ..settings.clone() }, "types"),
        ] {
            let refusal = changed.checked(Schemes::Https).unwrap_err();
            assert_eq!((refusal.code, refusal.param.as_deref()), (Code::InvalidField, Some(param)));
        }
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let twice = Settings {
            types: vec![Type::SendFinished, Type::MessageRead, Type::SendFinished],
            channels: vec![two, one, two],
            ..settings
        };
        let once = twice.checked(Schemes::Https).unwrap();
        assert_eq!(once.types, [Type::MessageRead, Type::SendFinished]);
        assert_eq!(once.channels, [one, two]);
    }

    #[test]
    fn types_are_named_one_by_one_or_as_a_kind() {
        assert_eq!(types_of([]), Ok(Vec::new()));
        let types = types_of(["send.*", " message.read ", "send.expired"]).unwrap();
        let expected = [Type::MessageRead, Type::SendFinished, Type::SendCanceled, Type::SendExpired];
        assert_eq!(types, expected);
        for (word, sentence) in [
            ("message.raed", "`types` has no type `message.raed`: did you mean `message.read`?"),
            ("chat.*", "`types` has no type `chat.*`"),
            ("*", "`types` has no type `*`"),
            ("", "`types` has no type ``"),
        ] {
            assert_eq!(types_of([word]).unwrap_err().sentence, sentence);
        }
        assert_eq!(type_of("message.sent"), Ok(Type::MessageSent));
        assert_eq!(
            type_of("message.snt").unwrap_err().sentence,
            "`type` is `message.snt`, which is no type of an event: did you mean `message.sent`?"
        );
        assert!(type_of("outbox.lost").is_err());
        assert!(types_of(["outbox.*"]).is_err() && types_of(["outbox.lost"]).is_err());
    }

    #[test]
    fn an_endpoint_gets_the_events_of_its_types_and_channels() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let all = Settings::new("https://h/");
        assert!(all.wants_type(Type::MessageFailed) && !all.wants_type(Type::MessageRead));
        assert!(all.wants_channel(Some(one)) && all.wants_channel(None));
        let some = Settings { types: vec![Type::MessageRead], channels: vec![one], ..all };
        assert!(some.wants_type(Type::MessageRead) && !some.wants_type(Type::MessageFailed));
        assert!(some.wants_channel(Some(one)) && !some.wants_channel(Some(two)) && !some.wants_channel(None));
    }

    #[test]
    fn a_public_address_has_no_query() {
        assert_eq!(Settings::new("https://h/a?token=s").public_url(), "https://h/a?…");
        assert_eq!(Settings::new("https://h/a").public_url(), "https://h/a");
    }
}
