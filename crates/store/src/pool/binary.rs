//! Statements for PostgreSQL's driver itself, with binary parameters of every type.

use std::sync::atomic::Ordering::Relaxed;

use sea_orm::DbErr;
use sea_orm::sqlx::postgres::{PgArguments, PgConnectOptions, PgRow, PgSslMode, Postgres};
use sea_orm::sqlx::{self, AssertSqlSafe};

use super::{Pool, driver_error};
use crate::connect::is_this_machine;

/// Batches that check for rows after an insert failed because of one.
const CAUTIOUS: u32 = 1_000;

impl Pool {
    /// Bytes of values with which a statement leaves in one piece.
    pub(crate) fn one_piece(&self) -> usize {
        self.0.one_piece
    }

    /// Whether new messages are inserted without a check for existing rows. That takes two thirds of the time, but an
    /// existing row makes the statement fail, and PostgreSQL logs the failure.
    pub(crate) fn expects_no_rows(&self) -> bool {
        let cautious = &self.0.cautious;
        cautious.fetch_update(Relaxed, Relaxed, |batches| batches.checked_sub(1)).is_err()
    }

    /// A message had a row: the next batches check for rows.
    pub(crate) fn expect_rows(&self) {
        self.0.cautious.store(CAUTIOUS, Relaxed);
    }

    /// Runs a statement on PostgreSQL with parameters as the driver itself takes them. Returns how many rows it
    /// changed.
    pub(crate) async fn execute_binary(&self, sql: String, arguments: PgArguments) -> Result<u64, DbErr> {
        let pool = self.0.connections.get_postgres_connection_pool();
        let asking = sqlx::query_with::<Postgres, _>(AssertSqlSafe(sql), arguments).execute(pool);
        let answer = async { asking.await.map_err(driver_error) };
        self.0.line.answer(answer).await.map(|done| done.rows_affected())
    }

    /// The same for a statement with one row as its result.
    pub(crate) async fn query_one_binary(&self, sql: String, arguments: PgArguments) -> Result<PgRow, DbErr> {
        let pool = self.0.connections.get_postgres_connection_pool();
        let asking = sqlx::query_with::<Postgres, _>(AssertSqlSafe(sql), arguments).fetch_one(pool);
        self.0.line.answer(async { asking.await.map_err(driver_error) }).await
    }
}

/// Bytes of values with which a statement leaves at once. The driver does not set `TCP_NODELAY`: the last piece of a
/// longer one is held back until the server's delayed acknowledgement, some 40 ms. On this machine a piece is a segment
/// of the loopback, 64 KiB; elsewhere it is a record of TLS, 16 KiB.
pub(super) fn one_piece(options: &PgConnectOptions) -> usize {
    if matches!(options.get_ssl_mode(), PgSslMode::Disable) && is_this_machine(options.get_host()) {
        60 * 1024
    } else {
        15 * 1024
    }
}
