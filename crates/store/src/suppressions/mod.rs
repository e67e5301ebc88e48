//! Suppressed recipients, and those that are held for a while.
//!
//! The ledger writes the statements of the provider and of recipients ([`crate::ledger`]). This file has the
//! reads, and people's changes, which a running service detects by the counter that they raise.

mod list;

use entity::suppression::{Column, Entity, Model};
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, EntityTrait as _, FromQueryResult as _, Insert, QueryFilter as _,
    QueryOrder as _, QueryResult, Select,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::changes::{self, Change, What, Who};
use crate::dialect::{Rows, Type};
use crate::nouns::{AllSuppressions, Suppressions};
use crate::queries::locked;
use crate::revision::{self, Topic};
use crate::{Error, Result, execute};
use clock::Timestamp;
use domain::event::log::Fact;
use domain::phone::PhoneNumber;
use domain::suppression::{Source, Suppression};

/// The suppression of one recipient of one company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The company.
    pub company_id: Uuid,
    /// The recipient.
    pub recipient: PhoneNumber,
    /// The messages that are suppressed.
    pub scope: Suppression,
    /// The end of a hold, until which messages wait; `None` when sends skip the recipient.
    pub until: Option<Timestamp>,
    /// The provider's code; `None` when the recipient or a person decided.
    pub provider_code: Option<i64>,
}

/// A statement about one recipient of one company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The company.
    pub company_id: Uuid,
    /// The recipient.
    pub recipient: PhoneNumber,
    /// The extent.
    pub scope: Suppression,
    /// When it was made: the latest statement counts, whenever it arrives.
    pub said_at: Timestamp,
    /// The statement.
    pub says: Says,
}

/// The kinds of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// Sends skip the recipient from now on.
    Stop {
        /// The provider's code.
        provider_code: Option<i64>,
    },
    /// Messages are held for [`HOLD`](domain::suppression::HOLD).
    Hold {
        /// Its end.
        until: Timestamp,
        /// The provider's code.
        provider_code: Option<i64>,
    },
    /// Sends no longer skip the recipient.
    Resume,
    /// The recipient wrote an opt-out word: sends skip them from now on.
    StopWord,
    /// The recipient wrote a word that takes their opt-out word back. Other suppressions stay.
    StartWord,
}

/// The subject of a statement.
pub type Subject = (Uuid, PhoneNumber, Suppression);

impl Record {
    /// The subject.
    pub const fn subject(&self) -> Subject {
        (self.company_id, self.recipient, self.scope)
    }
}

impl Word {
    /// The subject.
    pub const fn subject(&self) -> Subject {
        (self.company_id, self.recipient, self.scope)
    }

    /// The suppression that it leads to, unless it lifts one.
    pub fn record(&self) -> Option<Record> {
        let Self { company_id, recipient, scope, .. } = *self;
        let (until, provider_code) = match self.says {
            Says::Stop { provider_code } => (None, provider_code),
            Says::Hold { until, provider_code } => (Some(until), provider_code),
            Says::StopWord => (None, None),
            Says::Resume | Says::StartWord => return None,
        };
        Some(Record { company_id, recipient, scope, until, provider_code })
    }

    /// Until when it suppresses the recipient; `None` for permanently. A lifted suppression ends at the time of the
    /// statement.
    pub(crate) const fn until(&self) -> Option<Timestamp> {
        match self.says {
            Says::Stop { .. } | Says::StopWord => None,
            Says::Hold { until, .. } => Some(until),
            Says::Resume | Says::StartWord => Some(self.said_at),
        }
    }

    pub(crate) const fn provider_code(&self) -> Option<i64> {
        match self.says {
            Says::Stop { provider_code } | Says::Hold { provider_code, .. } => provider_code,
            Says::Resume | Says::StopWord | Says::StartWord => None,
        }
    }

    /// Where it comes from.
    pub(crate) const fn source(&self) -> Source {
        match self.says {
            Says::Stop { provider_code: Some(_) } | Says::Hold { .. } => Source::Provider,
            Says::Stop { provider_code: None } | Says::Resume => Source::Preference,
            Says::StopWord | Says::StartWord => Source::Message,
        }
    }
}

/// A suppression as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// The record.
    pub record: Record,
    /// Since when.
    pub since: Timestamp,
    /// Where it comes from; `None` for one from before this was kept.
    pub source: Option<Source>,
}

/// The numbers of two sources, for SQL.
const MESSAGE: i16 = Source::Message.as_i16();
const OPERATOR: i16 = Source::Operator.as_i16();
pub(crate) const SUBJECT: &[(&str, Type)] =
    &[("company_id", Type::Uuid), ("recipient", Type::Int), ("scope", Type::Int)];
