//! The contacts that a send reached, or failed to reach.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::filter::{ContactFilter, descending};
use super::folded;
use crate::Result;
use crate::nouns::Contacts;
use domain::message::Reception;

/// An outcome of a send, which selects contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BySend {
    /// The send.
    pub send: Uuid,
    /// The outcome of its messages.
    pub reception: Reception,
}

impl BySend {
    /// The places of these contacts in the list of their company, descending. A send that the company does not have, or has
    /// no more, reached nobody and failed to reach nobody.
    async fn places(self, contacts: Contacts<'_>) -> Result<Vec<u32>> {
        let (store, company) = (contacts.store, contacts.company);
        let Some(snapshot) = store.of(company).sends().snapshot(self.send).await? else {
            return Ok(Vec::new());
        };
        let selection = self.reception.selection();
        let mut places = descending(store.messages().places(company, &snapshot, &selection).await?)?;
        places.dedup();
        Ok(places)
    }
}

/// The places of the contacts that the search and the send of a filter select, descending; `None` for a filter that has
/// neither.
pub(super) async fn narrowed(contacts: Contacts<'_>, filter: &ContactFilter) -> Result<Option<Vec<u32>>> {
    let search = filter.search.as_deref();
    let found = match folded(search) {
        Some(_) => Some(contacts.search_all(search).await?),
        None => None,
    };
    let reached = match filter.reached {
        Some(by_send) => Some(by_send.places(contacts).await?),
        None => None,
    };
    Ok(match (found, reached) {
        (Some(mut found), Some(reached)) => {
            retain(&mut found, &reached, true);
            Some(found)
        }
        (found, reached) => found.or(reached),
    })
}

/// Keeps the places that `others` has, too, or those that it has not. Both are descending.
pub(super) fn retain(places: &mut Vec<u32>, others: &[u32], keeps_common: bool) {
    let mut others = others.iter().copied().peekable();
    places.retain(|place| {
        while others.next_if(|other| other > place).is_some() {}
        (others.peek() == Some(place)) == keeps_common
    });
}
