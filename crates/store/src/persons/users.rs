//! People whom the provider names by an id of their own within one business, and not by a number.
//!
//! A statement of such a person waits here until the number is known.

use uuid::Uuid;

use super::number;
use crate::dialect::{Bulk, Rows, Type};
use crate::nouns::{AllPersons, Persons};
use crate::revision::{self, Topic};
use crate::suppressions::Says;
use crate::{Error, Result, fetch};
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::suppression::Suppression;

const PAIR: &[(&str, Type)] = &[("user_id", Type::Text), ("number", Type::Int)];
const STATEMENT: &[(&str, Type)] =
    &[("user_id", Type::Text), ("scope", Type::Int), ("says", Type::Int), ("said_at", Type::Int)];
const USER: &[(&str, Type)] = &[("user_id", Type::Text)];

/// A statement of a person whose number is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The person's id within the business.
    pub user_id: String,
    /// The extent.
    pub scope: Suppression,
    /// The statement; a person makes no other kinds than those that [`says_number`] numbers.
    pub says: Says,
    /// When it was made.
    pub said_at: Timestamp,
}

/// The number of a statement in the database; `None` for one that only the provider makes.
const fn says_number(says: Says) -> Option<i16> {
    match says {
        Says::Stop { provider_code: None } => Some(1),
        Says::Resume => Some(2),
        Says::StopWord => Some(3),
        Says::StartWord => Some(4),
        Says::Stop { provider_code: Some(_) } | Says::Hold { .. } => None,
    }
}

const fn says(number: i16) -> Option<Says> {
    match number {
        1 => Some(Says::Stop { provider_code: None }),
        2 => Some(Says::Resume),
        3 => Some(Says::StopWord),
        4 => Some(Says::StartWord),
        _ => None,
    }
}

impl Persons<'_> {
    /// Keeps the numbers of people by their ids. The latest number counts.
    pub async fn keep_users(self, users: &[(String, PhoneNumber)]) -> Result<()> {
        let users: std::collections::BTreeMap<_, _> =
            users.iter().map(|(user, number)| (user.as_str(), *number)).collect();
        let mut rows = Bulk::new(self.store.backend, PAIR);
        for (user, number) in users {
            rows.push([user.into(), number.as_i64().into()]);
        }
        let own = vec![self.company.into(), Timestamp::now().millis().into()];
        self.store.write(&self.store.write, rows, own, |incoming, first| {
            format!(
                "INSERT INTO person_user (company_id, user_id, number, seen_at) \
                 SELECT ${first}, user_id, number, ${} FROM {incoming} AS incoming WHERE TRUE ORDER BY user_id \
                 ON CONFLICT (company_id, user_id) DO UPDATE SET number = excluded.number, seen_at = excluded.seen_at \
                 WHERE person_user.number <> excluded.number",
                first + 1
            )
        })
        .await?;
        Ok(())
    }

    /// The known numbers among these people's.
    pub async fn numbers_of_users(
        self,
        users: impl IntoIterator<Item = &str>,
    ) -> Result<Vec<(String, PhoneNumber)>> {
        let mut asked = Rows::new(self.store.backend, USER);
        users.into_iter().for_each(|user| asked.push([user.into()]));
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let (asked, values) = asked.select(2);
        let sql = format!(
            "SELECT person_user.user_id, person_user.number FROM {asked} AS asked JOIN person_user \
             ON person_user.company_id = $1 AND person_user.user_id = asked.user_id"
        );
        let rows = fetch(&self.store.read, sql, [self.company.into()].into_iter().chain(values)).await?;
        rows.into_iter().map(|(user, value)| Ok((user, number(value)?))).collect()
    }

    /// Keeps statements of people whose numbers are not known: each person's latest of each scope and kind. Once the
    /// number is known, the suppressions have which of them counts.
    pub async fn keep_statements(self, statements: &[Statement]) -> Result<()> {
        let mut last = std::collections::BTreeMap::new();
        for Statement { user_id, scope, says, said_at } in statements {
            let Some(says) = says_number(*says) else { continue };
            let last = last.entry((user_id.as_str(), *scope, says)).or_insert(*said_at);
            *last = (*last).max(*said_at);
        }
        let mut rows = Bulk::new(self.store.backend, STATEMENT);
        for ((user, scope, says), said_at) in last {
            let scope = i64::from(scope.as_i16());
            rows.push([user.into(), scope.into(), i64::from(says).into(), said_at.millis().into()]);
        }
        let transaction = self.store.begin().await?;
        // Other processes have to know for whom they look.
        revision::bump(&transaction, Topic::Suppression).await?;
        self.store
            .write(&transaction, rows, vec![self.company.into()], |incoming, company| {
                format!(
                    "INSERT INTO person_statement (company_id, user_id, scope, says, said_at) \
                 SELECT ${company}, user_id, scope, says, said_at FROM {incoming} AS incoming WHERE TRUE \
                 ON CONFLICT (company_id, user_id, scope, says) DO UPDATE SET said_at = excluded.said_at \
                 WHERE person_statement.said_at < excluded.said_at"
                )
            })
            .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The waiting statements of these people.
    pub async fn statements_of(self, users: impl IntoIterator<Item = &str>) -> Result<Vec<Statement>> {
        let mut asked = Rows::new(self.store.backend, USER);
        users.into_iter().for_each(|user| asked.push([user.into()]));
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let (asked, values) = asked.select(2);
        let sql = format!(
            "SELECT statement.user_id, statement.scope, statement.says, statement.said_at FROM {asked} AS asked \
             JOIN person_statement AS statement ON statement.company_id = $1 AND statement.user_id = asked.user_id"
        );
        let rows = fetch(&self.store.read, sql, [self.company.into()].into_iter().chain(values)).await?;
        let impossible = |what: i16| Error::Impossible(format!("a person's statement {what}"));
        let statement = |(user_id, scope, kind, said_at)| {
            Ok(Statement {
                user_id,
                scope: Suppression::from_i16(scope).ok_or_else(|| impossible(scope))?,
                says: says(kind).ok_or_else(|| impossible(kind))?,
                said_at: Timestamp::from_millis(said_at),
            })
        };
        rows.into_iter().map(statement).collect()
    }

    /// Removes statements that are applied, unless a later one of the person has come since.
    pub async fn remove_statements(self, applied: &[Statement]) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, STATEMENT);
        for statement in applied {
            let scope = i64::from(statement.scope.as_i16());
            let says = says_number(statement.says).map_or(0, i64::from);
            let (user, said_at) = (statement.user_id.as_str(), statement.said_at.millis());
            rows.push([user.into(), scope.into(), says.into(), said_at.into()]);
        }
        self.store.write(&self.store.write, rows, vec![self.company.into()], |incoming, company| {
            format!(
                "DELETE FROM person_statement WHERE company_id = ${company} AND EXISTS (SELECT 1 FROM {incoming} \
                 AS incoming WHERE incoming.user_id = person_statement.user_id \
                 AND incoming.scope = person_statement.scope AND incoming.says = person_statement.says \
                 AND incoming.said_at >= person_statement.said_at)"
            )
        })
        .await?;
        Ok(())
    }
}

impl AllPersons<'_> {
    /// The people whose statements wait, by company.
    pub async fn waiting_users(self) -> Result<Vec<(Uuid, String)>> {
        fetch(&self.store.read, "SELECT DISTINCT company_id, user_id FROM person_statement", []).await
    }
}
