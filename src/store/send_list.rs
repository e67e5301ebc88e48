//! Sends as their company is shown them: pages of a list, single ones, and where their messages are.

use std::collections::HashMap;

use sea_orm::{FromQueryResult, QueryResult, Value};
use uuid::Uuid;

use super::contact::signed;
use super::dialect::{Rows, Type};
use super::{Error, Result, Store};
use crate::clock::Timestamp;
use crate::domain::content::Content;
use crate::domain::message;
use crate::domain::page::{Page, PageRequest};
use crate::domain::send::{Control, Counts, Schedule, Stage, State};

/// An accepted send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its id; later sends have greater ones.
    pub id: Uuid,
    /// The channel that sends it.
    pub channel_id: Uuid,
    /// The `type` of its request.
    pub kind: &'static str,
    /// The template that it sends, if it does.
    pub template: Option<TemplateName>,
    /// Where it is.
    pub stage: Stage,
    /// Unique recipients.
    pub recipients: u64,
    /// Entries of its request that were left out.
    pub skipped: u64,
    /// Where its messages are; their sum is `recipients`.
    pub counts: Counts,
    /// When it was to go, as its request asked.
    pub schedule: Schedule,
    /// When the first of its messages is due, if all that are left wait for a later moment.
    pub due_at: Option<Timestamp>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
}

/// Which template a send sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateName {
    /// Our own number.
    pub id: i64,
    /// Its name at the provider.
    pub name: String,
    /// Its language.
    pub language: String,
    /// The provider's status of it now.
    pub status: String,
}

/// Which sends to list. Everything that is `None` matches all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter {
    /// Where they are.
    pub stage: Option<Stage>,
    /// Which channel sends them.
    pub channel_id: Option<Uuid>,
}

#[derive(FromQueryResult)]
struct Row {
    id: Uuid,
    channel_id: Uuid,
    state: i16,
    control: i16,
    head: String,
    recipients: i64,
    high_water: i64,
    skipped: i64,
    template_id: Option<i64>,
    name: Option<String>,
    language: Option<String>,
    status: Option<String>,
    send_at: Option<i64>,
    expires_at: Option<i64>,
    due_at: Option<i64>,
    created_at: i64,
    finished_at: Option<i64>,
}

impl Store {
    /// One page of a company's accepted sends, newest first, as they are `now`, and how many there are.
    ///
    /// # Errors
    ///
    /// Those of any query; [`Error::Impossible`] for a row that this program never wrote.
    pub async fn sends(
        &self,
        company_id: Uuid,
        page: PageRequest,
        filter: Filter,
        now: Timestamp,
    ) -> Result<Page<Record>> {
        let (condition, mut values) = condition(company_id, filter, now);
        let total = match filter {
            // All of them are counted in an index; the few that are not accepted yet are taken off.
            Filter { stage: None, channel_id: None } => format!(
                "SELECT (SELECT COUNT(*) FROM send WHERE company_id = $1) \
                 - (SELECT COUNT(*) FROM send WHERE {ALIVE} AND state = {})",
                State::Resolving.as_i16()
            ),
            _ => format!("SELECT COUNT(*) FROM send WHERE {condition}"),
        };
        let total = self.count(total, values.clone()).await?;
        if page.offset() >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        // The inner select skips its offset before a template is looked for.
        let (limit, offset) = (values.len() + 1, values.len() + 2);
        let chosen = format!(
            "send.id IN (SELECT id FROM send WHERE {condition} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset})"
        );
        values.extend([signed(page.limit).into(), signed(page.offset()).into()]);
        Ok(Page { records: self.records(&chosen, values, now).await?, total })
    }

    /// The company's accepted send of this id, as it is `now`.
    ///
    /// # Errors
    ///
    /// As [`Store::sends`].
    pub async fn find_send(&self, company_id: Uuid, send_id: Uuid, now: Timestamp) -> Result<Option<Record>> {
        let chosen = "send.id = $1 AND send.company_id = $2 AND send.state > $3";
        let values = vec![send_id.into(), company_id.into(), State::Resolving.as_i16().into()];
        Ok(self.records(chosen, values, now).await?.pop())
    }

