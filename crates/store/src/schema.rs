//! The schema's migrations, for the operator who applies or undoes them by hand.
//!
//! A [`Schema`] opens a database that a [`super::Store`] refuses: one whose schema is missing or behind. [`standing`]
//! tells whether there is a database at all.

use migration::{Migrator, MigratorTrait, UNRELEASED};
use sea_orm::DatabaseConnection;

use super::connect::{self, Options};
use super::{Error, Result, checkup, lease, nodes};

/// A handle to the schema alone.
#[derive(Debug)]
pub struct Schema {
    connection: DatabaseConnection,
    options: Options,
}

/// Whether there is a database, and how old its schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaStanding {
    /// There is no file, or it has no tables of this program.
    Missing,
    /// It lacks this many of the program's migrations.
    Behind(usize),
    /// It has the schema of this program.
    Current,
}

/// Looks for the database without creating or migrating one.
///
/// # Errors
///
/// [`Error::Unavailable`] when the database cannot be reached, [`Error::Schema`] when it has a migration that this
/// program does not know.
pub async fn standing(options: &Options) -> Result<SchemaStanding> {
    if checkup::file_of(options).is_some_and(|file| !file.metadata().is_ok_and(|file| file.len() > 0)) {
        return Ok(SchemaStanding::Missing);
    }
    let schema = Schema::open(options).await?;
    let migrations = schema.status().await;
    schema.close().await;
    let migrations = migrations?;
    let pending = migrations.iter().filter(|migration| !migration.is_applied).count();
    Ok(match pending {
        0 => SchemaStanding::Current,
        all if all == migrations.len() => SchemaStanding::Missing,
        some => SchemaStanding::Behind(some),
    })
}

/// One step of the schema.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Migration {
    /// `mYYYYMMDD_NNNNNN_verb_noun`.
    pub name: String,
    /// Whether the database has it.
    #[serde(rename = "applied")]
    pub is_applied: bool,
}

impl Schema {
    /// Connects, whatever state the schema is in. `options.migrate` has no effect here.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database cannot be reached.
    pub async fn open(options: &Options) -> Result<Self> {
        Ok(Self { connection: connect::writer(options).await?, options: options.clone() })
    }

    /// Every migration of this program, oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] when the database has a migration that this program does not know.
    pub async fn status(&self) -> Result<Vec<Migration>> {
        // An empty database has no table of migrations; reading the status must not create one.
        let pending = Migrator::get_pending_migrations_read_only(&self.connection).await.map_err(unknown)?;
        let migrations = Migrator::migrations();
        let named = migrations.iter().map(|migration| {
            let name = migration.name().to_owned();
            let is_applied = pending.iter().all(|pending| pending.name() != name);
            Migration { name, is_applied }
        });
        Ok(named.collect())
    }

    /// Applies every migration that is missing and names them, oldest first.
    ///
    /// # Errors
    ///
    /// As [`Schema::status`], also when nodes serve that cannot work with this program; the steps before the failed one
    /// stay.
    pub async fn up(&self) -> Result<Vec<String>> {
        let before = self.status().await?;
        if before.iter().any(|step| !step.is_applied) {
            nodes::refuse_other_protocols(&self.connection).await?;
        }
        Migrator::up(&self.connection, None).await?;
        Ok(before.into_iter().filter(|step| !step.is_applied).map(|step| step.name).collect())
    }

    /// Undoes the newest `steps` migrations, with the data in their tables, and returns their names, newest first.
    ///
    /// # Errors
    ///
    /// As [`Schema::status`]; the steps before the failed one stay undone. [`Error::Taken`] while a service uses the
    /// database: it would write to tables that are gone.
    pub async fn down(&self, steps: u32) -> Result<Vec<String>> {
        let _kept_out = lease::keep_out(&self.options).await?;
        let before = self.status().await?;
        Migrator::down(&self.connection, Some(steps)).await?;
        let applied = before.into_iter().rev().filter(|step| step.is_applied);
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        Ok(applied.take(steps).map(|step| step.name).collect())
    }

    /// Closes the connection.
    pub async fn close(self) {
        if let Err(error) = self.connection.close().await {
            tracing::debug!(%error, "cannot close the database");
        }
    }
}

/// The meaning of a failed listing: the migrator returns `Custom` only for migrations for which it has no code, and names
/// them.
pub(super) fn unknown(error: sea_orm::DbErr) -> Error {
    match error {
        sea_orm::DbErr::Custom(sentence) if sentence.contains(UNRELEASED) => Error::Schema(
            "the database was made before the first release, and no later program can use it: set database.url to a \
             new database"
                .to_owned(),
        ),
        sea_orm::DbErr::Custom(sentence) => {
            Error::Schema(format!(
                "the database was migrated by a newer version of this program: {sentence}: run that version"
            ))
        }
        other => other.into(),
    }
}