pub(crate) const COLUMNS: &str =
    "company_id, recipient, scope, until, provider_code, created_at, said_at, source";

impl AllSuppressions<'_> {
    /// The suppressions of all companies that hold at `now`.
    pub async fn current(self, now: Timestamp) -> Result<Vec<Record>> {
        let all = holding(now).all(&self.store.read).await?;
        all.iter().map(|model| Ok(kept(model)?.record)).collect()
    }

    /// The suppressions of these subjects that hold at `now`.
    pub async fn among(self, subjects: &[Subject], now: Timestamp) -> Result<Vec<Record>> {
        let mut asked = Rows::new(self.store.backend, SUBJECT);
        for (company_id, recipient, scope) in subjects {
            asked.push([(*company_id).into(), recipient.as_i64().into(), i64::from(scope.as_i16()).into()]);
        }
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let (asked, values) = asked.select(2);
        let sql = format!(
            "SELECT {} FROM {asked} AS asked JOIN suppression \
             ON suppression.company_id = asked.company_id AND suppression.recipient = asked.recipient \
             AND suppression.scope = asked.scope \
             WHERE suppression.until IS NULL OR suppression.until > $1",
            qualified_columns()
        );
        let rows = self.store.rows(sql, [now.millis().into()].into_iter().chain(values)).await?;
        rows.iter().map(|row| Ok(read(row)?.record)).collect()
    }
}

impl Suppressions<'_> {
    /// The suppressions of one company that hold at `now`, by number.
    pub async fn all(self, now: Timestamp) -> Result<Vec<Kept>> {
        read_all(&self.store.read, self.holding(now)).await
    }

    /// Makes a company's sends skip a recipient until the suppression is lifted. `false` when they did before.
    pub async fn add(self, who: &Who, recipient: PhoneNumber, scope: Suppression) -> Result<bool> {
        let company_id = self.company;
        let transaction = self.store.begin().await?;
        revision::bump(&transaction, Topic::Suppression).await?;
        let now = Timestamp::now();
        let forms = self.store.of(self.company).persons().forms_in(&transaction, recipient).await?;
        let recipient = forms[0];
        let before = read_all(&transaction, self.of_forms(&forms, now)).await?;
        // Only a hold is overwritten: a permanent suppression keeps its reason.
        let at = now.millis();
        let row = Model {
            company_id,
            recipient: recipient.as_i64(),
            scope: scope.as_i16(),
            until: None,
            provider_code: None,
            created_at: at,
            said_at: at,
            source: Some(OPERATOR),
        };
        let unless_permanent = OnConflict::columns([Column::CompanyId, Column::Recipient, Column::Scope])
            .update_columns([
                Column::Until,
                Column::ProviderCode,
                Column::CreatedAt,
                Column::SaidAt,
                Column::Source,
            ])
            .action_and_where(Column::Until.is_not_null())
            .to_owned();
        if Insert::one(row).on_conflict(unless_permanent).exec_without_returning(&transaction).await? == 0 {
            // The suppression is unchanged, but earlier statements that arrive later must count as older than this one.
            transaction.rollback().await?;
            // The recipient's own word for it can no longer be taken back by another word.
            let source = Expr::case(Column::Source.eq(MESSAGE), OPERATOR).finally(Expr::col(Column::Source));
            let touch = Entity::update_many()
                .col_expr(Column::SaidAt, Expr::value(at))
                .col_expr(Column::Source, source.into())
                .filter(Column::CompanyId.eq(company_id))
                .filter(Column::Recipient.eq(recipient.as_i64()))
                .filter(Column::Scope.eq(scope.as_i16()))
                .filter(Column::Until.is_null())
                .filter(Column::SaidAt.lt(at));
            touch.exec(&self.store.write).await?;
            return Ok(false);
        }
        let after = read_all(&transaction, self.of_forms(&forms, now)).await?;
        let recorded = changed(who, company_id, recipient, &before, &after);
        changes::record(&transaction, &[recorded]).await?;
        // Under another form of the number, the person may have opted out before.
        if !before.iter().any(|kept| kept.record.scope == scope && kept.record.until.is_none()) {
            let fact = Fact::of_opt_out(recipient, scope, Source::Operator, now);
            self.store.event_log().tell_facts(&transaction, company_id, vec![fact], now).await?;
        }
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(true)
    }

    /// Lifts all suppressions of a recipient, and returns them.
    pub async fn lift(self, who: &Who, recipient: PhoneNumber) -> Result<Vec<Kept>> {
        let company_id = self.company;
        let transaction = self.store.begin().await?;
        revision::bump(&transaction, Topic::Suppression).await?;
        let now = Timestamp::now();
        let forms = self.store.of(self.company).persons().forms_in(&transaction, recipient).await?;
        let lifted = read_all(&transaction, locked(self.of_forms(&forms, now))).await?;
        if lifted.is_empty() {
            return transaction.unchanged(lifted).await;
        }
        // The rows stay, so that an older statement that arrives later does not suppress the recipient again.
        let forms_listed = listed(&forms);
        let sql = format!(
            "UPDATE suppression SET until = $2, said_at = $2 WHERE company_id = $1 \
             AND (recipient, scope) IN (SELECT recipient, scope FROM suppression WHERE company_id = $1 \
             AND recipient IN ({forms_listed}) AND (until IS NULL OR until > $2) ORDER BY recipient, scope{})",
            self.store.locking()
        );
        execute(&transaction, sql, [company_id.into(), now.millis().into()]).await?;
        let recorded = changed(who, company_id, forms[0], &lifted, &[]);
        changes::record(&transaction, &[recorded]).await?;
        let ended = lifted.iter().map(|kept| kept.record).filter(|record| record.until.is_none());
        let facts =
            ended.map(|record| Fact::of_opt_in(record.recipient, record.scope, Source::Operator, now));
        self.store.event_log().tell_facts(&transaction, company_id, facts.collect(), now).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(lifted)
    }

    /// Those of the company that hold at `now`, by number.
    fn holding(self, now: Timestamp) -> Select<Entity> {
        let own = holding(now).filter(Column::CompanyId.eq(self.company));
        own.order_by_asc(Column::Recipient).order_by_asc(Column::Scope)
    }

    /// Those of one recipient, under any of the numbers.
    fn of_forms(self, forms: &[PhoneNumber], now: Timestamp) -> Select<Entity> {
        self.holding(now).filter(Column::Recipient.is_in(forms.iter().map(|form| form.as_i64())))
    }
}

