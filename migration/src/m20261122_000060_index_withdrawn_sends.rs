//! Sends that were withdrawn while nobody knew whether they had been written, found again to be deleted.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // A state below 0 is a tombstone: its id is taken, so that the send cannot be written any more.
    "CREATE INDEX send_withdrawn ON send (id) WHERE state < 0",
];

const DOWN: &[&str] = &[
    "DROP INDEX send_withdrawn",
    // The program before knows nothing of tombstones; what they keep out came to its end long ago.
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
