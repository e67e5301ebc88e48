//! Contents without a file that were handed over, in the format of WhatsApp Web.

use serde::Serialize;
use utoipa::ToSchema;

use crate::connector::web_session::{Card, ReactionTo};
use crate::domain::location;

/// A place on the map.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebLocation {
    /// North of the equator.
    #[schema(example = -23.5613)]
    degrees_latitude: f64,
    /// East of Greenwich.
    #[schema(example = -46.6565)]
    degrees_longitude: f64,
    /// As it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    name: Option<String>,
    /// As it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    address: Option<String>,
}

/// A person's card.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebContact {
    /// The name, as it is shown.
    #[schema(example = "Ana Souza")]
    display_name: String,
    /// The card in the format vCard 3.0.
    vcard: String,
}

/// The cards of several people.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebContacts {
    /// What the cards are called together.
    #[schema(example = "2 contacts")]
    display_name: String,
    /// The cards.
    contacts: Vec<WebContact>,
}

/// An emoji below a message.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WebReaction {
    key: WebReactionKey,
    /// The emoji; empty when the reaction is removed.
    #[schema(example = "👍")]
    text: String,
}

/// The message that the emoji is below.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WebReactionKey {
    /// Its conversation.
    #[schema(example = "5511988887777@s.whatsapp.net")]
    remote_jid: String,
    /// Whether the account itself wrote it.
    from_me: bool,
    /// Its id.
    #[schema(example = "3EB00193A0B1C2D39FA0B1")]
    id: String,
    /// Who wrote it, for somebody else's message in a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    participant: Option<String>,
}

impl From<location::Location> for WebLocation {
    fn from(location::Location { latitude, longitude, name, address }: location::Location) -> Self {
        Self { degrees_latitude: latitude.degrees(), degrees_longitude: longitude.degrees(), name, address }
    }
}

impl From<Card> for WebContact {
    fn from(Card { name, vcard }: Card) -> Self {
        Self { display_name: name, vcard }
    }
}

impl From<Vec<Card>> for WebContacts {
    fn from(cards: Vec<Card>) -> Self {
        Self {
            display_name: Card::names(&cards),
            contacts: cards.into_iter().map(WebContact::from).collect(),
        }
    }
}

impl From<ReactionTo> for WebReaction {
    fn from(ReactionTo { chat, message, is_own, author, emoji }: ReactionTo) -> Self {
        let key = WebReactionKey {
            remote_jid: chat.as_str().to_owned(),
            from_me: is_own,
            id: message.as_str().to_owned(),
            participant: author.map(|author| author.as_str().to_owned()),
        };
        Self { key, text: emoji }
    }
}
