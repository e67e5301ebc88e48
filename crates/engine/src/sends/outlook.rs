//! The outlook of sends: what they wait for, and how long they take.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::questions::{AskLimits, AskSpeed, Glance};
use crate::asking::Question;
use crate::channel::Channels;
use crate::channel::{AskPace, Explain, LookAhead, Viewed};
use crate::contacts::suppressions::Suppressions;
use crate::sends::Sends;
use crate::{Error, RETRY_AFTER};
use clock::Timestamp;
use domain::channel::{Channel, Connection, Status};
use domain::limit::{Limit, Limits};
use domain::message::State;
use domain::outlook::{Outlook, Reason};
use domain::plan::{self, Course};
use domain::send::Stage;
use domain::template;
use store::sends::Waiting;
use store::sends::list::Record;

/// The actor ended at this very moment; it is started again.
const LATER: Error = Error::Unavailable { retry_after: RETRY_AFTER };

/// The first message of a scheduled send is due within this time of its schedule.
const A_MOMENT: Duration = Duration::from_secs(1);

impl Sends<'_> {
    /// How long a send of this course takes on its channel in the present state, and which limit decides.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the channel's actor ended just now.
    pub(crate) async fn estimate(
        &self,
        channel: &Arc<Channel>,
        course: Course,
    ) -> Result<plan::Estimate, Error> {
        if !self.engine.0.shared.cluster.owns(channel) {
            // Only the owner of the channel knows its pace.
            let Some(speed) = self.glance(channel, &AskSpeed {}).await else {
                return Ok(plan::Estimate::default());
            };
            let course = Course { level: speed.level, slowed_to: speed.slowed_to, ..course };
            return Ok(plan::estimate_from(
                Timestamp::now(),
                &course,
                &self.engine.0.shared.tiers.of(channel),
            ));
        }
        self.engine.directory().actor(channel);
        let pace = self.engine.directory().ask(channel.id, AskPace).await.ok_or(LATER)?;
        let course = Course { level: pace.level, slowed_to: pace.slowed_to, ..course };
        Ok(plan::estimate_from(Timestamp::now(), &course, &pace.tier))
    }

    /// The answer of a channel's owner on another node, if it comes soon; a page does without it.
    async fn glance<Q: Question>(&self, channel: &Arc<Channel>, question: &Q) -> Option<Q::Answer> {
        let carrier = self.engine.0.shared.cluster.carrier()?;
        self.engine.owners().ask_once(&*carrier, channel, question).await.ok().flatten()
    }

    /// The outlooks of these sends of one channel; an ended send has none.
    pub async fn outlook(
        &self,
        channel_id: Uuid,
        sends: &[&Record],
    ) -> Result<HashMap<Uuid, Outlook>, Error> {
        let alive: Vec<_> = sends.iter().filter(|send| !send.stage.is_over()).collect();
        if alive.is_empty() {
            return Ok(HashMap::new());
        }
        let Some(channel) = self.engine.channel(channel_id).await? else { return Ok(HashMap::new()) };
        let viewed = alive.iter().map(|send| Viewed { id: send.id, has_template: send.template.is_some() });
        let viewed = viewed.collect();
        let now = Timestamp::now();
        let seen = if self.engine.0.shared.cluster.owns(&channel) {
            self.engine.directory().ask(channel_id, LookAhead(viewed)).await
        } else {
            self.glance(&channel, &Glance { sends: viewed }).await
        };
        let mut seen = seen.unwrap_or_default();
        let mut outlooks = HashMap::new();
        for send in alive {
            let known = held_by(&channel.connection, send).or_else(|| seen.remove(&send.id));
            let outlook = match (known, send.due_at.filter(|due| *due > now)) {
                (Some(known), _) => known,
                (None, Some(due)) => self.asleep(&channel, send.id, due, now).await?,
                (None, None) => in_the_store(),
            };
            outlooks.insert(send.id, outlook);
        }
        Ok(outlooks)
    }

    /// The outlooks of sends of any channels.
    pub async fn outlooks(&self, sends: &[Record]) -> Result<HashMap<Uuid, Outlook>, Error> {
        let mut of_channels: HashMap<Uuid, Vec<&Record>> = HashMap::new();
        for send in sends {
            of_channels.entry(send.channel_id).or_default().push(send);
        }
        let mut outlooks = HashMap::new();
        for (channel, sends) in of_channels {
            outlooks.extend(self.outlook(channel, &sends).await?);
        }
        Ok(outlooks)
    }

    /// The outlook of a send whose rest waits in the store, until `due` at least.
    async fn asleep(
        &self,
        channel: &Channel,
        send_id: Uuid,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<Outlook, Error> {
        let first = self.engine.store().sends().waiting(send_id, due.plus(A_MOMENT), 1).await?.soon.pop();
        let reason = match first {
            None => return Ok(in_the_store()),
            Some(first) => reason_of(&first, &self.engine.0.shared.suppressions, channel.company_id, now),
        };
        let sentence = reason.sentence_of_messages(&channel.tier).unwrap_or_default();
        Ok(Outlook::waiting(reason, sentence, Some(due)))
    }
}

