//! Automatic answers: what each company answers, to whom it did, and what is due.
//!
//! That an answer is due is written in the transaction of the message that it answers, so that there is one for a message that
//! is kept, however often it comes. It stays due until its send is in the ledger.

use std::collections::BTreeMap;
use std::time::Duration;

use entity::automatic_answer::{Column, Entity};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::changes::{self, What, Who};
use crate::conversations::Inbound;
use crate::dialect::{Bulk, Type};
use crate::nouns::{AutomaticAnswers, CompanyAnswers};
use crate::one_row::{find_row, put_row};
use crate::opt_out_words::words_of;
use crate::retention::Step;
use crate::{Error, Result, execute, fetch, fetch_one};
use clock::Timestamp;
use domain::automatic::{AnswerKind, AnswerRules, AutomaticTexts, ONCE_IN, OpeningHours};
use domain::phone::PhoneNumber;

/// Delay before the text of closed hours goes. An agent who is there all the same answers first.
const AWAY_AFTER: Duration = Duration::from_secs(3);

const ANSWER: &[(&str, Type)] = &[
    ("company_id", Type::Uuid),
    ("recipient", Type::Int),
    ("kind", Type::Int),
    ("at", Type::Int),
    ("channel_id", Type::Uuid),
    ("message_id", Type::Uuid),
    ("due_at", Type::Int),
];

/// An answer that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueAnswer {
    /// The company that answers.
    pub company_id: Uuid,
    /// The number under which the person is known.
    pub recipient: PhoneNumber,
    /// What is answered.
    pub kind: AnswerKind,
    /// When the message came.
    pub at: Timestamp,
    /// The channel that heard it, and answers.
    pub channel_id: Uuid,
    /// Our id of the message.
    pub message_id: Uuid,
}

/// The columns of the texts, as [`texts_of`] reads them.
type Texts = (Option<String>, Option<String>, Option<String>, String, String, i16);

