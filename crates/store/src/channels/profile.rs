//! Changes of the profile that the provider shows of a channel, which is not stored here.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::Channels;

/// The handle of a picture says nothing to people.
const PICTURE: &str = "profile_picture_handle";

impl Channels<'_> {
    /// Records that these fields of the profile of the company's channel were changed at the provider.
    pub async fn record_profile(
        self,
        who: &Who,
        channel: Uuid,
        mut fields: Map<String, Value>,
    ) -> Result<()> {
        if fields.remove(PICTURE).is_some() {
            fields.insert("picture".to_owned(), json!("replaced"));
        }
        let transaction = self.store.begin().await?;
        let changed = json!({ "profile": fields });
        changes::record_one(&transaction, who, What::Channel, channel, None, changed).await?;
        transaction.commit().await?;
        Ok(())
    }
}
