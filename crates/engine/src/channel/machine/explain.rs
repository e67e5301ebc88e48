//! Explanations: which limits hold, what set them, and the outlook of each send.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::limiter::Binding;
use super::templates::warming_day;
use super::work::Work;
use super::{Machine, Moment};
use clock::Timestamp;
use domain::channel::{Channel, Kind, Level};
use domain::limit::{Allows, LevelHint, Limit, Limits, Name, Origin};
use domain::outlook::{Outlook, Reason, Waiting};
use domain::tier::{Quota, Tier};

/// A send whose outlook is asked for.
#[derive(Serialize, Deserialize)]
pub(crate) struct Viewed {
    pub(crate) id: Uuid,
    /// Whether the send counts against the quota of templates.
    pub(crate) has_template: bool,
}

/// The factors of a channel's pace.
pub(crate) struct Pace {
    pub(crate) tier: Arc<Tier>,
    pub(crate) level: Option<Level>,
    /// Messages a second while the provider's refusals slow the channel down.
    pub(crate) slowed_to: Option<f64>,
}

impl Machine {
    /// The limits of this channel now.
    pub(crate) fn explain(&self, Moment { monotonic: now, wall }: Moment) -> Limits {
        let mut limits = self.rates(now, wall);
        limits.extend(pair(&self.tier, &self.channel));
        let is_quiet = self.held.as_ref().is_some_and(|held| held.reason == Reason::QuietHours);
        limits.extend(self.tier.quiet_until(wall).map(|until| Limit {
            is_binding: is_quiet,
            next_slot: Some(until),
            ..limit(Name::QuietHours, Allows::Singles, origin(&self.tier, &self.channel, &["quiet_hours"]))
        }));
        match self.channel.kind {
            Kind::BusinessAccount => limits.push(self.quota_limit(wall)),
            Kind::WebSession => limits.extend(self.days(wall)),
        }
        if let Some(messaging_limit) = self.channel.messaging_limit {
            let allows = Allows::Provider(messaging_limit);
            limits.push(limit(Name::ProviderMessagingLimit, allows, Origin::Provider));
        }
        Limits {
            level_hint: LevelHint::of(self.tier.messages_per_second, self.channel.level),
            rate: finite(self.limiter.rate(now)),
            limits,
            waiting: self.waiting(now, wall),
            active_sends: self.lanes.works().count() as u64,
            in_flight: self.flight.requests as u64,
            pace: self.history.pace(now, wall, self.limiter.rate(now)),
        }
    }

    /// The outlook of these sends: those in the lanes, and those that the quota of templates keeps in the store.
    pub(crate) fn look_ahead(&self, sends: Vec<Viewed>, at: Moment) -> HashMap<Uuid, Outlook> {
        let Moment { monotonic: now, wall } = at;
        let rate = finite(self.limiter.rate(now));
        let queue = Queue::of(self.lanes.works());
        let channel_waits = self.waiting(now, wall);
        let full = self.quota_waiting(wall);
        let outlook = |Viewed { id, has_template }| {
            let Some(work) = self.lanes.work(id).filter(|work| work.leaving().is_none()) else {
                let waiting = full.clone().filter(|_| has_template)?;
                return Some((id, Outlook { waiting: Some(waiting), ..Outlook::default() }));
            };
            let after = |seconds: f64| {
                let span = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
                self.tier.done(wall, span, !work.is_direct())
            };
            let rests = |waiting: &Waiting| waiting.reason == Reason::QuietHours;
            let waiting = channel_waits.clone().filter(|waiting| !(work.is_direct() && rests(waiting)));
            if let Some(waiting) = self.held_back(id, waiting.as_ref(), (now, wall)) {
                return Some((id, Outlook { waiting: Some(waiting), ..Outlook::default() }));
            }
            let can_go = self.link.can_send() && self.link.canary.trial().is_none();
            let goes_now = can_go && !waiting.as_ref().is_some_and(rests);
            let (share, ahead) = queue.place(work);
            let outlook = Outlook {
                rate: rate.filter(|_| goes_now).map(|rate| rate * share),
                estimated_end: rate.filter(|_| can_go).map(|rate| after(ahead as f64 / rate)),
                waiting,
            };
            Some((id, outlook))
        };
        sends.into_iter().filter_map(outlook).collect()
    }

