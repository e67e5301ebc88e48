//! Accepting sends: checks a request, resolves its audience and writes the send.
//!
//! Requests through a business account are checked here, those through a web session in [`web_send`]. A [`plan`]
//! estimates a send without sending it, a [`retry`] is a send of its own, and [`idempotency`] keeps a repeated request
//! from acting twice.

pub(super) mod automatic;
mod content;
pub(super) mod idempotency;
mod one;
mod personal;
pub mod plan;
mod reach;
pub(super) mod resolver;
pub(super) mod retry;
pub(super) mod web_send;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use actix::Addr;
use uuid::Uuid;

use self::content::{PreparedContent, prepare, prepare_instead};
use self::one::resolve_one;
use self::personal::{nobody, with_unused};
use self::plan::{Example, Forecast, Outcome, Planned, WithoutFields, estimate_both};
use self::resolver::{Resolve, Resolved, Resolver};
use super::ledger::{Claim, Order};
use super::{Accepted, Engine, Error, KeyGuard, RETRY_AFTER};
use clock::Timestamp;
use domain::channel::Channel;
use domain::content::Content;
use domain::error::{Code, Refusal};
use domain::plan::{Binding, Estimate};
use domain::price::{ByCountry, CostEstimate};
use domain::request::{Audience, BusinessRequest, RequestedContent, SkipCode, Skipped};
use domain::send::Source;
use store::Store;
use store::segments::SavedSegment;
use telemetry::Origin;

/// The result of a dry run: what the send would be.
#[derive(Debug, Clone, PartialEq)]
pub struct DryRun {
    /// Unique recipients.
    pub recipients: u64,
    /// Entries that are not numbers, and recipients that are skipped.
    pub skipped: Skipped,
    /// The number of suppressed recipients, by reason.
    pub suppressed: BTreeMap<&'static str, u64>,
    /// Recipients who would get no message because they lack a contact field; `None` when the send needs none.
    pub without_fields: Option<WithoutFields>,
    /// How long it would take, with the messages queued before it; `None` when that is unknown.
    pub takes: Option<Duration>,
    /// When it would end.
    pub ends: Option<Timestamp>,
    /// The limit that decides how long it takes, if one does.
    pub binding: Option<Binding>,
    /// What the messages with the request's own content would cost; `None` when no rate card applies when it starts.
    pub cost: Option<CostEstimate>,
    /// The template that goes to recipients whose window is closed, of a request with one.
    pub instead: Option<DryRunInstead>,
    /// The first messages as their recipients would get them, of a request with values.
    pub examples: Vec<Example>,
    /// The fields of the request that would have no effect.
    pub ignored: Vec<String>,
}

/// The part of a dry run that is about the template for recipients whose window is closed.
#[derive(Debug, Clone, PartialEq)]
pub struct DryRunInstead {
    /// How many of the recipients would get it.
    pub recipients: u64,
    /// What it would cost.
    pub cost: Option<CostEstimate>,
}

/// A request whose content is checked.
struct Admitted {
    order: Order,
    /// The send of the template that goes to people whose window is closed.
    instead: Option<Order>,
    audience: Audience,
}

impl Admitted {
    fn contents(&self) -> impl Iterator<Item = &Content> {
        [&self.order].into_iter().chain(&self.instead).map(|order| &order.content)
    }
}

impl Engine {
    /// Accepts a send through a business account: the send is durable when this returns. With a key `guard`, the answer
    /// is stored under its key.
    ///
    /// # Errors
    ///
    /// In this order: `invalid_schedule`; `template_not_found`, `template_not_approved`,
    /// `invalid_components`; `no_public_address`, `media_unavailable`; `reconnect_waba`; `no_valid_recipients`. [`Error::Unavailable`] when it cannot
    /// be written now.
    pub async fn send(
        &self,
        channel: &Arc<Channel>,
        request: BusinessRequest,
        guard: Option<KeyGuard>,
    ) -> Result<Accepted, Error> {
        let Some(guard) = guard else { return self.accept(channel, request, None).await };
        // A request under a key runs to its end, and the key stays held until then.
        let (engine, channel) = (self.clone(), Arc::clone(channel));
        to_its_end(async move {
            let accepted = engine.accept(&channel, request, Some(guard.claim().clone())).await;
            drop(guard);
            accepted
        })
        .await
    }

