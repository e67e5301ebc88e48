//! Accepting sends: checks a request, resolves its audience and writes the send.
//!
//! Requests through a business account are checked here, those through a web session in [`web_send`]. A [`plan`]
//! estimates a send without sending it, a [`retry`] is a send of its own, and [`idempotency`] keeps a repeated request
//! from acting twice.

pub(super) mod automatic;
pub(super) mod idempotency;
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

use self::personal::{nobody, seal_of_values, with_unused};
use self::plan::{Example, Forecast, Outcome, Planned, WithoutFields};
use self::resolver::{Resolve, Resolved, Resolver, own_values};
use super::ledger::{Accept, Claim, Order, Parts};
use super::{Accepted, Engine, Error, KeyGuard, RETRY_AFTER};
use clock::Timestamp;
use domain::channel::Channel;
use domain::content::Content;
use domain::error::{Code, Refusal};
use domain::plan::{Binding, Estimate};
use domain::price::CostEstimate;
use domain::request::{Audience, BusinessRequest, OnSkipped, RequestedContent, SkipCode, Skipped};
use domain::send::{Recipients, Source, TemplateUse};
use domain::template::{Category, Template, TemplateRequest, contact_field};
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
    /// What it would cost; `None` when no rate card applies when it starts.
    pub cost: Option<CostEstimate>,
    /// The first messages as their recipients would get them, of a request with values.
    pub examples: Vec<Example>,
    /// The fields of the request that would have no effect.
    pub ignored: Vec<String>,
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
        let (order, audience) = self.admit(channel, request, None).await?;
        let ignored = with_unused(ignored, &order.content, &audience);
        let template_id = order.template.map(|template| template.id);
        let category = self.costs().category(channel.company_id, template_id).await?;
        let planned = Planned::new(channel, audience, order.template.map(|template| template.is_marketing))
            .needing(order.content.needed_fields(order.personal.is_some()))
            .filling(&order.content);
        let Outcome { skipped, suppressed, course, without_fields, countries, is_refused, examples } =
            self.resolver().send(Forecast(planned)).await??;
        let recipients = course.recipients;
        if is_refused || recipients == 0 {
            return Err(nobody(is_retry, is_refused, skipped));
        }
        let Estimate { takes, binding } = self.sends().estimate(channel, course).await?;
        let now = Timestamp::now();
        let starts = start.map_or(now, |start| start.max(now));
        let ends = takes.map(|takes| starts.plus(takes));
        let cost = self.costs().estimate(category, &countries, starts).await?;
        Ok(DryRun {
            recipients,
            skipped,
            suppressed,
            without_fields,
            takes,
            ends,
            binding,
            cost,
            examples,
            ignored,
        })
    }

    /// Accepts a request, or its template in place of a message that a closed window refuses.
    async fn accept(
        &self,
        channel: &Arc<Channel>,
        request: BusinessRequest,
        claim: Option<Claim>,
    ) -> Result<Accepted, Error> {
        let (request, instead) = request.apart();
        let accepted = accept_as_asked(self, channel, request, claim.clone()).await;
        match (accepted, instead) {
            (Err(Error::Nobody { refusal, .. }), Some(instead)) if refusal.code == Code::WindowClosed => {
                // On the heap: nearly all requests need no room for it.
                Box::pin(accept_as_asked(self, channel, instead, claim)).await
            }
            (accepted, _) => accepted,
        }
    }

    /// Checks a request, except its audience. The channel's actor runs after this, and is told of the send.
    async fn admit(
        &self,
        channel: &Arc<Channel>,
        request: BusinessRequest,
        claim: Option<Claim>,
    ) -> Result<(Order, Audience), Error> {
        if self.0.stopping.load(Ordering::Relaxed) {
            return Err(Error::Unavailable { retry_after: RETRY_AFTER });
        }
        let BusinessRequest { content, audience, schedule, label, quotes, ignored: _ } = request;
        schedule.check(Timestamp::now())?;
        let (mut content, template) = match content {
            RequestedContent::Ready(content) | RequestedContent::OrTemplate(content, _) => (content, None),
            RequestedContent::Template(requested) => {
                let (content, template) = self.fit(channel, requested).await?;
                (content, Some(template))
            }
        };
        let own = seal_of_values(self.store(), &content, &audience).await?;
        let keys = content.own_keys(own.is_some());
        if !keys.is_empty() {
            contact_field::check_own(&keys, &self.store().of(channel.company_id).fields().all().await?)?;
        }
        self.0.shared.media.admit(channel.company_id, &mut content).await?;
        self.directory().actor(channel).admit()?;
        let (company_id, channel_id) = (channel.company_id, channel.id);
        let audience = of_own_tags(self.store(), company_id, audience).await?;
        let audience = of_own_segments(self.store(), company_id, audience).await?;
        let sources = sources(&audience);
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
            sources,
            claim,
            is_awaited: false,
            keeps_turn: false,
            confirms: false,
            origin: Origin::current(),
        };
        Ok((order, audience))
    }

    /// Resolves the audience, and writes the send.
    async fn resolve(&self, order: Order, audience: Audience) -> Result<Resolved, Error> {
        let Audience { mut numbers, tags, without, segments, again, personal, mut skipped } = audience;
        numbers.dedup();
        let is_one = tags.is_empty() && without.is_empty() && segments.is_empty() && again.is_none();
        let given = personal.as_ref().map_or(0, |personal| personal.rows.len());
        if !is_one || numbers.len() + given > 1 {
            let order = Arc::new(order);
            let resolve = Resolve { order, numbers, tags, without, segments, again, personal, skipped };
            return Ok(self.resolver().send(resolve).await??);
        }
        numbers.extend(personal.iter().flat_map(|personal| personal.rows.phone_numbers()));
        let is_marketing = order.template.is_some_and(|template| template.is_marketing);
        let suppressions = &self.0.shared.suppressions;
        if !order.confirms {
            suppressions.skip_suppressed(order.company_id, is_marketing, &mut numbers, &mut skipped);
        }
        let shared = &self.0.shared;
        let known = (&shared.store, &*shared.people);
        shared.windows.skip_closed_one(known, &order, &mut numbers, &mut skipped).await?;
        let refuses = personal.as_ref().is_some_and(|personal| personal.on_skipped == OnSkipped::Refuse);
        let mut parts = Parts::default();
        if let Some(mut own) = own_values(shared, &order, personal, None).await? {
            own.skip_lacking(&mut numbers, &mut skipped).map_err(|_| Error::Internal)?;
            own.place(&mut skipped);
            parts = own.pack(shared, 0, &numbers).await?;
        }
        let is_refused = refuses && skipped.count > 0;
        let Some(number) = numbers.pop().filter(|_| !is_refused) else {
            return Ok(Resolved { skipped, is_refused, ..Resolved::default() });
        };
        let order = Arc::new(order);
        let accept = Accept::new(Arc::clone(&order), Recipients::One(number), skipped.clone());
        let accept = Accept { parts, ..accept };
        let send_id = shared.ledger.send(accept).await??;
        shared.note_answer(&order, Recipients::One(number), send_id);
        Ok(Resolved { send_id: Some(send_id), recipients: 1, skipped, is_refused: false })
    }

    /// The content of a template send: finds the template, checks it and fills it in.
    async fn fit(
        &self,
        channel: &Channel,
        requested: TemplateRequest,
    ) -> Result<(Content, TemplateUse), Error> {
        let id = requested.template_id;
        let missing = |what: String| {
            Refusal::new(
                Code::TemplateNotFound,
                format!("{what}; `GET …/templates` lists those that can be sent"),
            )
            .about("template_id")
        };
        let company = channel.company_id;
        let mut found = self
            .store()
            .of(company)
            .templates()
            .find(id)
            .await?
            .ok_or_else(|| missing(format!("there is no template {id} in this company")))?;
        if Some(&found.waba_id) != channel.waba_id.as_ref() {
            return Err(missing(format!(
                "template {id} belongs to another business account than the channel"
            ))
            .into());
        }
        if let Some(language) = requested.language.as_ref().filter(|language| **language != found.language) {
            let (waba, name) = (found.waba_id.clone(), found.name.clone());
            found = self
                .store()
                .of(company)
                .templates()
                .named(&waba, &name, language)
                .await?
                .ok_or_else(|| missing(format!("template {id} ({name}) does not exist in {language}")))?;
        }
        let template = TemplateUse { id: found.id, is_marketing: found.category == Category::Marketing };
        Ok((requested.fit(&Template::from(found))?, template))
    }

    fn resolver(&self) -> &Addr<Resolver> {
        let next = self.0.next_resolver.fetch_add(1, Ordering::Relaxed);
        &self.0.resolvers[next % self.0.resolvers.len()]
    }
}

/// Accepts a send as it is, without another content in its place.
async fn accept_as_asked(
    engine: &Engine,
    channel: &Arc<Channel>,
    request: BusinessRequest,
    claim: Option<Claim>,
) -> Result<Accepted, Error> {
    let (schedule, is_retry) = (request.schedule, request.audience.again.is_some());
    let ignored = request.ignored.clone();
    let (order, audience) = engine.admit(channel, request, claim).await?;
    let ignored = with_unused(ignored, &order.content, &audience);
    let resolved = engine.resolve(order, audience).await?;
    let (Some(send_id), recipients) = (resolved.send_id, resolved.recipients) else {
        return Err(nobody(is_retry, resolved.is_refused, resolved.skipped));
    };
    engine.owners().hint(channel);
    metrics::counter!("pombo_sends_accepted_total").increment(1);
    metrics::counter!("pombo_recipients_accepted_total").increment(recipients);
    Ok(Accepted { send_id, recipients, skipped: resolved.skipped, schedule, ignored })
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
