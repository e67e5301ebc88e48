//! Lists of all templates of a company, whatever their status, for people.

use entity::template::{Column, Entity};
use sea_orm::sea_query::{Condition, ExprTrait, LikeExpr};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::{Record, lower, record};
use crate::Result;
use crate::nouns::Templates;
use domain::fold::{fold, like_anywhere};
use domain::page::{Page, PageRequest};

/// Which templates to list. Everything that is `None` matches all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listed<'a> {
    /// The business account.
    pub waba_id: Option<&'a str>,
    /// The provider's status, in its own case.
    pub status: Option<&'a str>,
    /// Matched anywhere in the name, without case.
    pub search: Option<&'a str>,
}

impl Templates<'_> {
    /// A page of a company's templates, by name, then by language, business account and id.
    pub async fn page(self, page: PageRequest, filter: Listed<'_>) -> Result<Page<Record>> {
        let Listed { waba_id, status, search } = filter;
        let named =
            |text: &str| lower(Column::Name).like(LikeExpr::new(like_anywhere(&fold(text))).escape('\\'));
        let condition = Condition::all()
            .add(Column::CompanyId.eq(self.company))
            .add_option(waba_id.map(|waba_id| Column::WabaId.eq(waba_id)))
            .add_option(status.map(|status| Column::Status.eq(status)))
            .add_option(search.map(named));
        let matching = Entity::find()
            .filter(condition)
            .order_by_asc(Column::Name)
            .order_by_asc(Column::Language)
            .order_by_asc(Column::WabaId)
            .order_by_asc(Column::Id);
        self.store.page_of(matching, page).await?.try_map(record)
    }
}
