//! Plans: who would receive a send, and which limits it would meet on its channel.
//!
//! Nothing is queued and nobody is told. The same figures serve the dry run of a request, inside a running service, and
//! `pombo plan`, which reads the store whether or not a service runs.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use uuid::Uuid;

use super::resolver::{LeftOut, Met, OwnValues, Resolver, Unique};
use crate::account::Window;
use crate::contacts::people::People;
use crate::contacts::suppressions::{SuppressedCounts, Suppressions};
use crate::ledger;
use crate::window_gate::WindowGate;
use clock::Timestamp;
use domain::channel::Channel;
use domain::contact::Person;
use domain::content::Content;
use domain::phone::PhoneNumber;
use domain::plan::{Course, Written};
use domain::price::ByCountry;
use domain::request::{Audience, OnSkipped, Skipped};
use domain::template::WrittenTo;
use domain::template::contact_field::{Addressee, ContactField};
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
        }
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
        let Self { company_id, channel_id, waba_id, audience, is_marketing, needed_fields, content } = self;
        let Audience { mut numbers, tags, without, segments, again, personal, mut skipped } = audience;
        let refuses = personal.as_ref().is_some_and(|personal| personal.on_skipped == OnSkipped::Refuse);
        numbers.extend(personal.iter().flat_map(|personal| personal.rows.phone_numbers()));
        let mut own = content.zip(personal).map(|(content, personal)| {
            (OwnValues::given(company_id, Uuid::nil(), &content, personal), content)
        });
        let mut examples = Vec::new();
        let left_out = LeftOut::new(without);
        let is_one = numbers.len() == 1 && tags.is_empty() && segments.is_empty() && again.is_none();
        let single = numbers.first().copied().filter(|_| is_one);
        let ahead = store.sends().ahead(channel_id, single, now).await?;
        let has_template = is_marketing.is_some();
        // Templates ahead of the send may wait for the quota too.
        let meets_quota = has_template || ahead.queue.has_templates();
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
        let lately: HashSet<PhoneNumber> = written.iter().map(|(number, _)| *number).collect();

        let (mut recipients, mut suppressed, mut known) = (0, SuppressedCounts::default(), HashSet::new());
        let (mut met, mut countries) = (Met::default(), ByCountry::default());
        let mut contacts = Contacts::of(company_id, needed_fields);
        let gate = WindowGate::of(store, (company_id, channel_id), has_template, now).await?;
        let mut unique = Unique::new(numbers, &tags, &segments, again);
        let mut block = Vec::with_capacity(BLOCK);
        while unique.next(store, company_id, BLOCK, &mut block).await? {
            let mut now_skipped = unique.take_skipped();
            left_out.skip(store, people, company_id, &mut block, &mut now_skipped).await?;
            let is_marketing = is_marketing.unwrap_or_default();
            let found = suppressions.skip_suppressed(company_id, is_marketing, &mut block, &mut now_skipped);
            suppressed.add(found);
            gate.skip_closed(store, people, &mut block, &mut now_skipped).await?;
            if let Some((own, _)) = &mut own {
                own.skip_other_forms(people, &mut block, &mut now_skipped);
                own.skip_lacking(&mut block, &mut now_skipped)
                    .map_err(|error| store::Error::Unavailable(error.to_string()))?;
            }
            met.skip_second_forms(people, company_id, &mut block, &mut now_skipped);
            if let Some((own, content)) = &mut own {
                own.place(&mut now_skipped);
                let some = &block[..block.len().min(EXAMPLES - examples.len())];
                examples.extend(filled(store, company_id, (own, &*content), some).await?);
            }
            skipped.extend(now_skipped);
            recipients += block.len() as u64;
            countries.count(&block);
            contacts.look_at(store, &block).await?;
            let block = block.drain(..).map(|number| people.person(company_id, number));
            known.extend(block.filter(|person| lately.contains(person)));
        }
        skipped.extend(unique.take_skipped());
        let ages = written.iter().filter(|(number, _)| !known.contains(number));
        let mut others: Vec<_> = ages.map(|(_, at)| now.from_now(*at)).collect();
        others.sort_unstable_by(|one, other| other.cmp(one));
        let course = Course {
            recipients,
            has_template,
            to_same: ahead.queue.bulk.len() as u64 + ahead.to_recipient,
            queue: ahead.queue,
            written: Written { known: known.len() as u64, others },
            level: None,
            slowed_to: None,
        };
        let (suppressed, without_fields) = (suppressed.by_reason(), contacts.found);
        let is_refused = refuses && skipped.count > 0;
        Ok(Outcome { skipped, suppressed, course, without_fields, countries, is_refused, examples })
    }
}

/// The messages of these recipients.
async fn filled(
    store: &Store,
    company_id: Uuid,
    (own, content): (&mut OwnValues, &Content),
    numbers: &[PhoneNumber],
) -> store::Result<Vec<Example>> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let people = store.of(company_id).contacts().people(numbers).await?;
    let example = |number: &PhoneNumber| {
        let values = own.example(*number);
        let to = Addressee { person: people.get(number), values: Some(&values) };
        Example { number: *number, content: content.filled(to).ok() }
    };
    Ok(numbers.iter().map(example).collect())
}

/// The check of an audience's contacts.
struct Contacts {
    company_id: Uuid,
    needed: Vec<ContactField>,
    found: Option<WithoutFields>,
    took: Duration,
}

impl Contacts {
    fn of(company_id: Uuid, needed: Vec<ContactField>) -> Self {
        let found = (!needed.is_empty()).then(WithoutFields::default);
        Self { company_id, needed, found, took: Duration::ZERO }
    }

    async fn look_at(&mut self, store: &Store, numbers: &[PhoneNumber]) -> store::Result<()> {
        let Some(found) = self.found.as_mut().filter(|_| self.took < FIELDS_WITHIN) else { return Ok(()) };
        let began = Instant::now();
        let people = store.of(self.company_id).contacts().people(numbers).await?;
        let has_all = |person: &Person| self.needed.iter().all(|field| field.of(person, "").is_some());
        let lacking = numbers.iter().filter(|number| !people.get(number).is_some_and(has_all));
        found.count += lacking.count() as u64;
        found.checked += numbers.len() as u64;
        self.took += began.elapsed();
        Ok(())
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
