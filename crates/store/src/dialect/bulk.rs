//! Many rows to be written, in statements of a bounded size.
//!
//! Unlike [`Rows`], which builds one statement for any number of rows, this is for frequent writes. SQLite takes each
//! value as a parameter, which costs it less than half of reading JSON; the numbers of rows are rounded up, so that few
//! different statements have to be prepared. PostgreSQL takes arrays, no larger than the network sends in one piece.

use sea_orm::{DbBackend, Value};

use super::{Cell, Rows, Type};

/// The most rows of one statement on SQLite, which takes 32,766 parameters.
const MOST_ROWS: usize = 256;
/// Bytes of one statement, on PostgreSQL. A longer one leaves an encrypted connection in several pieces, and the
/// last is held back until the server's delayed acknowledgement, some 40 ms: the driver does not set
/// `TCP_NODELAY`. A record of TLS has room for 16 KiB.
const ONE_PIECE: usize = 15 * 1024;
/// Few rows of this mean length would fit in one piece: they go together up to [`MOST_BYTES`].
const LONG_ROW: usize = 2 * 1024;
const MOST_BYTES: usize = 512 * 1024;

pub(crate) struct Bulk {
    backend: DbBackend,
    columns: &'static [(&'static str, Type)],
    statements: Vec<Statement>,
}

enum Statement {
    Bound(Vec<Value>),
    Arrays(Rows),
}

/// The rows of one statement.
pub(crate) struct Incoming {
    /// A sub-select that yields them.
    pub(crate) select: String,
    /// Its parameters, which come first in the statement.
    pub(crate) values: Vec<Value>,
    /// The number of the parameter after these.
    pub(crate) next: usize,
}

impl Bulk {
    /// No rows yet, of these columns. The first is never null.
    pub(crate) const fn new(backend: DbBackend, columns: &'static [(&'static str, Type)]) -> Self {
        Self { backend, columns, statements: Vec::new() }
    }

    /// Whether one statement at most is needed.
    pub(crate) const fn is_one_statement(&self) -> bool {
        self.statements.len() <= 1
    }

    /// Adds one row; `cells` are in the order of the columns.
    pub(crate) fn push<const N: usize>(&mut self, cells: [Cell<'_>; N]) {
        if self.statements.last().is_none_or(|statement| statement.is_full(N)) {
            self.statements.push(match self.backend {
                DbBackend::Postgres => Statement::Arrays(Rows::new(self.backend, self.columns)),
                _ => Statement::Bound(Vec::with_capacity(4 * N)),
            });
        }
        match self.statements.last_mut() {
            Some(Statement::Bound(values)) => values.extend(cells.into_iter().map(Value::from)),
            Some(Statement::Arrays(rows)) => rows.push(cells),
            None => {}
        }
    }

    /// The rows of each statement.
    pub(crate) fn into_statements(self) -> impl Iterator<Item = Incoming> {
        let columns = self.columns;
        self.statements.into_iter().map(move |statement| match statement {
            Statement::Bound(values) => bound(columns, values),
            Statement::Arrays(rows) => {
                let (select, values) = rows.select(1);
                Incoming { select, next: values.len() + 1, values }
            }
        })
    }
}

impl Statement {
    fn is_full(&self, columns: usize) -> bool {
        match self {
            Self::Bound(values) => values.len() >= MOST_ROWS * columns,
            Self::Arrays(rows) => {
                let bytes = rows.bytes();
                bytes >= MOST_BYTES || (bytes >= ONE_PIECE && bytes < rows.len * LONG_ROW)
            }
        }
    }
}

/// Parameters without numbers: SQLite looks numbered ones up by name, one after the other.
fn bound(columns: &[(&str, Type)], mut values: Vec<Value>) -> Incoming {
    let rows = (values.len() / columns.len()).next_power_of_two();
    // Rows of nulls, which the statement skips.
    values.resize(rows * columns.len(), Value::BigInt(None));
    let names = columns.iter().zip(1..).map(|((name, _), number)| format!("column{number} AS {name}"));
    let names = names.collect::<Vec<_>>().join(", ");
    let row = format!("({})", vec!["?"; columns.len()].join(","));
    let all = vec![row; rows].join(",");
    let select = format!("(SELECT {names} FROM (VALUES {all}) WHERE column1 IS NOT NULL)");
    Incoming { select, next: values.len() + 1, values }
}

impl From<Cell<'_>> for Value {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Uuid(id) => id.into(),
            Cell::Int(number) => number.into(),
            Cell::Text(text) => text.map(str::to_owned).into(),
            Cell::Bytes(bytes) => bytes.to_vec().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[(&str, Type)] = &[("id", Type::Int), ("word", Type::Text)];

    fn filled(backend: DbBackend, rows: i64, word: &str) -> Vec<Incoming> {
        let mut bulk = Bulk::new(backend, COLUMNS);
        for id in 0..rows {
            bulk.push([id.into(), word.into()]);
        }
        bulk.into_statements().collect()
    }

    #[test]
    fn sqlite_gets_few_different_statements() {
        let [three] = &filled(DbBackend::Sqlite, 3, "a")[..] else { panic!("one statement") };
        assert_eq!(
            three.select,
            "(SELECT column1 AS id, column2 AS word FROM (VALUES (?,?),(?,?),(?,?),(?,?)) WHERE column1 IS NOT NULL)"
        );
        assert_eq!((three.values.len(), three.next), (8, 9));
        let rows: Vec<_> =
            filled(DbBackend::Sqlite, 600, "a").iter().map(|part| part.values.len() / 2).collect();
        assert_eq!(rows, [256, 256, 128]);
        assert!(filled(DbBackend::Sqlite, 0, "a").is_empty());
    }

    #[test]
    fn postgresql_gets_no_more_than_goes_in_one_piece() {
        let sizes = |word: &str| {
            let bytes = |part: &Incoming| part.values.iter().map(|value| value.to_string().len()).sum();
            filled(DbBackend::Postgres, 1_000, word).iter().map(bytes).collect::<Vec<usize>>()
        };
        let short = sizes(&"a".repeat(100));
        assert!(short.len() > 6 && short.iter().all(|bytes| *bytes < 16 * 1024), "{short:?}");
        // Rows of which few fit in one piece go in large statements.
        let long = sizes(&"a".repeat(4_000));
        assert!(long.len() < 10 && long.iter().all(|bytes| *bytes < 520 * 1024), "{long:?}");
    }
}
