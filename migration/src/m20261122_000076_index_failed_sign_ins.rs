//! An index of failed sign-ins: they are removed at an age of their own, without a read of the whole record
//! of changes.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

const UP: &[&str] = &["CREATE INDEX change_failed_sign_in ON change (id) WHERE who = 'user:'"];

const DOWN: &[&str] = &["DROP INDEX change_failed_sign_in"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, UP).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        crate::run(manager, DOWN).await
    }
}
