//! Sends as their company sees them: pages of a list, single sends, and the counts of their messages.

mod count;
mod filter;

use std::collections::HashMap;

use sea_orm::{QueryResult, Value};
use uuid::Uuid;

pub(crate) use self::count::{count_of_each_state, counts};
pub(super) use self::filter::ALIVE;
pub use self::filter::Filter;
use super::family::{CLOSED, made_of};
use super::{StoredLabel, stored_recipient};
use crate::contacts::signed;
use crate::dialect::Rows;
use crate::nouns::{AllSends, Sends};
use crate::tags::DELETED;
use crate::{Error, Result, fetch, moment};
use clock::Timestamp;
use domain::content::{self, Content};
use domain::page::{Page, Window};
use domain::send::{Control, Counts, EndReason, Label, Naming, Progress, Schedule, Source, Stage, State};
use domain::template::Status;

/// An accepted send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its id; later sends have greater ones.
    pub id: Uuid,
    /// The channel that sends it.
    pub channel_id: Uuid,
    /// The `type` of its request.
    pub kind: content::Kind,
    /// The template that it sends, if any.
    pub template: Option<TemplateName>,
    /// Its stage.
    pub stage: Stage,
    /// The stored state.
    pub state: State,
    /// Unique recipients.
    pub recipients: u64,
    /// Its progress.
    pub progress: Progress,
    /// The beginning of its text, if it is one.
    pub opening: Option<String>,
    /// Whether it goes to a group.
    pub is_to_group: bool,
    /// The sources of its audience, beside numbers.
    pub sources: Vec<Source>,
    /// The names of the tags and the segments among the sources that still exist.
    pub tags: Vec<String>,
    /// The names of the tags that it leaves out and that still exist.
    pub left_out_tags: Vec<String>,
    /// The retries of its messages, the newest ones of many, and the newest first.
    pub retries: Vec<Uuid>,
    /// The send of a template that goes to those of its people whose window was closed.
    pub instead: Option<Uuid>,
    /// Entries of its request that were skipped.
    pub skipped: u64,
    /// Its messages by state; their sum is `recipients`. Not counted for a [head](Store::send_heads).
    pub counts: Counts,
    /// Its schedule, as requested.
    pub schedule: Schedule,
    /// What is noted on it.
    pub label: Label,
    /// When the first of its messages is due, if the rest waits for a later time.
    pub due_at: Option<Timestamp>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Why it ended, if nobody asked for that.
    pub end_reason: Option<EndReason>,
}

/// The template of a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateName {
    /// Our own number.
    pub id: i64,
    /// Its name at the provider.
    pub name: String,
    /// Its language.
    pub language: String,
    /// The provider's present status of the template.
    pub status: Status,
}

impl Record {
    /// Its name: the given one, or one in English that is made of what it sends and to whom.
    pub fn name(&self) -> String {
        let given = self.label.name.clone();
        given.unwrap_or_else(|| self.naming(self.kind.as_str()).in_english())
    }

    /// What a name is made of; `kind` is the word for the kind of its messages.
    pub fn naming<'a>(&'a self, kind: &'a str) -> Naming<'a> {
        let template = self.template.as_ref().map(|template| template.name.as_str());
        let opening = self.opening.as_deref().filter(|text| !text.trim().is_empty());
        Naming {
            what: template.or(opening).unwrap_or(kind),
            tags: &self.tags,
            is_to_group: self.is_to_group,
            recipients: self.recipients,
        }
    }
}