    /// The channel's present pace.
    pub(crate) fn pace(&self, at: Moment) -> Pace {
        let now = at.monotonic;
        let is_slowed = matches!(self.limiter.binding(now), Binding::BackOff { .. });
        Pace {
            tier: Arc::clone(&self.tier),
            level: self.level(),
            slowed_to: is_slowed.then(|| self.limiter.rate(now)),
        }
    }

    /// Why no message goes now.
    fn waiting(&self, now: Instant, wall: Timestamp) -> Option<Waiting> {
        let held = self.held.as_ref()?;
        let until = held.until.map(|until| wall.plus(until.saturating_duration_since(now)));
        let (reason, sentence) = match held.reason {
            Reason::Rate => match self.limiter.binding(now) {
                Binding::BackOff { .. } => (
                    Reason::BackOff,
                    format!(
                        "the provider said that the number sends too fast (130429): it goes at {:.1}/s and \
                         recovers by itself",
                        self.limiter.rate(now)
                    ),
                ),
                Binding::ProviderLevel => (
                    Reason::Rate,
                    format!("the provider's level for the number allows {:.0}/s", self.limiter.rate(now)),
                ),
                Binding::Tier => (Reason::Rate, tier_sentence(&self.tier, &self.channel)),
            },
            reason => (reason, self.sentence(reason, now)),
        };
        Some(Waiting { reason, sentence, until })
    }

    /// What the rest of a send waits for; `None` while the whole channel waits for something other than its pace.
    fn held_back(
        &self,
        send_id: Uuid,
        channel: Option<&Waiting>,
        moment: (Instant, Timestamp),
    ) -> Option<Waiting> {
        let is_pace = |waiting: &Waiting| matches!(waiting.reason, Reason::Rate | Reason::BackOff);
        let (reason, until) = self.lanes.held_back(send_id, moment)?;
        channel.is_none_or(is_pace).then(|| Waiting {
            reason,
            sentence: reason
                .sentence_of_messages(&self.tier.name)
                .unwrap_or_else(|| self.sentence(reason, moment.0)),
            until: Some(until),
        })
    }

    pub(super) fn sentence(&self, reason: Reason, now: Instant) -> String {
        match reason {
            Reason::Disconnected | Reason::Blocked => self.link.sentence(),
            Reason::ProviderPause if self.link.holds(now).is_some() => {
                "the channel waits for the provider's first answer: whether it accepts messages, and how fast".to_owned()
            }
            Reason::ProviderPause => {
                "the provider accepts no messages just now; the service retries by itself".to_owned()
            }
            Reason::NoSocket => {
                "the service has no file, port or address for a connection to the provider: raise its limit of open files; \
                 the service retries by itself"
                    .to_owned()
            }
            Reason::AccountThrottled => {
                "the provider throttles this business account (80007)".to_owned()
            }
            Reason::AppThrottled => "the provider throttles this app (4)".to_owned(),
            Reason::Retry => {
                "so many messages wait for a retry that no new ones start"
                    .to_owned()
            }
            Reason::InFlight => format!(
                "all channels together have {} messages under way (option engine.total_in_flight) and take turns",
                self.common.engine.total_in_flight
            ),
            Reason::QuietHours => format!(
                "sends with several recipients rest in the quiet hours that {} sets{} (option quiet_hours)",
                setter(&self.tier, &self.channel, &["quiet_hours"]),
                self.tier.quiet_hours.as_ref().map(|hours| format!(", {hours}")).unwrap_or_default()
            ),
            Reason::DailyCap => format!(
                "the channel has sent as many messages as {} allows it in 24 hours (options daily_cap and warm_up)",
                setter(&self.tier, &self.channel, &["daily_cap", "warm_up"])
            ),
            other => other.to_string(),
        }
    }

