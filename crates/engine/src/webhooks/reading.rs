//! The state of an endpoint and the events of the log, between the store and the machine.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::sleep;

use super::context::DeliveryContext;
use super::graph;
use super::machine::{self, EventItem, LogPage, Retry, Stored};
use super::open::OpenEndpoint;
use super::replaying::range;
use clock::Timestamp;
use domain::event::log::Sequence;
use domain::event::{Data, Event};
use domain::webhook::{self, Replay};
use store::webhooks::{EndpointStanding, StoredRetry, Write};

/// What a shell began with, besides what its machine knows. Another shell takes its place when that changes.
pub(super) struct Begun {
    /// What is sent once more.
    pub(super) replay: Option<Replay>,
    /// How often a person enabled the endpoint, or gave it another address.
    pub(super) resumed: i64,
    /// How often a process had begun to deliver to the endpoint.
    begun: i64,
    /// Whether a write was refused: the endpoint was removed, or another shell takes this one's place.
    is_over: AtomicBool,
}

impl Begun {
    /// Whether the shell has nothing more to do.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// For how long statuses are gathered that are to be told soon, so that the log is not read for each of them.
const GATHERED: Duration = Duration::from_millis(250);

/// A part of the log after this place: for the machine, and the events themselves. What a program that speaks Graph must not get
/// yet waits, with everything after it, so that the order stays.
pub(super) async fn page(
    context: &DeliveryContext,
    endpoint: &OpenEndpoint,
    after: i64,
    limit: usize,
) -> store::Result<(LogPage, Vec<Event>)> {
    let (page, events) = part(context, endpoint, after, limit).await?;
    if endpoint.profile().is_none() {
        return Ok((page, events));
    }
    let held_until = |event: &Event| graph::held_until(event, context.graph_wait);
    let now = Timestamp::now();
    let mut may_go = events.iter().take_while(|event| held_until(event) <= now).count();
    if may_go == events.len() {
        return Ok((page, events));
    }
    if may_go == 0 {
        // It never waits for longer, whatever the clocks of other machines say.
        let most = context.graph_wait + graph::TO_WRITE_DOWN;
        let first = events.first().map_or(Duration::ZERO, |event| held_until(event).from_now(now));
        sleep(first.min(most) + GATHERED).await;
        let now = Timestamp::now();
        may_go = events.iter().take_while(|event| held_until(event) <= now).count().max(1);
    }
    Ok(first_of(page, events, may_go))
}

/// The first events of a part.
fn first_of(page: LogPage, mut events: Vec<Event>, count: usize) -> (LogPage, Vec<Event>) {
    if count >= events.len() {
        return (page, events);
    }
    events.truncate(count);
    let items: Vec<_> = events.iter().map(item).collect();
    let up_to = items.last().map_or(page.up_to, |last| last.sequence);
    (LogPage { items, up_to, is_end: false }, events)
}

async fn part(
    context: &DeliveryContext,
    endpoint: &OpenEndpoint,
    after: i64,
    limit: usize,
) -> store::Result<(LogPage, Vec<Event>)> {
    let _turn = context.turn(endpoint.company_id).await;
    let (log, after) = (context.store.event_log(), Sequence::from_i64(after));
    let through = log.settle().await?.through;
    let wants = |r#type| endpoint.wants_type(r#type);
    let page = log.read_kept(Some(endpoint.company_id), (after, through), limit, wants).await?;
    let told = page.told.into_iter().filter_map(|told| told.event);
    let events: Vec<_> = told.filter(|event| endpoint.wants(event)).collect();
    let page = LogPage {
        items: events.iter().map(item).collect(),
        up_to: page.next.max(after).as_i64(),
        is_end: !page.more,
    };
    Ok((page, events))
}

/// What the store holds for the endpoint; `None` when it was removed.
pub(super) async fn stored(
    context: &DeliveryContext,
    endpoint: &OpenEndpoint,
) -> store::Result<Option<(Stored, Begun)>> {
    let _turn = context.turn(endpoint.company_id).await;
    let Some(standing) = context.store.webhooks().begin(endpoint.id).await? else { return Ok(None) };
    let EndpointStanding { cursor, health, retries, replay, resumed, begun } = standing;
    let places: Vec<_> = retries.iter().map(|retry| retry.sequence).collect();
    let events = context.store.event_log().events_at(endpoint.company_id, &places).await?;
    let items: HashMap<_, _> = events.iter().map(|event| (event.sequence, item(event))).collect();
    let retries = retries.into_iter().map(|StoredRetry { sequence, attempts, next_at }| {
        // Its attempt finds that the event is gone.
        let gone = EventItem { sequence: sequence.as_i64(), key: None };
        Retry { item: items.get(&sequence).copied().unwrap_or(gone), attempts, next_at }
    });
    let stored = Stored {
        cursor: cursor.as_i64(),
        health: health_of(health),
        retries: retries.collect(),
        replay: replay.as_ref().and_then(range),
    };
    let replay = replay.map(|stored| stored.replay);
    Ok(Some((stored, Begun { replay, resumed, begun, is_over: AtomicBool::new(false) })))
}

/// Writes what changed. An endpoint that was removed has nothing to write, and neither has a shell that another one replaces:
/// because a person enabled the endpoint or gave it another address, or because another process began to deliver.
pub(super) async fn write(
    context: &DeliveryContext,
    endpoint: &OpenEndpoint,
    begun: &Begun,
    changes: machine::Write,
) -> store::Result<()> {
    let machine::Write { cursor, health, put, remove, give_up, replay: place } = changes;
    let replay = begun.replay.as_ref().map(|replay| replay.id);
    let put = put.into_iter().map(|Retry { item, attempts, next_at }| StoredRetry {
        sequence: Sequence::from_i64(item.sequence),
        attempts,
        next_at,
    });
    let changes = Write {
        cursor: cursor.map(Sequence::from_i64),
        health: health.map(health_to_store),
        put: put.collect(),
        remove: remove.into_iter().map(Sequence::from_i64).collect(),
        give_up: give_up.into_iter().map(Sequence::from_i64).collect(),
        replay: replay.zip(place.map(Sequence::from_i64)),
        resumed: begun.resumed,
        begun: begun.begun,
    };
    let _turn = context.turn(endpoint.company_id).await;
    if !context.store.webhooks().write(endpoint.id, &changes).await? {
        begun.is_over.store(true, Ordering::Relaxed);
    }
    Ok(())
}

pub(super) fn item(event: &Event) -> EventItem {
    EventItem { sequence: event.sequence.as_i64(), key: key(event) }
}

/// What an event is about, if the order of its events matters: a person in a channel, a person, a template, a channel, a field of
/// the provider's, or the company's webhook endpoints.
fn key(event: &Event) -> Option<u64> {
    let subject = match &event.data {
        Data::Message(message) => message.recipient.as_str(),
        Data::Inbound(inbound) => {
            inbound.from.as_deref().or(inbound.user_id.as_deref()).or(inbound.group.as_deref())?
        }
        Data::Conversation(conversation) => {
            conversation.number.as_deref().or(conversation.user_id.as_deref())?
        }
        Data::Contact(contact) => contact.number.as_str(),
        Data::Template(template) => template.name.as_str(),
        Data::Notice(notice) => notice.field.as_str(),
        Data::Channel(_) | Data::WebhookDisabled(_) | Data::WebhookRecovered(_) => "",
        Data::Quota(quota) => quota.limit.as_str(),
        Data::Send(_) | Data::Key(_) | Data::Lost(_) => return None,
    };
    let mut hasher = DefaultHasher::new();
    (event.channel_id, subject).hash(&mut hasher);
    Some(hasher.finish())
}

fn health_of(health: webhook::Health) -> machine::EndpointHealth {
    let webhook::Health { failures, failing_since, failed_at, state } = health;
    let state = match state {
        webhook::State::Enabled => machine::EndpointState::Enabled,
        webhook::State::Disabled { cause, since } => {
            let cause = match cause {
                webhook::Cause::Gone => machine::DisableCause::Gone,
                webhook::Cause::Person => machine::DisableCause::Person,
                webhook::Cause::Failures => machine::DisableCause::Failing,
            };
            machine::EndpointState::Disabled { cause, since }
        }
    };
    machine::EndpointHealth { failures, failing_since, failed_at, state }
}

fn health_to_store(health: machine::EndpointHealth) -> webhook::Health {
    let machine::EndpointHealth { failures, failing_since, failed_at, state } = health;
    let state = match state {
        machine::EndpointState::Enabled => webhook::State::Enabled,
        machine::EndpointState::Disabled { cause, since } => {
            let cause = match cause {
                machine::DisableCause::Gone => webhook::Cause::Gone,
                machine::DisableCause::Person => webhook::Cause::Person,
                machine::DisableCause::Failing => webhook::Cause::Failures,
            };
            webhook::State::Disabled { cause, since }
        }
    };
    webhook::Health { failures, failing_since, failed_at, state }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhooks::example::example;
    use domain::event::Type;
    use uuid::Uuid;

    fn event(r#type: Type) -> Event {
        example(Uuid::from_u128(1), r#type, Timestamp::from_millis(7))
    }

    #[test]
    fn events_of_one_person_have_one_key_in_both_directions() {
        let keys = [Type::MessageSent, Type::MessageRead, Type::MessageReceived].map(|it| key(&event(it)));
        assert!(keys[0].is_some() && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        let elsewhere = Event { channel_id: Some(Uuid::from_u128(9)), ..event(Type::MessageSent) };
        assert_ne!(key(&elsewhere), keys[0]);
    }

    #[test]
    fn events_of_a_channel_and_of_endpoints_have_one_key_each_and_other_events_have_none() {
        let keys = [Type::ChannelConnected, Type::ChannelBlocked].map(|it| key(&event(it)));
        assert!(keys[0].is_some() && keys[0] == keys[1] && keys[0] != key(&event(Type::MessageSent)));
        let endpoints = [Type::WebhookDisabled, Type::WebhookRecovered].map(|it| key(&event(it)));
        assert!(endpoints[0].is_some() && endpoints[0] == endpoints[1] && !keys.contains(&endpoints[0]));
        let mut stranger = event(Type::MessageReceived);
        if let Data::Inbound(inbound) = &mut stranger.data {
            inbound.from = None;
        }
        assert_eq!((key(&event(Type::SendFinished)), key(&stranger)), (None, None));
    }

    #[test]
    fn events_of_a_person_who_opts_out_and_of_a_template_have_one_key_each() {
        for types in
            [[Type::ContactOptedOut, Type::ContactOptedIn], [Type::TemplatePaused, Type::TemplateApproved]]
        {
            let keys = types.map(|it| key(&event(it)));
            assert!(keys[0].is_some() && keys[0] == keys[1], "{types:?}");
            assert_ne!(keys[0], key(&event(Type::WebhookDisabled)));
        }
    }

    #[test]
    fn the_health_of_an_endpoint_is_stored_as_it_is() {
        let (since, last) = (Timestamp::from_millis(5), Timestamp::from_millis(9));
        for state in [
            machine::EndpointState::Enabled,
            machine::EndpointState::Disabled { cause: machine::DisableCause::Gone, since },
            machine::EndpointState::Disabled { cause: machine::DisableCause::Person, since },
            machine::EndpointState::Disabled { cause: machine::DisableCause::Failing, since },
        ] {
            let (failing_since, failed_at) = (Some(since), Some(last));
            let health = machine::EndpointHealth { failures: 3, failing_since, failed_at, state };
            assert_eq!(health_of(health_to_store(health)), health);
        }
    }
}
