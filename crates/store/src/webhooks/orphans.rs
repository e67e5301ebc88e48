//! The endpoints that programs set for channels which are gone: nobody would think of removing them.

use entity::channel;
use entity::webhook_endpoint::{Column, Entity};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _};
use uuid::Uuid;

use crate::changes::Who;
use crate::nouns::Webhooks;
use crate::{Result, Transaction};
use domain::webhook::{InAccount, SetFor};

impl Webhooks<'_> {
    /// Removes the endpoints that programs set for channels of which none is left, in the transaction that removes the last one.
    /// `true` when there was any: then the readers of the log are others.
    pub(crate) async fn remove_orphans(self, within: &Transaction, who: &Who) -> Result<bool> {
        let set =
            Entity::find().filter(Column::CompanyId.eq(self.company)).filter(Column::SetFor.is_not_null());
        let set = set.order_by_asc(Column::Id).all(within).await?;
        if set.is_empty() {
            return Ok(false);
        }
        let left = channel::Entity::find().filter(channel::Column::CompanyId.eq(self.company));
        let left = left.select_only().columns([channel::Column::Id, channel::Column::WabaId]);
        let left = left.into_tuple::<InAccount>().all(within).await?;
        let mut is_any = false;
        for endpoint in set {
            let set_for = endpoint.set_for.as_deref().map(str::parse::<SetFor>);
            // What another version wrote stays.
            let (Some(Ok(set_for)), Ok(bound)) =
                (set_for, serde_json::from_str::<Vec<Uuid>>(&endpoint.channels))
            else {
                continue;
            };
            if set_for.is_orphan(&bound, &left) {
                is_any |= self.remove_within(within, who, endpoint.id).await?;
            }
        }
        Ok(is_any)
    }
}
