//! The contacts that a send reached, or failed to reach.

mod recent;

use std::time::Instant;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub(crate) use self::recent::RecentLists;
use super::filter::{ContactFilter, descending};
use super::folded;
use crate::Result;
use crate::nouns::Contacts;
use domain::message::Reception;

/// Contacts by a send to fewer recipients are looked up for each page.
const LARGE: u64 = 20_000;

/// An outcome of a send, which selects contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BySend {
    /// The send.
    pub send: Uuid,
    /// The outcome of its messages.
    pub reception: Reception,
}

/// How new the messages of a send have to be of which contacts are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// As they are now.
    Now,
    /// As they were when a page of the same list was shown, at most a minute ago.
    Recent,
}

impl BySend {
    /// The places of these contacts in the list of their company, descending, and the number of the send's recipients. A send
    /// that the company does not have, or has no more, reached nobody and failed to reach nobody.
    async fn found(self, contacts: Contacts<'_>) -> Result<(Vec<u32>, u64)> {
        let (store, company) = (contacts.store, contacts.company);
        let Some(snapshot) = store.of(company).sends().snapshot(self.send).await? else {
            return Ok((Vec::new(), 0));
        };
        let mut places = descending(store.messages().places(company, &snapshot, self.reception).await?)?;
        places.dedup();
        Ok((places, snapshot.recipients()))
    }

    /// The same places, which were perhaps just looked up for another page.
    async fn recent_places(self, contacts: Contacts<'_>) -> Result<Vec<u32>> {
        let (key, lists) = ((contacts.company, self), &contacts.store.pools.lists);
        let began = Instant::now();
        if let Some(places) = lists.find(key, began) {
            return Ok(places);
        }
        let (places, recipients) = self.found(contacts).await?;
        if recipients >= LARGE {
            lists.keep(key, &places, began.elapsed(), Instant::now());
        }
        Ok(places)
    }
}

/// The places of the contacts that the search and the send of a filter select, descending; `None` for a filter that has
/// neither.
pub(super) async fn narrowed(
    contacts: Contacts<'_>,
    filter: &ContactFilter,
    freshness: Freshness,
) -> Result<Option<Vec<u32>>> {
    let search = filter.search.as_deref();
    let found = match folded(search) {
        Some(_) => Some(contacts.search_all(search).await?),
        None => None,
    };
    let reached = match (filter.reached, freshness) {
        (Some(by_send), Freshness::Now) => Some(by_send.found(contacts).await?.0),
        (Some(by_send), Freshness::Recent) => Some(by_send.recent_places(contacts).await?),
        (None, _) => None,
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
