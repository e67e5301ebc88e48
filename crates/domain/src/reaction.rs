//! A reaction: one emoji below a message of the conversation.

use serde::Deserialize;
use serde_json::Value;

use crate::emoji;
use crate::error::{Code, Refusal};
use crate::payload::{Node, Part, parts};
use crate::phone::PhoneNumber;
use crate::web_session::{Jid, MessageId};

/// The beginning of the ids of messages at the provider of business accounts.
const OF_PROVIDER: &str = "wamid.";
/// The ending of an address that hides a person's number.
const HIDDEN: &str = "@lid";

parts! {
    /// One emoji below a message of the conversation with the recipient. A later reaction to the same message takes its
    /// place.
    #[derive(Eq, Deserialize)]
    pub struct Reaction by hand {
        /// The id of the message at WhatsApp: `provider_message_id` of a send's messages, or the id in a webhook of the
        /// provider.
        #[schema(example = "wamid.HBgNNTUxMTk4ODg4Nzc3NxUCABEYEjVGNDI1QTc0RjEzMDMzNDkyQQA=")]
        message_id: text(256),
        /// One emoji. An empty text removes the reaction.
        #[schema(example = "👍")]
        emoji: text(32),
        /// Whether the account itself wrote the message; `true` when absent. For web sessions only: a business account
        /// does not need it.
        from_me: any(bool)?,
        /// The number of the person who wrote the message, for a message of somebody else in a group. For web sessions
        /// only.
        participant: text(64)?,
    }
}

impl Part for Reaction {
    fn read(node: &Node<'_>) -> Result<Self, Refusal> {
        let message_id = node.text("message_id", Self::message_id().most)?.trim().to_owned();
        let from_me = match node.at("from_me") {
            None => None,
            Some(given) => {
                Some(given.value().as_bool().ok_or_else(|| given.refuse("must be true or false"))?)
            }
        };
        let participant = node.optional_text("participant", Self::participant().most)?.map(str::to_owned);
        Ok(Self { message_id, emoji: emoji(node)?, from_me, participant })
    }
}

/// Here an empty text has a meaning, and is not absent: a misspelled field must not remove a reaction.
fn emoji(node: &Node<'_>) -> Result<String, Refusal> {
    match node.value().get("emoji") {
        Some(Value::String(text)) if text.trim().is_empty() => Ok(String::new()),
        Some(Value::String(text))
            if text.chars().count() <= Reaction::emoji().most && emoji::is_one(text.trim()) =>
        {
            Ok(text.trim().to_owned())
        }
        None | Some(Value::Null) => {
            Err(node.missing("emoji", "give one emoji, or an empty text to remove the reaction"))
        }
        Some(_) => {
            Err(node.refuse("must have one emoji as its `emoji`, or an empty text to remove the reaction"))
        }
    }
}

impl Reaction {
    /// Reads the field `reaction` of a send through a business account.
    ///
    /// # Errors
    ///
    /// `invalid_reaction`, with the path of what breaks a rule.
    pub fn parse(value: &Value) -> Result<Self, Refusal> {
        let node = node(value);
        let Self { message_id, emoji, from_me: _, participant: _ } = Self::read(&node)?;
        let is_id =
            message_id.starts_with(OF_PROVIDER) && message_id.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_id {
            return Err(node.refuse(format_args!(
                "must have the provider's id of a message as its `message_id`, which begins with {OF_PROVIDER}"
            )));
        }
        Ok(Self { message_id, emoji, from_me: None, participant: None })
    }

    /// Reads the field `reaction` of a send through a web session, to a group or to a person.
    ///
    /// # Errors
    ///
    /// `invalid_reaction`, with the path of what breaks a rule.
    pub fn parse_web(value: &Value, is_group: bool) -> Result<Self, Refusal> {
        let node = node(value);
        let Self { message_id, emoji, from_me, participant } = Self::read(&node)?;
        if MessageId::parse(&message_id).is_err() {
            return Err(node.refuse(
                "must have the id of a message as its `message_id`: 1 to 64 letters, digits, dots and hyphens",
            ));
        }
        let is_own = from_me.unwrap_or(true);
        let participant = match participant {
            _ if is_own || !is_group => None,
            Some(given) => Some(author(&given).ok_or_else(|| {
                node.refuse("must have a number in international format as its `participant`")
            })?),
            None => {
                let remedy = "give the number of the person in the group who wrote the message";
                return Err(node.missing("participant", remedy));
            }
        };
        Ok(Self { message_id, emoji, from_me: Some(is_own), participant })
    }

