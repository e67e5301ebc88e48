//! The effect of a changed tier on running sends.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use uuid::Uuid;

use super::AskPace;
use crate::Error;
use crate::account::Window;
use crate::channel::Channels;
use crate::contacts::people::People;
use clock::Timestamp;
use domain::channel::Channel;
use domain::plan::{self, Amount, Course, Estimate, Written};
use domain::template::WrittenTo;
use domain::tier::{QUOTA_SPAN, Quota, Tier};
use store::Store;
use store::overview::Running;
use store::plan::Ahead;

/// The most sends that are examined: those with the most messages left.
const SENDS: u32 = 20;

/// What a tier would change for one send.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The send.
    pub send: Running,
    /// The channel that sends it.
    pub channel: Arc<Channel>,
    /// How long the send takes under the present tier.
    pub before: Estimate,
    /// How long it would take under the other tier.
    pub after: Estimate,
}

/// What would change if every tier were changed alike.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changed {
    /// The sends with the most messages left, of each tier.
    pub effects: Vec<Effect>,
    /// The tiers that cannot be changed like this, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// Whether any tier can.
    pub is_possible: bool,
}

impl Changed {
    /// Why no tier can be changed like this; `None` when one can.
    pub fn fault(&self) -> Option<&str> {
        let first = self.left_out.first().map_or("there are no tiers", |(_, reason)| reason.as_str());
        (!self.is_possible).then_some(first)
    }
}

/// The part that is the same under both tiers, read once for each channel.
struct Stand {
    channel: Arc<Channel>,
    tier: Arc<Tier>,
    course: Course,
    now: Timestamp,
}

impl Stand {
    /// The effect of another tier, under the channel's own options.
    fn effect(&self, send: Running, after: &Tier) -> Effect {
        self.effect_of(send, &self.channel.own_options.over(after).unwrap_or_else(|_| after.clone()))
    }

    /// The effect of these options in all.
    fn effect_of(&self, send: Running, after: &Tier) -> Effect {
        let course = of_send(&self.course, &send);
        Effect {
            before: plan::estimate_from(self.now, &course, &self.tier),
            after: plan::estimate_from(self.now, &course, after),
            channel: Arc::clone(&self.channel),
            send,
        }
    }
}

impl Channels<'_> {
    /// What would change if `tier` replaced the present tier of its name, for the sends under it that have the most
    /// messages left.
    pub async fn effect_of(&self, tier: &Tier) -> Result<Vec<Effect>, Error> {
        let now = Timestamp::now();
        let running = self.engine.all_records().await?.sends().running_under(&tier.name, now, SENDS).await?;
        let mut stands: HashMap<Uuid, Stand> = HashMap::new();
        let mut effects = Vec::new();
        for send in running {
            let stand = match stands.entry(send.channel_id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let Some(stand) = self.stand(send.channel_id, tier, now).await? else { continue };
                    place.insert(stand)
                }
            };
            effects.push(stand.effect(send, tier));
        }
        Ok(effects)
    }

    /// What would change for the sends of one channel that have the most messages left, if `tier` with the channel's own
    /// options in it replaced what is in force.
    ///
    /// # Errors
    ///
    /// As [`Channels::effect_of`].
    pub async fn effect_on(&self, channel_id: Uuid, tier: &Tier) -> Result<Vec<Effect>, Error> {
        let now = Timestamp::now();
        let running = self.engine.all_records().await?.sends().running_on(channel_id, now, SENDS).await?;
        if running.is_empty() {
            return Ok(Vec::new());
        }
        let Some(stand) = self.stand(channel_id, tier, now).await? else { return Ok(Vec::new()) };
        Ok(running.into_iter().map(|send| stand.effect_of(send, tier)).collect())
    }

    /// What would change if `change` were applied to every tier, as [`Channels::effect_of`] tells it of one.
    ///
    /// # Errors
    ///
    /// As [`Channels::effect_of`].
    pub async fn effects_of(
        &self,
        change: impl Fn(&Tier) -> Result<Tier, Vec<String>>,
    ) -> Result<Changed, Error> {
        let records = self.engine.all_records().await?.tiers().all().await?;
        let mut changed = Changed::default();
        for record in records {
            let tier =
                serde_json::from_str::<Tier>(&record.settings).map_err(|error| vec![error.to_string()]);
            match tier.and_then(|tier| change(&tier)) {
                Ok(after) => {
                    changed.is_possible = true;
                    changed.effects.extend(self.effect_of(&after).await?);
                }
                Err(faults) => changed.left_out.push((record.name, faults.join("; also: "))),
            }
        }
        Ok(changed)
    }

    /// A channel's queue and the factors of its pace; `None` when the channel is gone.
    async fn stand(&self, channel_id: Uuid, tier: &Tier, now: Timestamp) -> Result<Option<Stand>, Error> {
        let Some(channel) = self.engine.channel(channel_id).await? else { return Ok(None) };
        self.engine.directory().actor(&channel);
        let Some(pace) = self.engine.directory().ask(channel_id, AskPace).await else { return Ok(None) };
        let records = self.engine.all_records().await?;
        let course =
            course(&records, &self.engine.0.shared.people, &channel, [tier, &pace.tier], now).await?;
        let course = Course { level: pace.level, slowed_to: pace.slowed_to, ..course };
        Ok(Some(Stand { channel, tier: pace.tier, course, now }))
    }
}

