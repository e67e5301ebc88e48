//! Plans: who would receive a send, and which limits it would meet on its channel.
//!
//! Nothing is queued and nobody is told. The same figures serve the dry run of a request, inside a running service, and
//! `pombo plan`, which reads the store whether or not a service runs.

mod closed;
mod contacts;
mod part;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use uuid::Uuid;

pub(super) use self::closed::estimate_both;
pub use self::closed::{ClosedPart, PlannedInstead};
use self::part::PlannedPart;
use super::resolver::{LeftOut, Met, Resolver, Unique};
use crate::account::Window;
use crate::contacts::people::People;
use crate::contacts::suppressions::{SuppressedCounts, Suppressions};
use crate::window_gate::WindowGate;
use crate::{ledger, window_gate};
use clock::Timestamp;
use domain::channel::Channel;
use domain::content::Content;
use domain::phone::PhoneNumber;
use domain::plan::Course;
use domain::price::ByCountry;
use domain::request::{Audience, OnSkipped, Skipped};
use domain::template::WrittenTo;
use domain::template::contact_field::ContactField;
use domain::tier::QUOTA_SPAN;
use store::Store;

/// Numbers examined together.
const BLOCK: usize = 4_096;
/// How long contacts are read for a dry run. In an audience of millions, only the first recipients are checked.
pub const FIELDS_WITHIN: Duration = Duration::from_secs(1);

/// A send to estimate.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The company that would own it.
    pub company_id: Uuid,
    /// The channel that would send it.
    pub channel_id: Uuid,
    /// The channel's business account.
    pub waba_id: Option<String>,
    /// Its audience.
    pub audience: Audience,
    /// `None` without a template; otherwise whether the template is marketing, which recipients may opt out of.
    pub is_marketing: Option<bool>,
    /// Contact fields without a fallback text.
    pub needed_fields: Vec<ContactField>,
    /// The content, of a send with values.
    pub content: Option<Content>,
    /// The template that goes to people whose window is closed, who are skipped without one.
    pub instead: Option<PlannedInstead>,
    /// When it would start, unless at once: windows are to be open then.
    pub starts: Option<Timestamp>,
}

/// The result of planning a send.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Entries that were left out.
    pub skipped: Skipped,
    /// The suppressed ones among them, by reason.
    pub suppressed: BTreeMap<&'static str, u64>,
    /// Its unique recipients and the limits ahead; see [`domain::plan::estimate`].
    pub course: Course,
    /// The same of those who get the template, of a send with one for people whose window is closed.
    pub instead: Option<ClosedPart>,
    /// Recipients who would get no message because they lack a contact field; `None` when the send needs none.
    pub without_fields: Option<WithoutFields>,
    /// Its recipients by country.
    pub countries: ByCountry,
    /// Whether nobody would get it, because somebody is skipped and the request asks for that.
    pub is_refused: bool,
    /// The first messages as their recipients would get them, of a send with values.
    pub examples: Vec<Example>,
}

/// A message as its recipient would get it.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The recipient.
    pub number: PhoneNumber,
    /// The content, with everything filled in; `None` for a recipient who lacks a contact's field.
    pub content: Option<Content>,
}

/// How many messages a dry run shows.
pub const EXAMPLES: usize = 5;

/// Recipients of a planned send who lack a contact field without a fallback text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WithoutFields {
    /// How many of the checked recipients lack one.
    pub count: u64,
    /// How many recipients were checked: all that fit in [`FIELDS_WITHIN`].
    pub checked: u64,
}

impl WithoutFields {
    /// Those of two parts of a send together.
    fn both(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let add = |sum: Self, part: Self| Self {
            count: sum.count + part.count,
            checked: sum.checked + part.checked,
        };
        one.into_iter().chain(other).reduce(add)
    }
}

impl Planned {
    /// A send of `channel` to this audience.
    pub fn new(channel: &Channel, audience: Audience, is_marketing: Option<bool>) -> Self {
        Self {
            company_id: channel.company_id,
            channel_id: channel.id,
            waba_id: channel.waba_id.clone(),
            audience,
            is_marketing,
            needed_fields: Vec::new(),
            content: None,
            instead: None,
            starts: None,
        }
    }

    /// The same send, starting at this time.
    #[must_use]
    pub fn starting(self, starts: Option<Timestamp>) -> Self {
        Self { starts, ..self }
    }

    /// The same send with these contact fields in its texts, without fallback texts.
    #[must_use]
    pub fn needing(self, needed_fields: Vec<ContactField>) -> Self {
        Self { needed_fields, ..self }
    }

    /// The same send of this content, which counts if the audience has values.
    #[must_use]
    pub fn filling(self, content: &Content) -> Self {
        let content = self.audience.personal.is_some().then(|| content.clone());
        Self { content, ..self }
    }

    /// The same send with the template of this order for people whose window is closed.
    #[must_use]
    pub(crate) fn or_instead(self, order: Option<&ledger::Order>) -> Self {
        let has_values = self.audience.personal.is_some();
        let instead = order.map(|order| PlannedInstead {
            is_marketing: order.template.is_some_and(|template| template.is_marketing),
            needed_fields: order.content.needed_fields(order.personal.is_some()),
            content: has_values.then(|| order.content.clone()),
        });
        Self { instead, ..self }
    }

    /// Estimates the send from the store's state at `now`, for programs beside the service.
    pub async fn by_the_store(self, store: &Store, now: Timestamp) -> store::Result<Outcome> {
        let people = Arc::<People>::default();
        let suppressions = Suppressions::of(Arc::clone(&people));
        let kept =
            store.of(self.company_id).suppressions().all(now).await?.into_iter().map(|kept| kept.record);
        let numbers = store.persons().other_numbers(Some(self.company_id)).await?;
        suppressions.load().await.finish(kept, numbers);
        self.outcome(store, &suppressions, &people, now).await
    }