    /// Does the checks of [`Engine::send`], with the same refusals in the same order, and queues nothing.
    pub async fn dry_run(&self, channel: &Arc<Channel>, request: BusinessRequest) -> Result<DryRun, Error> {
        let (start, is_retry) = (request.schedule.send_at, request.audience.again.is_some());
        let ignored = request.ignored.clone();
        let admitted = self.admit(channel, request, None).await?;
        let ignored = with_unused(ignored, admitted.contents(), &admitted.audience);
        let Admitted { order, instead, audience } = admitted;
        let planned = Planned::new(channel, audience, order.template.map(|template| template.is_marketing))
            .needing(order.content.needed_fields(order.personal.is_some()))
            .filling(&order.content)
            .or_instead(instead.as_ref())
            .starting(start);
        let found = self.resolver().send(Forecast(planned)).await??;
        let Outcome {
            skipped,
            suppressed,
            course,
            instead: closed,
            without_fields,
            countries,
            is_refused,
            examples,
        } = found;
        let (closed, closed_countries) = closed.map(|part| (part.course, part.countries)).unzip();
        let closed_recipients = closed.as_ref().map_or(0, |course| course.recipients);
        let recipients = course.recipients + closed_recipients;
        if is_refused || recipients == 0 {
            return Err(nobody(is_retry, is_refused, skipped));
        }
        let Estimate { takes, binding } = estimate_both(self, channel, course, closed).await?;
        let now = Timestamp::now();
        let starts = start.map_or(now, |start| start.max(now));
        let ends = takes.map(|takes| starts.plus(takes));
        let cost = cost_of(self, &order, &countries, starts).await?;
        let instead = match instead.zip(closed_countries) {
            Some((order, countries)) => {
                let cost = cost_of(self, &order, &countries, starts).await?;
                Some(DryRunInstead { recipients: closed_recipients, cost })
            }
            None => None,
        };
        Ok(DryRun {
            recipients,
            skipped,
            suppressed,
            without_fields,
            takes,
            ends,
            binding,
            cost,
            instead,
            examples,
            ignored,
        })
    }

    /// Accepts a request, with the template that it has for people whose window is closed.
    async fn accept(
        &self,
        channel: &Arc<Channel>,
        request: BusinessRequest,
        claim: Option<Claim>,
    ) -> Result<Accepted, Error> {
        let (schedule, is_retry) = (request.schedule, request.audience.again.is_some());
        let ignored = request.ignored.clone();
        let admitted = self.admit(channel, request, claim).await?;
        let ignored = with_unused(ignored, admitted.contents(), &admitted.audience);
        let resolved = self.resolve(admitted).await?;
        let Resolved { send_id, recipients, instead, skipped, is_refused } = resolved;
        let Some(send_id) = send_id else { return Err(nobody(is_retry, is_refused, skipped)) };
        self.owners().hint(channel);
        let others = instead.filter(|instead| instead.send_id != send_id);
        let recipients = recipients + others.map_or(0, |others| others.recipients);
        metrics::counter!("pombo_sends_accepted_total").increment(1 + u64::from(others.is_some()));
        metrics::counter!("pombo_recipients_accepted_total").increment(recipients);
        Ok(Accepted { send_id, recipients, instead, skipped, schedule, ignored })
    }

    /// Checks a request, except its audience. The channel's actor runs after this, and is told of the send.
    async fn admit(
        &self,
        channel: &Arc<Channel>,
        request: BusinessRequest,
        claim: Option<Claim>,
    ) -> Result<Admitted, Error> {
        if self.0.stopping.load(Ordering::Relaxed) {
            return Err(Error::Unavailable { retry_after: RETRY_AFTER });
        }
        let BusinessRequest { content, audience, schedule, label, quotes, ignored: _ } = request;
        schedule.check(Timestamp::now())?;
        let (content, template) = match content {
            RequestedContent::OrTemplate(content, template) => {
                (RequestedContent::Ready(content), Some(template))
            }
            content => (content, None),
        };
        let main = prepare(self, channel, content, &audience).await?;
        let instead = match template {
            // On the heap: nearly all requests need no room for it.
            Some(template) => Some(Box::pin(prepare_instead(self, channel, template, &audience)).await?),
            None => None,
        };
        self.directory().actor(channel).admit()?;
        let (company_id, channel_id) = (channel.company_id, channel.id);
        let audience = of_own_tags(self.store(), company_id, audience).await?;
        let audience = of_own_segments(self.store(), company_id, audience).await?;
        let PreparedContent { content, template, own } = main;
        let order = Order {
            company_id,
            channel_id,
            content,
            group: None,
            quotes,
            sender: None,
            template,
            schedule,
            label,
            personal: own,
            sources: sources(&audience),
            claim,
            is_awaited: false,
            keeps_turn: false,
            confirms: false,
            origin: Origin::current(),
        };
        let instead = instead.map(|instead| instead.order_beside(&order));
        Ok(Admitted { order, instead, audience })
    }

