//! An index of sends that were withdrawn while their commit was in doubt, so that upkeep finds and deletes
//! them.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // A state below 0 is a tombstone: it holds the send's id, so that a late commit cannot write the send.
    "CREATE INDEX send_withdrawn ON send (id) WHERE state < 0",
];

const DOWN: &[&str] = &[
    "DROP INDEX send_withdrawn",
    // An earlier version of the program does not know tombstones. The commits that they keep out are long
    // over.
    "DELETE FROM send WHERE state < 0",
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
