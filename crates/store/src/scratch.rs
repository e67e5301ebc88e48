//! A database that is created for one purpose and removed after it, on a given PostgreSQL server.
//!
//! For load tests; nothing else creates or removes databases.

use std::fmt;

use sea_orm::{ConnectionTrait as _, Database};
use url::Url;
use uuid::Uuid;

use super::{Error, Result, address};

/// The database to connect to while another one is created or removed; every server has it.
const ADMINISTRATION: &str = "postgres";

/// A temporary database. Its `Debug` omits the address, which may contain a password.
pub struct Scratch {
    name: String,
    url: String,
    server: Url,
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scratch").field(&self.name).finish()
    }
}

impl Scratch {
    /// Creates an empty database with a unique name. `server` is the address of any database there.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the server cannot be reached or does not allow this user to create databases.
    pub async fn create(server: &str) -> Result<Self> {
        let server = Url::parse(server)
            .ok()
            .filter(|url| matches!(url.scheme(), "postgres" | "postgresql") && url.has_host())
            .ok_or_else(|| Error::Unavailable("the address is not one of a PostgreSQL server".to_owned()))?;
        let name = format!("pombo_loadtest_{}", Uuid::now_v7().simple());
        let scratch = Self { url: within(&server, &name), name, server };
        scratch.administer(&format!("CREATE DATABASE {}", scratch.name)).await?;
        Ok(scratch)
    }

    /// The address of the database.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Removes it, even while clients are still connected.
    pub async fn remove(self) -> Result<()> {
        self.administer(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await
    }

    async fn administer(&self, statement: &str) -> Result<()> {
        let address = address::for_driver(&within(&self.server, ADMINISTRATION))?;
        let connection = Database::connect(address).await?;
        let done = connection.execute_unprepared(statement).await;
        connection.close().await?;
        done?;
        Ok(())
    }
}

fn within(server: &Url, database: &str) -> String {
    let mut url = server.clone();
    url.set_path(database);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scratch_database_replaces_the_named_one_in_the_address() {
        let server = Url::parse("postgres://pombo:hunter2@host:5433/prod?sslmode=require").unwrap();
        assert_eq!(within(&server, "x"), "postgres://pombo:hunter2@host:5433/x?sslmode=require");
    }

    #[tokio::test]
    async fn an_address_of_no_postgresql_server_is_refused_without_a_connection() {
        for wrong in ["sqlite://pombo.db", "host", "postgres:"] {
            let error = Scratch::create(wrong).await.unwrap_err();
            assert!(error.to_string().contains("PostgreSQL"), "{error}");
        }
    }
}
