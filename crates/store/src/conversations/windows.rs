//! The customer service windows of channels.

use std::collections::HashSet;

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use crate::changes::{self, What, Who};
use crate::dialect::{Bulk, Incoming, Rows, Type};
use crate::nouns::{AllConversations, Conversations};
use crate::one_row::{find_row, put_row};
use crate::{Result, fetch};
use clock::Timestamp;
use domain::inbound::{PeerKey, WindowRule, Windows};
use domain::message::Key;
use domain::phone::PhoneNumber;

const ASKED: &[(&str, Type)] =
    &[("place", Type::Int), ("company_id", Type::Uuid), ("channel_id", Type::Uuid), ("peer", Type::Text)];
const PEER: &[(&str, Type)] = &[("peer", Type::Text)];
const KEY: &[(&str, Type)] = &[("send_id", Type::Uuid), ("ordinal", Type::Int), ("at", Type::Int)];
const CLOSED: &[(&str, Type)] =
    &[("channel_id", Type::Uuid), ("company_id", Type::Uuid), ("number", Type::Int), ("at", Type::Int)];

/// The window of a person, by the number under which they are known, in a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedWindow {
    /// The company of the channel.
    pub company_id: Uuid,
    /// The channel.
    pub channel_id: Uuid,
    /// The person.
    pub person: PhoneNumber,
}

/// What is known of the window of a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnownWindow {
    /// What is known of the windows of the channel.
    pub of_channel: Windows,
    /// Until when it is open, or was; `None` when it never was.
    pub until: Option<Timestamp>,
}

impl Conversations<'_> {
    /// What is known of the windows of a channel.
    pub async fn windows(self, channel: Uuid) -> Result<Windows> {
        self.windows_in(&self.store.read, channel).await
    }

    async fn windows_in(self, on: &impl ConnectionTrait, channel: Uuid) -> Result<Windows> {
        let of = [("channel_id", channel.into()), ("company_id", self.company.into())];
        let found = find_row::<(i16, i64)>(on, ("conversation_channel", "rule, recorded_since"), of).await?;
        found.map_or(Ok(Windows::default()), |(rule, since)| of_channel(rule, since))
    }

    /// Decides who decides about the windows of a channel of the company.
    pub async fn set_window_rule(self, who: &Who, channel: Uuid, rule: WindowRule) -> Result<()> {
        let transaction = self.store.begin().await?;
        let before = self.windows_in(&transaction, channel).await?.rule;
        if before == rule {
            return transaction.unchanged(()).await;
        }
        let row = [
            ("channel_id", channel.into()),
            ("company_id", self.company.into()),
            ("rule", rule.as_i16().into()),
        ];
        put_row(&transaction, "conversation_channel", &["channel_id"], row).await?;
        let [before, after] = [before, rule].map(|rule| serde_json::json!({ "window": rule.as_str() }));
        changes::record_one(&transaction, who, What::Channel, channel, Some(before), after).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Those of these people, by the numbers under which they are known, whose window in the channel is open.
    pub async fn with_window(
        self,
        channel: Uuid,
        people: impl IntoIterator<Item = PhoneNumber>,
        now: Timestamp,
    ) -> Result<HashSet<PhoneNumber>> {
        let mut asked = Rows::new(self.store.backend, PEER);
        for person in people {
            asked.push([PeerKey::of_number(person).as_str().into()]);
        }
        if asked.is_empty() {
            return Ok(HashSet::new());
        }
        let (asked, values) = asked.select(3);
        let sql = format!(
            "SELECT conversation.peer FROM {asked} AS asked CROSS JOIN conversation \
             WHERE conversation.channel_id = $1 AND conversation.peer = asked.peer AND conversation.window_until > $2"
        );
        let values = [channel.into(), now.millis().into()].into_iter().chain(values);
        let open = fetch::<String>(&self.store.read, sql, values).await?.into_iter();
        Ok(open.filter_map(|peer| PeerKey::from_stored(peer).number()).collect())
    }
}