impl Sends<'_> {
    /// One page of a company's accepted sends, newest first, as they are `now`, and how many there are.
    pub async fn page(
        self,
        window: impl Into<Window<Uuid>>,
        filter: &Filter,
        now: Timestamp,
    ) -> Result<Page<Record>> {
        let Page { mut records, total } = self.heads(window, filter, now).await?;
        self.count_messages(&mut records).await?;
        Ok(Page { records, total })
    }

    /// Like [`Sends::page`](crate::Sends::page), without the counts of messages, whose rows may be millions.
    pub async fn heads(
        self,
        window: impl Into<Window<Uuid>>,
        filter: &Filter,
        now: Timestamp,
    ) -> Result<Page<Record>> {
        let window = window.into();
        let (condition, mut values) = filter.condition(self.company, now);
        let total = if filter.is_open() {
            // An index counts all sends; the few that are not accepted yet are subtracted.
            format!(
                "SELECT (SELECT COUNT(*) FROM send WHERE company_id = $1) \
                 - (SELECT COUNT(*) FROM send WHERE {ALIVE} AND state = {})",
                State::Resolving.as_i16()
            )
        } else {
            format!("SELECT COUNT(*) FROM send WHERE {condition}")
        };
        let total = self.store.count(total, values.clone()).await?;
        let most = window.limit;
        let (offset, after) = window.parts();
        if offset >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        let mut condition = condition;
        if let Some(after) = after {
            values.push(after.into());
            condition += &format!(" AND id < ${}", values.len());
        }
        // The inner select skips its offset before the template is joined.
        let (limit, skipped) = (values.len() + 1, values.len() + 2);
        let chosen = format!(
            "send.id IN (SELECT id FROM send WHERE {condition} ORDER BY id DESC LIMIT ${limit} OFFSET ${skipped})"
        );
        values.extend([signed(most).into(), signed(offset).into()]);
        Ok(Page { records: self.records(&chosen, values, now).await?, total })
    }

    /// The company's accepted send of this id, as it is `now`.
    pub async fn find(self, send_id: Uuid, now: Timestamp) -> Result<Option<Record>> {
        let mut found: Vec<_> = self.head(send_id, now).await?.into_iter().collect();
        self.count_messages(&mut found).await?;
        Ok(found.pop())
    }

    /// Like [`Sends::find`](crate::Sends::find), without the counts of its messages.
    pub async fn head(self, send_id: Uuid, now: Timestamp) -> Result<Option<Record>> {
        let chosen = "send.id = $1 AND send.company_id = $2 AND send.state > $3";
        let values = vec![send_id.into(), self.company.into(), State::Resolving.as_i16().into()];
        Ok(self.records(chosen, values, now).await?.pop())
    }

    /// The company's accepted sends of these ids. The messages of a send with more recipients than `most` are not
    /// counted.
    pub async fn these(self, ids: &[Uuid], most: u64, now: Timestamp) -> Result<Vec<Record>> {
        let asked = Rows::of_ids(self.store.backend, ids);
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let (asked, more) = asked.select(3);
        let chosen = format!(
            "send.company_id = $1 AND send.state > $2 AND send.id IN (SELECT id FROM {asked} AS asked)"
        );
        let mut values = vec![self.company.into(), State::Resolving.as_i16().into()];
        values.extend(more);
        let (mut counted, large): (Vec<_>, Vec<_>) =
            self.records(&chosen, values, now).await?.into_iter().partition(|send| send.recipients <= most);
        self.count_messages(&mut counted).await?;
        counted.extend(large);
        Ok(counted)
    }

    /// A company's oldest unfinished sends, at most `limit`, without the counts of their messages.
    pub async fn under_way(self, limit: u64, now: Timestamp) -> Result<Vec<Record>> {
        let oldest = format!(
            "send.id IN (SELECT id FROM send WHERE {ALIVE} AND state = {} ORDER BY id LIMIT $2)",
            State::Active.as_i16()
        );
        self.records(&oldest, vec![self.company.into(), signed(limit).into()], now).await
    }

    async fn records(self, chosen: &str, values: Vec<Value>, now: Timestamp) -> Result<Vec<Record>> {
        let sql = format!(
            "SELECT send.id, send.channel_id, send.state, send.control, \
             SUBSTR(send.content, 1, {head}) AS head, send.recipients, send.recipient, send.high_water, send.settled, send.skipped, send.template_id, \
             template.name, template.language, template.status, send.send_at, send.expires_at, \
             send.due_at, send.created_at, send.finished_at, send.end_reason, send.reference, send.metadata, \
             send.given_name, send.made_by \
             FROM send LEFT JOIN template ON template.id = send.template_id \
             WHERE {chosen} ORDER BY send.id DESC",
            head = Content::OPENING_CHARS
        );
        let rows = self.store.rows(sql, values).await?;
        let mut records = rows.iter().map(|row| record(row, now)).collect::<Result<Vec<_>>>()?;
        self.name_sources(&mut records).await?;
        self.name_made(&mut records).await?;
        Ok(records)
    }

    /// Adds the retries of these sends, and the sends of templates for closed windows.
    async fn name_made(self, sends: &mut [Record]) -> Result<()> {
        let Some((asked, values)) = self.asked(sends) else { return Ok(()) };
        let mut retries: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
        let mut instead = HashMap::new();
        for (send, made, kind) in
            fetch::<(Uuid, Uuid, i16)>(&self.store.read, made_of(&asked), values).await?
        {
            if kind == CLOSED {
                instead.insert(send, made);
            } else {
                retries.entry(send).or_default().push(made);
            }
        }
        for send in sends {
            send.retries = retries.remove(&send.id).unwrap_or_default();
            send.instead = instead.remove(&send.id);
        }
        Ok(())
    }

    /// Adds the sources of these sends' audiences.
    async fn name_sources(self, sends: &mut [Record]) -> Result<()> {
        let Some((asked, values)) = self.asked(sends) else { return Ok(()) };
        let sql = format!(
            "SELECT send_id, kind, source_id, COALESCE(tag.name, saved_segment.name) FROM send_source \
             LEFT JOIN tag ON tag.id = source_id AND tag.upkeep <> {DELETED} \
             LEFT JOIN saved_segment ON saved_segment.id = source_id \
             WHERE send_id IN (SELECT id FROM {asked} AS asked) ORDER BY send_id, source_id"
        );
        let mut sources: HashMap<Uuid, Vec<Source>> = HashMap::new();
        let mut tags: HashMap<Uuid, Vec<String>> = HashMap::new();
        let mut left_out: HashMap<Uuid, Vec<String>> = HashMap::new();
        let rows = fetch::<(Uuid, i16, Uuid, Option<String>)>(&self.store.read, sql, values).await?;
        for (send, kind, id, name) in rows {
            let source = Source::from_row(kind, id)
                .ok_or_else(|| Error::Impossible(format!("{kind} is no kind of source")))?;
            sources.entry(send).or_default().push(source);
            let named = match source {
                Source::WithoutTag(_) => &mut left_out,
                Source::Tag(_) | Source::Segment(_) | Source::Send(_) | Source::Closed(_) => &mut tags,
            };
            named.entry(send).or_default().extend(name);
        }
        for send in sends {
            send.sources = sources.remove(&send.id).unwrap_or_default();
            send.tags = tags.remove(&send.id).unwrap_or_default();
            send.left_out_tags = left_out.remove(&send.id).unwrap_or_default();
        }
        Ok(())
    }

    /// These sends as rows of a sub-select, unless there are none.
    fn asked(self, sends: &[Record]) -> Option<(String, Vec<Value>)> {
        let asked = Rows::of_ids(self.store.backend, sends.iter().map(|send| &send.id));
        (!asked.is_empty()).then(|| asked.select(1))
    }
}