impl CompanyAnswers<'_> {
    /// What the company answers by itself; nothing if nobody set it.
    pub async fn texts(self) -> Result<AutomaticTexts> {
        self.texts_in(&self.store.read).await
    }

    async fn texts_in(self, on: &impl ConnectionTrait) -> Result<AutomaticTexts> {
        let columns = "stop_text, start_text, away_text, hours, time_zone, hides_reading";
        let of = [("company_id", self.company.into())];
        let row = find_row::<Texts>(on, ("automatic_text", columns), of).await?;
        Ok(row.map(texts_of).unwrap_or_default())
    }

    /// What the company does with what people write, in one query.
    pub async fn rules(self) -> Result<AnswerRules> {
        type Row = (
            Option<i16>,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<i16>,
        );
        let sql = "SELECT opt_out_words.scope, opt_out_words.stop_words, opt_out_words.start_words, \
                   automatic_text.stop_text, automatic_text.start_text, automatic_text.away_text, \
                   automatic_text.hours, automatic_text.time_zone, automatic_text.hides_reading FROM company \
                   LEFT JOIN opt_out_words ON opt_out_words.company_id = company.id \
                   LEFT JOIN automatic_text ON automatic_text.company_id = company.id WHERE company.id = $1";
        let row = fetch_one::<Row>(&self.store.read, sql, [self.company.into()]).await?;
        let Some((scope, stop_words, start_words, stop, start, away, hours, zone, hides)) = row else {
            return Ok(AnswerRules::default());
        };
        let words = match (scope, stop_words, start_words) {
            (Some(scope), Some(stop), Some(start)) => words_of((scope, stop, start)),
            _ => AnswerRules::default().words,
        };
        let texts = hours.zip(zone).zip(hides);
        let texts = texts.map(|((hours, zone), hides)| texts_of((stop, start, away, hours, zone, hides)));
        Ok(AnswerRules { words, texts: texts.unwrap_or_default() })
    }

    /// Whether people are not told that an agent read their messages.
    pub async fn hides_reading(self) -> Result<bool> {
        Ok(self.texts().await?.hides_reading)
    }

    /// Sets what the company answers. Messages that are taken in from now on follow it, and answers that are due have the new
    /// texts. Returns whether that changed anything.
    pub async fn set_texts(self, who: &Who, texts: &AutomaticTexts) -> Result<bool> {
        let id = self.company;
        let transaction = self.store.begin().await?;
        let before = self.texts_in(&transaction).await?;
        if before == *texts {
            return transaction.unchanged(false).await;
        }
        let AutomaticTexts { stop, start, away, hours, hides_reading } = texts;
        let row = [
            ("company_id", id.into()),
            ("stop_text", stop.clone().into()),
            ("start_text", start.clone().into()),
            ("away_text", away.clone().into()),
            ("hours", hours.days().join("\n").into()),
            ("time_zone", hours.zone().into()),
            ("hides_reading", i16::from(*hides_reading).into()),
        ];
        put_row(&transaction, "automatic_text", &["company_id"], row).await?;
        changes::record_one(&transaction, who, What::Company, id, Some(shown(&before)), shown(texts)).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// Texts of a row. Hours that this version does not read are closed.
fn texts_of((stop, start, away, hours, zone, hides): Texts) -> AutomaticTexts {
    let hours = OpeningHours::parse(&zone, hours.split('\n')).unwrap_or_default();
    AutomaticTexts { stop, start, away, hours, hides_reading: hides != 0 }
}

/// The texts, for the record of changes.
fn shown(AutomaticTexts { stop, start, away, hours, hides_reading }: &AutomaticTexts) -> Value {
    let (days, zone) = (hours.days(), hours.zone());
    json!({
        "automatic_answers": {
            "stop_text": stop, "start_text": start, "away_text": away, "hours": days, "time_zone": zone,
            "read_marks": !hides_reading,
        },
    })
}

impl AutomaticAnswers<'_> {
    /// Notes that these messages, which are new, are answered: each kind once in [`ONCE_IN`] to a person.
    pub(crate) async fn note(
        self,
        to: &impl ConnectionTrait,
        new: &[&Inbound],
        now: Timestamp,
    ) -> Result<()> {
        // One statement changes a row once, and locks rows in the order of their keys.
        let mut first = BTreeMap::new();
        for message in new {
            if let (Some(kind), Some(number)) = (message.answer, message.peer.number()) {
                first.entry((message.company_id, number, kind)).or_insert(*message);
            }
        }
        if first.is_empty() {
            return Ok(());
        }
        let mut rows = Bulk::new(self.store.backend, ANSWER);
        for ((company_id, number, kind), message) in first {
            let wait = if kind == AnswerKind::Away { AWAY_AFTER } else { Duration::ZERO };
            rows.push([
                company_id.into(),
                number.as_i64().into(),
                i64::from(kind.as_i16()).into(),
                message.at.millis().into(),
                message.channel_id.into(),
                message.id.into(),
                now.plus(wait).millis().into(),
            ]);
        }
        let insert = |incoming: &str, _| {
            format!(
                "INSERT INTO automatic_answer (company_id, recipient, kind, at, channel_id, message_id, due_at) \
                 SELECT company_id, recipient, kind, at, channel_id, message_id, due_at \
                 FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (company_id, recipient, kind) DO UPDATE SET at = excluded.at, \
                 channel_id = excluded.channel_id, message_id = excluded.message_id, due_at = excluded.due_at \
                 WHERE automatic_answer.at <= excluded.at - {}",
                ONCE_IN.as_millis()
            )
        };
        self.store.write(to, rows, Vec::new(), insert).await?;
        Ok(())
    }

    /// Takes at most `limit` answers that are due, which are due again at `until` unless they are over by then.
    pub async fn claim(self, now: Timestamp, until: Timestamp, limit: u32) -> Result<Vec<DueAnswer>> {
        // Usually there are none, which the writer need not be asked for.
        if Entity::find().filter(Column::DueAt.lte(now.millis())).one(&self.store.read).await?.is_none() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "UPDATE automatic_answer SET due_at = $2 WHERE due_at <= $1 AND (company_id, recipient, kind) IN \
             (SELECT company_id, recipient, kind FROM automatic_answer WHERE due_at <= $1 \
             ORDER BY company_id, recipient, kind LIMIT $3{}) \
             RETURNING company_id, recipient, kind, at, channel_id, message_id",
            self.store.locking()
        );
        let values = [now.millis().into(), until.millis().into(), i64::from(limit).into()];
        type Row = (Uuid, i64, i16, i64, Uuid, Uuid);
        let rows = fetch::<Row>(&self.store.write, sql, values).await?;
        rows.into_iter().map(due).collect()
    }

    /// The answer is over: it is in the ledger, or not wanted any more.
    pub async fn end(self, answer: &DueAnswer) -> Result<()> {
        self.move_to(answer, None).await
    }

    /// The answer is tried again then.
    pub async fn try_again(self, answer: &DueAnswer, at: Timestamp) -> Result<()> {
        self.move_to(answer, Some(at)).await
    }

    async fn move_to(self, answer: &DueAnswer, at: Option<Timestamp>) -> Result<()> {
        let DueAnswer { company_id, recipient, kind, message_id, .. } = *answer;
        // A later message may have taken its place.
        Entity::update_many()
            .col_expr(Column::DueAt, Expr::value(at.map(Timestamp::millis)))
            .filter(Column::CompanyId.eq(company_id))
            .filter(Column::Recipient.eq(recipient.as_i64()))
            .filter(Column::Kind.eq(kind.as_i16()))
            .filter(Column::MessageId.eq(message_id))
            .filter(Column::DueAt.is_not_null())
            .exec(&self.store.write)
            .await?;
        Ok(())
    }

    /// Removes answers of which nothing follows any more, at most `limit`.
    pub async fn remove_old(self, now: Timestamp, limit: u32) -> Result<Step> {
        let sql = "DELETE FROM automatic_answer WHERE at < $1 AND due_at IS NULL AND (company_id, recipient, kind) \
                   IN (SELECT company_id, recipient, kind FROM automatic_answer \
                   WHERE at < $1 AND due_at IS NULL ORDER BY at LIMIT $2)";
        let values = [now.minus(ONCE_IN).millis().into(), i64::from(limit).into()];
        let others = execute(&self.store.write, sql, values).await?;
        Ok(Step { others, more: others >= u64::from(limit), ..Step::default() })
    }
}

fn due(
    (company_id, recipient, kind, at, channel_id, message_id): (Uuid, i64, i16, i64, Uuid, Uuid),
) -> Result<DueAnswer> {
    let impossible = || Error::Impossible(format!("the automatic answer {kind} to {recipient}"));
    let kind = AnswerKind::from_i16(kind).ok_or_else(impossible)?;
    let recipient = PhoneNumber::from_i64(recipient).ok_or_else(impossible)?;
    Ok(DueAnswer { company_id, recipient, kind, at: Timestamp::from_millis(at), channel_id, message_id })
}
