//! One transaction on one connection to PostgreSQL, for statements of migrations and for rows that are copied in.
//!
//! A pool of one connection serves both kinds of callers. The pool never replaces the connection: what ran on another one
//! would not belong to the transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sea_orm::sqlx::postgres::{PgPool, PgPoolOptions};
use sea_orm::sqlx::{self, ConnectOptions as _};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbErr, RuntimeErr, SqlxPostgresConnector};

use super::Result;
use crate::{Options, address, connect};

/// A transaction, which ends without effect unless it is committed.
pub(super) struct Pinned {
    pub(super) pool: PgPool,
    pub(super) connection: DatabaseConnection,
}

impl Pinned {
    /// Connects and begins the transaction.
    pub(super) async fn begin(options: &Options) -> Result<Self> {
        let settings = connect::plain_on_this_machine(address::postgres(&options.url)?)
            .application_name("pombo restore")
            .disable_statement_logging();
        let was_connected = Arc::new(AtomicBool::new(false));
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(options.acquire_timeout)
            .max_lifetime(None)
            .idle_timeout(None)
            .test_before_acquire(false)
            .after_connect(move |_, _| {
                let is_another = was_connected.swap(true, Ordering::Relaxed);
                Box::pin(async move { if is_another { Err(sqlx::Error::PoolClosed) } else { Ok(()) } })
            })
            .connect_with(settings)
            .await
            .map_err(failed)?;
        let connection = SqlxPostgresConnector::from_sqlx_postgres_pool(pool.clone());
        let pinned = Self { pool, connection };
        pinned.run("BEGIN").await?;
        Ok(pinned)
    }

    /// Runs one of our own statements.
    pub(super) async fn run(&self, sql: &str) -> Result<()> {
        self.connection.execute_unprepared(sql).await.map_err(crate::Error::from)?;
        Ok(())
    }

    /// Makes everything durable.
    pub(super) async fn commit(&self) -> Result<()> {
        self.run("COMMIT").await
    }

    /// Closes the connection; without a commit, nothing was changed.
    pub(super) async fn close(self) {
        self.pool.close().await;
    }
}

/// A failure of the driver.
pub(super) fn failed(error: sqlx::Error) -> crate::Error {
    DbErr::Exec(RuntimeErr::SqlxError(error.into())).into()
}
