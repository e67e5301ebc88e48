//! What people took out of a company as a file, in the record of changes: nothing is changed, but who has the file is asked later.

use serde_json::json;
use uuid::Uuid;

use crate::Result;
use crate::changes::{self, What, Who};
use crate::nouns::Changes;

/// What a file has that somebody downloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exported {
    /// As many contacts.
    Contacts(u64),
    /// The messages of this send, with their recipients.
    Messages(Uuid),
    /// What was written in the conversations with the person of this contact.
    Conversations(Uuid),
}

impl Changes<'_> {
    /// Records that data of a company was taken out as a file.
    pub async fn add_export(self, who: &Who, company: Uuid, what: Exported) -> Result<()> {
        let after = match what {
            Exported::Contacts(count) => json!({ "contacts": count }),
            Exported::Messages(send) => json!({ "send": send }),
            Exported::Conversations(contact) => json!({ "conversations_with": contact }),
        };
        let transaction = self.store.begin().await?;
        changes::record_one(&transaction, who, What::Export, company, None, after).await?;
        transaction.commit().await?;
        Ok(())
    }
}
