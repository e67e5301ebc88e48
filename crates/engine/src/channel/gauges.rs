//! Gauges whose labels are channels and tiers: the rates, and the waiting messages by reason. Their number is bounded by
//! `metrics.detail`; what is beyond is added up.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

use uuid::Uuid;

use super::machine::Present;
use crate::channel::Channels;
use clock::Timestamp;
use domain::channel::{Channel, Status};
use domain::outlook::Reason;
use store::unfinished::{Unfinished, Waits};

/// Stands for the channels, or the tiers, that are not shown separately.
const OTHERS: &str = "others";

/// A value of a metric at this moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The name of the metric.
    pub name: &'static str,
    /// Its labels with their values.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: f64,
}

impl Sample {
    fn new<const N: usize>(name: &'static str, labels: [(&'static str, String); N], value: f64) -> Self {
        Self { name, labels: labels.into(), value }
    }
}

impl Channels<'_> {
    /// The rates of the running channels and the waiting messages. At most `most` channels and as many tiers have samples
    /// of their own; the others are added up.
    pub fn samples(&self, most: usize) -> Vec<Sample> {
        let (now, wall) = (Instant::now(), Timestamp::now());
        let present = self.engine.directory().present();
        let mut waiting = BTreeMap::new();
        let by_channel: HashMap<Uuid, &Present> =
            present.iter().map(|(channel, present)| (channel.id, present)).collect();
        let is_alone = self.engine.0.shared.cluster.is_alone();
        self.engine.0.shared.census.look(|unfinished| {
            let present = by_channel.get(&unfinished.channel_id).copied();
            // Another node counts the channels that it runs.
            if present.is_some() || is_alone {
                count(unfinished, present, wall, &mut waiting);
            }
        });
        let rates = present.iter().map(|(channel, present)| Rate {
            tier: channel.tier.clone(),
            channel: Some(Arc::clone(channel)),
            rate: present.rate(now),
            limit: present.limit(now),
        });
        let mut samples = of_rates(fold(rates.collect(), most));
        samples.extend(of_waiting(waiting, most));
        samples
    }
}

/// The rate of one channel, or of several of one tier.
#[derive(Debug, Clone)]
struct Rate {
    tier: String,
    /// `None` for several.
    channel: Option<Arc<Channel>>,
    rate: f64,
    limit: f64,
}

impl Rate {
    /// The channel that uses most of its limit is first; of two that use the same part, the faster one.
    fn order(&self, other: &Self) -> Ordering {
        let used = |rate: &Self| (rate.rate / rate.limit.max(f64::MIN_POSITIVE), rate.rate);
        let (own, others) = (used(self), used(other));
        let by_use = others.0.total_cmp(&own.0).then(others.1.total_cmp(&own.1));
        by_use.then_with(|| self.id().cmp(&other.id()))
    }

    fn id(&self) -> Option<Uuid> {
        self.channel.as_ref().map(|channel| channel.id)
    }
}

/// Keeps at most `most` channels, and adds the others up for each tier: for the tiers of the channels that are kept, and
/// for at most as many tiers beside these.
fn fold(mut rates: Vec<Rate>, most: usize) -> Vec<Rate> {
    rates.sort_by(Rate::order);
    let rest = rates.split_off(most.min(rates.len()));
    let mut others: BTreeMap<String, Rate> = BTreeMap::new();
    for Rate { tier, rate, limit, .. } in rest {
        let is_known = others.contains_key(&tier);
        let tier = if is_known || others.len() < most { tier } else { OTHERS.to_owned() };
        let sum = others.entry(tier.clone()).or_insert(Rate { tier, channel: None, rate: 0.0, limit: 0.0 });
        sum.rate += rate;
        sum.limit += limit;
    }
    rates.extend(others.into_values());
    rates
}

fn of_rates(rates: Vec<Rate>) -> Vec<Sample> {
    let each = rates.into_iter().flat_map(|Rate { tier, channel, rate, limit }| {
        let (id, name) = channel.map_or_else(
            || (OTHERS.to_owned(), OTHERS.to_owned()),
            |channel| (channel.id.to_string(), channel.name.clone()),
        );
        let (also_tier, also_id, also_name) = (tier.clone(), id.clone(), name.clone());
        [
            Sample::new("pombo_channel_rate", [("tier", tier), ("channel", id), ("name", name)], rate),
            Sample::new(
                "pombo_channel_rate_limit",
                [("tier", also_tier), ("channel", also_id), ("name", also_name)],
                limit,
            ),
        ]
    });
    each.collect()
}

/// Waiting messages by tier and reason.
type WaitingByTier = BTreeMap<String, BTreeMap<&'static str, u64>>;

/// Counts messages for the reason that they wait for.
fn count(unfinished: &Unfinished, present: Option<&Present>, wall: Timestamp, waiting: &mut WaitingByTier) {
    let Unfinished { channel_id: _, tier, status, waits, has_template, fresh, again } = unfinished;
    let is_full = *has_template && present.is_some_and(|present| present.waits_for_quota(wall));
    let held = present.and_then(|present| present.held);
    for (messages, was_put_back) in [(*fresh, false), (*again, true)] {
        if messages > 0 {
            let reason = reason((*waits, *status), is_full, held, was_put_back);
            *waiting.entry(tier.clone()).or_default().entry(reason.as_str()).or_default() += messages;
        }
    }
}

