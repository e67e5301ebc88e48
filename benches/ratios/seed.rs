//! Writes the rows of a measurement by plain SQL: millions of rows in seconds.

use pombo::clock::Timestamp;
use pombo::store::Store;
use pombo::vault::{Vault, context};
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use uuid::Uuid;

/// Rows of one statement.
const AT_ONCE: usize = 1_000;

/// The first number of a tag's members.
pub(crate) const FIRST: u64 = 5_511_900_000_000;

/// A connection to a measurement's database, beside the service's own.
pub(crate) struct Seed(DatabaseConnection);

impl Seed {
    pub(crate) async fn at(url: &str) -> Self {
        let mut options = sea_orm::ConnectOptions::new(url);
        options.max_connections(1).sqlx_logging(false);
        Self(Database::connect(options).await.unwrap())
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.0.get_database_backend() == DbBackend::Sqlite
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.0.execute_unprepared(sql).await.unwrap();
    }

    /// The first column of a query's rows.
    pub(crate) async fn texts(&self, sql: String) -> Vec<String> {
        let statement = Statement::from_string(self.0.get_database_backend(), sql);
        let rows = self.0.query_all_raw(statement).await.unwrap();
        rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
    }

    pub(crate) fn bytes(&self, bytes: &[u8]) -> String {
        let digits = hex::encode(bytes);
        if self.is_sqlite() { format!("x'{digits}'") } else { format!("'\\x{digits}'") }
    }

    pub(crate) fn uuid(&self, id: Uuid) -> String {
        if self.is_sqlite() { self.bytes(id.as_bytes()) } else { format!("'{id}'::uuid") }
    }

    /// Writes `count` members of `tag` with distinct numbers, not in the numbers' order. It writes
    /// memberships and no contacts, because an audience is read from memberships alone.
    pub(crate) async fn members(&self, company: Uuid, tag: Uuid, count: u64) {
        let (company, owner) = (self.uuid(company), self.uuid(tag));
        // A contact's id is the tag's id with counted last bytes; the numbers are spread over all members.
        let prefix = &tag.simple().to_string()[..20];
        let ids = self.counting(count);
        let (before, number, after) = if self.is_sqlite() {
            (
                vec!["PRAGMA foreign_keys = OFF", "PRAGMA cache_size = -262144"],
                format!("unhex('{prefix}' || printf('%012x', n))"),
                "PRAGMA foreign_keys = ON",
            )
        } else {
            (
                vec!["SET session_replication_role = replica"],
                format!("('{prefix}' || lpad(to_hex(n), 12, '0'))::uuid"),
                "SET session_replication_role = origin",
            )
        };
        for statement in before {
            self.run(statement).await;
        }
        for index in ["contact_tag_phone", "contact_tag_contact"] {
            self.run(&format!("DROP INDEX {index}")).await;
        }
        self.run(&format!(
            "INSERT INTO contact_tag (tag_id, contact_id, company_id, phone) {ids} \
             SELECT {owner}, {number}, {company}, {FIRST} + (n * 7919) % {count} FROM member"
        ))
        .await;
        self.run("CREATE INDEX contact_tag_phone ON contact_tag (tag_id, phone)").await;
        self.run("CREATE INDEX contact_tag_contact ON contact_tag (contact_id)").await;
        self.run("ANALYZE contact_tag").await;
        self.run(after).await;
    }

    /// Connected business accounts, each with a number and an account of its own at the provider. The provider's
    /// ids of the numbers count from `first`.
    pub(crate) async fn channels(
        &self,
        vault: &Vault,
        company: Uuid,
        first: usize,
        count: usize,
    ) -> Vec<Uuid> {
        let now = Timestamp::now().millis();
        let ids: Vec<_> = (0..count).map(|_| Uuid::now_v7()).collect();
        let owner = self.uuid(company);
        self.run("BEGIN").await;
        for (chunk, ids) in ids.chunks(AT_ONCE).enumerate() {
            let rows = ids.iter().enumerate().map(|(index, id)| {
                let token = self.bytes(&vault.seal(b"bench", &context::token(*id)));
                let number = first + chunk * AT_ONCE + index;
                format!(
                    "({}, {owner}, 'business_account', 'Channel {number}', 'channel {number}', '{number}', \
                     'account {number}', 'standard', {token}, 'connected', {now}, 0, {now}, {now})",
                    self.uuid(*id)
                )
            });
            self.run(&format!(
                "INSERT INTO channel (id, company_id, kind, name, name_folded, phone_number_id, waba_id, tier, token, \
                 status, status_since, revision, created_at, updated_at) VALUES {}",
                rows.collect::<Vec<_>>().join(", ")
            ))
            .await;
        }
        self.run("COMMIT").await;
        ids
    }

    /// Recipients with consecutive numbers who opted out of a company's marketing.
    pub(crate) async fn suppressions(&self, company: Uuid, count: u64) {
        let (owner, ids) = (self.uuid(company), self.counting(count));
        self.run(&format!(
            "INSERT INTO suppression (company_id, recipient, scope, created_at, said_at) {ids} \
             SELECT {owner}, {FIRST} + n, 1, 0, 0 FROM member"
        ))
        .await;
        self.run("ANALYZE suppression").await;
    }

    /// The beginning of a query over a table `member` of which `n` counts up to `count`.
    pub(crate) fn counting(&self, count: u64) -> String {
        if self.is_sqlite() {
            format!(
                "WITH RECURSIVE member (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM member WHERE n + 1 < {count}) "
            )
        } else {
            format!("WITH member (n) AS (SELECT * FROM generate_series(0::bigint, {count} - 1)) ")
        }
    }

    /// Sets for all channels the level that the provider reports.
    pub(crate) async fn know_levels(&self) {
        self.run("UPDATE channel SET level = 'not_applicable'").await;
    }
}

/// An empty tag; its id.
pub(crate) async fn tag(store: &Store, company: Uuid, name: &str) -> Uuid {
    store.of(company).tags().ensure(name, None).await.unwrap()
}
