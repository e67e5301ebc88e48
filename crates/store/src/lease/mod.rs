//! The lease on dispatching: at most one process sends from a database.
//!
//! A lock that dies with its holder keeps a second process from starting (a file lock beside a SQLite file, an advisory
//! lock in PostgreSQL). If the lock is lost while its holder lives on, because the connection that held it broke, the
//! epoch still fences: the next holder of the lease raises it, and the previous holder's ledger can no longer write.
//! The holder checks the lease regularly, takes a lock that it lost again, and learns that another process took over
//! even while it has nothing to write.
//!
//! The nodes of a cluster share the lock and have a [`fence`] each. A node whose lease has lapsed loses its channels
//! only after its fence was closed, and writes nothing from then on.

mod fence;
mod session;

use std::fs::{File, TryLockError};
use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait, DbBackend, QueryResult};
use uuid::Uuid;

pub(super) use self::fence::Fence;
use self::session::{Mode, Session, number_of};
use super::{Error, Options, Result, Transaction, address};
use crate::nouns::Leases;
use crate::one_row::find_row;
use clock::Timestamp;

/// The lease on dispatching.
pub(super) const DISPATCH: &str = "dispatch";
/// How long to wait for the lock of a process that may just have ended, and how often to ask.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(100);
/// Not a lease, but the mark of a restore that is not finished: no service may use the database.
pub(super) const RESTORE: &str = "restore";

/// The right to dispatch; released on drop.
#[derive(Debug)]
pub struct Lease {
    epoch: i64,
    hold: Hold,
}

/// Whether the lock on dispatching is held, by a process that still has the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// No other process can take the lease.
    Locked,
    /// The lock was lost and could not be taken again yet: its old session may still be ending, or another process
    /// may be taking over.
    Unlocked,
}

#[derive(Debug)]
enum Hold {
    File(#[expect(dead_code, reason = "held for its lock")] File),
    Session(Box<Session>),
    /// A node of a cluster, by the id of this incarnation.
    Node(Uuid, Box<Session>),
}

impl Leases<'_> {
    /// Takes the lease on dispatching. `holder` names this process for a person. Closes the fences of the nodes that
    /// dispatched before.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`] while another process holds it.
    pub async fn acquire(self, options: &Options, holder: &str) -> Result<Lease> {
        let hold = match self.store.backend {
            DbBackend::Postgres => Hold::Session(Box::new(Session::lock(options, Mode::Alone, None).await?)),
            _ => Hold::File(lock_file(&options.url)?),
        };
        self.refuse_broken_restore().await?;
        let transaction = self.store.begin().await?;
        let epoch = self.raise_epoch(&transaction, holder).await?;
        self.close_all_fences(&transaction).await?;
        transaction.commit().await?;
        Ok(Lease { epoch, hold })
    }

    /// Takes one node's share of the lease, which the nodes of a cluster have together, under the id of its
    /// incarnation, and the lock on its name, if it has one and no other process has that. A process that dispatched
    /// alone before writes nothing more.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`] while a process outside of a cluster dispatches.
    pub(super) async fn share(
        self,
        options: &Options,
        node: Uuid,
        cluster: &str,
        name: Option<&str>,
    ) -> Result<Lease> {
        let number = name.map(|name| number_of(cluster, name));
        let session = Box::new(Session::lock(options, Mode::Shared, number).await?);
        self.refuse_broken_restore().await?;
        let transaction = self.store.begin().await?;
        let epoch = self.raise_epoch(&transaction, &format!("cluster {cluster}")).await?;
        transaction.commit().await?;
        Ok(Lease { epoch, hold: Hold::Node(node, session) })
    }

