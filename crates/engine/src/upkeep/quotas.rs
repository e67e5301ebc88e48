//! Tells of quotas that are nearly used up, and of API keys that expire soon.
//!
//! Each node looks at the channels that it runs: only a channel that is in use uses a quota up. What was told is in the
//! store, so that a quota is told once until it has recovered, whichever node runs its channels.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use uuid::Uuid;

use crate::Engine;
use clock::Timestamp;
use cluster::shard;
use domain::channel::Channel;
use domain::event::log::Fact;
use domain::limit::{Limit, Name};
use store::alerts::EventMark;

/// How often the quotas are looked at.
const INTERVAL: Duration = Duration::from_secs(60);
/// How often keys are looked for that expire soon, and how long before.
const KEYS: Duration = Duration::from_secs(10 * 60);
const SOON: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The levels that are told.
const LOW: i64 = 1;
const USED_UP: i64 = 2;

/// A quota as the channel with the least of it sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct QuotaLeft {
    company: Uuid,
    channel: Uuid,
    left: u64,
    most: u64,
    is_low: bool,
    has_recovered: bool,
}

/// Whose quota it is, and which one.
type QuotaKey = (Uuid, &'static str);

impl QuotaLeft {
    fn of(channel: &Channel, limit: &Limit) -> Option<(QuotaKey, Name, Self)> {
        let (left, most) = limit.quota()?;
        let own = Self {
            company: channel.company_id,
            channel: channel.id,
            left,
            most,
            is_low: limit.low_quota().is_some(),
            has_recovered: limit.has_recovered(),
        };
        // The channels of a business account share the quota of templates.
        let subject = if limit.name == Name::TemplateQuota { shard(channel) } else { channel.id };
        Some(((subject, limit.name.as_str()), limit.name, own))
    }

    const fn level(self) -> i64 {
        if self.left == 0 { USED_UP } else { LOW }
    }
}

/// Looks at all quotas once. Returns the pause until the next time.
pub(super) async fn round(engine: &Engine) -> Duration {
    if let Err(error) = look(engine).await {
        tracing::debug!(%error, "quotas cannot be looked at");
    }
    INTERVAL
}

async fn look(engine: &Engine) -> store::Result<()> {
    let log = engine.store().event_log();
    if !log.is_heard().await? {
        return Ok(());
    }
    let mut quotas = BTreeMap::<QuotaKey, (Name, QuotaLeft)>::new();
    for (channel, limits) in engine.channels().limits_of_running().await {
        for (key, name, quota) in limits.iter().filter_map(|limit| QuotaLeft::of(&channel, limit)) {
            let least = quotas.entry(key).or_insert((name, quota));
            if quota.left < least.1.left {
                *least = (name, quota);
            }
        }
    }
    let marked = log.marked_quotas().await?;
    let marked: HashMap<_, _> =
        marked.into_iter().map(|mark| ((mark.subject, mark.name), mark.level)).collect();
    let now = Timestamp::now();
    for ((subject, word), (name, quota)) in quotas {
        let told = marked.get(&(subject, word.to_owned())).copied();
        if quota.is_low && told.is_none_or(|told| told < quota.level()) {
            let QuotaLeft { company, channel, left, most, .. } = quota;
            let mark =
                EventMark { company_id: company, subject, name: word.to_owned(), level: quota.level() };
            log.tell_quota(&mark, Fact::of_quota(channel, name, (left, most), now), now).await?;
        } else if quota.has_recovered && told.is_some() {
            log.unmark_quota(subject, name).await?;
        }
    }
    Ok(())
}

/// Looks for keys that expire soon, if this node does the housekeeping. Returns the pause until the next time.
pub(super) async fn keys(engine: &Engine) -> Duration {
    if !engine.0.shared.cluster.keeps_house() {
        return INTERVAL;
    }
    let now = Timestamp::now();
    match engine.store().event_log().tell_expiring_keys(now, now.plus(SOON)).await {
        Ok(0) => {}
        Ok(keys) => tracing::info!(keys, "API keys expire within a week"),
        Err(error) => tracing::debug!(%error, "cannot look for keys that expire"),
    }
    KEYS
}
