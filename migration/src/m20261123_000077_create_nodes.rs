//! The nodes of a cluster, their fences, and the channels that each node owns.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &[
    // `lapses_at` is by the database's clock. `state`: 0 serves, 1 drains, 2 is fenced, 3 is fenced and
    // cleaned up.
    "CREATE TABLE node (
        id {uuid} NOT NULL PRIMARY KEY,
        cluster TEXT NOT NULL,
        name TEXT NOT NULL,
        address TEXT NOT NULL,
        version TEXT NOT NULL,
        cores {int} NOT NULL,
        started_at {int} NOT NULL,
        lapses_at {int} NOT NULL,
        state {small} NOT NULL
    ) {strict}",
    // A table of its own: the heartbeat would otherwise wait for each transaction that checks the fence.
    "CREATE TABLE node_fence (
        node_id {uuid} NOT NULL PRIMARY KEY,
        closed {small} NOT NULL
    ) {strict}",
    // `shard` is the id of a web session's channel, or an id that all channels of one business account share.
    "CREATE TABLE channel_owner (
        shard {uuid} NOT NULL PRIMARY KEY,
        node_id {uuid},
        epoch {int} NOT NULL,
        moved_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX channel_owner_node ON channel_owner (node_id)",
    // Notes of a node to the owner of a channel; a note without a channel is for all nodes.
    "CREATE TABLE node_note (
        id {serial} NOT NULL PRIMARY KEY,
        channel_id {uuid},
        name TEXT NOT NULL,
        body TEXT NOT NULL,
        written_at {int} NOT NULL
    ) {strict}",
    // Requests with an Idempotency-Key that a node is working on.
    "CREATE TABLE key_in_progress (
        company_id {uuid} NOT NULL,
        key TEXT NOT NULL,
        node_id {uuid} NOT NULL,
        PRIMARY KEY (company_id, key)
    ) {strict}",
    "ALTER TABLE send ADD COLUMN resolver {uuid}",
];

const DOWN: &[&str] = &[
    "ALTER TABLE send DROP COLUMN resolver",
    "DROP TABLE key_in_progress",
    "DROP TABLE node_note",
    "DROP TABLE channel_owner",
    "DROP TABLE node_fence",
    "DROP TABLE node",
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
