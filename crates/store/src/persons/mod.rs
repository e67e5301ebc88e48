//! Numbers that are one person, as the provider's answers show, for each company.
//!
//! Most forms of a number follow from [rules](domain::phone). The rows here join what the rules do not: a row
//! leads from a number to the number under which its person is known, in one step. Numbers in rows are in the form that
//! the rules give.

pub mod users;

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DbBackend, Value};
use uuid::Uuid;

use crate::nouns::{AllPersons, Persons};
use crate::revision::{self, Topic};
use crate::suppressions::listed;
use crate::{Error, Result, Transaction, execute, fetch, fetch_one};
use clock::Timestamp;
use domain::phone::PhoneNumber;

/// A number, and the number under which its person is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OtherNumber {
    /// The company.
    pub company_id: Uuid,
    /// The other number.
    pub number: PhoneNumber,
    /// The person.
    pub person: PhoneNumber,
}

impl AllPersons<'_> {
    /// All companies' learned numbers, or those of one company.
    pub async fn other_numbers(self, of: Option<Uuid>) -> Result<Vec<OtherNumber>> {
        let select = "SELECT company_id, number, person FROM person_number";
        let of_company = if of.is_some() { " WHERE company_id = $1" } else { "" };
        let rows = fetch(&self.store.read, format!("{select}{of_company}"), of.map(Value::from)).await?;
        let other = |(company_id, number, person)| {
            Ok(OtherNumber { company_id, number: self::number(number)?, person: self::number(person)? })
        };
        rows.into_iter().map(other).collect()
    }
}

impl Persons<'_> {
    /// Notes that the provider knows the first number of each pair as the second one. Suppressions move to the person.
    /// Returns how many pairs were news.
    pub async fn learn_numbers(self, pairs: &[(PhoneNumber, PhoneNumber)]) -> Result<usize> {
        let transaction = self.store.begin().await?;
        // This row is locked until the end: pairs are learned one after the other, on all nodes. Services read
        // suppressions and numbers again when it changes.
        revision::bump(&transaction, Topic::Suppression).await?;
        self.lock_suppressions(&transaction, pairs).await?;
        let mut learned = 0;
        for (number, known_as) in pairs {
            let number = self.person_in(&transaction, *number).await?;
            let person = self.person_in(&transaction, *known_as).await?;
            if number != person {
                self.join_numbers(&transaction, number, person).await?;
                learned += 1;
            }
        }
        if learned == 0 {
            transaction.rollback().await?;
        } else {
            transaction.commit().await?;
        }
        Ok(learned)
    }

    /// Locks all suppressions that are about to move, in the order in which the ledger locks these rows.
    ///
    /// A row that the ledger adds for one of these persons at the same moment is not there yet and cannot be locked. If both
    /// transactions add it, and each waits for the other, PostgreSQL ends one of them after a second. That is left to it: the
    /// ledger repeats its batch, and the pairs are noticed again. A lock that excluded it would let the ledgers of all nodes wait
    /// for every pair.
    async fn lock_suppressions(
        self,
        transaction: &Transaction,
        pairs: &[(PhoneNumber, PhoneNumber)],
    ) -> Result<()> {
        if self.store.backend != DbBackend::Postgres {
            return Ok(());
        }
        let mut persons = BTreeSet::new();
        for (number, known_as) in pairs {
            let number = self.person_in(transaction, *number).await?;
            let person = self.person_in(transaction, *known_as).await?;
            if number != person {
                persons.extend([number, person]);
            }
        }
        if persons.is_empty() {
            return Ok(());
        }
        let persons: Vec<_> = persons.into_iter().collect();
        let sql = format!(
            "SELECT scope FROM suppression WHERE company_id = $1 AND recipient IN ({}) ORDER BY recipient, scope{}",
            listed(&persons),
            self.store.locking()
        );
        execute(transaction, sql, [self.company.into()]).await?;
        Ok(())
    }

    /// Joins two numbers under which persons are known. Their suppressions are locked.
    async fn join_numbers(
        self,
        transaction: &Transaction,
        number: PhoneNumber,
        person: PhoneNumber,
    ) -> Result<()> {
        let values =
            || -> [Value; 3] { [self.company.into(), number.as_i64().into(), person.as_i64().into()] };
        let others = "UPDATE person_number SET person = $3 WHERE company_id = $1 AND person = $2";
        execute(transaction, others, values()).await?;
        let sql = "INSERT INTO person_number (company_id, number, person, learned_at) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (company_id, number) DO UPDATE SET person = excluded.person";
        let now = Timestamp::now().millis().into();
        execute(transaction, sql, values().into_iter().chain([now])).await?;
        // Of two statements about one person the latest counts. A hold, which is no statement, gives way.
        let merge = "INSERT INTO suppression (company_id, recipient, scope, until, provider_code, created_at, said_at, \
                     source) SELECT company_id, $3, scope, until, provider_code, created_at, said_at, source \
                     FROM suppression WHERE company_id = $1 AND recipient = $2 \
                     ON CONFLICT (company_id, recipient, scope) DO UPDATE SET until = excluded.until, \
                     provider_code = excluded.provider_code, created_at = excluded.created_at, \
                     said_at = excluded.said_at, source = excluded.source \
                     WHERE suppression.said_at < excluded.said_at";
        execute(transaction, merge, values()).await?;
        let leave = "DELETE FROM suppression WHERE company_id = $1 AND recipient = $2";
        let [company, number, _] = values();
        execute(transaction, leave, [company, number]).await?;
        Ok(())
    }

    /// The number under which the person with this number is known.
    pub(crate) async fn person_in(
        self,
        connection: &impl ConnectionTrait,
        number: PhoneNumber,
    ) -> Result<PhoneNumber> {
        let person = number.person();
        let sql = "SELECT person FROM person_number WHERE company_id = $1 AND number = $2";
        let values = [self.company.into(), person.as_i64().into()];
        fetch_one(connection, sql, values).await?.map_or(Ok(person), self::number)
    }

    /// All numbers of the person with this number; the first is the one under which the person is known.
    pub(crate) async fn forms_in(
        self,
        connection: &impl ConnectionTrait,
        number: PhoneNumber,
    ) -> Result<Vec<PhoneNumber>> {
        let person = self.person_in(connection, number).await?;
        let sql = "SELECT number FROM person_number WHERE company_id = $1 AND person = $2 ORDER BY number";
        let values = [self.company.into(), person.as_i64().into()];
        let mut forms = vec![person];
        for value in fetch(connection, sql, values).await? {
            forms.push(self::number(value)?);
        }
        let others: Vec<_> = forms.iter().filter_map(|form| form.other_form()).collect();
        forms.extend(others);
        Ok(forms)
    }
}

/// The phone number in a column.
fn number(value: i64) -> Result<PhoneNumber> {
    PhoneNumber::from_i64(value).ok_or_else(|| Error::Impossible(format!("the number {value} of a person")))
}
