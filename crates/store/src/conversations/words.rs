//! The words by which a search finds a conversation.

use std::collections::BTreeMap;

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::intake::{ConversationsByPeer, Inbound};
use crate::Result;
use crate::dialect::{Bulk, Cell, Type};
use crate::nouns::AllConversations;
use domain::fold::fold;
use domain::inbound::{Direction, PeerKey};

/// The most words of a name.
const MOST_WORDS: usize = 8;
/// The most characters of a word.
const WORD_CHARS: usize = 40;
const WORD: &[(&str, Type)] =
    &[("conversation_id", Type::Uuid), ("company_id", Type::Uuid), ("word", Type::Text)];
const NAME: &[(&str, Type)] =
    &[("id", Type::Uuid), ("name", Type::Text), ("name_folded", Type::Text), ("user_id", Type::Text)];

/// What begins the digits of a number, and the same backwards. No folded word of a name begins so.
pub(super) const FORWARDS: char = '+';
pub(super) const BACKWARDS: char = '-';

/// The words of a person's name and number.
pub(super) fn of(name: Option<&str>, peer: &PeerKey) -> Vec<String> {
    let mut words: Vec<_> = name.map(of_text).unwrap_or_default();
    if let Some(number) = peer.number() {
        let digits = number.to_string();
        words.push(format!("{BACKWARDS}{}", digits.chars().rev().collect::<String>()));
        words.push(format!("{FORWARDS}{digits}"));
    }
    words
}

/// The folded words of a text, without signs around them.
pub(super) fn of_text(text: &str) -> Vec<String> {
    let folded = fold(text);
    let words = folded.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(MOST_WORDS).map(|word| word.chars().take(WORD_CHARS).collect()).collect()
}

impl AllConversations<'_> {
    /// Adds words of conversations, each with its company.
    pub(super) async fn add_words(
        self,
        to: &impl ConnectionTrait,
        words: &[(Uuid, String, Uuid)],
    ) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, WORD);
        for (company, word, conversation) in words {
            rows.push([(*conversation).into(), (*company).into(), word.as_str().into()]);
        }
        let sql = |incoming: &str, _: usize| {
            format!(
                "INSERT INTO conversation_word (company_id, word, conversation_id) \
                 SELECT company_id, word, conversation_id FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (company_id, word, conversation_id) DO NOTHING"
            )
        };
        self.store.write(to, rows, Vec::new(), sql).await?;
        Ok(())
    }

    /// Takes over the names and ids that people have now.
    pub(super) async fn rename(
        self,
        to: &impl ConnectionTrait,
        all: &[&Inbound],
        known: &ConversationsByPeer,
    ) -> Result<()> {
        let mut renamed = BTreeMap::<Uuid, (&Inbound, Option<&str>)>::new();
        for message in all.iter().filter(|message| message.direction == Direction::In && !message.is_past) {
            let Some(conversation) = known.get(&message.key()) else { continue };
            let before =
                renamed.get(&conversation.id).map_or(conversation.name.as_deref(), |(_, name)| *name);
            let name = message.name.as_deref().or(before);
            let is_met = message.user_id.is_some() && message.user_id != conversation.user_id;
            if !conversation.is_new && (is_met || name != conversation.name.as_deref()) {
                renamed.insert(conversation.id, (*message, name));
            }
        }
        if renamed.is_empty() {
            return Ok(());
        }
        let (mut rows, mut words) = (Bulk::new(self.store.backend, NAME), Vec::new());
        for (id, (message, name)) in &renamed {
            let folded = name.map(fold);
            rows.push([
                (*id).into(),
                Cell::Text(*name),
                Cell::Text(folded.as_deref()),
                Cell::Text(message.user_id.as_deref()),
            ]);
            let found = of(*name, &message.peer);
            words.extend(found.into_iter().map(|word| (message.company_id, word, *id)));
        }
        let sql = |incoming: &str, _: usize| {
            format!(
                "UPDATE conversation SET name = new.name, name_folded = new.name_folded, \
                 user_id = COALESCE(new.user_id, conversation.user_id) FROM {incoming} AS new \
                 WHERE conversation.id = new.id"
            )
        };
        self.store.write(to, rows, Vec::new(), sql).await?;
        self.remove_words(to, renamed.keys()).await?;
        self.add_words(to, &words).await
    }

    /// Removes the words of these conversations.
    pub(super) async fn remove_words<'i>(
        self,
        to: &impl ConnectionTrait,
        conversations: impl IntoIterator<Item = &'i Uuid>,
    ) -> Result<()> {
        self.store.delete_among(to, "conversation_word", "conversation_id", conversations).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::phone::PhoneNumber;

    #[test]
    fn a_person_is_found_by_the_words_of_the_name_and_both_ends_of_the_number() {
        let number = PhoneNumber::parse("5511988887777").unwrap();
        let words = of(Some("  João (Padaria) "), &PeerKey::of_number(number));
        assert_eq!(words, ["joao", "padaria", "-7777888891155", "+5511988887777"]);
        assert!(of(None, &PeerKey::of_user("BR.1")).is_empty());
    }
}
