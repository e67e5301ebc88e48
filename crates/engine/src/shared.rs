//! The state that the engine's actors share: the memory of machines, in [`Common`], and handles.

use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;

use super::account::Accounts;
use super::activity::Activity;
use super::census::Census;
use super::contacts::people::People;
use super::contacts::suppressions::Suppressions;
use super::contents::{Answers, ContentKeys};
use super::fair_queue::FairQueue;
use super::handover::{PendingReplies, SessionHandles, WebChannel};
use super::health::Health;
use super::ledger::Ledger;
use super::mailbox::Door;
use super::media::Library;
use super::pacer::Pacer;
use super::reader::Reader;
use super::recent::Recent;
use super::window_gate::SharedWindows;
use cluster::Cluster;
use connectors::fair_semaphore::FairSemaphore;
use domain::channel::Channel;
use domain::message::Key;
use domain::tier::{self, Tier};
use store::Store;
use vault::Vault;

/// The tier of a channel whose own is gone.
const FALLBACK: &str = "standard";
/// The most requests a second to the provider other than messages, over all channels. Ten thousand channels that start
/// together have all asked within some minutes; a single channel asks at once.
const QUESTIONS_EACH_SECOND: u32 = 50;
/// The accepted messages, at least, that a receipt without our key is matched with by the provider's id. Some 10 MB.
const MESSAGE_IDS: usize = 50_000;

/// What the machines of all channels share: plain memory and settings. Nothing in it waits, reads a clock or reaches
/// the store: each call brings the time along.
pub(crate) struct Common {
    pub(crate) tiers: Tiers,
    pub(crate) suppressions: Suppressions,
    /// Which numbers are one person.
    pub(crate) people: Arc<People>,
    /// The messages that the provider accepted lately, by its ids.
    pub(crate) message_ids: Recent<Key>,
    /// The business accounts of the channels in use.
    pub(crate) accounts: Accounts,
    /// The engine is stopping: no message is started any more.
    pub(crate) stopping: AtomicBool,
    /// Paces requests to the provider other than messages.
    pub(crate) questions: Pacer,
    /// Permits for messages in flight, shared by all channels.
    pub(crate) permits: Arc<FairQueue>,
    /// The messages of web channels whose callers wait.
    pub(crate) pending_replies: PendingReplies,
    pub(crate) engine: config::Engine,
    pub(crate) retry: config::Retry,
    /// How often a channel's number is probed.
    pub(crate) probe_interval: Duration,
}

pub(crate) struct Shared {
    pub(crate) common: Arc<Common>,
    pub(crate) store: Store,
    pub(crate) vault: Arc<Vault>,
    pub(crate) ledger: Door<Ledger>,
    /// Reads the store for channels.
    pub(crate) reader: Reader,
    /// The windows that single sends ask for.
    pub(crate) windows: SharedWindows,
    /// Permits to resolve audiences, for all resolvers together.
    pub(crate) audiences: Arc<FairSemaphore>,
    pub(crate) cloud_api: config::CloudApi,
    /// Through these, web channels reach their sessions.
    pub(crate) handles: Arc<SessionHandles>,
    /// The files that sends name.
    pub(crate) media: Arc<Library>,
    /// The recent activity of channels, for people.
    pub(crate) activity: Activity,
    /// Which channels run in this process.
    pub(crate) cluster: Cluster,
    /// Its clock and its keys.
    pub(crate) health: Health,
    /// The channels and the waiting messages, as last counted.
    pub(crate) census: Census,
    /// The keys of companies' contents.
    pub(crate) contents: Arc<ContentKeys>,
    /// Whether what people write is kept.
    pub(crate) keeps_inbox: bool,
    /// Answers that conversations do not know yet.
    pub(crate) answers: Answers,
    /// The data directory, for temporary files.
    pub(crate) directory: PathBuf,
}

impl Common {
    /// Memory in which nothing is known yet, and nothing is under way.
    pub(crate) fn new(engine: config::Engine, retry: config::Retry, probe_interval: Duration) -> Self {
        let people = Arc::<People>::default();
        Self {
            tiers: Tiers::default(),
            suppressions: Suppressions::of(Arc::clone(&people)),
            accounts: Accounts::new(Duration::ZERO, Arc::clone(&people)),
            people,
            message_ids: Recent::new(MESSAGE_IDS),
            stopping: AtomicBool::new(false),
            questions: Pacer::each_second(QUESTIONS_EACH_SECOND),
            permits: FairQueue::new(engine.total_in_flight),
            pending_replies: PendingReplies::default(),
            engine,
            retry,
            probe_interval,
        }
    }

