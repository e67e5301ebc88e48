//! What a node needs to know of the others before it joins, and what operators need to know of each.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // The versions of the rules between nodes that this node follows: the newest, and the oldest. Nodes of programs
    // without such numbers have 0.
    "ALTER TABLE node ADD COLUMN protocol {int} NOT NULL DEFAULT 0",
    "ALTER TABLE node ADD COLUMN protocol_from {int} NOT NULL DEFAULT 0",
    // The address of the provider; empty when it is not known.
    "ALTER TABLE node ADD COLUMN provider TEXT NOT NULL DEFAULT ''",
    // The ids of the sealing keys that the node has, separated by spaces; empty when they are not known.
    "ALTER TABLE node ADD COLUMN sealing_keys TEXT NOT NULL DEFAULT ''",
    // 1 while the node lacks a key of the table `sealing_key`.
    "ALTER TABLE node ADD COLUMN lacks_key {small} NOT NULL DEFAULT 0",
    // How far its clock is ahead of the database's, in milliseconds; null when it is not known.
    "ALTER TABLE node ADD COLUMN clock_ahead {int}",
];

const DOWN: &[&str] = &[
    "ALTER TABLE node DROP COLUMN clock_ahead",
    "ALTER TABLE node DROP COLUMN lacks_key",
    "ALTER TABLE node DROP COLUMN sealing_keys",
    "ALTER TABLE node DROP COLUMN provider",
    "ALTER TABLE node DROP COLUMN protocol_from",
    "ALTER TABLE node DROP COLUMN protocol",
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
