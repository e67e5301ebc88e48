//! The database: the only crate that knows entities, SeaORM and SQL.
//!
//! One [`Store`] serves SQLite and PostgreSQL; their differences are in [`dialect`]. Called by the engine and by the
//! command line. Queries are methods of nouns, as in `store.of(company).contacts().page(…)`: a company's rows are reached
//! by its id only. Everything here can fail because the database does ([`Error::Unavailable`], [`Error::InDoubt`]), or
//! because of a row that this program never wrote ([`Error::Impossible`]). A call with a [`Lease`] fails when this process
//! has lost it ([`Error::Fenced`]). Unless an item says otherwise, a call that failed has changed nothing and can be
//! repeated. An item's `# Errors` names only what else it refuses.
//!
//! **Entities or SQL.** Rows that are read, changed or removed by conditions on their own table go through entities, also
//! those that are chosen by many ids ([`Store::among`]); what several of these queries have in common is in [`queries`]. Single
//! rows of tables without an entity are read and written by the names of their columns ([`one_row`]). SQL as text is for statements over
//! many rows (the [`ledger`], contacts with their index, messages that arrive, retention), for searches and lists that join,
//! for counts over several tables, and where one statement must both decide and change by what other tables have (links,
//! invitations, the fences of nodes, a row under another one that must be there). It is also for what the database's clock
//! decides (guesses, tickets, known devices, leases), for what each message or accepted send reads, and where a partial index
//! needs its condition word for word.

mod address;
pub mod alerts;
pub mod api_keys;
pub mod automatic;
pub mod backup;
pub mod changes;
pub mod channels;
pub mod checkup;
mod clock_change;
pub mod companies;
mod connect;
mod contacts;
pub mod conversations;
pub mod countries;
mod dialect;
pub mod drafts;
mod error;
pub mod event_log;
pub mod exports;
mod file_contents;
pub mod graph_ids;
pub mod imports;
pub mod inbound_files;
mod lease;
pub mod ledger;
mod log;
pub mod looks;
pub mod media;
pub mod nodes;
mod nouns;
mod one_row;
pub mod operators;
mod opt_out_words;
pub mod overview;
pub mod persons;
pub mod plan;
mod pool;
pub mod prices;
pub mod programs;
mod queries;
pub mod quick_replies;
pub mod retention;
mod revision;
pub mod schema;
pub mod scratch;
pub mod sealed;
pub mod sealing_keys;
pub mod segments;
pub mod sends;
mod server_clock;
mod share;
mod size;
pub mod suppressions;
mod tags;
pub mod templates;
pub mod tiers;
pub mod unfinished;
pub mod users;
pub mod web_sessions;
pub mod webhooks;

pub use connect::Options;
pub use contacts::ContactPosition;
pub use contacts::edit::{ContactChange, Edited};
pub use contacts::filter::{ContactFilter, Counting};
pub use contacts::import::{ContactDraft, Names, Upserted};
pub use contacts::member::Membership;
pub use contacts::notes::{ContactNote, MOST_NOTES, NOTE_CHARS, NewNote, NotesOf};
pub use contacts::own::NewField;
pub use contacts::reached::BySend;
pub use contacts::search::index::{Care, Prepared};
pub use contacts::write::Pace;
pub use error::Error;
pub use lease::{Lease, Standing};
pub use nouns::*;
pub use revision::Revisions;
pub use share::Purpose;

use std::sync::Arc;

use self::dialect::{Bulk, Incoming};
use self::pool::{Pool, Transaction};
use self::share::Pools;
use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, EntityTrait, FromQueryResult, PaginatorTrait, QueryResult,
    QuerySelect, Select, SqliteTransactionMode, Statement, TransactionOptions, TryGetableMany, Value,
};

use clock::Timestamp;
use domain::page::{Page, PageRequest};

/// The result of a call to the store.
pub type Result<T> = std::result::Result<T, Error>;

/// Runs a statement, and returns how many rows it changed.
async fn run(on: &impl ConnectionTrait, statement: Statement) -> Result<u64> {
    Ok(on.execute_raw(statement).await?.rows_affected())
}

/// The same for its text and parameters.
async fn execute(
    on: &impl ConnectionTrait,
    sql: impl Into<String>,
    values: impl IntoIterator<Item = Value>,
) -> Result<u64> {
    run(on, Statement::from_sql_and_values(on.get_database_backend(), sql, values)).await
}

/// The rows of a query, each as a tuple of its columns in their order.
async fn fetch<T: TryGetableMany>(
    on: &impl ConnectionTrait,
    sql: impl Into<String>,
    values: impl IntoIterator<Item = Value>,
) -> Result<Vec<T>> {
    let statement = Statement::from_sql_and_values(on.get_database_backend(), sql, values);
    on.query_all_raw(statement).await?.iter().map(columns).collect()
}

/// The same for a query that has one row at most.
async fn fetch_one<T: TryGetableMany>(
    on: &impl ConnectionTrait,
    sql: impl Into<String>,
    values: impl IntoIterator<Item = Value>,
) -> Result<Option<T>> {
    let statement = Statement::from_sql_and_values(on.get_database_backend(), sql, values);
    on.query_one_raw(statement).await?.as_ref().map(columns).transpose()
}

