//! The keys of operators, who may change tiers and channels of every company. As with API keys, only a hash of each key
//! is stored.

use entity::operator_key;
use sea_orm::sea_query::Expr;
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Set};
use serde_json::json;
use uuid::Uuid;

use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::Operators;
use crate::one_row::delete_rows;
use clock::Timestamp;

/// An operator's key to add.
#[derive(Debug, Clone)]
pub struct NewOperator<'a> {
    /// The operator's name, unique among all keys, revoked ones included.
    pub name: &'a str,
    /// The key's first characters.
    pub prefix: &'a str,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// When it expires; never when `None`.
    pub expires_at: Option<Timestamp>,
}

/// An operator, with the public part of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// Time-ordered id of the key.
    pub id: Uuid,
    /// The name in the record of changes.
    pub name: String,
    /// The key's first characters.
    pub prefix: String,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was added.
    pub created_at: Timestamp,
}

impl Operator {
    /// Whether the key is valid at this moment: neither revoked nor expired.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

impl From<operator_key::Model> for Operator {
    fn from(model: operator_key::Model) -> Self {
        let operator_key::Model { id, name, prefix, hash: _, expires_at, revoked_at, created_at } = model;
        Self {
            id,
            name,
            prefix,
            expires_at: expires_at.map(Timestamp::from_millis),
            revoked_at: revoked_at.map(Timestamp::from_millis),
            created_at: Timestamp::from_millis(created_at),
        }
    }
}

impl Operators<'_> {
    /// Adds an operator's key.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Taken`] when there is or was an operator of this name.
    pub async fn add(self, who: &Who, new: NewOperator<'_>) -> Result<Operator> {
        let NewOperator { name, prefix, hash, expires_at } = new;
        let model = operator_key::ActiveModel {
            id: Set(Uuid::now_v7()),
            name: Set(name.to_owned()),
            prefix: Set(prefix.to_owned()),
            hash: Set(hash.to_vec()),
            expires_at: Set(expires_at.map(Timestamp::millis)),
            revoked_at: Set(None),
            created_at: Set(Timestamp::now().millis()),
        };
        let transaction = self.store.begin().await?;
        let model = model.insert(&transaction).await?;
        changes::record_one(&transaction, who, What::Operator, name, None, json!("valid")).await?;
        transaction.commit().await?;
        Ok(model.into())
    }

    /// Every operator, by name; those with revoked and expired keys too.
    pub async fn all(self) -> Result<Vec<Operator>> {
        let operators = operator_key::Entity::find().order_by_asc(operator_key::Column::Name);
        Ok(operators.all(&self.store.read).await?.into_iter().map(Operator::from).collect())
    }

    /// Revokes an operator's key, and the links that were made with it; `false` when there is no such operator or it was revoked before.
    pub async fn revoke(self, who: &Who, name: &str) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let revoked = operator_key::Entity::update_many()
            .col_expr(operator_key::Column::RevokedAt, Expr::value(Timestamp::now().millis()))
            .filter(operator_key::Column::Name.eq(name))
            .filter(operator_key::Column::RevokedAt.is_null())
            .exec(&transaction)
            .await?;
        if revoked.rows_affected == 0 {
            return transaction.unchanged(false).await;
        }
        // No person and no command line is named like an operator: their names have a colon.
        delete_rows(&transaction, "link", [("made_by", name.into())]).await?;
        changes::record_one(&transaction, who, What::Operator, name, Some(json!("valid")), json!("revoked"))
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The operator whose key has this hash, whether it still works or not.
    pub async fn find(self, hash: &[u8; 32]) -> Result<Option<Operator>> {
        let key = operator_key::Entity::find().filter(operator_key::Column::Hash.eq(hash.to_vec()));
        Ok(key.one(&self.store.read).await?.map(Operator::from))
    }
}
