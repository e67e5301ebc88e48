//! The keys of companies with which contents are sealed, opened once and kept in memory.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use uuid::Uuid;

use crate::media::Library;
use clock::database::new_id;
use domain::event::{Data, Event};
use domain::inbound::InboundBody;
use store::Store;
use store::conversations::StoredDataKey;
use vault::{DataKey, KeyId, Vault, context};

/// Seals and opens contents. A company has few keys, of 32 bytes each.
pub(crate) struct ContentKeys {
    store: Store,
    vault: Arc<Vault>,
    /// Knows the states of the files of messages.
    media: Arc<Library>,
    /// The key of each company that seals.
    current: RwLock<HashMap<Uuid, Arc<DataKey>>>,
    /// All keys that were read, by their ids.
    known: RwLock<HashMap<Uuid, Arc<DataKey>>>,
}

impl ContentKeys {
    pub(crate) fn new(store: Store, vault: Arc<Vault>, media: Arc<Library>) -> Self {
        Self { store, vault, media, current: RwLock::default(), known: RwLock::default() }
    }

    /// The key that seals the contents of a company, which gets one if it has none, or none that anybody can open.
    ///
    /// # Errors
    ///
    /// When the database fails, or only other processes have the sealing key.
    pub(crate) async fn current(&self, company: Uuid) -> store::Result<Arc<DataKey>> {
        if let Some(key) = self.current.read().get(&company) {
            return Ok(Arc::clone(key));
        }
        loop {
            let stored = self.store.conversations().newest_key(company).await?;
            if let Some(stored) = &stored
                && let Some(key) = self.opened(stored).await?
            {
                self.current.write().insert(company, Arc::clone(&key));
                return Ok(key);
            }
            let _hold = self.vault.hold();
            let id = new_id();
            let new = StoredDataKey { id, company_id: company, sealed: self.vault.new_data_key(id) };
            // One that nobody opens may have the greater id, of a clock that was ahead: it would be found here again and again.
            if self.store.conversations().add_key(&new, stored.map(|stored| stored.id)).await?
                && let Some(key) = self.opened(&new).await?
            {
                self.current.write().insert(company, Arc::clone(&key));
                return Ok(key);
            }
        }
    }

    /// Opens a content; `None` if no key opens it, which is logged.
    pub(crate) async fn open(&self, sealed: &[u8], context: &str) -> store::Result<Option<Vec<u8>>> {
        let Some(id) = DataKey::id_of(sealed) else { return Ok(None) };
        let known = self.known.read().get(&id).map(Arc::clone);
        let key = match known {
            Some(key) => Some(key),
            None => match self.store.conversations().key(id).await? {
                Some(stored) => self.opened(&stored).await?,
                None => None,
            },
        };
        Ok(key.and_then(|key| key.open(sealed, context).ok()))
    }

    /// Opens the contents of events, and adds the states of their files. One that cannot be opened stays without.
    pub(crate) async fn open_events<'e>(&self, events: impl IntoIterator<Item = &'e mut Event>) {
        let mut bodies = Vec::new();
        for event in events {
            let Data::Inbound(inbound) = &mut event.data else { continue };
            let Some(body) = inbound.sealed.take() else { continue };
            match self.open(&body.sealed, &context::inbound_body(body.id)).await {
                Ok(opened) => {
                    let opened = opened.and_then(|json| InboundBody::from_json(&json));
                    inbound.message = opened.map(|body| Box::new(body.public()));
                    bodies.extend(inbound.message.as_deref_mut().map(|message| (body.id, message)));
                }
                Err(error) => tracing::warn!(%error, "the content of an event cannot be opened now"),
            }
        }
        self.media.tell_files(bodies).await;
    }

    /// The key, opened; `None` if nobody can open it any more.
    async fn opened(&self, stored: &StoredDataKey) -> store::Result<Option<Arc<DataKey>>> {
        let StoredDataKey { id, company_id, sealed } = stored;
        match self.vault.open_data_key(*id, sealed) {
            Ok(key) => {
                let key = Arc::new(key);
                self.known.write().insert(*id, Arc::clone(&key));
                Ok(Some(key))
            }
            Err(vault::Error::UnknownKey(key)) if is_of_the_database(&self.store, key).await? => {
                let sentence = format!("this process lacks the sealing key {key}");
                Err(store::Error::Unavailable(sentence))
            }
            Err(error) => {
                tracing::error!(company.id = %company_id, %error, "a key of a company's contents cannot be unsealed: what was sealed with it stays closed, and a new one is made");
                Ok(None)
            }
        }
    }
}

/// Whether this is a key of the database, which other processes have.
pub(crate) async fn is_of_the_database(store: &Store, key: KeyId) -> store::Result<bool> {
    Ok(store.sealing_keys().all().await?.iter().any(|known| known.key_id == key.as_slice()))
}