/// As [`Channels::effect_of`], from the store alone, for programs beside the service: what the provider's refusals slow
/// down at the moment is not known there. `present` is the tier in force, and `after` the one that would replace it.
///
/// # Errors
///
/// Those of the store.
pub async fn effect_by_the_store(
    store: &Store,
    present: &Tier,
    after: &Tier,
    now: Timestamp,
) -> store::Result<Vec<Effect>> {
    let present = Arc::new(present.clone());
    let people = People::default();
    let mut stands: HashMap<Uuid, Stand> = HashMap::new();
    let mut effects = Vec::new();
    for send in store.sends().running_under(&present.name, now, SENDS).await? {
        let stand = match stands.entry(send.channel_id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let Some(channel) = store.channels().find(send.channel_id).await? else { continue };
                let course = course(store, &people, &channel, [&present, after], now).await?;
                let course = Course { level: channel.level, ..course };
                let tier = channel.own_options.over(&present).map_or_else(|_| Arc::clone(&present), Arc::new);
                place.insert(Stand { channel: Arc::new(channel), tier, course, now })
            }
        };
        effects.push(stand.effect(send, after));
    }
    Ok(effects)
}

/// What waits on a channel, without what its actor knows.
async fn course(
    store: &Store,
    people: &People,
    channel: &Channel,
    tiers: [&Tier; 2],
    now: Timestamp,
) -> store::Result<Course> {
    let Ahead { queue, to_recipient: _ } = store.sends().ahead(channel.id, None, now).await?;
    let has_quota = tiers.iter().any(|tier| tier.template_quota != Quota::Unlimited);
    let mut others = Vec::new();
    if let Some(account_id) = channel.waba_id.as_deref().filter(|_| has_quota && queue.has_templates()) {
        let mut account = Window::default();
        let restore = |mut written: Vec<WrittenTo>| {
            for person in &mut written {
                person.recipient = people.person(channel.company_id, person.recipient);
            }
            account.restore(written);
        };
        store.templates().recipients(account_id, (now.minus(QUOTA_SPAN), now), restore).await?;
        others = account.people(now).map(|(_, at)| now.from_now(at)).collect();
        others.sort_unstable_by(|one, other| other.cmp(one));
    }
    Ok(Course { queue, written: Written { known: 0, others }, ..Course::default() })
}

/// The course of one of a channel's waiting sends: the others are its queue.
fn of_send(all: &Course, send: &Running) -> Course {
    let mut course = all.clone();
    let own = match send.has_template {
        true => Amount { plain: 0, templates: send.remaining },
        false => Amount { plain: send.remaining, templates: 0 },
    };
    if let Some(place) = course.queue.bulk.iter().position(|amount| *amount == own) {
        course.queue.bulk.swap_remove(place);
    }
    course.to_same = course.queue.bulk.len() as u64;
    Course { recipients: send.remaining, has_template: send.has_template, ..course }
}