/// Why messages wait: the send's own reason first, then the channel's state, then limits.
fn reason(
    (waits, status): (Waits, Status),
    is_full: bool,
    held: Option<Reason>,
    was_put_back: bool,
) -> Reason {
    match (waits, status) {
        (Waits::Paused, _) => Reason::Paused,
        (Waits::Scheduled, _) => Reason::Scheduled,
        (_, Status::Blocked) => Reason::Blocked,
        (_, Status::Disconnected | Status::Pairing) => Reason::Disconnected,
        (Waits::Template, _) => Reason::TemplatePaused,
        (Waits::No, Status::Connected | Status::Connecting) => match held {
            Some(reason) if reason.is_of_the_send() => reason,
            _ if is_full => Reason::TemplateQuota,
            _ if was_put_back => Reason::Retry,
            held => held.unwrap_or(Reason::Turn),
        },
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn of_waiting(mut waiting: WaitingByTier, most: usize) -> Vec<Sample> {
    let mut tiers: Vec<_> =
        waiting.iter().map(|(tier, of)| (of.values().sum::<u64>(), tier.clone())).collect();
    tiers.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    for (_, tier) in tiers.split_off(most.min(tiers.len())) {
        for (reason, messages) in waiting.remove(&tier).unwrap_or_default() {
            *waiting.entry(OTHERS.to_owned()).or_default().entry(reason).or_default() += messages;
        }
    }
    let each = waiting.into_iter().flat_map(|(tier, reasons)| {
        reasons.into_iter().map(move |(reason, messages)| {
            let labels = [("reason", reason.to_owned()), ("tier", tier.clone())];
            Sample::new("pombo_messages_waiting", labels, messages as f64)
        })
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(tier: &str, rate: f64, limit: f64) -> Rate {
        Rate { tier: tier.to_owned(), channel: None, rate, limit }
    }

    #[test]
    fn the_channels_that_use_most_of_their_limit_are_kept_and_the_others_are_added_up_by_tier() {
        let rates = vec![
            rate("a", 1.0, 80.0),
            rate("a", 70.0, 80.0),
            rate("b", 2.0, 10.0),
            rate("b", 0.0, f64::INFINITY),
            rate("a", 3.0, 80.0),
        ];
        let folded = fold(rates, 2);
        let shown: Vec<_> = folded.iter().map(|rate| (&*rate.tier, rate.rate, rate.limit)).collect();
        assert_eq!(
            shown,
            [("a", 70.0, 80.0), ("b", 2.0, 10.0), ("a", 4.0, 160.0), ("b", 0.0, f64::INFINITY)]
        );
    }

    #[test]
    fn tiers_beyond_the_bound_are_added_up_too() {
        let folded = fold(["a", "b", "c", "d"].map(|tier| rate(tier, 1.0, 10.0)).to_vec(), 1);
        let shown: Vec<_> = folded.iter().map(|rate| (&*rate.tier, rate.rate)).collect();
        assert_eq!(shown.len(), 3, "{shown:?}");
        assert!(shown.contains(&(OTHERS, 2.0)), "{shown:?}");

        let of = |messages| BTreeMap::from([("rate", messages), ("turn", 1)]);
        let waiting = [("a", 5), ("b", 9), ("c", 7)].map(|(tier, messages)| (tier.to_owned(), of(messages)));
        let shown: Vec<_> = of_waiting(BTreeMap::from(waiting), 1)
            .into_iter()
            .map(|sample| (sample.labels[0].1.clone(), sample.labels[1].1.clone(), sample.value))
            .collect();
        let expected =
            [("rate", "b", 9.0), ("turn", "b", 1.0), ("rate", OTHERS, 12.0), ("turn", OTHERS, 2.0)];
        assert_eq!(shown, expected.map(|(reason, tier, value)| (reason.to_owned(), tier.to_owned(), value)));
    }

    #[test]
    fn the_reason_of_a_send_is_told_before_that_of_its_channel_and_that_before_limits() {
        let table = [
            ((Waits::Paused, Status::Disconnected), true, None, false, Reason::Paused),
            ((Waits::Scheduled, Status::Connected), false, Some(Reason::Rate), false, Reason::Scheduled),
            ((Waits::Template, Status::Connected), false, Some(Reason::Rate), false, Reason::TemplatePaused),
            ((Waits::Template, Status::Blocked), false, None, false, Reason::Blocked),
            ((Waits::No, Status::Disconnected), false, None, true, Reason::Disconnected),
            ((Waits::No, Status::Connected), true, Some(Reason::Rate), false, Reason::TemplateQuota),
            ((Waits::No, Status::Connected), false, Some(Reason::BackOff), false, Reason::BackOff),
            ((Waits::No, Status::Connected), false, Some(Reason::BackOff), true, Reason::Retry),
            ((Waits::No, Status::Connecting), false, None, false, Reason::Turn),
        ];
        for (of_send, is_full, held, was_put_back, expected) in table {
            assert_eq!(reason(of_send, is_full, held, was_put_back), expected, "{of_send:?} {held:?}");
        }
    }
}
