//! Rows as one binary array for each column, given to PostgreSQL's driver itself.
//!
//! [`Rows`](super::Rows) writes arrays as text, because SeaORM's arrays have no nulls. The server reads text several
//! times as slowly as binary arrays, so frequent writes go this way.

use std::fmt::Write as _;

use sea_orm::DbErr;
use sea_orm::sqlx::postgres::{PgArguments, Postgres};
use sea_orm::sqlx::{Arguments as _, Encode, Type as DriverType};
use uuid::Uuid;

use super::{Cell, Type};

pub(crate) struct Arrays<'a> {
    names: Vec<&'static str>,
    columns: Vec<Column<'a>>,
    bytes: usize,
}

enum Column<'a> {
    Uuid(Vec<Option<Uuid>>),
    Int(Vec<Option<i64>>),
    Text(Vec<Option<&'a str>>),
    Bytes(Vec<Option<&'a [u8]>>),
}

impl<'a> Arrays<'a> {
    /// No rows yet, of these columns.
    pub(crate) fn new(columns: &[(&'static str, Type)]) -> Self {
        let column = |kind: &Type| match kind {
            Type::Uuid => Column::Uuid(Vec::new()),
            Type::Int => Column::Int(Vec::new()),
            Type::Text => Column::Text(Vec::new()),
            Type::Bytes => Column::Bytes(Vec::new()),
        };
        Self {
            names: columns.iter().map(|(name, _)| *name).collect(),
            columns: columns.iter().map(|(_, kind)| column(kind)).collect(),
            bytes: 0,
        }
    }

    /// Adds one row; `cells` are in the order of the columns.
    pub(crate) fn push<const N: usize>(&mut self, cells: [Cell<'a>; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.bytes += length(&cells);
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
    }

    /// How long all values together are on the wire.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the values of all rows take at most `bytes` with these cells too.
    pub(crate) fn fits<const N: usize>(&self, cells: &[Cell<'_>; N], bytes: usize) -> bool {
        self.bytes + length(cells) <= bytes
    }

    /// A sub-select that yields the rows, its parameters numbered from `first`.
    pub(crate) fn select(&self, first: usize) -> String {
        let mut sql = String::from("(SELECT * FROM UNNEST(");
        for (index, column) in self.columns.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            // Writing into a string cannot fail.
            let _ = write!(sql, "{comma}${}::{}[]", first + index, column.name());
        }
        let _ = write!(sql, ") AS unnested ({}))", self.names.join(", "));
        sql
    }

    /// Adds the parameters of [`Self::select`].
    pub(crate) fn bind(self, arguments: &mut PgArguments) -> Result<(), DbErr> {
        self.columns.into_iter().try_for_each(|column| match column {
            Column::Uuid(cells) => bind(arguments, cells),
            Column::Int(cells) => bind(arguments, cells),
            Column::Text(cells) => bind(arguments, cells),
            Column::Bytes(cells) => bind(arguments, cells),
        })
    }
}

/// How long the cells are on the wire, each with its length before it.
fn length(cells: &[Cell<'_>]) -> usize {
    let bytes = |cell: &Cell<'_>| match cell {
        Cell::Uuid(_) => size_of::<Uuid>(),
        Cell::Int(number) => number.map_or(0, |_| size_of::<i64>()),
        Cell::Text(text) => text.map_or(0, str::len),
        Cell::Bytes(bytes) => bytes.len(),
    };
    cells.iter().map(|cell| size_of::<i32>() + bytes(cell)).sum()
}

/// Adds one parameter.
pub(crate) fn bind<'a, T>(arguments: &mut PgArguments, value: T) -> Result<(), DbErr>
where
    T: Encode<'a, Postgres> + DriverType<Postgres>,
{
    arguments.add(value).map_err(|error| DbErr::Custom(format!("a parameter cannot be written: {error}")))
}

impl<'a> Column<'a> {
    const fn name(&self) -> &'static str {
        match self {
            Self::Uuid(_) => "uuid",
            Self::Int(_) => "bigint",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytea",
        }
    }

    /// Adds a cell of this column's type.
    fn push(&mut self, cell: Cell<'a>) {
        match (self, cell) {
            (Self::Uuid(cells), Cell::Uuid(id)) => cells.push(Some(id)),
            (Self::Int(cells), Cell::Int(number)) => cells.push(number),
            (Self::Text(cells), Cell::Text(text)) => cells.push(text),
            (Self::Bytes(cells), Cell::Bytes(bytes)) => cells.push(Some(bytes)),
            (column, cell) => {
                debug_assert!(false, "{cell:?} in a column of {}", column.name());
                column.push_null();
            }
        }
    }

    fn push_null(&mut self) {
        match self {
            Self::Uuid(cells) => cells.push(None),
            Self::Int(cells) => cells.push(None),
            Self::Text(cells) => cells.push(None),
            Self::Bytes(cells) => cells.push(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_one_array_for_each_column_and_their_length_is_known() {
        let mut arrays = Arrays::new(&[("id", Type::Uuid), ("number", Type::Int), ("word", Type::Text)]);
        arrays.push([Uuid::nil().into(), 7.into(), "seven".into()]);
        arrays.push([Uuid::nil().into(), Cell::Int(None), Cell::Text(None)]);
        let select =
            "(SELECT * FROM UNNEST($2::uuid[], $3::bigint[], $4::text[]) AS unnested (id, number, word))";
        assert_eq!(arrays.select(2), select);
        let null = [Cell::Int(None)];
        assert!(arrays.fits(&null, 69 + 4) && !arrays.fits(&null, 69 + 3), "a length goes before each");
        assert_eq!(arrays.bytes(), (4 + 16 + 4 + 8 + 4 + 5) + (4 + 16 + 4 + 4));
        let mut arguments = PgArguments::default();
        arrays.bind(&mut arguments).unwrap();
        assert_eq!(arguments.len(), 3);
    }
}
