//! What bodies in Meta's form name: channels by Meta's ids or ours, and what a program noted on a send. Both are kept for a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dashmap::DashMap;
use uuid::Uuid;

use domain::channel::Channel;
use domain::graph::GraphIdKind;
use store::Store;

/// For how long a channel is known: its number changes rarely.
const KNOWN_FOR: Duration = Duration::from_secs(30);
/// The most channels and the most sends that are known; when there are more, all are dropped.
const CAPACITY: usize = 10_000;
/// The note that Meta returns with the statuses of a message.
const OPAQUE: &str = "biz_opaque_callback_data";

/// A channel, as bodies name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedChannel {
    /// The id of its number.
    pub(super) number_id: String,
    /// The digits of its number.
    pub(super) digits: String,
    /// The id of its account.
    pub(super) account: String,
}

/// What is known.
#[derive(Default)]
pub(in crate::webhooks) struct GraphNames {
    channels: DashMap<Uuid, (Instant, Arc<NamedChannel>)>,
    notes: DashMap<Uuid, Option<String>>,
}

impl GraphNames {
    /// A channel of a company; `None` when it is gone.
    pub(super) async fn channel(
        &self,
        store: &Store,
        company: Uuid,
        id: Uuid,
    ) -> store::Result<Option<Arc<NamedChannel>>> {
        let known = self.channels.get(&id).filter(|known| known.0.elapsed() < KNOWN_FOR);
        if let Some(known) = known.map(|known| Arc::clone(&known.1)) {
            return Ok(Some(known));
        }
        let Some(channel) = store.of(company).channels().find(id).await? else { return Ok(None) };
        let named = Arc::new(named(store, company, channel).await?);
        if self.channels.len() >= CAPACITY {
            self.channels.clear();
        }
        self.channels.insert(id, (Instant::now(), Arc::clone(&named)));
        Ok(Some(named))
    }

    /// What a program wants back with the statuses of the messages of a send.
    pub(super) async fn opaque(
        &self,
        store: &Store,
        company: Uuid,
        send: Uuid,
    ) -> store::Result<Option<String>> {
        let known = self.notes.get(&send).map(|known| known.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let note = store.of(company).graph_ids().note(send, OPAQUE).await?;
        if self.notes.len() >= CAPACITY {
            self.notes.clear();
        }
        self.notes.insert(send, note.clone());
        Ok(note)
    }
}

async fn named(store: &Store, company: Uuid, channel: Channel) -> store::Result<NamedChannel> {
    let ids = || store.of(company).graph_ids();
    let number_id = match channel.phone_number_id {
        Some(id) => id,
        None => ids().of(GraphIdKind::Number, channel.id).await?.to_string(),
    };
    let account = match channel.waba_id {
        Some(id) => id,
        None => ids().of(GraphIdKind::Account, company).await?.to_string(),
    };
    let number = channel.phone_number.unwrap_or_default();
    Ok(NamedChannel { number_id, digits: number.chars().filter(char::is_ascii_digit).collect(), account })
}
