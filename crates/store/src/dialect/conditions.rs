//! Conditions for the queries of entities that must read as they do in SQL as text.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Expr, ExprTrait};
use uuid::Uuid;

use super::{Form, Rows};
use crate::Store;

impl Store {
    /// The column has one of these ids.
    pub(crate) fn among<'a>(
        &self,
        column: impl ColumnTrait,
        ids: impl IntoIterator<Item = &'a Uuid>,
    ) -> Expr {
        Rows::of_ids(self.backend, ids).have(column)
    }
}

impl Rows {
    /// The column has a value of the first column of these rows. The text is the same for any number of them, as in
    /// [`Rows::select`].
    pub(crate) fn have(self, column: impl ColumnTrait) -> Expr {
        let name = self.columns.first().map_or("", |(name, _)| *name);
        let is_json = matches!(self.form, Form::Json(_));
        let (rows, values) = self.select(1);
        // SeaORM numbers the parameters of the whole statement, and on SQLite they have no numbers.
        let rows = if is_json { rows.replace("$1", "?") } else { rows };
        Expr::cust_with_values(format!("{} IN (SELECT {name} FROM {rows} AS rows)", column.as_str()), values)
    }
}

/// The column has this number, which stands in the text and is no parameter: an index of a part of a table is used where the
/// text has its condition.
pub(crate) fn is_written(column: impl ColumnTrait, number: i16) -> Expr {
    Expr::col(column.as_column_ref()).eq(Expr::Constant(number.into()))
}

#[cfg(test)]
mod tests {
    use entity::send::{Column, Entity};
    use sea_orm::{DbBackend, EntityTrait as _, QueryFilter as _, QueryTrait as _};

    use super::*;

    #[test]
    fn ids_are_one_parameter_among_the_others_of_a_statement() {
        let sql = |backend| {
            let ids = [Uuid::from_u128(1), Uuid::from_u128(2)];
            let of_company = Entity::delete_many().filter(Column::CompanyId.eq(Uuid::from_u128(3)));
            let rows = Rows::of_ids(backend, &ids).have(Column::Id);
            let after = of_company.filter(rows).filter(Column::Settled.gt(5_i64)).build(backend);
            assert_eq!(after.values.unwrap().0.len(), 3);
            after.sql
        };
        assert_eq!(
            sql(DbBackend::Postgres),
            "DELETE FROM \"send\" WHERE \"send\".\"company_id\" = $1 \
             AND (id IN (SELECT id FROM (SELECT * FROM UNNEST($2::text::uuid[]) AS unnested (id)) AS rows)) \
             AND \"send\".\"settled\" > $3"
        );
        assert_eq!(
            sql(DbBackend::Sqlite),
            "DELETE FROM \"send\" WHERE \"send\".\"company_id\" = ? \
             AND (id IN (SELECT id FROM (SELECT unhex(value->>0) AS id FROM json_each(?)) AS rows)) \
             AND \"send\".\"settled\" > ?"
        );
    }

    #[test]
    fn a_written_number_is_no_parameter() {
        for backend in [DbBackend::Sqlite, DbBackend::Postgres] {
            let resolving = Entity::delete_many().filter(is_written(Column::State, 0)).build(backend);
            assert_eq!(resolving.sql, "DELETE FROM \"send\" WHERE \"send\".\"state\" = 0");
        }
    }
}
