//! Finds the numbers behind hidden addresses in the library's storage.

use std::sync::Arc;

use whatsapp_rust::traits::LidPnMappingEntry;

use super::from_json;
use super::protocol::LID;
use domain::phone::PhoneNumber;
use driver::{Jid, Records};

/// Only reads the records.
pub(in super::super) struct Numbers(Arc<dyn Records>);

impl Numbers {
    pub(in super::super) const fn new(records: Arc<dyn Records>) -> Self {
        Self(records)
    }

    /// The number that an address hides; `None` when it is unknown or cannot be read now.
    pub(in super::super) async fn behind(&self, lid: &Jid) -> Option<PhoneNumber> {
        let (user, _) = lid.as_str().split_once('@')?;
        let record = self.0.read(LID, &[user]).await.ok()?.pop()?;
        let entry: LidPnMappingEntry = from_json(&record.value).ok()?;
        PhoneNumber::parse(&entry.phone_number).ok()
    }
}