impl AllConversations<'_> {
    /// What is known of these windows, each in its place.
    pub async fn windows(self, asked: &[AskedWindow]) -> Result<Vec<KnownWindow>> {
        let mut rows = Rows::new(self.store.backend, ASKED);
        for (place, AskedWindow { company_id, channel_id, person }) in (0_i64..).zip(asked) {
            let peer = PeerKey::of_number(*person);
            rows.push([place.into(), (*company_id).into(), (*channel_id).into(), peer.as_str().into()]);
        }
        let (select, values) = rows.select(1);
        let sql = format!(
            "SELECT asked.place, conversation_channel.rule, conversation_channel.recorded_since, conversation.window_until \
             FROM {select} AS asked \
             LEFT JOIN conversation_channel ON conversation_channel.channel_id = asked.channel_id \
             AND conversation_channel.company_id = asked.company_id \
             LEFT JOIN conversation ON conversation.channel_id = asked.channel_id AND conversation.peer = asked.peer \
             AND conversation.company_id = asked.company_id"
        );
        let mut known = vec![KnownWindow::default(); asked.len()];
        type Columns = (i64, Option<i16>, Option<i64>, Option<i64>);
        for (place, rule, since, until) in fetch::<Columns>(&self.store.read, sql, values).await? {
            let place = usize::try_from(place).ok().and_then(|place| known.get_mut(place));
            let Some(place) = place else { continue };
            if let Some(rule) = rule {
                place.of_channel = of_channel(rule, since.unwrap_or_default())?;
            }
            place.until = until.filter(|until| *until > 0).map(Timestamp::from_millis);
        }
        Ok(known)
    }

    /// The provider refused these messages, at these times, because the windows of their recipients are closed: those that are
    /// open here are closed, unless the person wrote since.
    pub(crate) async fn close_windows(
        self,
        to: &impl ConnectionTrait,
        refused: &[(Key, Timestamp)],
        now: Timestamp,
    ) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, KEY);
        for (key, at) in refused {
            rows.push([key.send_id.into(), key.ordinal.cast_signed().into(), at.millis().into()]);
        }
        let mut closed = Bulk::new(self.store.backend, CLOSED);
        for Incoming { select, values, .. } in rows.into_statements() {
            let sql = format!(
                "SELECT send.channel_id, send.company_id, message.recipient, CAST(refused.at AS BIGINT) \
                 FROM {select} AS refused \
                 JOIN message ON message.send_id = refused.send_id AND message.ordinal = refused.ordinal \
                 JOIN send ON send.id = message.send_id"
            );
            let mut found = fetch::<(Uuid, Uuid, i64, i64)>(to, sql, values).await?;
            found.sort_unstable();
            for (channel, company, recipient, at) in found {
                let Some(person) = PhoneNumber::from_i64(recipient).map(PhoneNumber::person) else {
                    continue;
                };
                closed.push([channel.into(), company.into(), person.as_i64().into(), at.into()]);
            }
        }
        let sql = |incoming: &str, now: usize| {
            format!(
                "UPDATE conversation SET window_until = ${now} WHERE id IN (SELECT conversation.id \
                 FROM {incoming} AS closed LEFT JOIN person_number ON person_number.company_id = closed.company_id \
                 AND person_number.number = closed.number \
                 JOIN conversation ON conversation.channel_id = closed.channel_id \
                 AND conversation.peer = CAST(COALESCE(person_number.person, closed.number) AS TEXT) \
                 WHERE conversation.window_until > ${now} AND conversation.last_inbound_at <= closed.at \
                 ORDER BY conversation.id{})",
                self.store.locking_of("conversation")
            )
        };
        self.store.write(to, closed, vec![now.millis().into()], sql).await?;
        Ok(())
    }
}

fn of_channel(rule: i16, since: i64) -> Result<Windows> {
    let rule = WindowRule::from_i16(rule).ok_or_else(|| super::impossible("rule", rule))?;
    Ok(Windows { rule, recorded_since: (since > 0).then(|| Timestamp::from_millis(since)) })
}
