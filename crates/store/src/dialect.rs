//! The differences between SQLite and PostgreSQL.
//!
//! The main difference is how one statement takes many rows: PostgreSQL unnests one array per column, SQLite reads one
//! JSON array per row. Both keep the statement's text the same for any number of rows, so that it is prepared once.

mod arrays;
mod bulk;
mod conditions;

use std::fmt::Write as _;

use sea_orm::{DbBackend, Value};
use uuid::Uuid;

pub(super) use self::arrays::{Arrays, bind};
pub(super) use self::bulk::{Bulk, Incoming};
pub(super) use self::conditions::is_written;
use super::Store;

/// The collation that compares texts byte by byte.
pub(super) const fn bytewise(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => r#""C""#,
        _ => "BINARY",
    }
}

/// The database's clock in Unix milliseconds, at this moment and not at the transaction's beginning.
pub(super) const fn now(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT",
        _ => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    }
}

/// The type of a column of [`Rows`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Uuid,
    Int,
    Text,
    Bytes,
}

/// One value of [`Rows`].
#[derive(Debug, Clone)]
pub(super) enum Cell<'a> {
    Uuid(Uuid),
    Int(Option<i64>),
    Text(Option<&'a str>),
    Bytes(&'a [u8]),
}

impl From<i64> for Cell<'_> {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Uuid> for Cell<'_> {
    fn from(value: Uuid) -> Self {
        Self::Uuid(value)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(Some(value))
    }
}

impl Store {
    /// The hours in which the send with this id was accepted, as the index of recipients has them.
    pub(super) fn hours_of(&self, id: &str) -> String {
        match self.backend {
            DbBackend::Postgres => format!("substring(uuid_send({id}) FROM 1 FOR 3)"),
            _ => format!("substr({id}, 1, 3)"),
        }
    }

    /// A sub-select that yields the numbers from 0 to `last`, in the column `number`.
    pub(super) fn numbers_to(&self, last: u32) -> String {
        match self.backend {
            DbBackend::Postgres => format!("(SELECT number FROM generate_series(0, {last}) AS number)"),
            _ => format!(
                "(WITH RECURSIVE counted(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM counted \
                 WHERE number < {last}) SELECT number FROM counted)"
            ),
        }
    }

    /// The hours whose number is in this expression, of at most 24 bits.
    pub(super) fn hours_numbered(&self, number: &str) -> String {
        match self.backend {
            DbBackend::Postgres => {
                format!("substring(int4send(CAST({number} AS integer)) FROM 2 FOR 3)")
            }
            _ => format!("unhex(printf('%06X', {number}))"),
        }
    }

    /// A sub-select that yields all such hours from the one in the parameter `first` to the one in `last`.
    pub(super) fn spans(&self, first: usize, last: usize) -> String {
        let hours = self.hours_numbered("number");
        match self.backend {
            DbBackend::Postgres => format!(
                "(SELECT {hours} AS hours \
                 FROM generate_series(CAST(${first} AS bigint), CAST(${last} AS bigint)) AS number)"
            ),
            _ => format!(
                "(WITH RECURSIVE counted(number) AS (SELECT ${first} WHERE ${first} <= ${last} \
                 UNION ALL SELECT number + 1 FROM counted WHERE number < ${last}) \
                 SELECT {hours} AS hours FROM counted)"
            ),
        }
    }
}

/// Many rows as the parameters of one statement.
pub(super) struct Rows {
    columns: &'static [(&'static str, Type)],
    len: usize,
    form: Form,
}

enum Form {
    Json(String),
    /// An array of each column in PostgreSQL's text form: the driver's own arrays cannot hold nulls.
    Arrays(Vec<String>),
}

