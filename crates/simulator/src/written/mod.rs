//! What played people write, and what a business writes on its own phone: one form, which is rendered as the provider's
//! webhook ([`graph`]) or as a message of a web session ([`session`]).

mod files;
mod graph;
mod session;
#[cfg(test)]
mod tests;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

pub(super) use self::files::StoredFile;
pub use self::files::WrittenFile;
pub(super) use self::graph::webhook;
pub(super) use self::session::{direct_path, message};
use domain::location::{Latitude, Longitude};

/// What a person writes or does, as scripts and options give it: an object with one field, named after its kind.
///
/// Reactions, edits and deletions are about the message that they name; without one, about the message that is answered.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WrittenContent {
    /// A text.
    Text(String),
    /// A picture.
    Image(WrittenFile),
    /// A film.
    Video(WrittenFile),
    /// A sound.
    Audio(WrittenFile),
    /// A voice message.
    Voice(WrittenFile),
    /// Any other file.
    Document(WrittenFile),
    /// A small picture without a frame.
    Sticker(WrittenFile),
    /// A place on the map.
    Location {
        /// Degrees north of the equator.
        latitude: f64,
        /// Degrees east of Greenwich.
        longitude: f64,
        /// The name of the place.
        name: Option<String>,
        /// The address of the place.
        address: Option<String>,
    },
    /// Cards of people.
    Contacts(Vec<WrittenCard>),
    /// An emoji below a message; an empty one removes it.
    Reaction {
        /// The id of the message.
        message_id: Option<String>,
        /// The emoji.
        emoji: String,
    },
    /// Another text for an earlier message.
    Edit {
        /// The id of the message.
        message_id: Option<String>,
        /// The text from now on.
        text: String,
    },
    /// An earlier message is deleted for everyone.
    Deletion {
        /// The id of the message.
        message_id: Option<String>,
    },
    /// A button of a template.
    Button {
        /// Its text.
        text: String,
        /// What the business gave it; its text without it.
        payload: Option<String>,
    },
    /// A button of an interactive message.
    Choice {
        /// The id that the business gave it.
        id: String,
        /// Its text.
        title: String,
    },
    /// A row of a list.
    Row {
        /// The id that the business gave it.
        id: String,
        /// Its text.
        title: String,
        /// The text below the title.
        description: Option<String>,
    },
    /// The answer to a flow.
    Flow {
        /// What was filled in.
        response: Map<String, Value>,
    },
    /// An order from a catalogue.
    Order {
        /// The catalogue.
        catalog_id: String,
        /// The text with it.
        text: Option<String>,
        /// What is ordered.
        items: Vec<WrittenItem>,
    },
    /// A call.
    Call {},
    /// The person has another number from now on.
    Moved {
        /// The new number, in digits.
        number: String,
    },
    /// Something that no program knows.
    Unknown {
        /// The provider's word for it.
        kind: String,
    },
}

/// The card of a person.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenCard {
    /// The name.
    pub name: String,
    /// The numbers.
    #[serde(default)]
    pub phones: Vec<String>,
    /// The e-mail addresses.
    #[serde(default)]
    pub emails: Vec<String>,
    /// The organization.
    pub organization: Option<String>,
}

/// An item of an order.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenItem {
    /// The business's own id of the product.
    pub product: String,
    /// How many.
    pub quantity: u32,
    /// The price of one.
    pub price: f64,
    /// The currency of the price.
    pub currency: String,
}

/// A message of a person, or an echo of what the business wrote on its own phone.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct PersonMessage {
    /// The person: a number, with or without its plus sign, or an id that is specific to the business.
    pub(super) from: String,
    /// The name in the person's profile.
    pub(super) name: Option<String>,
    /// The id of the message that it answers.
    pub(super) context: Option<String>,
    /// The group that it is written in.
    pub(super) group: Option<String>,
    /// The advertisement that the person came from, as the provider gives it.
    pub(super) referral: Option<Map<String, Value>>,
    #[serde(default)]
    pub(super) forwarded: bool,
    /// Whether the business wrote it to the person, on its own phone.
    #[serde(default)]
    pub(super) echo: bool,
    #[serde(flatten, deserialize_with = "one")]
    pub(super) content: WrittenContent,
}

