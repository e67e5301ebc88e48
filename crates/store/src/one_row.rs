//! Rows that are read, locked or written one by one, or removed by their ids, by the names and the values of their columns.

use sea_orm::{ConnectionTrait, TryGetableMany, Value};
use uuid::Uuid;

use crate::dialect::Rows;
use crate::{Result, Store, execute, fetch};

impl Store {
    /// Holds the lock of a row until the transaction ends.
    pub(crate) async fn lock_row(&self, within: &impl ConnectionTrait, table: &str, id: Uuid) -> Result<()> {
        // On SQLite, one transaction writes at a time.
        if !self.locking().is_empty() {
            let sql = format!("SELECT id FROM {table} WHERE id = $1{}", self.locking());
            execute(within, sql, [id.into()]).await?;
        }
        Ok(())
    }

    /// Removes the rows that have one of the ids in this column. Returns how many there were.
    pub(crate) async fn delete_among<'a>(
        &self,
        on: &impl ConnectionTrait,
        table: &str,
        column: &str,
        ids: impl IntoIterator<Item = &'a Uuid>,
    ) -> Result<u64> {
        let (rows, values) = Rows::of_ids(self.backend, ids).select(1);
        execute(on, format!("DELETE FROM {table} WHERE {column} IN (SELECT id FROM {rows} AS gone)"), values)
            .await
    }
}

/// The columns of the rows that have the values `of`, which may be followed by words for their order.
pub(crate) async fn find_rows<T: TryGetableMany>(
    on: &impl ConnectionTrait,
    (table, columns, order): (&str, &str, &str),
    of: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let of = equal(of, &mut values).join(" AND ");
    fetch(on, format!("SELECT {columns} FROM {table} WHERE {of}{order}"), values).await
}

/// The columns of one of these rows.
pub(crate) async fn find_row<T: TryGetableMany>(
    on: &impl ConnectionTrait,
    (table, columns): (&str, &str),
    of: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<Option<T>> {
    Ok(find_rows(on, (table, columns, " LIMIT 1"), of).await?.into_iter().next())
}

/// Adds a row.
pub(crate) async fn insert_row(
    on: &impl ConnectionTrait,
    table: &str,
    row: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<()> {
    put_row(on, table, &[], row).await
}

/// Adds a row, in place of the one with the same values in the columns of the `key`, if there is a key.
pub(crate) async fn put_row(
    on: &impl ConnectionTrait,
    table: &str,
    key: &[&str],
    row: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<()> {
    let (columns, values): (Vec<&str>, Vec<Value>) = row.into_iter().unzip();
    let mut sql = insertion(table, &columns);
    if !key.is_empty() {
        let others = columns.iter().filter(|column| !key.contains(column));
        let set: Vec<_> = others.map(|column| format!("{column} = excluded.{column}")).collect();
        sql += &format!(" ON CONFLICT ({}) DO UPDATE SET {}", key.join(", "), set.join(", "));
    }
    execute(on, sql, values).await?;
    Ok(())
}

/// Adds a row, unless there is one with the same key. Returns whether it was added.
pub(crate) async fn insert_new(
    on: &impl ConnectionTrait,
    table: &str,
    row: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<bool> {
    let (columns, values): (Vec<&str>, Vec<Value>) = row.into_iter().unzip();
    Ok(execute(on, insertion(table, &columns) + " ON CONFLICT DO NOTHING", values).await? > 0)
}

fn insertion(table: &str, columns: &[&str]) -> String {
    let numbers: Vec<_> = (1..=columns.len()).map(|number| format!("${number}")).collect();
    format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), numbers.join(", "))
}

/// Sets columns in the rows that have the values `of`. Returns how many there are.
pub(crate) async fn update_rows(
    on: &impl ConnectionTrait,
    table: &str,
    set: impl IntoIterator<Item = (&'static str, Value)>,
    of: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<u64> {
    let mut values = Vec::new();
    let set = equal(set, &mut values).join(", ");
    let of = equal(of, &mut values).join(" AND ");
    execute(on, format!("UPDATE {table} SET {set} WHERE {of}"), values).await
}

/// Removes the rows that have the values `of`. Returns how many there were.
pub(crate) async fn delete_rows(
    on: &impl ConnectionTrait,
    table: &str,
    of: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<u64> {
    let mut values = Vec::new();
    let of = equal(of, &mut values).join(" AND ");
    execute(on, format!("DELETE FROM {table} WHERE {of}"), values).await
}

/// `column = $n` for each of these columns. Their values become the next parameters.
fn equal(columns: impl IntoIterator<Item = (&'static str, Value)>, values: &mut Vec<Value>) -> Vec<String> {
    let numbered = columns.into_iter().map(|(column, value)| {
        values.push(value);
        format!("{column} = ${}", values.len())
    });
    numbered.collect()
}