    /// Resolves the audience, and writes the send.
    async fn resolve(&self, mut admitted: Admitted) -> Result<Resolved, Error> {
        admitted.audience.numbers.dedup();
        let Audience { numbers, tags, without, segments, again, personal, skipped: _ } = &admitted.audience;
        let is_one = tags.is_empty() && without.is_empty() && segments.is_empty() && again.is_none();
        let given = numbers.len() + personal.as_ref().map_or(0, |personal| personal.rows.len());
        if is_one && given <= 1 {
            return resolve_one(&self.0.shared, admitted).await;
        }
        let Admitted { order, instead, audience } = admitted;
        let Audience { numbers, tags, without, segments, again, personal, skipped } = audience;
        let (order, instead) = (Arc::new(order), instead.map(Arc::new));
        let resolve = Resolve { order, instead, numbers, tags, without, segments, again, personal, skipped };
        Ok(self.resolver().send(resolve).await??)
    }

    fn resolver(&self) -> &Addr<Resolver> {
        let next = self.0.next_resolver.fetch_add(1, Ordering::Relaxed);
        &self.0.resolvers[next % self.0.resolvers.len()]
    }
}

/// What messages of a send to these countries cost that go out at `at`; `None` when no rate card applies then.
async fn cost_of(
    engine: &Engine,
    order: &Order,
    countries: &ByCountry,
    at: Timestamp,
) -> Result<Option<CostEstimate>, Error> {
    let template_id = order.template.map(|template| template.id);
    let category = engine.costs().category(order.company_id, template_id).await?;
    engine.costs().estimate(category, countries, at).await
}

/// The audience without tags that the company does not have, which are skipped. Such a tag to leave out is refused: more
/// people than the client believes would get the message.
async fn of_own_tags(store: &Store, company_id: Uuid, mut audience: Audience) -> Result<Audience, Error> {
    let Audience { tags, without, skipped, numbers: _, segments: _, again: _, personal: _ } = &mut audience;
    let named = [tags.as_slice(), without.as_slice()].concat();
    if named.is_empty() {
        return Ok(audience);
    }
    let own = store.of(company_id).tags().among(&named).await?;
    if let Some(id) = without.iter().find(|tag| !own.contains(*tag)) {
        let what =
            format_args!("has {id}, which is no tag of this company: GET /api/v1/contacts/tags lists them");
        return Err(Refusal::of("without_contact_tag_id", Code::InvalidField, what).into());
    }
    tags.retain(|tag| {
        let is_own = own.contains(tag);
        if !is_own {
            skipped.add_as(SkipCode::TagNotFound, &tag.to_string(), &"is no tag of this company");
        }
        is_own
    });
    Ok(audience)
}

/// The audience without segments that the company does not have, and those that select nobody because they name what is
/// gone. They are skipped.
async fn of_own_segments(store: &Store, company_id: Uuid, mut audience: Audience) -> Result<Audience, Error> {
    if audience.segments.is_empty() {
        return Ok(audience);
    }
    let own = store.of(company_id).segments().all().await?;
    let Audience { segments, skipped, .. } = &mut audience;
    segments.retain(|id| {
        let (code, reason) = match own.iter().find(|segment| segment.id == *id) {
            Some(SavedSegment { lack: None, .. }) => return true,
            Some(_) => (SkipCode::SegmentOutdated, "names a tag or a send that is gone"),
            None => (SkipCode::SegmentNotFound, "is no segment of this company"),
        };
        skipped.add_as(code, &id.to_string(), &reason);
        false
    });
    Ok(audience)
}

/// The sources of an audience, beside its numbers.
fn sources(audience: &Audience) -> Vec<Source> {
    let again = audience.again.iter().map(|again| Source::Send(again.send_id));
    let tags = audience.tags.iter().map(|tag| Source::Tag(*tag));
    let without = audience.without.iter().map(|tag| Source::WithoutTag(*tag));
    let segments = audience.segments.iter().map(|segment| Source::Segment(*segment));
    tags.chain(without).chain(segments).chain(again).collect()
}

/// Runs this to its end, even if the caller leaves before the answer comes.
async fn to_its_end<T: 'static>(work: impl Future<Output = Result<T, Error>> + 'static) -> Result<T, Error> {
    actix::spawn(telemetry::carried(work)).await.unwrap_or_else(|error| {
        tracing::error!(%error, "accepting a send was interrupted");
        Err(Error::Internal)
    })
}