impl AllSends<'_> {
    /// How many messages of a channel's sends may go now but have not gone.
    pub async fn queued(self, channel_id: Uuid, now: Timestamp) -> Result<u64> {
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
        self.store.count(sql.to_owned(), values).await
    }
}

fn end_reason(stored: i16) -> Result<EndReason> {
    EndReason::from_i16(stored)
        .ok_or_else(|| Error::Impossible(format!("{stored} is no reason for the end of a send")))
}

fn record(row: &QueryResult, now: Timestamp) -> Result<Record> {
    let id: Uuid = row.try_get("", "id")?;
    let impossible = |what: String| Error::Impossible(format!("send {id}: {what}"));
    let number = |column| row.try_get("", column).map(i64::cast_unsigned);
    let [state, control] = [row.try_get::<i16>("", "state")?, row.try_get("", "control")?];
    let state = State::from_i16(state).ok_or_else(|| impossible(format!("state {state}")))?;
    let control = Control::from_i16(control).ok_or_else(|| impossible(format!("control {control}")))?;
    let schedule = Schedule { send_at: moment(row, "send_at")?, expires_at: moment(row, "expires_at")? };
    let text = |column| row.try_get::<Option<String>>("", column);
    let template_id: Option<i64> = row.try_get("", "template_id")?;
    let template = match (template_id, text("name")?, text("language")?, text("status")?) {
        (Some(id), Some(name), Some(language), Some(status)) => {
            Some(TemplateName { id, name, language, status: Status::from(status.as_str()) })
        }
        _ => None,
    };
    let label = StoredLabel {
        name: text("given_name")?,
        name_folded: None,
        reference: text("reference")?,
        metadata: text("metadata")?,
        made_by: text("made_by")?,
    };
    let head: String = row.try_get("", "head")?;
    let kind = Content::kind_of(&head);
    Ok(Record {
        id,
        channel_id: row.try_get("", "channel_id")?,
        kind: kind.ok_or_else(|| impossible("content of no kind".to_owned()))?,
        template,
        stage: Stage::of(state, control, schedule, now)
            .ok_or_else(|| impossible("not accepted yet".to_owned()))?,
        state,
        recipients: number("recipients")?,
        progress: Progress { high_water: number("high_water")?, settled: number("settled")? },
        opening: Content::opening_of(&head),
        is_to_group: row.try_get::<Option<i64>>("", "recipient")? == Some(stored_recipient(None)),
        sources: Vec::new(),
        tags: Vec::new(),
        left_out_tags: Vec::new(),
        retries: Vec::new(),
        instead: None,
        skipped: number("skipped")?,
        counts: Counts::default(),
        schedule,
        label: label.read()?,
        due_at: moment(row, "due_at")?,
        created_at: Timestamp::from_millis(row.try_get("", "created_at")?),
        finished_at: moment(row, "finished_at")?,
        end_reason: row.try_get::<Option<i16>>("", "end_reason")?.map(end_reason).transpose()?,
    })
}