    /// The allowances of a web session in 24 hours.
    fn days(&self, wall: Timestamp) -> Vec<Limit> {
        let Some(web_pacing) = &self.admission.web_pacing else { return Vec::new() };
        let Tier { name, warm_up, cold_contacts, .. } = &*self.tier;
        let day = web_pacing.age_in_days(wall);
        let (cap, left, next_slot) = web_pacing.day(&self.tier, wall);
        let is_new = (day as usize) < warm_up.len();
        let set_by = if is_new {
            Origin::WarmUp { tier: name.clone(), day: u64::from(day) + 1 }
        } else {
            origin(&self.tier, &self.channel, &["daily_cap"])
        };
        let is_binding = next_slot.is_some();
        let daily = limit(Name::DailyCap, Allows::Messages(cap), set_by);
        let daily = Limit { is_binding, left, next_slot, ..daily };
        let (left, next_slot) = web_pacing.strangers(&self.tier, wall);
        let set_by = origin(&self.tier, &self.channel, &["cold_contacts"]);
        let cold = limit(Name::ColdContacts, Allows::Strangers(*cold_contacts), set_by);
        vec![daily, Limit { is_binding: next_slot.is_some(), left, next_slot, ..cold }]
    }

    /// Why no template goes now, if the quota of templates is used up.
    fn quota_waiting(&self, wall: Timestamp) -> Option<Waiting> {
        let until = self.templates.closed_until().filter(|until| *until > wall)?;
        let is_warming = warming_day(&self.tier, &self.channel, wall).is_some();
        let option = if is_warming { "warm_up" } else { "template_quota" };
        let sentence = format!(
            "{} allows templates to {} people in 24 hours (option {option}), and that many were written to",
            setter(&self.tier, &self.channel, &[option]),
            self.templates.quota,
        );
        Some(Waiting { reason: Reason::TemplateQuota, sentence, until: Some(until) })
    }

    /// The limits on the rate. The lowest one decides.
    fn rates(&self, now: Instant, wall: Timestamp) -> Vec<Limit> {
        let binding = self.limiter.binding(now);
        let held = self.held.as_ref().filter(|held| held.reason == Reason::Rate).and_then(|held| held.until);
        let next = held.map(|until| wall.plus(until.saturating_duration_since(now)));
        let layer = |name, allows, set_by, is_binding: bool| Limit {
            is_binding,
            next_slot: next.filter(|_| is_binding),
            ..limit(name, allows, set_by)
        };
        let tier = &self.tier;
        let rate = tier.messages_per_second;
        let (allows, options): (_, &[_]) = if self.channel.kind == Kind::WebSession && !tier.jitter.is_zero()
        {
            (Allows::Jittered { rate, jitter: tier.jitter }, &["messages_per_second", "jitter"])
        } else {
            (Allows::Pace { rate, burst: tier.burst() }, &["messages_per_second", "burst"])
        };
        let set_by = origin(&self.tier, &self.channel, options);
        let mut rates = vec![layer(Name::MessagesPerSecond, allows, set_by, binding == Binding::Tier)];
        if let Some(level) = self.level().filter(|level| *level != Level::NotApplicable) {
            let set_by = Origin::Level { level, is_known: self.is_level_known() };
            let is_binding = binding == Binding::ProviderLevel;
            rates.push(layer(Name::ProviderLevel, Allows::Rate(level.rate()), set_by, is_binding));
        }
        if let Binding::BackOff { until } = binding {
            let until = wall.plus(until.saturating_duration_since(now));
            let allows = Allows::Slowed { per_second: self.limiter.rate(now), until };
            rates.push(layer(Name::BackOff, allows, Origin::Refusals, true));
        }
        if let Some((reason, until)) = self.pause.holds(now) {
            let set_by = Origin::Wait { reason, sentence: self.sentence(reason, now) };
            rates.push(Limit {
                is_binding: true,
                next_slot: Some(wall.plus(until - now)),
                ..limit(Name::Pause, Allows::Nothing, set_by)
            });
        }
        rates
    }

