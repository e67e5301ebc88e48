//! The rules of web sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use uuid::Uuid;

use super::super::world::World;
use super::Watch;
use domain::channel::Kind;
use domain::tier::{QUOTA_SPAN, Quota, Tier};

/// Clocks that were set make the last hour of a day uncertain.
const SURELY_COUNTED: Duration = Duration::from_secs(23 * 3_600);
/// How much earlier a day of warming up may begin by a clock that was set.
const CLOCKS_DIFFER: Duration = Duration::from_secs(3_600);

/// The state of web sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// When each message was first handed over, by channel.
    handed_over: BTreeMap<usize, Vec<Duration>>,
    sends: BTreeSet<Uuid>,
    /// Sends whose callers read an error.
    refused: BTreeSet<Uuid>,
    /// Channels whose phone was unlinked, as a caller was told.
    unlinked: BTreeSet<usize>,
    /// When time itself went wrong last: a clock was set, or the machine stood still.
    upset_at: Option<Duration>,
}

impl Watch {
    /// WhatsApp has a message; `cap` is the largest daily cap that may be in force.
    pub(in crate::universe) fn handed_over(
        &mut self,
        channel: usize,
        send_id: Uuid,
        cap: Quota,
        now: Duration,
    ) {
        if self.sessions.refused.contains(&send_id) {
            let what = send_id.to_string();
            self.break_("a message that was answered with an error is never sent", what);
        }
        if self.sessions.unlinked.contains(&channel) {
            self.break_("nothing goes after the phone was unlinked", format!("channel {channel}: {send_id}"));
        }
        if !self.sessions.sends.insert(send_id) {
            return;
        }
        let all = self.sessions.handed_over.entry(channel).or_default();
        all.push(now);
        let counted = all.iter().filter(|at| **at + SURELY_COUNTED > now).count();
        if !cap.allows(u32::try_from(counted).unwrap_or(u32::MAX)) {
            let what = format!("channel {channel}: {counted} of {cap}");
            self.break_("the receivers see no more messages in a day than the cap allows", what);
        }
    }

    pub(in crate::universe) fn was_handed_over(&self, send_id: Uuid) -> bool {
        self.sessions.sends.contains(&send_id)
    }

    /// A caller reads an error, which says that the message was not sent and never will be.
    pub(in crate::universe) fn told_error(&mut self, send_id: Uuid) {
        if self.sessions.sends.contains(&send_id) {
            self.break_("a message that was answered with an error was not sent", send_id.to_string());
        }
        self.sessions.refused.insert(send_id);
    }

    /// A phone accepted the channel.
    pub(in crate::universe) fn linked(&mut self, channel: usize) {
        self.sessions.unlinked.remove(&channel);
    }

    /// A caller is told that the phone is unlinked.
    pub(in crate::universe) fn unlinked(&mut self, channel: usize) {
        self.sessions.unlinked.insert(channel);
    }

    /// A clock is set, or the machine stands still until then.
    pub(in crate::universe) fn upset(&mut self, until: Duration) {
        self.sessions.upset_at = self.sessions.upset_at.max(Some(until));
    }

    pub(in crate::universe) fn was_upset_since(&self, since: Duration) -> bool {
        self.sessions.upset_at.is_some_and(|at| at >= since)
    }
}

impl World {
    /// The most messages that any tier of web sessions allows the channel today.
    pub(in crate::universe) fn largest_cap(&self, channel: usize) -> Quota {
        let wall = self.clock.wall().plus(CLOCKS_DIFFER);
        let record = self.plan.channels[channel].linked_at.or(self.channels[channel].linked_at);
        let age = record.map_or(Duration::ZERO, |linked| wall.from_now(linked));
        let day = u32::try_from(age.as_secs() / QUOTA_SPAN.as_secs()).unwrap_or(u32::MAX);
        let largest = |one: Quota, other: Quota| match (one, other) {
            (Quota::AtMost(one), Quota::AtMost(other)) => Quota::AtMost(one.max(other)),
            (Quota::Unlimited, _) | (_, Quota::Unlimited) => Quota::Unlimited,
        };
        let of_sessions = self.plan.tiers.iter().filter(|tier| tier.kind == Kind::WebSession);
        let caps = of_sessions.map(|tier: &Tier| tier.daily_cap_on(day));
        caps.reduce(largest).unwrap_or_default()
    }

    /// Checks that no more strangers get a message of a session in a day than its tier allows.
    pub(in crate::universe) fn watch_strangers(&mut self, channel: usize) {
        let of_sessions = self.plan.tiers.iter().filter(|tier| tier.kind == Kind::WebSession);
        let cold = of_sessions.map(|tier| tier.cold_contacts).reduce(|one, other| match (one, other) {
            (Quota::AtMost(one), Quota::AtMost(other)) => Quota::AtMost(one.max(other)),
            (Quota::Unlimited, _) | (_, Quota::Unlimited) => Quota::Unlimited,
        });
        let since = self.clock.wall().minus(SURELY_COUNTED);
        let strangers = self.web.keys.first_sent_since(channel, since).len();
        let cold = cold.unwrap_or_default();
        if !cold.allows(u32::try_from(strangers).unwrap_or(u32::MAX)) {
            let what = format!("channel {channel}: {strangers} of {cold}");
            self.watch.break_("no more strangers are written to in a day than the tier allows", what);
        }
    }
}