impl Channels<'_> {
    /// The limits of a channel now, with their reasons.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the channel's actor ended just now; `service_unavailable` when another node runs it and
    /// does not answer.
    pub async fn limits(&self, channel: &Arc<Channel>) -> Result<Limits, Error> {
        if let Some(limits) = self.engine.owners().ask(channel, &AskLimits {}).await? {
            return Ok(limits);
        }
        self.engine.directory().actor(channel);
        self.engine.directory().ask(channel.id, Explain).await.ok_or(LATER)
    }
}

impl Channels<'_> {
    /// The limits of the channels that run on this node.
    pub(crate) async fn limits_of_running(&self) -> Vec<(Arc<Channel>, Vec<Limit>)> {
        let directory = self.engine.directory();
        let mut known = Vec::new();
        for channel in directory.running() {
            // One that ended just now is looked at the next time.
            if let Some(limits) = directory.ask(channel.id, Explain).await {
                known.push((channel, limits.limits));
            }
        }
        known
    }
}

/// Why a message that was put back waits.
pub(crate) fn reason_of(
    message: &Waiting,
    suppressions: &Suppressions,
    company_id: Uuid,
    now: Timestamp,
) -> Reason {
    if message.state != State::Queued {
        return Reason::UnknownOutcome;
    }
    let recipient = message.position.recipient;
    let held = recipient.and_then(|number| suppressions.held_until(company_id, number, now));
    match (held, message.attempts) {
        (Some(_), _) => Reason::RecipientHeld,
        (None, 0) => Reason::Pair,
        (None, _) => Reason::Retry,
    }
}

/// The outlook of a send that is not in its channel's lanes.
fn in_the_store() -> Outlook {
    let sentence = "it waits for its turn: other sends of the channel go first";
    Outlook::waiting(Reason::Turn, sentence.to_owned(), None)
}

/// A hold that lasts longer than the channel's pace: first a person's decision, then the channel's and the template's
/// state.
fn held_by(connection: &Connection, send: &Record) -> Option<Outlook> {
    match send.stage {
        Stage::Paused => {
            let sentence = "the send is paused: no message goes out until it is resumed".to_owned();
            return Some(Outlook::waiting(Reason::Paused, sentence, None));
        }
        Stage::Scheduled => {
            let sentence = "it is scheduled: nothing of it goes before its `send_at`".to_owned();
            return Some(Outlook::waiting(Reason::Scheduled, sentence, send.schedule.send_at));
        }
        Stage::Active | Stage::Finished | Stage::Canceled | Stage::Expired => {}
    }
    if let Some(sentence) = connection.obstacle() {
        let is_blocked = connection.status == Status::Blocked;
        let reason = if is_blocked { Reason::Blocked } else { Reason::Disconnected };
        return Some(Outlook::waiting(reason, sentence, None));
    }
    let template = send.template.as_ref().filter(|template| template.status != template::Status::Approved)?;
    let sentence = format!(
        "the provider's status of the template {} is {}: correct it there, or cancel the send",
        template.name, template.status
    );
    Some(Outlook::waiting(Reason::TemplatePaused, sentence, None))
}