/// The suppressions of all companies that hold at `now`.
fn holding(now: Timestamp) -> Select<Entity> {
    Entity::find().filter(Column::Until.is_null().or(Column::Until.gt(now.millis())))
}

async fn read_all(on: &impl ConnectionTrait, of: Select<Entity>) -> Result<Vec<Kept>> {
    of.all(on).await?.iter().map(kept).collect()
}

/// The columns of a row, for a statement that joins other tables.
pub(crate) fn qualified_columns() -> String {
    COLUMNS.split(", ").map(|column| format!("suppression.{column}")).collect::<Vec<_>>().join(", ")
}

/// Numbers for a list in SQL.
pub(crate) fn listed(numbers: &[PhoneNumber]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A person's change for one recipient, for the record of changes.
fn changed(who: &Who, company_id: Uuid, recipient: PhoneNumber, before: &[Kept], after: &[Kept]) -> Change {
    let before = Some(before).filter(|before| !before.is_empty()).map(|before| state(company_id, before));
    Change::now(who, What::Suppression, format!("+{recipient}"), before, state(company_id, after))
}

/// A recipient's suppressions, for the record of changes.
fn state(company_id: Uuid, kept: &[Kept]) -> Value {
    let scopes = |until: bool| -> Vec<_> {
        let records = kept.iter().map(|kept| kept.record);
        records.filter(|record| record.until.is_some() == until).map(|record| record.scope.as_str()).collect()
    };
    json!({ "company_id": company_id, "left_out_of": scopes(false), "held_for_a_while": scopes(true) })
}

/// Reads a row of [`COLUMNS`].
pub(crate) fn read(row: &QueryResult) -> Result<Kept> {
    kept(&Model::from_query_result(row, "")?)
}

fn kept(model: &Model) -> Result<Kept> {
    let Model { company_id, recipient, scope, until, provider_code, created_at, said_at: _, source } = *model;
    let impossible = |what: String| Error::Impossible(format!("a suppression of {what}"));
    let record = Record {
        company_id,
        recipient: PhoneNumber::from_i64(recipient).ok_or_else(|| impossible(recipient.to_string()))?,
        scope: Suppression::from_i16(scope).ok_or_else(|| impossible(scope.to_string()))?,
        until: until.map(Timestamp::from_millis),
        provider_code,
    };
    let (since, source) = (Timestamp::from_millis(created_at), source.and_then(Source::from_i16));
    Ok(Kept { record, since, source })
}
