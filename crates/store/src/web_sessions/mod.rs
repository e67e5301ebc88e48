//! The records of web sessions: the keys of linked devices, one per row, sealed by the caller.
//!
//! Every call names the channel, and reaches no row of another channel.

pub mod contacts;
pub mod sends;

use std::collections::BTreeMap;

use entity::web_session_record::{Column, Entity, Model};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use uuid::Uuid;

use crate::dialect::{Bulk, Cell, Incoming, Type};
use crate::nouns::WebSessions;
use crate::{Error, Result, Transaction};
use domain::web_session::{Change, Record};

const KEY: &[(&str, Type)] = &[("key", Type::Text)];
const ROW: &[(&str, Type)] =
    &[("namespace", Type::Text), ("key", Type::Text), ("value", Type::Bytes), ("mark", Type::Int)];

impl WebSessions<'_> {
    /// The rows of a session with these keys, in any order.
    pub async fn rows(self, channel: Uuid, namespace: &str, keys: &[&str]) -> Result<Vec<Record>> {
        if let [key] = keys {
            let id = (channel, namespace.to_owned(), (*key).to_owned());
            return Ok(Entity::find_by_id(id).one(&self.store.read).await?.map(record).into_iter().collect());
        }
        let mut found = Vec::with_capacity(keys.len());
        for Incoming { select, mut values, next } in self.keys(keys).into_statements() {
            values.extend([channel.into(), namespace.into()]);
            let (channel, namespace) = (next, next + 1);
            let sql = format!(
                "SELECT record.channel_id, record.namespace, record.key, record.value, record.mark
                 FROM {select} AS wanted CROSS JOIN web_session_record AS record
                 WHERE record.channel_id = ${channel} AND record.namespace = ${namespace}
                     AND record.key = wanted.key"
            );
            let models =
                Entity::find().from_raw_sql(self.store.statement(sql, values)).all(&self.store.read).await?;
            found.extend(models.into_iter().map(record));
        }
        Ok(found)
    }

    /// All rows of a session's namespace, in any order.
    pub async fn namespace(self, channel: Uuid, namespace: &str) -> Result<Vec<Record>> {
        let models = of(channel, namespace).all(&self.store.read).await?;
        Ok(models.into_iter().map(record).collect())
    }

    /// The keys of a session's namespace and their marks, in any order.
    pub async fn namespace_keys(self, channel: Uuid, namespace: &str) -> Result<Vec<(String, i64)>> {
        let keys = of(channel, namespace).select_only().columns([Column::Key, Column::Mark]);
        Ok(keys.into_tuple::<(String, i64)>().all(&self.store.read).await?)
    }

    /// Whether a session's namespace has a key with this beginning.
    pub async fn has_key(self, channel: Uuid, namespace: &str, beginning: &str) -> Result<bool> {
        // No key contains the highest character. Keys are compared byte by byte.
        let end = format!("{beginning}{}", char::MAX);
        let keys = of(channel, namespace).filter(Column::Key.gte(beginning)).filter(Column::Key.lt(end));
        let keys = keys.select_only().column(Column::Key).into_tuple::<String>();
        Ok(keys.one(&self.store.read).await?.is_some())
    }

    /// Makes all of these changes or none, in this order.
    ///
    /// # Errors
    ///
    /// When the database fails; [`Error::InDoubt`] when the connection broke during the commit.
    pub async fn change(self, channel: Uuid, changes: &[Change]) -> Result<()> {
        let transaction = self.store.begin().await?;
        let mut rest = changes;
        while let Some(first) = rest.first() {
            // Consecutive puts are written together.
            let puts = rest.iter().take_while(|change| matches!(change, Change::Put { .. })).count();
            let (now, later) = rest.split_at(puts.max(1));
            match first {
                Change::Put { .. } => self.put_rows(&transaction, channel, now).await?,
                Change::Mark { namespace, keys, mark } => {
                    let own = vec![channel.into(), namespace.as_str().into(), (*mark).into()];
                    self.store
                        .write(&transaction, self.keys(keys), own, |rows, channel| {
                            let (namespace, mark) = (channel + 1, channel + 2);
                            format!(
                                "UPDATE web_session_record SET mark = ${mark} WHERE channel_id = ${channel}
                             AND namespace = ${namespace} AND key IN (SELECT key FROM {rows} AS rows)"
                            )
                        })
                        .await?;
                }
                Change::Delete { namespace, keys } => {
                    let own = vec![channel.into(), namespace.as_str().into()];
                    self.store
                        .write(&transaction, self.keys(keys), own, |rows, channel| {
                            let namespace = channel + 1;
                            format!(
                                "DELETE FROM web_session_record WHERE channel_id = ${channel}
                             AND namespace = ${namespace} AND key IN (SELECT key FROM {rows} AS rows)"
                            )
                        })
                        .await?;
                }
                Change::Clear { namespace } => {
                    let all = Entity::delete_many().filter(Column::ChannelId.eq(channel));
                    all.filter(Column::Namespace.eq(namespace.as_str())).exec(&transaction).await?;
                }
            }
            rest = later;
        }
        transaction.commit().await.map_err(Error::while_committing)
    }

    /// Reads and deletes one row: of two callers, one gets it.
    pub async fn take_row(self, channel: Uuid, namespace: &str, key: &str) -> Result<Option<Record>> {
        let row = Entity::delete_many().filter(Column::ChannelId.eq(channel));
        let row = row.filter(Column::Namespace.eq(namespace)).filter(Column::Key.eq(key));
        // All rows are requested, so that SQLite's statement runs to its end.
        Ok(row.exec_with_returning(&self.store.write).await?.pop().map(record))
    }

    /// Deletes the rows of a session's namespace whose mark is above zero and below this, and returns how many.
    pub async fn delete_rows_below(self, channel: Uuid, namespace: &str, mark: i64) -> Result<u64> {
        let rows = Entity::delete_many().filter(Column::ChannelId.eq(channel));
        let old = rows
            .filter(Column::Namespace.eq(namespace))
            .filter(Column::Mark.gt(0_i64))
            .filter(Column::Mark.lt(mark));
        Ok(old.exec(&self.store.write).await?.rows_affected)
    }

    /// Deletes all rows of a session, and returns how many.
    pub async fn wipe(self, channel: Uuid) -> Result<u64> {
        let all = Entity::delete_many().filter(Column::ChannelId.eq(channel));
        Ok(all.exec(&self.store.write).await?.rows_affected)
    }

    async fn put_rows(self, transaction: &Transaction, channel: Uuid, changes: &[Change]) -> Result<()> {
        // PostgreSQL cannot write a row twice in one statement, so only the last put of a key is written. Rows are
        // locked in the order of their keys.
        let mut last: BTreeMap<(&str, &str), &Record> = BTreeMap::new();
        for change in changes {
            if let Change::Put { namespace, record } = change {
                last.insert((namespace, &record.key), record);
            }
        }
        let mut rows = Bulk::new(self.store.backend, ROW);
        for ((namespace, key), record) in last {
            rows.push([namespace.into(), key.into(), Cell::Bytes(&record.value), record.mark.into()]);
        }
        self.store
            .write(transaction, rows, vec![channel.into()], |rows, channel| {
                format!(
                    "INSERT INTO web_session_record (channel_id, namespace, key, value, mark)
                 SELECT ${channel}, namespace, key, value, mark FROM {rows} AS rows WHERE true
                 ON CONFLICT (channel_id, namespace, key)
                 DO UPDATE SET value = excluded.value, mark = excluded.mark"
                )
            })
            .await?;
        Ok(())
    }

    fn keys(self, keys: &[impl AsRef<str>]) -> Bulk {
        let mut rows = Bulk::new(self.store.backend, KEY);
        keys.iter().for_each(|key| rows.push([key.as_ref().into()]));
        rows
    }
}

fn of(channel: Uuid, namespace: &str) -> Select<Entity> {
    Entity::find().filter(Column::ChannelId.eq(channel)).filter(Column::Namespace.eq(namespace))
}

fn record(Model { channel_id: _, namespace: _, key, value, mark }: Model) -> Record {
    Record { key, value, mark }
}