impl Rows {
    /// No rows yet, of these columns.
    pub(super) fn new(backend: DbBackend, columns: &'static [(&'static str, Type)]) -> Self {
        let form = match backend {
            DbBackend::Postgres => Form::Arrays(columns.iter().map(|_| String::from("{")).collect()),
            _ => Form::Json(String::from("[")),
        };
        Self { columns, len: 0, form }
    }

    /// A row for each of these ids, in the column `id`.
    pub(super) fn of_ids<'a>(backend: DbBackend, ids: impl IntoIterator<Item = &'a Uuid>) -> Self {
        let mut rows = Self::new(backend, &[("id", Type::Uuid)]);
        ids.into_iter().for_each(|id| rows.push([(*id).into()]));
        rows
    }

    /// A row for each of these places of a list, in the column `ordinal`.
    pub(super) fn of_ordinals(
        backend: DbBackend,
        ordinals: impl IntoIterator<Item = impl Into<i64>>,
    ) -> Self {
        let mut rows = Self::new(backend, &[("ordinal", Type::Int)]);
        for ordinal in ordinals {
            let ordinal: i64 = ordinal.into();
            rows.push([ordinal.into()]);
        }
        rows
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How long all values together are.
    fn bytes(&self) -> usize {
        match &self.form {
            Form::Json(json) => json.len(),
            Form::Arrays(arrays) => arrays.iter().map(String::len).sum(),
        }
    }

    /// Adds one row; `cells` are in the order of the columns.
    #[expect(clippy::needless_pass_by_value, reason = "callers write a row in place, not a reference to one")]
    pub(super) fn push<'a, const N: usize>(&mut self, cells: [Cell<'a>; N]) {
        debug_assert_eq!(N, self.columns.len());
        match &mut self.form {
            Form::Json(json) => {
                json.push_str(if self.len == 0 { "[" } else { ",[" });
                for (index, cell) in cells.iter().enumerate() {
                    if index > 0 {
                        json.push(',');
                    }
                    push_json(json, cell);
                }
                json.push(']');
            }
            Form::Arrays(arrays) => {
                for (array, cell) in arrays.iter_mut().zip(&cells) {
                    if self.len > 0 {
                        array.push(',');
                    }
                    push_element(array, cell);
                }
            }
        }
        self.len += 1;
    }

    /// A sub-select that yields the rows, and the values of a statement whose first parameters are its `own`.
    pub(super) fn behind<const N: usize>(self, own: [Value; N]) -> (String, Vec<Value>) {
        let (select, rows) = self.select(N + 1);
        (select, own.into_iter().chain(rows).collect())
    }

    /// A sub-select that yields the rows, its parameters numbered from `first`, and their values.
    pub(super) fn select(self, first: usize) -> (String, Vec<Value>) {
        let mut sql = String::from("(SELECT ");
        match self.form {
            Form::Json(mut json) => {
                json.push(']');
                for (index, (name, kind)) in self.columns.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    let _ = match kind {
                        Type::Uuid | Type::Bytes => write!(sql, "{comma}unhex(value->>{index}) AS {name}"),
                        Type::Int | Type::Text => write!(sql, "{comma}value->>{index} AS {name}"),
                    };
                }
                let _ = write!(sql, " FROM json_each(${first}))");
                (sql, vec![json.into()])
            }
            Form::Arrays(arrays) => {
                let names: Vec<_> = self.columns.iter().map(|(name, _)| *name).collect();
                let types = self.columns.iter().enumerate().map(|(index, (_, kind))| {
                    let word = match kind {
                        Type::Uuid => "uuid",
                        Type::Int => "bigint",
                        Type::Text => "text",
                        Type::Bytes => "bytea",
                    };
                    format!("${}::text::{word}[]", first + index)
                });
                let unnested = types.collect::<Vec<_>>().join(", ");
                let _ = write!(sql, "* FROM UNNEST({unnested}) AS unnested ({}))", names.join(", "));
                let values = arrays.into_iter().map(|array| Value::from(array + "}"));
                (sql, values.collect())
            }
        }
    }
}

/// One element of an array in PostgreSQL's text form
/// (<https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO>).
fn push_element(array: &mut String, cell: &Cell<'_>) {
    // Writing into a string cannot fail.
    let _ = match cell {
        Cell::Uuid(id) => write!(array, "{}", id.as_simple()),
        Cell::Int(Some(number)) => write!(array, "{number}"),
        Cell::Int(None) | Cell::Text(None) => write!(array, "NULL"),
        Cell::Text(Some(text)) => {
            array.push('"');
            for character in text.chars() {
                if matches!(character, '"' | '\\') {
                    array.push('\\');
                }
                array.push(character);
            }
            write!(array, "\"")
        }
        Cell::Bytes(bytes) => write!(array, r#""\\x{}""#, hex::encode(bytes)),
    };
}

fn push_json(json: &mut String, cell: &Cell<'_>) {
    // Writing into a string cannot fail.
    let _ = match cell {
        Cell::Uuid(id) => write!(json, "\"{}\"", id.as_simple()),
        Cell::Int(Some(number)) => write!(json, "{number}"),
        Cell::Int(None) | Cell::Text(None) => write!(json, "null"),
        Cell::Text(Some(text)) => match serde_json::to_string(text) {
            Ok(quoted) => write!(json, "{quoted}"),
            Err(_) => write!(json, "null"),
        },
        Cell::Bytes(bytes) => write!(json, "\"{}\"", hex::encode(bytes)),
    };
}