/// The fields that are left: exactly one, which names the kind.
fn one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<WrittenContent, D::Error> {
    let fields = Map::<String, Value>::deserialize(deserializer)?;
    if fields.len() != 1 {
        let names: Vec<_> = fields.keys().map(String::as_str).collect();
        return Err(D::Error::custom(format!(
            "a message has exactly one content, such as \"text\", and not {}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        )));
    }
    WrittenContent::deserialize(Value::Object(fields)).map_err(D::Error::custom)
}

/// The contents of answers: a list, or `varied`.
pub(super) fn answers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<WrittenContent>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(word) if word == "varied" => Ok(WrittenContent::varied()),
        other => Vec::deserialize(other).map_err(D::Error::custom),
    }
}

/// A person as addresses name them: without a plus sign and spaces.
pub(super) fn digits_of(person: &str) -> String {
    person.chars().filter(|letter| !matches!(letter, '+' | ' ')).collect()
}

impl PersonMessage {
    /// An answer of a person to the message with this id.
    pub(super) fn answer(from: String, to: String, content: WrittenContent) -> Self {
        Self {
            from,
            name: None,
            context: Some(to),
            group: None,
            referral: None,
            forwarded: false,
            echo: false,
            content,
        }
    }

    /// The person without a plus sign or spaces.
    pub(super) fn person(&self) -> String {
        digits_of(&self.from)
    }

    /// Whether it opens the window in which the business may answer freely.
    pub(super) const fn opens_window(&self) -> bool {
        use WrittenContent::{Deletion, Edit, Moved};
        !self.echo && !matches!(self.content, Edit { .. } | Deletion { .. } | Moved { .. })
    }

    /// A sentence about its fault; `None` for one that can be written.
    pub(super) fn fault(&self) -> Option<String> {
        if self.person().is_empty() {
            return Some("from must name a person".to_owned());
        }
        if self.content.is_about_another() && self.target().is_none() {
            return Some(format!("{} needs a message_id", self.content.kind()));
        }
        match &self.content {
            WrittenContent::Location { latitude, longitude, .. }
                if Latitude::new(*latitude).is_none() || Longitude::new(*longitude).is_none() =>
            {
                Some("latitude and longitude must be degrees".to_owned())
            }
            content => content.file().and_then(WrittenFile::fault),
        }
    }

    /// The message that it changes.
    pub(super) fn target(&self) -> Option<&str> {
        use WrittenContent::{Deletion, Edit, Reaction};
        match &self.content {
            Reaction { message_id, .. } | Edit { message_id, .. } | Deletion { message_id } => {
                message_id.as_deref().or(self.context.as_deref())
            }
            _ => None,
        }
    }

    /// The message that it answers, unless it changes that one.
    pub(super) fn quoted(&self) -> Option<&str> {
        self.context.as_deref().filter(|_| !self.content.is_about_another())
    }
}

impl WrittenContent {
    /// The answers of people who always write the same.
    pub(super) fn usual() -> Vec<Self> {
        vec![Self::Text("Thank you for your message.".to_owned())]
    }

    /// A sentence about its fault as the content of answers.
    pub(super) fn fault_as_answer(&self) -> Option<String> {
        PersonMessage::answer("1".to_owned(), "1".to_owned(), self.clone()).fault()
    }

    /// The answers of people who write all sorts of things: mostly short texts.
    pub fn varied() -> Vec<Self> {
        let text = |text: &str| Self::Text(text.to_owned());
        let reaction = |emoji: &str| Self::Reaction { message_id: None, emoji: emoji.to_owned() };
        let file =
            |caption: &str| WrittenFile { caption: Some(caption.to_owned()), ..WrittenFile::default() };
        vec![
            text("Thank you for your message."),
            text("Is it still available? 😊"),
            reaction("👍"),
            text("How much is it?"),
            Self::Image(file("Like this one?")),
            text("¿Abren el domingo?"),
            Self::Location {
                latitude: -23.561_4,
                longitude: -46.655_9,
                name: Some("Padaria Sol".to_owned()),
                address: Some("Avenida Paulista 1000, São Paulo".to_owned()),
            },
            text("Vocês entregam em casa?"),
            Self::Voice(WrittenFile::default()),
            reaction("❤️"),
            text("I will come by tomorrow."),
            Self::Contacts(vec![WrittenCard {
                name: "Rui Almeida".to_owned(),
                phones: vec!["+999 900 000 077".to_owned()],
                emails: vec!["rui@example.com".to_owned()],
                organization: None,
            }]),
            Self::Button { text: "Yes, please".to_owned(), payload: None },
            Self::Document(WrittenFile { file_name: Some("list.pdf".to_owned()), ..WrittenFile::default() }),
            text("Stop"),
            text("Perfect, I take two of them."),
        ]
    }

    /// The word of its kind.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Image(_) => "image",
            Self::Video(_) => "video",
            Self::Audio(_) => "audio",
            Self::Voice(_) => "voice",
            Self::Document(_) => "document",
            Self::Sticker(_) => "sticker",
            Self::Location { .. } => "location",
            Self::Contacts(_) => "contacts",
            Self::Reaction { .. } => "reaction",
            Self::Edit { .. } => "edit",
            Self::Deletion { .. } => "deletion",
            Self::Button { .. } => "button",
            Self::Choice { .. } => "choice",
            Self::Row { .. } => "row",
            Self::Flow { .. } => "flow",
            Self::Order { .. } => "order",
            Self::Call {} => "call",
            Self::Moved { .. } => "moved",
            Self::Unknown { .. } => "unknown",
        }
    }

    /// Its words, as a phone shows them; empty for one without words.
    pub(super) fn words(&self) -> String {
        let words = match self {
            Self::Text(text) | Self::Edit { text, .. } | Self::Button { text, .. } => Some(text),
            Self::Location { name, .. } => name.as_ref(),
            Self::Contacts(cards) => cards.first().map(|card| &card.name),
            Self::Reaction { emoji, .. } => Some(emoji),
            Self::Choice { title, .. } | Self::Row { title, .. } => Some(title),
            Self::Order { text, .. } => text.as_ref(),
            Self::Moved { number } => Some(number),
            Self::Unknown { kind } => Some(kind),
            Self::Deletion { .. } | Self::Flow { .. } | Self::Call {} => None,
            Self::Image(file)
            | Self::Video(file)
            | Self::Audio(file)
            | Self::Voice(file)
            | Self::Document(file)
            | Self::Sticker(file) => file.caption.as_ref().or(file.file_name.as_ref()),
        };
        words.cloned().unwrap_or_default()
    }

    /// The file, if it is one.
    pub(super) const fn file(&self) -> Option<&WrittenFile> {
        match self {
            Self::Image(file)
            | Self::Video(file)
            | Self::Audio(file)
            | Self::Voice(file)
            | Self::Document(file)
            | Self::Sticker(file) => Some(file),
            _ => None,
        }
    }

    /// Whether it changes an earlier message.
    const fn is_about_another(&self) -> bool {
        matches!(self, Self::Reaction { .. } | Self::Edit { .. } | Self::Deletion { .. })
    }
}
