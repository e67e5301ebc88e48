//! What queries of several nouns have in common.

use sea_orm::sea_query::{BinOper, Expr, ExprTrait as _, LockType, SelectStatement};
use sea_orm::{ColumnTrait, EntityTrait, QueryOrder as _, QuerySelect as _, QueryTrait as _, Select, Value};

/// The same rows, locked until the transaction ends. (On SQLite, one transaction writes at a time.)
pub(crate) fn locked<E: EntityTrait>(rows: Select<E>) -> Select<E> {
    rows.lock(LockType::NoKeyUpdate)
}

/// The keys of the rows after the first `most`.
pub(crate) fn beyond<E: EntityTrait>(ordered: Select<E>, key: E::Column, most: u64) -> SelectStatement {
    // SQLite knows no offset without a limit.
    ordered.select_only().column(key).limit(i64::MAX.cast_unsigned()).offset(most).into_query()
}

/// The keys of these rows, which are locked in the order of the keys.
pub(crate) fn in_order<E: EntityTrait>(rows: Select<E>, key: E::Column) -> SelectStatement {
    locked(rows.select_only().column(key).order_by_asc(key)).into_query()
}

/// The sum of these numbers, which is 0 if there are none. (A sum of integers is a decimal number in PostgreSQL.)
pub(crate) fn sum_of(numbers: impl Into<Expr>) -> Expr {
    let numbers: Expr = numbers.into();
    numbers.sum().cast_as("BIGINT").if_null(0_i64)
}

/// The greater one of what a column has and this value.
pub(crate) fn at_least(column: impl ColumnTrait, value: i64) -> Expr {
    let stored = Expr::col(column.as_column_ref());
    Expr::case(stored.clone().lt(value), value).finally(stored).into()
}

/// Whether a column has another value than this. Null is a value, too.
pub(crate) fn differs(column: impl ColumnTrait, value: impl Into<Value>) -> Expr {
    Expr::col(column.as_column_ref()).binary(BinOper::Custom("IS DISTINCT FROM"), Expr::val(value))
}