    /// The same, with templates that are listed once in each `interval`; when that is zero, only on request.
    pub(crate) fn listing_templates_each(self, interval: Duration) -> Self {
        let accounts = Accounts::new(interval, Arc::clone(&self.people));
        Self { accounts, ..self }
    }
}

/// Other parts read the machines' memory too.
impl Deref for Shared {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}

impl Shared {
    /// Reads the tiers, and returns their names. Tiers that are gone stay known until [`Tiers::keep`].
    pub(crate) async fn load_tiers(&self) -> store::Result<HashSet<String>> {
        let tiers = self.store.tiers().all().await?;
        let names = tiers.iter().map(|tier| tier.name.clone()).collect();
        self.tiers.replace(tiers.into_iter().map(|tier| (tier.name, tier.settings)));
        Ok(names)
    }

    /// Writes the answers that wait to their conversations.
    pub(crate) async fn note_answers(&self) -> store::Result<()> {
        self.answers.write(&self.store, self.keeps_inbox.then_some(&*self.contents)).await
    }

    /// A web channel's way to its session.
    pub(crate) fn web_channel(&self, channel: &Channel) -> WebChannel {
        WebChannel {
            handle: self.handles.of(channel.id),
            media: Arc::clone(&self.media),
            store: self.store.clone(),
            company: channel.company_id,
            channel: channel.id,
            contents: Arc::clone(&self.contents),
        }
    }
}

/// The tiers as they are now.
#[derive(Default)]
pub(crate) struct Tiers {
    tiers: RwLock<HashMap<String, Arc<Tier>>>,
    generation: AtomicU64,
}

impl Tiers {
    /// Takes over the tiers of the store: name and settings as JSON. A tier that cannot be read stays as it was.
    pub(crate) fn replace(&self, records: impl IntoIterator<Item = (String, String)>) {
        let mut tiers = self.tiers.write();
        for (name, settings) in records {
            match serde_json::from_str(&settings) {
                Ok(tier) => {
                    tiers.insert(name, Arc::new(tier));
                }
                Err(error) => tracing::error!(tier = name, %error, "a stored tier cannot be read"),
            }
        }
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Forgets the other tiers.
    pub(crate) fn keep(&self, is_kept: impl Fn(&str) -> bool) {
        self.tiers.write().retain(|name, _| is_kept(name));
    }

    /// Whether this process has read a tier of this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.tiers.read().contains_key(name)
    }

    /// Rises when tiers are replaced: tiers that were found before may be out of date then.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The tier of a channel with the channel's own options. Options that are not sound together with the tier's others
    /// any more are left out.
    pub(crate) fn of(&self, channel: &Channel) -> Arc<Tier> {
        let tier = self.find(&channel.tier);
        if channel.own_options.is_empty() {
            return tier;
        }
        match channel.own_options.over(&tier) {
            Ok(tuned) => Arc::new(tuned),
            Err(faults) => {
                tracing::warn!(
                    channel.id = %channel.id, channel.name = %channel.name, tier = channel.tier,
                    faults = faults.join("; "),
                    "the channel's own options do not fit its tier any more, the tier alone counts"
                );
                tier
            }
        }
    }

    /// The tier of this name, or the one that stands in for it.
    pub(crate) fn find(&self, name: &str) -> Arc<Tier> {
        let tiers = self.tiers.read();
        if let Some(tier) = tiers.get(name) {
            return Arc::clone(tier);
        }
        tracing::warn!(tier = name, fallback = FALLBACK, "unknown tier, the fallback applies");
        tiers.get(FALLBACK).cloned().unwrap_or_else(|| Arc::new(built_in()))
    }
}

/// The fallback as shipped.
#[expect(clippy::expect_used, reason = "the shipped tiers are compiled in, and a test reads them")]
fn built_in() -> Tier {
    let tiers = tier::parse(tier::BUILT_IN).expect("the shipped tiers are sound");
    tiers.into_iter().find(|tier| tier.name == FALLBACK).expect("the fallback is shipped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_that_is_gone_is_forgotten_once_no_channel_runs_under_it() {
        let tiers = Tiers::default();
        let document = |name: &str| {
            format!(r#"{{"name":"{name}","kind":"business_account","messages_per_second":"7/s"}}"#)
        };
        tiers.replace(["old", "used"].map(|name| (name.to_owned(), document(name))));
        tiers.replace([("new".to_owned(), document("new"))]);
        assert!(tiers.knows("old") && tiers.knows("used") && tiers.knows("new"));
        tiers.keep(|name| name != "old");
        assert_eq!((tiers.find("old").name.as_str(), tiers.find("used").name.as_str()), (FALLBACK, "used"));
    }

    #[test]
    fn a_channel_without_its_tier_runs_at_the_standard_pace() {
        assert_eq!(Tiers::default().find("gone").name, FALLBACK);
    }
}
