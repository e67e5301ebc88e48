//! The owner's search for work: sends that other nodes accepted, and channels without an owner.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use tokio::time::timeout;
use uuid::Uuid;

use super::notes::Read;
use crate::channel::Input;
use crate::nodes::NodeRounds;
use clock::Timestamp;
use domain::channel::Channel;
use store::channels::{AtWork, Recent};

/// How often the owner searches.
const INTERVAL: Duration = Duration::from_secs(1);
/// Wake-ups of other nodes within this time cause one search: they come with each accepted request.
pub(super) const GATHERING: Duration = Duration::from_millis(10);
/// Channels that are read at once, and the most reads in one round: the rest comes first in the next one.
const CHANNELS_AT_ONCE: u32 = 500;
const READINGS: usize = 10;
/// How often, in seconds, channels without sends are checked and old notes removed.
const SELDOM: u64 = 5;
/// How often, in seconds, each channel reads the store even if nothing new was seen: rows that became readable late may
/// look like known ones.
const AGAIN: u64 = 15;

/// What earlier rounds saw of the channels.
#[derive(Default)]
pub(super) struct Seen {
    rounds: Rounds,
    behind: Uuid,
    recent: HashMap<Uuid, Recent>,
    /// The tasks that receive messages of other nodes, for each shard that this node owns.
    attended: HashMap<Uuid, Attended>,
    read: Read,
    was_blind: bool,
}

/// Counts the scheduled rounds. Rounds that other nodes ask for come in between in any number, and do only the
/// necessary.
#[derive(Debug, Default)]
struct Rounds {
    count: u64,
    last: Option<Instant>,
}

impl Rounds {
    /// A round begins. Returns its number, if it is a scheduled one.
    fn begin(&mut self, now: Instant) -> Option<u64> {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) < INTERVAL) {
            return None;
        }
        self.last = Some(now);
        self.count += 1;
        Some(self.count)
    }
}

/// A task that ends with this.
struct Attended(JoinHandle<()>);

impl Drop for Attended {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl NodeRounds<'_> {
    /// Does one round. Returns the pause until the next.
    pub(super) async fn look_for_work(&self, seen: &mut Seen) -> Duration {
        if self.engine.check_running().is_ok() {
            let result = self.see_work(seen).await;
            if let Err(error) = &result
                && !seen.was_blind
            {
                tracing::warn!(%error, "cannot look for work of this node");
            }
            seen.was_blind = result.is_err();
        }
        // A round begins at once when another node reports work, or when the other nodes have to be told of a throttled
        // app.
        let asked = async {
            tokio::select! {
                () = self.engine.0.nodes.look.notified() => {}
                () = self.engine.0.shared.accounts.wait_for_throttled_apps() => {}
            }
        };
        match timeout(INTERVAL, asked).await {
            Ok(()) => GATHERING,
            Err(_) => Duration::ZERO,
        }
    }

    async fn see_work(&self, seen: &mut Seen) -> store::Result<()> {
        let round = seen.rounds.begin(Instant::now());
        let has_idle = self.engine.0.nodes.has_idle.swap(false, Ordering::AcqRel);
        let looks_again = round.is_some_and(|round| round.is_multiple_of(AGAIN));
        let cluster = &self.engine.0.shared.cluster;
        cluster.want_house();
        self.engine.0.shared.questions.share(cluster.size());
        self.engine.0.web_sessions.share_starts(cluster.size());
        self.attend_to_owned(&mut seen.attended);
        self.share_throttled_apps().await?;
        self.read_notes(&mut seen.read).await?;
        let mut wanted = Vec::new();
        for _ in 0..READINGS {
            let (behind, now) = (seen.behind, Timestamp::now());
            let working = self.engine.store().channels().with_news(behind, now, CHANNELS_AT_ONCE).await?;
            let is_last = working.len() < CHANNELS_AT_ONCE as usize;
            seen.behind =
                working.last().filter(|_| !is_last).map_or_else(Uuid::nil, |(last, _)| last.channel_id);
            for (at_work, recent) in working {
                let Some(channel) = self.engine.directory().find(at_work.channel_id).await? else { continue };
                if cluster.owns(&channel) {
                    self.see_sends(&channel, at_work, (recent, looks_again), seen);
                } else if cluster.is_proposed(&channel) {
                    wanted.push(channel);
                }
            }
            if is_last {
                break;
            }
        }
        if round.is_some() {
            self.open_unopened_sessions();
        }
        if has_idle || round.is_some_and(|round| round % SELDOM == 1) {
            self.see_idle(&mut wanted).await?;
            seen.recent.retain(|channel, _| self.engine.directory().handle(*channel).is_some());
        }
        cluster.want(wanted.iter().map(|channel| &**channel));
        Ok(())
    }

    /// Receives messages of other nodes to this node and to the shards that it owns. A subscription that ended or
    /// failed is made again.
    fn attend_to_owned(&self, attended: &mut HashMap<Uuid, Attended>) {
        let Some(carrier) = self.engine.0.shared.cluster.carrier() else { return };
        let mut owned = self.engine.0.shared.cluster.owned();
        owned.extend(self.engine.0.shared.cluster.node());
        attended.retain(|shard, attended| owned.contains(shard) && !attended.0.is_finished());
        for shard in owned {
            attended.entry(shard).or_insert_with(|| {
                Attended(actix::spawn(self.engine.clone().attend(Arc::clone(&carrier), shard)))
            });
        }
    }

    /// Tells a channel that runs here about sends that other nodes accepted; with `looks_again`, even if nothing new
    /// was seen.
    fn see_sends(
        &self,
        channel: &Arc<Channel>,
        at_work: AtWork,
        (recent, looks_again): (Recent, bool),
        seen: &mut Seen,
    ) {
        let Some(handle) = self.engine.directory().handle(channel.id) else {
            // The channel reads the store when it starts.
            seen.recent.insert(channel.id, recent);
            self.engine.directory().wake(channel);
            return;
        };
        // A full mailbox belongs to a busy channel, which is told in another round.
        let is_new = seen.recent.get(&channel.id) != Some(&recent);
        let AtWork { direct, bulk, .. } = at_work;
        if is_new || looks_again {
            if handle.try_send(Input::Look) {
                seen.recent.insert(channel.id, recent);
            }
        } else if direct.or(bulk).is_some() {
            handle.try_send(Input::Overlooked { direct, bulk });
        }
    }

    /// Channels that have to run without sends: accounts that the provider has not confirmed, and linked sessions.
    async fn see_idle(&self, wanted: &mut Vec<Arc<Channel>>) -> store::Result<()> {
        let cluster = &self.engine.0.shared.cluster;
        let idle = self.engine.store().channels().unconfirmed().await?.into_iter();
        for channel in idle.chain(self.engine.store().web_sessions().linked().await?).map(Arc::new) {
            if cluster.owns(&channel) {
                self.engine.directory().wake(&channel);
            } else if cluster.is_proposed(&channel) {
                wanted.push(channel);
            }
        }
        if cluster.keeps_house() {
            self.engine.store().notes().remove_old().await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_for_which_other_nodes_ask_are_not_counted() {
        let (mut rounds, start) = (Rounds::default(), Instant::now());
        let begun = (0..300).filter_map(|tenths| rounds.begin(start + INTERVAL * tenths / 10));
        assert_eq!(begun.collect::<Vec<_>>(), (1..=30).collect::<Vec<_>>());
    }
}
