//! The owner's look for work: sends that other nodes accepted, and channels that nobody owns.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use uuid::Uuid;

use super::notes::Read;
use crate::clock::Timestamp;
use crate::domain::channel::Channel;
use crate::engine::Engine;
use crate::engine::channel::{Look, Overlooked};
use crate::store;
use crate::store::channel::{AtWork, Recent};

/// How often is looked.
const INTERVAL: Duration = Duration::from_secs(1);
/// Channels that are read at once, and how often at most in one round: what is left comes first in the next one.
const CHANNELS_AT_ONCE: u32 = 500;
const READINGS: usize = 10;
/// In every so many rounds channels are looked at that have no sends, and old notes are removed.
const SELDOM: u64 = 5;
/// In every so many rounds each channel looks into the store, whatever was seen: what became readable late may look
/// like what was seen before.
const AGAIN: u64 = 15;

/// What was seen of channels before.
#[derive(Default)]
pub(super) struct Seen {
    round: u64,
    behind: Uuid,
    recent: HashMap<Uuid, Recent>,
    /// Takes what other nodes say to each shard that this one owns.
    attended: HashMap<Uuid, Attended>,
    read: Read,
    was_blind: bool,
}

/// A task that ends with this.
struct Attended(JoinHandle<()>);

impl Drop for Attended {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Engine {
    /// One round; the pause until the next.
    pub(super) async fn look_for_work(&self, seen: &mut Seen) -> Duration {
        if self.check_running().is_ok() {
            let result = self.see_work(seen).await;
            if let Err(error) = &result
                && !seen.was_blind
            {
                tracing::warn!(%error, "cannot look for work of this node");
            }
            seen.was_blind = result.is_err();
        }
        // Another node may say that there is something: then it is looked at once.
        let _ = timeout(INTERVAL, self.0.nodes.look.notified()).await;
        Duration::ZERO
    }

    async fn see_work(&self, seen: &mut Seen) -> store::Result<()> {
        seen.round += 1;
        let cluster = &self.0.shared.cluster;
        cluster.want_house();
        self.attend_to_owned(&mut seen.attended);
        self.read_notes(&mut seen.read).await?;
        let mut wanted = Vec::new();
        for _ in 0..READINGS {
            let (behind, now) = (seen.behind, Timestamp::now());
            let working = self.store().channels_with_news(behind, now, CHANNELS_AT_ONCE).await?;
            let is_last = working.len() < CHANNELS_AT_ONCE as usize;
            seen.behind =
                working.last().filter(|_| !is_last).map_or_else(Uuid::nil, |(last, _)| last.channel_id);
            for (at_work, recent) in working {
                let Some(channel) = self.directory().find(at_work.channel_id).await? else { continue };
                if cluster.owns(&channel) {
                    self.see_sends(&channel, at_work, recent, seen);
                } else if cluster.is_proposed(&channel) {
                    wanted.push(channel);
                }
            }
            if is_last {
                break;
            }
        }
        if seen.round % SELDOM == 1 {
            self.see_idle(&mut wanted).await?;
            seen.recent.retain(|channel, _| self.directory().handle(*channel).is_some());
        }
        cluster.want(wanted.iter().map(|channel| &**channel));
        Ok(())
    }

    /// Hears what other nodes say to the shards that this one owns, and to no others. A subscription that ended or could not
    /// be made is made again.
    fn attend_to_owned(&self, attended: &mut HashMap<Uuid, Attended>) {
        let Some(carrier) = self.0.shared.cluster.carrier() else { return };
        let owned = self.0.shared.cluster.owned();
        attended.retain(|shard, attended| owned.contains(shard) && !attended.0.is_finished());
        for shard in owned {
            attended
                .entry(shard)
                .or_insert_with(|| Attended(actix::spawn(self.clone().attend(Arc::clone(&carrier), shard))));
        }
    }

    /// Wakes a channel that runs here, and tells it of sends that other nodes accepted.
    fn see_sends(&self, channel: &Arc<Channel>, at_work: AtWork, recent: Recent, seen: &mut Seen) {
        let Some(handle) = self.directory().handle(channel.id) else {
            // It reads the store when it starts.
            seen.recent.insert(channel.id, recent);
            self.directory().wake(channel);
            return;
        };
        // A full mailbox belongs to a channel that is busy: it is told in another round.
        let is_new = seen.recent.get(&channel.id) != Some(&recent);
        let AtWork { direct, bulk, .. } = at_work;
        if is_new || seen.round.is_multiple_of(AGAIN) {
            if handle.try_send(Look) {
                seen.recent.insert(channel.id, recent);
            }
        } else if direct.or(bulk).is_some() {
            handle.try_send(Overlooked { direct, bulk });
        }
    }

    /// Channels that have to run without sends: accounts that the provider has not confirmed, and linked sessions.
    async fn see_idle(&self, wanted: &mut Vec<Arc<Channel>>) -> store::Result<()> {
        let cluster = &self.0.shared.cluster;
        let idle = self.store().unconfirmed_channels().await?.into_iter();
        for channel in idle.chain(self.store().linked_web_sessions().await?).map(Arc::new) {
            if cluster.owns(&channel) {
                self.directory().wake(&channel);
            } else if cluster.is_proposed(&channel) {
                wanted.push(channel);
            }
        }
        if cluster.keeps_house() {
            self.store().remove_old_notes().await?;
        }
        Ok(())
    }
}