    async fn refuse_broken_restore(self) -> Result<()> {
        let of = [("name", RESTORE.into())];
        if find_row::<String>(&self.store.read, ("lease", "name"), of).await?.is_some() {
            return Err(Error::Schema(
                "a restore of this database was interrupted: run `pombo restore` again before it is used"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    async fn raise_epoch(self, within: &Transaction, holder: &str) -> Result<i64> {
        let statement = self.store.statement(
            "INSERT INTO lease (name, epoch, holder, acquired_at) VALUES ($1, 1, $2, $3) \
             ON CONFLICT (name) DO UPDATE SET epoch = lease.epoch + 1, holder = excluded.holder, \
             acquired_at = excluded.acquired_at RETURNING epoch",
            [DISPATCH.into(), holder.into(), Timestamp::now().millis().into()],
        );
        epoch_of(within.query_one_raw(statement).await?)
    }

    /// Makes sure that this process holds the lock, and takes it again if its session broke.
    ///
    /// # Errors
    ///
    /// [`Error::Fenced`] when another process took the lease since; [`Error::Unavailable`] when the database does not
    /// answer.
    pub async fn confirm(self, lease: &Lease) -> Result<Standing> {
        let (Some(session), Some(fence)) = (lease.session(), lease.fence()) else {
            return Ok(Standing::Locked);
        };
        let is_locked = session.try_lock().await;
        // Checked after the lock: another holder in between has raised the epoch, or closed the fence.
        if self.store.row(fence.look(1), [fence.value()]).await?.is_none() {
            return Err(Error::Fenced);
        }
        Ok(if is_locked? { Standing::Locked } else { Standing::Unlocked })
    }

    /// Fails when another process has taken the lease. The next holder waits for this transaction, so that it sees its
    /// writes. A file lock cannot be lost while its holder lives, so there is nothing to check.
    pub(super) async fn check(self, within: &Transaction, lease: &Lease) -> Result<()> {
        self.check_within(within, lease, Duration::MAX).await
    }

    /// Like [`Leases::check`](crate::Leases::check). From then on the database ends any statement of the transaction that takes longer
    /// than `patience`, so that a statement that waits for a lock does not keep its connection.
    pub(super) async fn check_within(
        self,
        within: &Transaction,
        lease: &Lease,
        patience: Duration,
    ) -> Result<()> {
        let Some(fence) = lease.fence() else { return Ok(()) };
        // Zero means no limit.
        let millis = i32::try_from(patience.as_millis()).unwrap_or(0).to_string();
        let row =
            within.query_one_raw(self.store.statement(fence.check(), [fence.value(), millis.into()])).await?;
        row.map(drop).ok_or(Error::Fenced)
    }
}

impl Lease {
    /// The fence that every write has to check; `None` where the lease cannot be lost.
    pub(super) const fn fence(&self) -> Option<Fence> {
        match self.hold {
            Hold::File(_) => None,
            Hold::Session(_) => Some(Fence::Epoch(self.epoch)),
            Hold::Node(node, _) => Some(Fence::Node(node)),
        }
    }

    /// The id of this incarnation, for a node of a cluster.
    pub const fn node(&self) -> Option<Uuid> {
        match self.hold {
            Hold::File(_) | Hold::Session(_) => None,
            Hold::Node(node, _) => Some(node),
        }
    }

    /// Whether no other process has the lock on the name of this node.
    pub(super) fn has_name(&self) -> bool {
        self.session().is_none_or(Session::has_name)
    }

    fn session(&self) -> Option<&Session> {
        match &self.hold {
            Hold::File(_) => None,
            Hold::Session(session) | Hold::Node(_, session) => Some(session),
        }
    }
}

/// Keeps every service out for as long as this lives.
#[derive(Debug)]
pub(super) struct KeptOut(#[expect(dead_code, reason = "held for its lock")] Hold);

/// Takes the lock on dispatching without opening a store. The lock of a service that was just stopped or killed may
/// outlast it for a moment.
///
/// # Errors
///
/// [`Error::Taken`] while a service holds it.
pub(super) async fn keep_out(options: &Options) -> Result<KeptOut> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match try_keep_out(options).await {
            Err(Error::Taken(_)) if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
            result => return result,
        }
    }
}

async fn try_keep_out(options: &Options) -> Result<KeptOut> {
    Ok(KeptOut(if options.url.starts_with("sqlite:") {
        Hold::File(lock_file(&options.url)?)
    } else {
        Hold::Session(Box::new(Session::lock(options, Mode::Alone, None).await?))
    }))
}

fn epoch_of(row: Option<QueryResult>) -> Result<i64> {
    let row = row.ok_or_else(|| Error::Impossible("the lease has no row".to_owned()))?;
    Ok(row.try_get_by_index(0)?)
}

fn taken() -> Error {
    Error::Taken("another `pombo serve` already dispatches from this database: stop it first".to_owned())
}

fn lock_file(url: &str) -> Result<File> {
    let path = address::sqlite(url)?.get_filename().with_extension("lock");
    let unavailable =
        |error: std::io::Error| Error::Unavailable(format!("cannot lock {}: {error}", path.display()));
    let file = files::open_or_create(&path).map_err(unavailable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(taken()),
        Err(TryLockError::Error(error)) => Err(unavailable(error)),
    }
}
