//! The present state of one company or of all, in figures that an index gives: the waiting messages, their age, and the
//! channels that can send.

use sea_orm::Value;
use uuid::Uuid;

use super::{Error, Result};
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

fn backlog(row: &sea_orm::QueryResult, first: usize) -> Result<Backlog> {
    let (messages, sends): (i64, i64) = (row.try_get_by_index(first)?, row.try_get_by_index(first + 1)?);
    let oldest: Option<i64> = row.try_get_by_index(first + 2)?;
    Ok(Backlog {
        messages: messages.cast_unsigned(),
        sends: sends.cast_unsigned(),
        oldest: oldest.map(Timestamp::from_millis),
    })
}

impl Sends<'_> {
    /// The backlog of all channels of a company.
    pub async fn backlog(self, now: Timestamp) -> Result<Backlog> {
        let company_id = self.company;
        let sql = format!(
            "SELECT {FIGURES} FROM send \
             WHERE channel_id IN (SELECT id FROM channel WHERE company_id = $4) AND {READY}"
        );
        let mut values = ready(now);
        values.push(company_id.into());
        self.store.row(sql, values).await?.map_or_else(|| Ok(Backlog::default()), |row| backlog(&row, 0))
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
        let rows = self.store.rows(sql, values).await?;
        let channel = |row: &sea_orm::QueryResult| {
            Ok(ChannelBacklog {
                channel_id: row.try_get_by_index(0)?,
                channel: row.try_get_by_index(1)?,
                company: row.try_get_by_index(2)?,
                backlog: backlog(row, 3)?,
            })
        };
        rows.iter().map(channel).collect()
    }

    /// How many channels are in each state, of this company or of all.
    ///
    /// # Errors
    ///
    /// When the database fails; [`Error::Impossible`] for a state that this program never wrote.
    pub async fn states(self, company_id: Option<Uuid>) -> Result<Vec<(Status, u64)>> {
        let sql = match company_id {
            Some(_) => {
                "SELECT status, COUNT(*) FROM channel WHERE company_id = $1 GROUP BY status ORDER BY status"
            }
            None => "SELECT status, COUNT(*) FROM channel GROUP BY status ORDER BY status",
        };
        let rows = self.store.rows(sql, company_id.map(Value::from)).await?;
        let counted = |row: &sea_orm::QueryResult| {
            let (word, count): (String, i64) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
            let status = word.parse().map_err(|_| Error::Impossible(format!("channel status `{word}`")))?;
            Ok((status, count.cast_unsigned()))
        };
        rows.iter().map(counted).collect()
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
        let sql = format!(
            "SELECT send.id, send.channel_id, company.name, send.recipients - send.settled, \
             CASE WHEN send.template_id IS NULL THEN 0 ELSE 1 END \
             FROM send JOIN channel ON channel.id = send.channel_id JOIN company ON company.id = channel.company_id \
             WHERE {READY} AND channel.tier = $4 AND send.recipient IS NULL AND send.recipients > send.settled \
             ORDER BY send.recipients - send.settled DESC, send.id LIMIT $5"
        );
        let mut values = ready(now);
        values.extend([tier.into(), i64::from(limit).into()]);
        let rows = self.store.rows(sql, values).await?;
        let running = |row: &sea_orm::QueryResult| {
            let (remaining, has_template): (i64, i32) = (row.try_get_by_index(3)?, row.try_get_by_index(4)?);
            Ok(Running {
                send_id: row.try_get_by_index(0)?,
                channel_id: row.try_get_by_index(1)?,
                company: row.try_get_by_index(2)?,
                remaining: remaining.cast_unsigned(),
                has_template: has_template != 0,
            })
        };
        rows.iter().map(running).collect()
    }
}
