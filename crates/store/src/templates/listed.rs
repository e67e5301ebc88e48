//! Lists of all templates of a company, whatever their status, for people.

use entity::template::{Column, Entity};
use sea_orm::sea_query::{Condition, ExprTrait, LikeExpr};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{APPROVED, DELETED, PAUSED, Record, lower, record};
use crate::Result;
use crate::nouns::Templates;
use clock::Timestamp;
use domain::fold::{fold, like_anywhere};
use domain::page::{Page, PageRequest};

/// The statuses of templates that can be sent, or that are only here for the sends that used them.
const FIT_OR_GONE: [&str; 2] = [APPROVED, DELETED];

/// Which templates to list. Everything that is `None` or false matches all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listed<'a> {
    /// The business account.
    pub waba_id: Option<&'a str>,
    /// The provider's status, in its own case.
    pub status: Option<&'a str>,
    /// Matched anywhere in the name, without case.
    pub search: Option<&'a str>,
    /// Whether only those are listed that are not approved, not deleted and not archived.
    pub only_unfit: bool,
}

impl Templates<'_> {
    /// A page of a company's templates, by name, then by language, business account and id.
    pub async fn page(self, page: PageRequest, filter: Listed<'_>) -> Result<Page<Record>> {
        let Listed { waba_id, status, search, only_unfit } = filter;
        let named =
            |text: &str| lower(Column::Name).like(LikeExpr::new(like_anywhere(&fold(text))).escape('\\'));
        let condition = Condition::all()
            .add(Column::CompanyId.eq(self.company))
            .add_option(waba_id.map(|waba_id| Column::WabaId.eq(waba_id)))
            .add_option(status.map(|status| Column::Status.eq(status)))
            .add_option(search.map(named))
            .add_option(only_unfit.then(|| Column::Status.is_not_in(FIT_OR_GONE)))
            .add_option(only_unfit.then(|| Column::ArchivedAt.is_null()));
        let matching = Entity::find()
            .filter(condition)
            .order_by_asc(Column::Name)
            .order_by_asc(Column::Language)
            .order_by_asc(Column::WabaId)
            .order_by_asc(Column::Id);
        self.store.page_of(matching, page).await?.try_map(record)
    }

    /// The company's templates that the provider has paused, and the rejected and disabled ones that changed at `since` or
    /// later; the latest change first, at most `limit`.
    pub async fn troubled(self, since: Timestamp, limit: u64) -> Result<Vec<Record>> {
        let is_refused = Condition::all()
            .add(Column::Status.is_in(["REJECTED", "DISABLED"]))
            .add(Column::UpdatedAt.gte(since.millis()));
        let models = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(Condition::any().add(Column::Status.eq(PAUSED)).add(is_refused))
            .order_by_desc(Column::UpdatedAt)
            .order_by_desc(Column::Id)
            .limit(limit)
            .all(&self.store.read)
            .await?;
        models.into_iter().map(record).collect()
    }
}