    fn quota_limit(&self, wall: Timestamp) -> Limit {
        let tier = &self.tier;
        let set_by = match warming_day(tier, &self.channel, wall) {
            Some(day) => Origin::WarmUp { tier: tier.name.clone(), day: u64::from(day) + 1 },
            None => origin(tier, &self.channel, &["template_quota"]),
        };
        let base = limit(Name::TemplateQuota, Allows::People(self.templates.quota), set_by);
        let Quota::AtMost(most) = self.templates.quota else { return base };
        let next_slot = self.account.next_slot(self.templates.quota, wall);
        let left = u64::from(most).saturating_sub(self.account.used(wall));
        Limit { is_binding: next_slot.is_some(), left: Some(left), next_slot, ..base }
    }
}

/// The remaining messages, by lane.
struct Queue {
    direct: u64,
    bulk: Vec<u64>,
}

impl Queue {
    fn of<'a>(works: impl Iterator<Item = &'a Work>) -> Self {
        let mut queue = Self { direct: 0, bulk: Vec::new() };
        for work in works.filter(|work| work.leaving().is_none()) {
            if work.is_direct() {
                queue.direct += work.remaining();
            } else {
                queue.bulk.push(work.remaining());
            }
        }
        queue
    }

    /// The send's present share of the rate, and the number of messages that go before the send is done, its own
    /// included.
    fn place(&self, work: &Work) -> (f64, u64) {
        if work.is_direct() {
            return (1.0, self.direct);
        }
        let active = self.bulk.iter().filter(|remaining| **remaining > 0).count().max(1);
        (1.0 / active as f64, self.taking_turns(work.remaining()))
    }

    /// Bulk sends take turns: while one sends its messages, each other sends as many, or all that it has.
    fn taking_turns(&self, own: u64) -> u64 {
        self.direct + self.bulk.iter().map(|other| (*other).min(own)).sum::<u64>()
    }
}

const fn limit(name: Name, allows: Allows, set_by: Origin) -> Limit {
    Limit { name, allows, set_by, is_binding: false, left: None, next_slot: None }
}

fn tier_sentence(tier: &Tier, channel: &Channel) -> String {
    let (name, pace) = (&tier.name, tier.messages_per_second);
    match channel.own_options.has("messages_per_second") {
        true => format!("the channel's own messages_per_second allows {pace}, instead of the tier `{name}`"),
        false => format!("the tier `{name}` allows {pace} (option messages_per_second)"),
    }
}

fn pair(tier: &Tier, channel: &Channel) -> Option<Limit> {
    let Tier { pair_interval, pair_burst, .. } = tier;
    if pair_interval.is_zero() {
        return None;
    }
    let allows = Allows::ToSame { interval: *pair_interval, burst: *pair_burst };
    let set_by = origin(tier, channel, &["pair_interval", "pair_burst"]);
    Some(limit(Name::Pair, allows, set_by))
}

/// Who sets these options, for a sentence: the tier, or the channel itself.
pub(super) fn setter(tier: &Tier, channel: &Channel, options: &[&str]) -> String {
    match options.iter().any(|option| channel.own_options.has(option)) {
        true => "the channel's own option".to_owned(),
        false => format!("the tier `{}`", tier.name),
    }
}

/// The tier with these options, or the channel's own values of them.
fn origin(tier: &Tier, channel: &Channel, options: &'static [&'static str]) -> Origin {
    let name = tier.name.clone();
    match options.iter().any(|option| channel.own_options.has(option)) {
        true => Origin::Own { tier: name, options },
        false => Origin::Tier { name, options },
    }
}

/// The rate, unless it is unlimited.
fn finite(rate: f64) -> Option<f64> {
    rate.is_finite().then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_sends_that_take_turns_end_in_the_order_of_their_sizes() {
        let queue = Queue { direct: 10, bulk: vec![100, 300] };
        assert_eq!(queue.taking_turns(100), 10 + 100 + 100);
        assert_eq!(queue.taking_turns(300), 10 + 100 + 300);
    }
}
