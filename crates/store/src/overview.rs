//! The present state of one company or of all, in figures that an index gives: the waiting messages, their age, and the
//! channels that can send.

use sea_orm::Value;
use uuid::Uuid;

use super::{Error, Result, fetch, fetch_one};
use crate::nouns::{AllChannels, AllSends, Channels, Sends};
use clock::Timestamp;
use domain::channel::Status;
use domain::send::{Control, State};

/// Sends that may go now and have messages left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Messages.
    pub messages: u64,
    /// Sends.
    pub sends: u64,
    /// When the oldest of these sends was accepted.
    pub oldest: Option<Timestamp>,
}

/// The backlog of one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelBacklog {
    /// The channel.
    pub channel_id: Uuid,
    /// Its name.
    pub channel: String,
    /// Its company's name.
    pub company: String,
    /// The backlog.
    pub backlog: Backlog,
}

/// A send that may go now, on a channel under a given tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The send.
    pub send_id: Uuid,
    /// The channel that sends it.
    pub channel_id: Uuid,
    /// Its company's name.
    pub company: String,
    /// Messages that have not gone.
    pub remaining: u64,
    /// Whether it sends a template.
    pub has_template: bool,
}

/// Sends that may go now; the first parameters are their state, their control and the present moment.
const READY: &str =
    "send.state < 2 AND send.state = $1 AND send.control = $2 AND (send.due_at IS NULL OR send.due_at <= $3)";
const FIGURES: &str =
    "CAST(COALESCE(SUM(send.recipients - send.settled), 0) AS BIGINT), COUNT(*), MIN(send.created_at)";

fn ready(now: Timestamp) -> Vec<Value> {
    vec![State::Active.as_i16().into(), Control::Running.as_i16().into(), now.millis().into()]
}

/// One row of [`FIGURES`].
fn backlog(messages: i64, sends: i64, oldest: Option<i64>) -> Backlog {
    let (messages, sends) = (messages.cast_unsigned(), sends.cast_unsigned());
    Backlog { messages, sends, oldest: oldest.map(Timestamp::from_millis) }
}

impl Sends<'_> {
    /// The backlog of all channels of a company.
    pub async fn backlog(self, now: Timestamp) -> Result<Backlog> {
        let sql = format!(
            "SELECT {FIGURES} FROM send \
             WHERE channel_id IN (SELECT id FROM channel WHERE company_id = $4) AND {READY}"
        );
        let mut values = ready(now);
        values.push(self.company.into());
        let row = fetch_one(&self.store.read, sql, values).await?;
        Ok(row.map(|(messages, sends, oldest)| backlog(messages, sends, oldest)).unwrap_or_default())
    }
}

impl AllChannels<'_> {
    /// The channels of all companies with the oldest sends that may go now, at most `limit`.
    pub async fn longest_backlogs(self, now: Timestamp, limit: u32) -> Result<Vec<ChannelBacklog>> {
        let sql = format!(
            "SELECT channel.id, channel.name, company.name, {FIGURES} \
             FROM send JOIN channel ON channel.id = send.channel_id JOIN company ON company.id = channel.company_id \
             WHERE {READY} GROUP BY channel.id, channel.name, company.name ORDER BY MIN(send.created_at), channel.id LIMIT $4"
        );
        let mut values = ready(now);
        values.push(i64::from(limit).into());
        let rows = fetch(&self.store.read, sql, values).await?;
        let channel = |(channel_id, channel, company, messages, sends, oldest)| {
            let backlog = backlog(messages, sends, oldest);
            ChannelBacklog { channel_id, channel, company, backlog }
        };
        Ok(rows.into_iter().map(channel).collect())
    }

    /// How many channels are in each state, of this company or of all.
    pub async fn states(self, company_id: Option<Uuid>) -> Result<Vec<(Status, u64)>> {
        let of = if company_id.is_some() { "WHERE company_id = $1" } else { "" };
        let sql = format!("SELECT status, COUNT(*) FROM channel {of} GROUP BY status ORDER BY status");
        let rows = fetch::<(String, i64)>(&self.store.read, sql, company_id.map(Value::from)).await?;
        let counted = |(word, count): (String, i64)| {
            let status = word.parse().map_err(|_| Error::Impossible(format!("channel status `{word}`")))?;
            Ok((status, count.cast_unsigned()))
        };
        rows.into_iter().map(counted).collect()
    }
}

impl Channels<'_> {
    /// How many channels of the company are in each state.
    pub async fn states(self) -> Result<Vec<(Status, u64)>> {
        self.store.channels().states(Some(self.company)).await
    }
}

impl AllSends<'_> {
    /// The sends to many that may go now on channels of this tier, those with most left first, at most `limit`.
    pub async fn running_under(self, tier: &str, now: Timestamp, limit: u32) -> Result<Vec<Running>> {
        self.running("channel.tier", tier.into(), now, limit).await
    }

    /// The sends to many that may go now on this channel, those with most left first, at most `limit`.
    pub async fn running_on(self, channel: Uuid, now: Timestamp, limit: u32) -> Result<Vec<Running>> {
        self.running("channel.id", channel.into(), now, limit).await
    }

    /// The sends to many that may go now on channels whose `column` has this value.
    async fn running(self, column: &str, value: Value, now: Timestamp, limit: u32) -> Result<Vec<Running>> {
        let sql = format!(
            "SELECT send.id, send.channel_id, company.name, send.recipients - send.settled, \
             CASE WHEN send.template_id IS NULL THEN 0 ELSE 1 END \
             FROM send JOIN channel ON channel.id = send.channel_id JOIN company ON company.id = channel.company_id \
             WHERE {READY} AND {column} = $4 AND send.recipient IS NULL AND send.recipients > send.settled \
             ORDER BY send.recipients - send.settled DESC, send.id LIMIT $5"
        );
        let mut values = ready(now);
        values.extend([value, i64::from(limit).into()]);
        type Columns = (Uuid, Uuid, String, i64, i32);
        let rows = fetch::<Columns>(&self.store.read, sql, values).await?;
        let running = |(send_id, channel_id, company, remaining, has_template): Columns| {
            let (remaining, has_template) = (remaining.cast_unsigned(), has_template != 0);
            Running { send_id, channel_id, company, remaining, has_template }
        };
        Ok(rows.into_iter().map(running).collect())
    }
}
