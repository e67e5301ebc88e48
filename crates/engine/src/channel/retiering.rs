//! The effect of a changed tier on running sends.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use uuid::Uuid;

use super::AskPace;
use crate::Error;
use crate::account::Window;
use crate::channel::Channels;
use clock::Timestamp;
use domain::channel::Channel;
use domain::plan::{self, Amount, Course, Estimate, Written};
use domain::template::WrittenTo;
use domain::tier::{QUOTA_SPAN, Quota, Tier};
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

/// The part that is the same under both tiers, read once for each channel.
struct Stand {
    channel: Arc<Channel>,
    tier: Arc<Tier>,
    course: Course,
}

impl Channels<'_> {
    /// What would change if `tier` replaced the present tier of its name, for the sends under it that have the most
    /// messages left.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is unavailable.
    pub async fn effect_of(&self, tier: &Tier) -> Result<Vec<Effect>, Error> {
        let now = Timestamp::now();
        let running = self.engine.all_records().await?.sends().running_under(&tier.name, now, SENDS).await?;
        let mut stands: HashMap<Uuid, Stand> = HashMap::new();
        let mut effects = Vec::new();
        for send in running {
            let Stand { channel, tier: current, course } = match stands.entry(send.channel_id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let Some(stand) = self.stand(send.channel_id, tier, now).await? else { continue };
                    place.insert(stand)
                }
            };
            let course = of_send(course, &send);
            effects.push(Effect {
                before: plan::estimate(&course, current),
                after: plan::estimate(&course, tier),
                channel: Arc::clone(channel),
                send,
            });
        }
        Ok(effects)
    }

    /// A channel's queue and the factors of its pace; `None` when the channel is gone.
    async fn stand(&self, channel_id: Uuid, tier: &Tier, now: Timestamp) -> Result<Option<Stand>, Error> {
        let Some(channel) = self.engine.channel(channel_id).await? else { return Ok(None) };
        self.engine.directory().actor(&channel);
        let Some(pace) = self.engine.directory().ask(channel_id, AskPace).await else { return Ok(None) };
        let records = self.engine.all_records().await?;
        let Ahead { queue, to_recipient: _ } = records.sends().ahead(channel_id, None, now).await?;
        let has_quota = [tier, &pace.tier].iter().any(|tier| tier.template_quota != Quota::Unlimited);
        let mut others = Vec::new();
        if let Some(account_id) = channel.waba_id.as_deref().filter(|_| has_quota && queue.has_templates()) {
            let mut account = Window::default();
            let people = &self.engine.0.shared.people;
            let restore = |mut written: Vec<WrittenTo>| {
                for person in &mut written {
                    person.recipient = people.person(channel.company_id, person.recipient);
                }
                account.restore(written);
            };
            records.templates().recipients(account_id, (now.minus(QUOTA_SPAN), now), restore).await?;
            others = account.people(now).map(|(_, at)| now.from_now(at)).collect();
            others.sort_unstable_by(|one, other| other.cmp(one));
        }
        let course = Course {
            queue,
            written: Written { known: 0, others },
            level: pace.level,
            slowed_to: pace.slowed_to,
            ..Course::default()
        };
        Ok(Some(Stand { channel, tier: pace.tier, course }))
    }
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
