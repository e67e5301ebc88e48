//! Joins the conversations of one person: a person who was known by an id alone and whose number is known now, or whose two
//! numbers turned out to be one person's.

use entity::conversation::{Column, Entity};
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Value};
use uuid::Uuid;

use super::intake::Inbound;
use super::{removed_meanwhile, words};
use crate::dialect::{Bulk, Incoming, Type};
use crate::inbound_files::LEAVES;
use crate::nouns::AllConversations;
use crate::one_row::{delete_rows, update_rows};
use crate::{Result, execute, fetch};
use domain::inbound::PeerKey;

const OTHER: &[(&str, Type)] = &[("channel_id", Type::Uuid), ("peer", Type::Text), ("known_as", Type::Text)];

impl AllConversations<'_> {
    /// Joins the conversations that are there under other keys of the people of these messages.
    pub(super) async fn join_known(self, to: &impl ConnectionTrait, all: &[&Inbound]) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, OTHER);
        for message in all {
            for other in &message.others {
                rows.push([message.channel_id.into(), other.as_str().into(), message.peer.as_str().into()]);
            }
        }
        let mut found = Vec::new();
        for Incoming { select, values, .. } in rows.into_statements() {
            let sql = format!(
                "SELECT DISTINCT conversation.id, conversation.company_id, conversation.channel_id, other.known_as \
                 FROM {select} AS other CROSS JOIN conversation \
                 WHERE conversation.channel_id = other.channel_id AND conversation.peer = other.peer"
            );
            found.extend(fetch::<(Uuid, Uuid, Uuid, String)>(to, sql, values).await?);
        }
        found.sort_unstable();
        for (id, company, channel, known_as) in found {
            self.join(to, (id, company, channel), &PeerKey::from_stored(known_as)).await?;
        }
        Ok(())
    }

    /// Puts a conversation under another key, or into the one that is there.
    async fn join(
        self,
        to: &impl ConnectionTrait,
        (id, company, channel): (Uuid, Uuid, Uuid),
        known_as: &PeerKey,
    ) -> Result<()> {
        let there = Entity::find().filter(Column::ChannelId.eq(channel));
        let Some(into) = there.filter(Column::Peer.eq(known_as.as_str())).one(to).await? else {
            // Of a person who was known by an id alone, the key has it.
            let former =
                Entity::find_by_id(id).one(to).await?.map(|former| PeerKey::from_stored(former.peer));
            let user: Option<String> = former.as_ref().and_then(|former| former.user_id().map(str::to_owned));
            let sql = "UPDATE conversation SET peer = $2, user_id = COALESCE(user_id, $3) WHERE id = $1";
            execute(to, sql, [id.into(), known_as.as_str().into(), user.into()]).await?;
            let words: Vec<_> =
                words::of(None, known_as).into_iter().map(|word| (company, word, id)).collect();
            return self.add_words(to, &words).await;
        };
        let into = into.id;
        if into == id {
            return Ok(());
        }
        let both = || -> [Value; 2] { [id.into(), into.into()] };
        // Locked before anything moves, so that no message comes into the one that ends here.
        let pair = Entity::find().filter(Column::Id.is_in([id, into])).order_by_asc(Column::Id);
        if pair.lock(LockType::NoKeyUpdate).all(to).await?.len() < 2 {
            return Err(removed_meanwhile());
        }
        // The same message may be in both; one of its rows leaves, with its file.
        let twice = "SELECT one.id FROM conversation_message AS one WHERE one.conversation_id = $1 AND one.provider_id IN \
                     (SELECT provider_id FROM conversation_message WHERE conversation_id = $2)";
        let files = format!(
            "UPDATE inbound_file SET {LEAVES}, source = $3 WHERE state <> 3 AND message_id IN ({twice})"
        );
        execute(to, files, both().into_iter().chain([Vec::<u8>::new().into()])).await?;
        execute(to, format!("DELETE FROM conversation_message WHERE id IN ({twice})"), both()).await?;
        for table in ["conversation_message", "conversation_note"] {
            let (set, of) = ([("conversation_id", into.into())], [("conversation_id", id.into())]);
            update_rows(to, table, set, of).await?;
        }
        for sql in [
            // The words of a name that it takes over.
            "INSERT INTO conversation_word (company_id, word, conversation_id) \
             SELECT company_id, word, $2 FROM conversation_word WHERE conversation_id = $1 \
             AND EXISTS (SELECT 1 FROM conversation WHERE id = $2 AND name IS NULL) \
             ON CONFLICT (company_id, word, conversation_id) DO NOTHING"
                .to_owned(),
            merged(),
        ] {
            execute(to, sql, both()).await?;
        }
        self.remove_words(to, [&id]).await?;
        // Begun answers are sealed to the id that ends here.
        delete_rows(to, "conversation_draft", [("conversation_id", id.into())]).await?;
        Entity::delete_by_id(id).exec(to).await?;
        Ok(())
    }
}

/// Takes over what is later in the conversation `$1` into `$2`, which waits for somebody if one of them does.
fn merged() -> String {
    let taken = |columns: &[&str], by: Option<&str>| {
        let one = |column: &&str| {
            let by = by.unwrap_or(column);
            format!(
                "{column} = CASE WHEN other.{by} > conversation.{by} THEN other.{column} ELSE conversation.{column} END"
            )
        };
        columns.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let times = [
        "window_until",
        "referral_at",
        "entry_point_until",
        "last_inbound_at",
        "last_outbound_at",
        "last_at",
        "last_line_at",
    ];
    let line = ["last_id", "last_kind", "last_direction", "last_line"];
    format!(
        "UPDATE conversation SET unread = conversation.unread + other.unread, \
         state = CASE WHEN other.state = 0 THEN 0 ELSE conversation.state END, {}, {}, \
         assigned_to = COALESCE(conversation.assigned_to, other.assigned_to), \
         user_id = COALESCE(conversation.user_id, other.user_id), \
         name = COALESCE(conversation.name, other.name), \
         name_folded = COALESCE(conversation.name_folded, other.name_folded) \
         FROM conversation AS other WHERE other.id = $1 AND conversation.id = $2",
        taken(&times, None),
        taken(&line, Some("last_line_at")),
    )
}