    async fn outcome(
        self,
        store: &Store,
        suppressions: &Suppressions,
        people: &People,
        now: Timestamp,
    ) -> store::Result<Outcome> {
        let Self {
            company_id,
            channel_id,
            waba_id,
            audience,
            is_marketing,
            needed_fields,
            content,
            instead,
            starts,
        } = self;
        let Audience { mut numbers, tags, without, segments, again, personal, mut skipped } = audience;
        let refuses = personal.as_ref().is_some_and(|personal| personal.on_skipped == OnSkipped::Refuse);
        numbers.extend(personal.iter().flat_map(|personal| personal.rows.phone_numbers()));
        let left_out = LeftOut::new(without);
        let is_one = numbers.len() == 1 && tags.is_empty() && segments.is_empty() && again.is_none();
        let single = numbers.first().copied().filter(|_| is_one);
        let ahead = store.sends().ahead(channel_id, single, now).await?;
        let has_template = is_marketing.is_some();
        // Templates ahead of the send may wait for the quota too.
        let meets_quota = has_template || instead.is_some() || ahead.queue.has_templates();
        let mut account = Window::default();
        if let Some(waba_id) = waba_id.filter(|_| meets_quota) {
            let restore = |mut written: Vec<WrittenTo>| {
                for person in &mut written {
                    person.recipient = people.person(company_id, person.recipient);
                }
                account.restore(written);
            };
            store.templates().recipients(&waba_id, (now.minus(QUOTA_SPAN), now), restore).await?;
        }
        let written: Vec<_> = account.people(now).collect();

        let mut closed_part = instead.map(|PlannedInstead { is_marketing, needed_fields, content }| {
            let own = content.zip(personal.clone());
            PlannedPart::of(company_id, Some(is_marketing), needed_fields, own)
        });
        let mut part = PlannedPart::of(company_id, is_marketing, needed_fields, content.zip(personal));
        let lately: HashSet<PhoneNumber> = written.iter().map(|(number, _)| *number).collect();
        let (mut suppressed, mut met) = (SuppressedCounts::default(), Met::default());
        let goes_at = starts.map_or(now, |starts| starts.max(now));
        let gate = WindowGate::of(store, (company_id, channel_id), has_template, goes_at).await?;
        let mut unique = Unique::new(numbers, &tags, &segments, again);
        let mut block = Vec::with_capacity(BLOCK);
        let mut examples = Vec::new();
        while unique.next(store, company_id, BLOCK, &mut block).await? {
            let mut now_skipped = unique.take_skipped();
            left_out.skip(store, people, company_id, &mut block, &mut now_skipped).await?;
            suppressed.add(part.skip_suppressed(suppressions, &mut block, &mut now_skipped));
            let mut closed = gate.take_closed(store, people, &mut block).await?;
            match &closed_part {
                Some(part) => {
                    suppressed.add(part.skip_suppressed(suppressions, &mut closed, &mut now_skipped));
                }
                None => window_gate::skip(&std::mem::take(&mut closed), &mut now_skipped),
            }
            let parts = [(Some(&mut part), &mut block), (closed_part.as_mut(), &mut closed)];
            for (part, numbers) in parts {
                let Some(part) = part else { continue };
                part.skip_lacking(people, numbers, &mut now_skipped)?;
                met.skip_second_forms(people, company_id, numbers, &mut now_skipped);
                part.place(&mut now_skipped);
                let some = &numbers[..numbers.len().min(EXAMPLES - examples.len())];
                examples.extend(part.filled(store, some).await?);
                part.count(store, (people, &lately), numbers).await?;
            }
            skipped.extend(now_skipped);
            block.clear();
        }
        skipped.extend(unique.take_skipped());
        let course = |part: &PlannedPart| Course {
            recipients: part.recipients,
            has_template: part.is_marketing.is_some(),
            to_same: ahead.queue.bulk.len() as u64 + ahead.to_recipient,
            queue: ahead.queue.clone(),
            written: part.written(&written, now),
            level: None,
            slowed_to: None,
        };
        let (main, closed) = (course(&part), closed_part.as_ref().map(course));
        let found = closed_part.as_ref().and_then(|part| part.contacts.found);
        let without_fields = WithoutFields::both(part.contacts.found, found);
        let instead = closed_part.zip(closed);
        let instead = instead.map(|(part, course)| ClosedPart { course, countries: part.countries });
        let (suppressed, countries) = (suppressed.by_reason(), part.countries);
        let is_refused = refuses && skipped.count > 0;
        Ok(Outcome {
            skipped,
            suppressed,
            course: main,
            instead,
            without_fields,
            countries,
            is_refused,
            examples,
        })
    }
}

/// Asks the resolver to estimate this send.
#[derive(Message)]
#[rtype(result = "Result<Outcome, ledger::Error>")]
pub(crate) struct Forecast(pub(crate) Planned);

impl Handler<Forecast> for Resolver {
    type Result = ResponseFuture<Result<Outcome, ledger::Error>>;

    fn handle(&mut self, Forecast(planned): Forecast, _: &mut Self::Context) -> Self::Result {
        let (shared, turn) = self.turn(planned.company_id);
        Box::pin(async move {
            let _turn = turn.await;
            planned
                .outcome(&shared.store, &shared.suppressions, &shared.people, Timestamp::now())
                .await
                .map_err(|error| {
                    tracing::error!(%error, "cannot estimate a planned send");
                    if error.is_passing() { ledger::Error::Unavailable } else { ledger::Error::Closed }
                })
        })
    }
}