    /// The address of the person who wrote the message, for a message of somebody else in a group.
    pub fn author(&self) -> Option<Jid> {
        let given = self.participant.as_ref()?;
        match PhoneNumber::parse(given) {
            Ok(number) => Some(Jid::person(number)),
            Err(_) => Jid::parse(given).ok(),
        }
    }
}

fn node(value: &Value) -> Node<'_> {
    Node::root(Code::InvalidReaction, "reaction", value)
}

/// A number's digits, or an address that hides one.
fn author(given: &str) -> Option<String> {
    let given = given.trim();
    if given.ends_with(HIDDEN) {
        return Jid::parse(given).ok().map(|jid| jid.as_str().to_owned());
    }
    PhoneNumber::parse(given).ok().map(|number| number.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OURS: &str = "3EB00193A0B1C2D39FA0B1";

    #[test]
    fn a_reaction_names_a_message_of_the_provider_and_one_emoji() {
        let read = |value: Value| Reaction::parse(&value).map(|reaction| json!(reaction));
        let plain = json!({"message_id": "wamid.HBg=", "emoji": "👍"});
        assert_eq!(read(plain.clone()), Ok(plain.clone()));
        let given =
            json!({"message_id": " wamid.HBg= ", "emoji": " 👍 ", "from_me": true, "participant": "x"});
        assert_eq!(read(given), Ok(plain), "what is for web sessions has no effect");
        let removed = json!({"message_id": "wamid.HBg=", "emoji": ""});
        assert_eq!(read(removed.clone()), Ok(removed));
    }

    #[test]
    fn a_reaction_of_a_web_session_says_who_wrote_the_message() {
        let read =
            |value: Value, is_group| Reaction::parse_web(&value, is_group).map(|reaction| json!(reaction));
        let own = json!({"message_id": OURS, "emoji": "👍", "from_me": true});
        assert_eq!(read(json!({"message_id": OURS, "emoji": "👍", "participant": "7"}), true), Ok(own));
        let theirs = json!({"message_id": OURS, "emoji": "👍", "from_me": false});
        assert_eq!(read(theirs.clone(), false), Ok(theirs.clone()));
        for (given, kept, jid) in [
            ("+55 (11) 98888-7777", "5511988887777", "5511988887777@s.whatsapp.net"),
            ("200000000000001@lid", "200000000000001@lid", "200000000000001@lid"),
        ] {
            let mut given_by = theirs.clone();
            given_by["participant"] = json!(given);
            let read = Reaction::parse_web(&given_by, true).unwrap();
            assert_eq!(read.participant.as_deref(), Some(kept));
            assert_eq!(read.author().unwrap().as_str(), jid);
        }
        for participant in [json!(null), json!("somebody"), json!("x@lid"), json!(7)] {
            let mut wrong = theirs.clone();
            wrong["participant"] = participant;
            assert_eq!(read(wrong, true).map_err(|refusal| refusal.code), Err(Code::InvalidReaction));
        }
    }

    #[test]
    fn a_reaction_without_a_message_or_an_emoji_is_refused() {
        let sentence = |value: Value| {
            let refusal = Reaction::parse(&value).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidReaction, "{value}");
            refusal.sentence
        };
        assert_eq!(sentence(json!({"emoji": "👍"})), "`reaction.message_id` is missing: give a text");
        let missing = "`reaction.emoji` is missing: give one emoji, or an empty text to remove the reaction";
        assert_eq!(sentence(json!({"message_id": "wamid.x"})), missing);
        assert_eq!(sentence(json!({"message_id": "wamid.x", "emoji": null})), missing);
        for emoji in [json!("+"), json!("👍👍"), json!("ok"), json!(7)] {
            let told = sentence(json!({"message_id": "wamid.x", "emoji": emoji}));
            assert!(told.starts_with("`reaction` must have one emoji as its `emoji`"), "{told}");
        }
        for id in [OURS, "wamid.a b", "7"] {
            let told = sentence(json!({"message_id": id, "emoji": "👍"}));
            assert!(told.contains("begins with wamid."), "{told}");
        }
        let wrong = json!({"message_id": "wamid.x", "emoji": "👍", "from_me": "yes"});
        assert_eq!(sentence(wrong), "`reaction.from_me` must be true or false");
        let foreign = json!({"message_id": "a b", "emoji": "👍"});
        assert_eq!(Reaction::parse_web(&foreign, false).unwrap_err().code, Code::InvalidReaction);
    }
}
