//! Files with the recipients of a new send: kept like those of contacts until the send is accepted, and never in their list.

use entity::contact_import::{ActiveModel, Column, Entity};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set, UpdateMany};
use uuid::Uuid;

use super::upload::begin;
use super::{CONTACTS, Import, RECIPIENTS, REMOVED, State, changed_now};
use crate::nouns::Imports;
use crate::one_row::{find_row, put_row};
use crate::{Result, execute};

/// The most such files of one company; the oldest one makes room.
pub const MOST_RECIPIENT_FILES: u64 = 20;

impl Imports<'_> {
    /// Begins the upload of a file with the recipients of a new send of `company`. The oldest ones beyond
    /// [`MOST_RECIPIENT_FILES`] are discarded.
    pub async fn begin_recipients(self, file_name: &str) -> Result<Uuid> {
        let transaction = self.store.begin().await?;
        let oldest = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::Purpose.eq(RECIPIENTS))
            .filter(Column::State.ne(REMOVED))
            .order_by_desc(Column::CreatedAt)
            .order_by_desc(Column::Id)
            .limit(i64::MAX.unsigned_abs())
            .offset(MOST_RECIPIENT_FILES - 1);
        let make_room = Entity::update_many().col_expr(Column::State, Expr::value(REMOVED));
        make_room.filter(Column::Id.in_subquery(oldest.into_query())).exec(&transaction).await?;
        let (id, insert, values) = begin(self.company, file_name, RECIPIENTS);
        execute(&transaction, insert, values).await?;
        transaction.commit().await?;
        Ok(id)
    }

    /// The complete file of `company` with this id, if it has the recipients of a new send.
    pub async fn find_recipients(self, id: Uuid) -> Result<Option<Import>> {
        let found = Entity::find_by_id(id)
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::Purpose.eq(RECIPIENTS))
            .filter(Column::State.eq(State::Ready.as_i16()));
        found.one(&self.store.read).await?.map(Import::try_from).transpose()
    }

    /// Discards a file with recipients: nobody needs it any more.
    pub async fn discard_recipients(self, id: Uuid) -> Result<()> {
        let file = self.change_recipients(id).col_expr(Column::State, Expr::value(REMOVED));
        file.exec(&self.store.write).await?;
        Ok(())
    }

    /// Makes a file with recipients one of contacts, which can be imported. Returns whether there was one.
    pub async fn take_for_contacts(self, id: Uuid) -> Result<bool> {
        let changes = ActiveModel { purpose: Set(CONTACTS), ..changed_now() };
        let ready = self.change_recipients(id).set(changes).filter(Column::State.eq(State::Ready.as_i16()));
        Ok(ready.exec(&self.store.write).await?.rows_affected > 0)
    }

    /// The company's file of recipients of this id, to be changed.
    fn change_recipients(self, id: Uuid) -> UpdateMany<Entity> {
        self.change(id).filter(Column::Purpose.eq(RECIPIENTS))
    }

    /// Which columns had the values of a template in the company's last send of it, in JSON; the template 0 is none.
    pub async fn recipient_mapping(self, template_id: i64) -> Result<Option<String>> {
        let of = [("company_id", self.company.into()), ("template_id", template_id.into())];
        find_row(&self.store.read, ("recipient_mapping", "columns"), of).await
    }

    /// Remembers which columns have the values of a template.
    pub async fn remember_recipients(self, template_id: i64, columns: &str) -> Result<()> {
        let row = [
            ("company_id", self.company.into()),
            ("template_id", template_id.into()),
            ("columns", columns.into()),
        ];
        put_row(&self.store.write, "recipient_mapping", &["company_id", "template_id"], row).await?;
        Ok(())
    }
}
