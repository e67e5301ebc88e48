//! Numbers that are one person, as the provider's answers show, for each company.
//!
//! Most forms of a number follow from [rules](domain::phone). The rows here join what the rules do not: a row
//! leads from a number to the number under which its person is known, in one step. Numbers in rows are in the form that
//! the rules give.

pub mod users;

use std::collections::BTreeSet;

use entity::person_number::{Column, Entity, Model};
use entity::suppression;
use sea_orm::sea_query::{Condition, Expr, OnConflict};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, DbBackend, EntityTrait as _, Insert, QueryFilter as _, QueryOrder as _,
};
use uuid::Uuid;

use crate::nouns::{AllPersons, Persons};
use crate::one_row::delete_rows;
use crate::queries::locked;
use crate::revision::{self, Topic};
use crate::{Error, Result, Transaction, execute};
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
        let of_company = of.map(|company| Column::CompanyId.eq(company));
        let rows =
            Entity::find().filter(Condition::all().add_option(of_company)).all(&self.store.read).await?;
        let other = |Model { company_id, number, person, learned_at: _ }| {
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
        let rows = suppression::Entity::find()
            .filter(suppression::Column::CompanyId.eq(self.company))
            .filter(suppression::Column::Recipient.is_in(persons.into_iter().map(PhoneNumber::as_i64)))
            .order_by_asc(suppression::Column::Recipient)
            .order_by_asc(suppression::Column::Scope);
        locked(rows).all(transaction).await?;
        Ok(())
    }

    /// Joins two numbers under which persons are known. Their suppressions are locked.
    async fn join_numbers(
        self,
        transaction: &Transaction,
        number: PhoneNumber,
        person: PhoneNumber,
    ) -> Result<()> {
        let (company_id, number, person) = (self.company, number.as_i64(), person.as_i64());
        let others = Entity::update_many().col_expr(Column::Person, Expr::value(person));
        let others = others.filter(Column::CompanyId.eq(company_id)).filter(Column::Person.eq(number));
        others.exec(transaction).await?;
        let row = Model { company_id, number, person, learned_at: Timestamp::now().millis() };
        let replace =
            OnConflict::columns([Column::CompanyId, Column::Number]).update_column(Column::Person).to_owned();
        Insert::one(row).on_conflict(replace).exec_without_returning(transaction).await?;
        // Of two statements about one person the latest counts. A hold, which is no statement, gives way.
        let merge = "INSERT INTO suppression (company_id, recipient, scope, until, provider_code, created_at, said_at, \
                     source) SELECT company_id, $3, scope, until, provider_code, created_at, said_at, source \
                     FROM suppression WHERE company_id = $1 AND recipient = $2 \
                     ON CONFLICT (company_id, recipient, scope) DO UPDATE SET until = excluded.until, \
                     provider_code = excluded.provider_code, created_at = excluded.created_at, \
                     said_at = excluded.said_at, source = excluded.source \
                     WHERE suppression.said_at < excluded.said_at";
        execute(transaction, merge, [company_id.into(), number.into(), person.into()]).await?;
        let left = [("company_id", company_id.into()), ("recipient", number.into())];
        delete_rows(transaction, "suppression", left).await?;
        Ok(())
    }

    /// The number under which the person with this number is known.
    pub(crate) async fn person_in(
        self,
        connection: &impl ConnectionTrait,
        number: PhoneNumber,
    ) -> Result<PhoneNumber> {
        let person = number.person();
        let other = Entity::find_by_id((self.company, person.as_i64())).one(connection).await?;
        other.map_or(Ok(person), |other| self::number(other.person))
    }

    /// All numbers of the person with this number; the first is the one under which the person is known.
    pub(crate) async fn forms_in(
        self,
        connection: &impl ConnectionTrait,
        number: PhoneNumber,
    ) -> Result<Vec<PhoneNumber>> {
        let person = self.person_in(connection, number).await?;
        let others = Entity::find().filter(Column::CompanyId.eq(self.company));
        let others = others.filter(Column::Person.eq(person.as_i64())).order_by_asc(Column::Number);
        let mut forms = vec![person];
        for other in others.all(connection).await? {
            forms.push(self::number(other.number)?);
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