fn columns<T: TryGetableMany>(row: &QueryResult) -> Result<T> {
    Ok(T::try_get_many_by_index(row).map_err(DbErr::from)?)
}

/// The moment in a column, if there is one.
fn moment(row: &QueryResult, column: &str) -> Result<Option<Timestamp>> {
    Ok(row.try_get::<Option<i64>>("", column)?.map(Timestamp::from_millis))
}

impl Transaction {
    /// Ends it without a change, with this answer.
    async fn unchanged<T>(self, answer: T) -> Result<T> {
        self.rollback().await?;
        Ok(answer)
    }
}

/// A handle to the database, for one purpose; clones share its connections.
#[derive(Clone, Debug)]
pub struct Store {
    /// One connection on SQLite, which has one writer; the purpose's pool on PostgreSQL.
    write: Pool,
    /// The purpose's pool.
    read: Pool,
    backend: DbBackend,
    pools: Arc<Pools>,
}

impl Store {
    /// Connects, and brings the schema up to date when `options` say so.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database cannot be reached, [`Error::Schema`] when the schema is
    /// older than this program and `options.migrate` is off.
    pub async fn open(options: &Options) -> Result<Self> {
        connect::open(options).await
    }

    fn on(pools: Arc<Pools>, backend: DbBackend, purpose: Purpose) -> Self {
        let read = match purpose {
            Purpose::Requests => &pools.requests,
            Purpose::Engine => &pools.engine,
            Purpose::Dispatch => &pools.dispatch,
            Purpose::Ledger => &pools.writer,
            Purpose::Cluster => &pools.cluster,
        };
        let write = if backend == DbBackend::Sqlite { &pools.writer } else { read };
        Self { write: write.clone(), read: read.clone(), backend, pools }
    }

    /// The same database through the connections reserved for `purpose`. [`Store::open`] returns those for requests.
    #[must_use]
    pub fn reserved_for(&self, purpose: Purpose) -> Self {
        Self::on(Arc::clone(&self.pools), self.backend, purpose)
    }

    /// How many connections this handle reads with at once.
    pub fn connections(&self) -> usize {
        self.read.most() as usize
    }

    /// Checks whether the database answers.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it does not.
    pub async fn ping(&self) -> Result<()> {
        self.read.execute_unprepared("SELECT 1").await?;
        Ok(())
    }

    /// Closes the connections, those of other purposes too.
    pub async fn close(self) {
        let Pools { requests, engine, dispatch, writer, cluster, log: _, lists: _ } = &*self.pools;
        for pool in [requests, engine, dispatch, writer, cluster] {
            if let Err(error) = pool.close().await {
                tracing::debug!(%error, "cannot close the database");
            }
        }
    }

    fn statement(&self, sql: impl Into<String>, values: impl IntoIterator<Item = Value>) -> Statement {
        Statement::from_sql_and_values(self.backend, sql, values)
    }

    async fn rows(
        &self,
        sql: impl Into<String>,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Vec<QueryResult>> {
        Ok(self.read.query_all_raw(self.statement(sql, values)).await?)
    }

    async fn row(
        &self,
        sql: impl Into<String>,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<Option<QueryResult>> {
        Ok(self.read.query_one_raw(self.statement(sql, values)).await?)
    }

    /// Runs the statement that `sql` builds around a sub-select of `rows`, in as many statements as needed. Returns how
    /// many rows that changed. The numbers of the statement's `own` parameters begin at the number passed to `sql`.
    async fn write(
        &self,
        to: &impl ConnectionTrait,
        rows: Bulk,
        own: Vec<Value>,
        sql: impl Fn(&str, usize) -> String,
    ) -> Result<u64> {
        Ok(self.try_write(to, rows, own, sql).await?)
    }

    /// Like [`Store::write`], with the driver's own error.
    async fn try_write(
        &self,
        to: &impl ConnectionTrait,
        rows: Bulk,
        own: Vec<Value>,
        sql: impl Fn(&str, usize) -> String,
    ) -> std::result::Result<u64, DbErr> {
        let mut touched = 0;
        for Incoming { select, mut values, next } in rows.into_statements() {
            values.extend_from_slice(&own);
            let statement = self.statement(sql(&select, next), values);
            touched += to.execute_raw(statement).await?.rows_affected();
        }
        Ok(touched)
    }

    /// A page of what `matching` finds, in its order, and how many there are.
    async fn page_of<E, M>(&self, matching: Select<E>, page: PageRequest) -> Result<Page<M>>
    where
        E: EntityTrait<Model = M>,
        M: FromQueryResult + Send + Sync + 'static,
    {
        let total = matching.clone().count(&self.read).await?;
        let records = matching.offset(page.offset()).limit(page.limit).all(&self.read).await?;
        Ok(Page { records, total })
    }

    /// Begins a transaction that is sure to write. SQLite takes its write lock at once, so that the transaction cannot
    /// be refused half-way.
    async fn begin(&self) -> Result<Transaction> {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        Ok(self.write.begin_with_options(options).await?)
    }
}
