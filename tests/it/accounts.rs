//! People who sign in, on both databases: passwords, sessions, second factors, links, members.

mod credentials;
mod guesses;
mod invitations;
mod links;
mod members;
mod second_factor;
mod sessions;
mod sign_in;

use std::sync::Arc;

use pombo::accounts::{Accounts, Create, Error, NewSession, Origin, Role, Session, SignIn, SignedIn, User};
use pombo::config::Config;
use pombo::domain::page::PageRequest;
use pombo::domain::secret::Secret;
use pombo::store::changes::{Change, Filter, What, Who};
use pombo::vault::Vault;
use sea_orm::{ConnectionTrait as _, Database};
use tempfile::TempDir;
use uuid::Uuid;

use crate::database::Universe;

const PASSWORD: &str = "correct horse battery";
const EMAIL: &str = "ana@example.com";
const ADDRESS: &str = "192.0.2.7";

/// Two companies, and people of one of them.
struct World<'a> {
    universe: &'a Universe,
    accounts: Accounts,
    acme: Uuid,
    globex: Uuid,
    ana: User,
    vault: Arc<Vault>,
    /// Where the sealing key is.
    directory: TempDir,
}

impl<'a> World<'a> {
    async fn new(universe: &'a Universe) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let vault = Vault::open(&Config::default().secrets, directory.path()).unwrap().0;
        let vault = Arc::new(vault);
        let accounts = Accounts::new(universe.store.clone(), Arc::clone(&vault));
        let company = async |name: &str| {
            universe.store.companies().add(&Who::Pombo, name, "standard").await.unwrap().id
        };
        let (acme, globex) = (company("Acme").await, company("Globex").await);
        let ana = create(&accounts, "Ana@Example.com", Some((acme, Role::Owner))).await;
        Self { universe, accounts, acme, globex, ana, vault, directory }
    }

    /// The session of a person who signs in with the usual password.
    async fn session(&self, email: &str) -> NewSession {
        session(self.try_sign_in(email, PASSWORD, None).await.unwrap())
    }

    async fn try_sign_in(&self, email: &str, password: &str, code: Option<&str>) -> Result<SignedIn, Error> {
        self.accounts.sign_in(SignIn { email, password, code, origin: &origin() }).await
    }

    /// The session that this token opens now.
    async fn opened(&self, token: &Secret) -> Session {
        self.accounts.session(token.expose()).await.unwrap().unwrap()
    }

    /// The accounts as another node of the cluster has them.
    fn other_node(&self) -> Accounts {
        Accounts::new(self.universe.store.clone(), Arc::clone(&self.vault))
    }

    /// Whether a session's cookie still counts.
    async fn counts(&self, session: &NewSession) -> bool {
        self.accounts.session(session.token.expose()).await.unwrap().is_some()
    }

    /// The changes of this kind, newest first.
    async fn changes(&self, what: What) -> Vec<Change> {
        let filter = Filter { what: &[what], ..Filter::default() };
        self.universe.store.changes().page(filter, page()).await.unwrap().records
    }

    /// Changes rows directly in the database.
    async fn execute(&self, sql: &str) {
        let database = Database::connect(&self.universe.url).await.unwrap();
        assert!(database.execute_unprepared(sql).await.unwrap().rows_affected() > 0, "{sql}");
        database.close().await.unwrap();
    }
}

async fn create(accounts: &Accounts, email: &str, company: Option<(Uuid, Role)>) -> User {
    let password = Some(PASSWORD);
    let create = Create { email, name: "Ana Souza", password, company, is_operator: company.is_none() };
    accounts.create(&Who::CommandLine("root".to_owned()), create).await.unwrap()
}

fn origin() -> Origin {
    Origin::new(ADDRESS.parse().unwrap(), "Firefox")
}

fn page() -> PageRequest {
    PageRequest { page: 1, limit: 100 }
}

#[track_caller]
fn session(signed_in: SignedIn) -> NewSession {
    match signed_in {
        SignedIn::Session(session) => *session,
        other => panic!("{other:?}"),
    }
}
