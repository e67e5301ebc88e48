//! The session that holds the advisory lock for as long as it lives: a connection of its own, outside every pool.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, Connection as _};
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::taken;
use crate::{Error, Options, Result, address, connect};

/// PostgreSQL's number for the advisory lock: "pombo" in ASCII.
const ADVISORY_LOCK: i64 = 0x70_6f_6d_62_6f;
/// How long the session that holds the lock may take to answer before it is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// Keep-alive settings, so that the server notices when the holder's machine is gone: after some ten seconds without an
/// answer it ends the session, and the lock with it. Linux alone would take two hours. In seconds, and milliseconds.
const KEEPALIVE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10000"),
];
/// Takes the lock if it is free, and returns whether this session holds it. (Taking a held lock counts it twice.)
const LOCK: &str = "SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted \
                    AND pid = pg_backend_pid() AND objsubid = 1 \
                    AND ((classid::bigint << 32) | objid::bigint) = $1) \
                    THEN true ELSE pg_try_advisory_lock($1) END";

/// The same for a lock that the nodes of a cluster share.
const LOCK_SHARED: &str = "SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted \
                           AND pid = pg_backend_pid() AND objsubid = 1 \
                           AND ((classid::bigint << 32) | objid::bigint) = $1) \
                           THEN true ELSE pg_try_advisory_lock_shared($1) END";

/// How the lock is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Not shared: this process dispatches alone.
    Alone,
    /// Shared with other nodes of the cluster.
    Shared,
}

/// The session that holds the lock for as long as it lives: a connection of its own, outside every pool.
pub(super) struct Session {
    options: PgConnectOptions,
    mode: Mode,
    /// The number of the lock on this node's name, which no other session has at the same time.
    name: Option<i64>,
    /// Whether this session has the lock on its name.
    has_name: AtomicBool,
    /// `None` while it is broken.
    connection: Mutex<Option<PgConnection>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// A session that holds the lock.
    pub(super) async fn lock(options: &Options, mode: Mode, name: Option<i64>) -> Result<Self> {
        let options = connect::plain_on_this_machine(address::postgres(&options.url)?)
            .application_name("pombo dispatch lease");
        let has_name = AtomicBool::new(false);
        let session = Self { options, mode, name, has_name, connection: Mutex::new(None) };
        if session.try_lock().await? { Ok(session) } else { Err(taken()) }
    }

    /// Whether no other session has the lock on the name: this one took it, or needs none.
    pub(super) fn has_name(&self) -> bool {
        self.name.is_none() || self.has_name.load(Ordering::Relaxed)
    }

    /// Takes the lock, unless this session holds it. A broken or silent session is replaced. `false` while another
    /// session has the lock.
    pub(super) async fn try_lock(&self) -> Result<bool> {
        let mut place = self.connection.lock().await;
        if let Some(connection) = place.as_mut() {
            match timeout(PATIENCE, self.take_locks(connection)).await {
                Ok(Ok(is_locked)) => return Ok(is_locked),
                Ok(Err(error)) => tracing::warn!(%error, "the session with the lock on dispatching broke"),
                Err(_) => tracing::warn!("the session with the lock on dispatching does not answer"),
            }
            *place = None;
        }
        let taking = async {
            let mut connection = PgConnection::connect_with(&self.options).await?;
            keep_alive(&mut connection).await?;
            let is_locked = self.take_locks(&mut connection).await?;
            Ok::<_, sqlx::Error>((connection, is_locked))
        };
        let late = |_| Error::Unavailable("the database does not answer".to_owned());
        let (connection, is_locked) = timeout(PATIENCE, taking)
            .await
            .map_err(late)?
            .map_err(|error| Error::Unavailable(error.to_string()))?;
        *place = Some(connection);
        Ok(is_locked)
    }

    /// Takes the lock on dispatching, and the one on the name if it is free.
    async fn take_locks(&self, connection: &mut PgConnection) -> sqlx::Result<bool> {
        let sql = match self.mode {
            Mode::Alone => LOCK,
            Mode::Shared => LOCK_SHARED,
        };
        let is_locked = sqlx::query_scalar(sql).bind(ADVISORY_LOCK).fetch_one(&mut *connection).await?;
        if let Some(name) = self.name {
            let has_name = sqlx::query_scalar(LOCK).bind(name).fetch_one(connection).await?;
            self.has_name.store(has_name, Ordering::Relaxed);
        }
        Ok(is_locked)
    }
}

/// The number of the lock on the name of a node. Two names have the same number with a probability of 1 in 10¹⁸.
pub(super) fn number_of(cluster: &str, name: &str) -> i64 {
    let digest = Sha256::digest(format!("pombo node {cluster}/{name}").as_bytes());
    let first = digest[..].first_chunk().map_or(0, |first| i64::from_be_bytes(*first));
    first & i64::MAX
}

/// Sets [`KEEPALIVE`]. A server that does not support a setting works without it.
async fn keep_alive(connection: &mut PgConnection) -> sqlx::Result<()> {
    for (setting, value) in KEEPALIVE {
        let set = sqlx::query("SELECT set_config($1, $2, false)").bind(setting).bind(value);
        match set.execute(&mut *connection).await {
            Err(sqlx::Error::Database(error)) => {
                tracing::warn!(setting, %error, "the server does not watch the session with the lock on dispatching");
            }
            result => {
                result?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Standing, Store};

    #[tokio::test]
    #[ignore = "needs PostgreSQL: run scripts/test"]
    async fn the_server_watches_the_machine_of_the_session_with_the_lock() {
        let server = std::env::var("POMBO_TEST_POSTGRES").expect("POMBO_TEST_POSTGRES names no server");
        let scratch = crate::scratch::Scratch::create(&server).await.unwrap();
        let options = Options {
            url: scratch.url().to_owned(),
            connections: 6,
            acquire_timeout: Duration::from_secs(10),
            statement_timeout: Duration::ZERO,
            synchronous_full: true,
            migrate: true,
        };
        let store = Store::open(&options).await.unwrap();
        let lease = store.lease().acquire(&options, "test").await.unwrap();
        let session = lease.session().expect("no session holds the lock");
        for round in ["the first session", "the one after it broke"] {
            let mut place = session.connection.lock().await;
            let connection = place.as_mut().unwrap();
            for (setting, value) in KEEPALIVE {
                let shown: String = sqlx::query_scalar("SELECT current_setting($1)")
                    .bind(setting)
                    .fetch_one(&mut *connection)
                    .await
                    .unwrap();
                let shown = shown.replace("10s", "10000");
                assert_eq!(shown, value, "{setting} of {round}");
            }
            let broken =
                sqlx::query("SELECT pg_terminate_backend(pg_backend_pid())").execute(connection).await;
            assert!(broken.is_err());
            drop(place);
            // The server releases the lock when the terminated session is gone, moments after the request.
            let locked = async {
                while store.lease().confirm(&lease).await.unwrap() != Standing::Locked {
                    tokio::task::yield_now().await;
                }
            };
            timeout(Duration::from_secs(30), locked).await.unwrap();
        }
        drop(lease);
        store.close().await;
        scratch.remove().await.unwrap();
    }
}