    /// How many messages of a channel's sends may go now and have not gone.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn queued(&self, channel_id: Uuid, now: Timestamp) -> Result<u64> {
        // A sum of integers is a decimal number in PostgreSQL.
        let sql = "SELECT CAST(COALESCE(SUM(recipients - settled), 0) AS BIGINT) FROM send \
                   WHERE channel_id = $1 AND state < 2 AND state = $2 AND control = $3 \
                   AND (due_at IS NULL OR due_at <= $4)";
        let values = vec![
            channel_id.into(),
            State::Active.as_i16().into(),
            Control::Running.as_i16().into(),
            now.millis().into(),
        ];
        self.count(sql.to_owned(), values).await
    }

    /// A company's oldest sends that run and are not over, at most `limit`, without counting where their messages are.
    ///
    /// # Errors
    ///
    /// As [`Store::sends`].
    pub async fn sends_under_way(&self, company_id: Uuid, limit: u64, now: Timestamp) -> Result<Vec<Record>> {
        let oldest = format!(
            "send.id IN (SELECT id FROM send WHERE {ALIVE} AND state = {} ORDER BY id LIMIT $2)",
            State::Active.as_i16()
        );
        let rows = self.chosen(&oldest, vec![company_id.into(), signed(limit).into()]).await?;
        rows.into_iter().map(|row| record(row, Counts::default(), now)).collect()
    }

    async fn records(&self, chosen: &str, values: Vec<Value>, now: Timestamp) -> Result<Vec<Record>> {
        let rows = self.chosen(chosen, values).await?;
        let mut counts = self.message_counts(&rows).await?;
        rows.into_iter()
            .map(|row| {
                let counts = counts.remove(&row.id).unwrap_or_default();
                record(row, counts, now)
            })
            .collect()
    }

    async fn chosen(&self, chosen: &str, values: Vec<Value>) -> Result<Vec<Row>> {
        let sql = format!(
            "SELECT send.id, send.channel_id, send.state, send.control, \
             SUBSTR(send.content, 1, {head}) AS head, send.recipients, send.high_water, send.skipped, send.template_id, \
             template.name, template.language, template.status, send.send_at, send.expires_at, \
             send.due_at, send.created_at, send.finished_at \
             FROM send LEFT JOIN template ON template.id = send.template_id \
             WHERE {chosen} ORDER BY send.id DESC",
            head = Content::KIND_CHARS
        );
        let rows = self.rows(sql, values).await?;
        rows.iter().map(|row| Ok(Row::from_query_result(row, "")?)).collect()
    }

    /// Where the attempted messages of these sends are, in one pass over them.
    async fn message_counts(&self, sends: &[Row]) -> Result<HashMap<Uuid, Counts>> {
        let mut asked = Rows::new(self.backend, &[("id", Type::Uuid)]);
        for send in sends {
            asked.push([send.id.into()]);
        }
        if asked.is_empty() {
            return Ok(HashMap::new());
        }
        let (asked, values) = asked.select(1);
        // Grouped by the state as well, a million rows would be sorted first.
        let each = message::State::ALL
            .map(|state| format!("COUNT(*) FILTER (WHERE state = {})", state.as_i16()))
            .join(", ");
        let sql = format!(
            "SELECT send_id, {each} FROM message WHERE send_id IN (SELECT id FROM {asked} AS asked) \
             GROUP BY send_id"
        );
        let rows = self.rows(sql, values).await?;
        rows.iter().map(|row| Ok((row.try_get_by_index(0)?, counts(row)?))).collect()
    }
}

/// A company's sends of which something may still go, for which there is an index: its first parameter is the
/// company.
const ALIVE: &str = "channel_id IN (SELECT id FROM channel WHERE company_id = $1) AND state < 2";

/// What a list is narrowed to, and its parameters.
fn condition(company_id: Uuid, filter: Filter, now: Timestamp) -> (String, Vec<Value>) {
    let mut values: Vec<Value> = vec![company_id.into()];
    let alive = |control: Control| {
        format!("{ALIVE} AND state = {} AND control = {}", State::Active.as_i16(), control.as_i16())
    };
    let over = |state: State| format!("company_id = $1 AND state = {}", state.as_i16());
    let mut condition = match filter.stage {
        None => format!("company_id = $1 AND state > {}", State::Resolving.as_i16()),
        Some(Stage::Scheduled) => {
            values.push(now.millis().into());
            format!("{} AND send_at > $2", alive(Control::Running))
        }
        Some(Stage::Active) => {
            values.push(now.millis().into());
            format!("{} AND (send_at IS NULL OR send_at <= $2)", alive(Control::Running))
        }
        Some(Stage::Paused) => alive(Control::Paused),
        Some(Stage::Finished) => over(State::Finished),
        Some(Stage::Canceled) => over(State::Canceled),
        Some(Stage::Expired) => over(State::Expired),
    };
    if let Some(channel_id) = filter.channel_id {
        values.push(channel_id.into());
        condition += &format!(" AND channel_id = ${}", values.len());
    }
    (condition, values)
}

fn counts(row: &QueryResult) -> Result<Counts> {
    let mut counts = Counts::default();
    for (index, state) in (1..).zip(message::State::ALL) {
        counts.add(state, row.try_get_by_index::<i64>(index)?.cast_unsigned());
    }
    Ok(counts)
}

fn record(row: Row, mut counts: Counts, now: Timestamp) -> Result<Record> {
    let impossible = |what: String| Error::Impossible(format!("send {}: {what}", row.id));
    let state = State::from_i16(row.state).ok_or_else(|| impossible(format!("state {}", row.state)))?;
    let control =
        Control::from_i16(row.control).ok_or_else(|| impossible(format!("control {}", row.control)))?;
    let schedule = Schedule {
        send_at: row.send_at.map(Timestamp::from_millis),
        expires_at: row.expires_at.map(Timestamp::from_millis),
    };
    let recipients = row.recipients.cast_unsigned();
    counts.add_rowless(state, row.high_water.cast_unsigned(), recipients);
    let template = match (row.template_id, row.name, row.language, row.status) {
        (Some(id), Some(name), Some(language), Some(status)) => {
            Some(TemplateName { id, name, language, status })
        }
        _ => None,
    };
    Ok(Record {
        id: row.id,
        channel_id: row.channel_id,
        kind: Content::kind_of(&row.head).ok_or_else(|| impossible("content of no kind".to_owned()))?,
        template,
        stage: Stage::of(state, control, schedule, now)
            .ok_or_else(|| impossible("not accepted yet".to_owned()))?,
        recipients,
        skipped: row.skipped.cast_unsigned(),
        counts,
        schedule,
        due_at: row.due_at.map(Timestamp::from_millis),
        created_at: Timestamp::from_millis(row.created_at),
        finished_at: row.finished_at.map(Timestamp::from_millis),
    })
}
