//! What a send costs: an estimate of its whole audience, and the messages that arrived so far as the provider bills them.
//!
//! A small send is counted on request, a large one part by part in the background, as its [tally](super::tallies) is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::Sends;
use super::tallies::{PART, SMALL};
use crate::costs::price;
use crate::{Engine, Error};
use clock::Timestamp;
use domain::phone::Country;
use domain::price::{Billing, ByCountry, CostEstimate, Micros, PriceCategory, RateCard, day_of};
use store::sends::list::Record;

/// Blocks of recipients that are read in one turn.
const BLOCKS: usize = 12;

/// The messages of a send, as prices need them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SendMessages {
    /// The recipients.
    audience: ByCountry,
    /// The messages that arrived so far and whose billing is known, by the two letters of the country and the stored
    /// number of the billing.
    arrived: BTreeMap<(&'static str, i16), u64>,
    /// When counting began.
    at: Timestamp,
}

/// What a send costs by published prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendCost {
    /// What it would cost if all of its messages arrived and none were free.
    pub estimate: CostEstimate,
    /// Messages that arrived so far and whose billing is known.
    pub arrived: u64,
    /// Those among them that the provider does not charge.
    pub free: u64,
    /// The amount of those that it charges and whose price is known.
    pub amount: Micros,
    /// Those that it charges and whose price is not known.
    pub unpriced: u64,
    /// When this was counted.
    pub at: Timestamp,
}

impl SendMessages {
    fn cost(&self, card: &RateCard, category: PriceCategory) -> SendCost {
        let estimate = CostEstimate::new(card, category, &self.audience);
        let (mut arrived, mut free, mut unpriced, mut amounts) = (0, 0, 0, Vec::new());
        for ((country, stored), messages) in &self.arrived {
            let messages = *messages;
            arrived += messages;
            let Some(billing) = Billing::from_i16(*stored) else { continue };
            match price(Some(card), Country::parse(country), billing) {
                _ if !billing.is_charged => free += messages,
                Some(price) => amounts.push(price.times(messages)),
                None => unpriced += messages,
            }
        }
        SendCost { estimate, arrived, free, amount: amounts.into_iter().sum(), unpriced, at: self.at }
    }
}

impl Sends<'_> {
    /// What a company's send costs by the prices of the day on which it was accepted, and by the category that its template
    /// has now. Figures of a large send may be some seconds old. `None` when no rate card applied, or when nobody counted a
    /// large send before and counting takes longer than `patience`.
    pub async fn cost(
        &self,
        company_id: Uuid,
        send: &Record,
        patience: Duration,
    ) -> Result<Option<SendCost>, Error> {
        let records = self.engine.records_of(company_id).await?;
        let card = records.rate_cards().on(day_of(send.created_at)).await?;
        drop(records);
        let Some(card) = card else { return Ok(None) };
        let template_id = send.template.as_ref().map(|template| template.id);
        let category = self.engine.costs().category(company_id, template_id).await?;
        let messages = if send.recipients <= SMALL {
            count(self.engine, company_id, send.id).await?.map(Arc::new)
        } else {
            self.messages_of_large(company_id, send, patience).await
        };
        Ok(messages.map(|messages| messages.cost(&card, category)))
    }

    async fn messages_of_large(
        &self,
        company_id: Uuid,
        send: &Record,
        patience: Duration,
    ) -> Option<Arc<SendMessages>> {
        let (mut latest, is_due) = self.engine.0.send_costs.ask(company_id, send.id, Instant::now());
        if is_due {
            let (engine, send_id) = (self.engine.clone(), send.id);
            self.engine.0.threads[1].spawn(async move { count_in_turn(&engine, company_id, send_id).await });
        }
        let counted = tokio::time::timeout(patience, latest.wait_for(Option::is_some)).await;
        counted.ok().and_then(|latest| latest.ok()?.clone())
    }
}

async fn count_in_turn(engine: &Engine, company_id: Uuid, send_id: Uuid) {
    let _turn = engine.0.send_costs.turn(company_id).await;
    let started = Instant::now();
    let counted = count(engine, company_id, send_id).await;
    // A failure was logged.
    engine.0.send_costs.counted(send_id, counted.ok().flatten(), started.elapsed());
}

/// Counts the messages of a send as it is now; `None` when the company has no such send any more.
async fn count(engine: &Engine, company_id: Uuid, send_id: Uuid) -> Result<Option<SendMessages>, Error> {
    let at = Timestamp::now();
    let records = engine.records_of(company_id).await?;
    let Some(send) = records.of(company_id).sends().head(send_id, at).await? else { return Ok(None) };
    let mut counted = SendMessages { audience: ByCountry::default(), arrived: BTreeMap::new(), at };
    let is_one = records.sends().count_one(send_id, &mut counted.audience).await?;
    drop(records);
    let mut next = if is_one { send.recipients } else { 0 };
    while next < send.recipients {
        let records = engine.records_of(company_id).await?;
        for _ in 0..BLOCKS {
            if next < send.recipients {
                next = records.sends().count_block(send_id, next, &mut counted.audience).await?;
            }
        }
    }
    // At and above the high-water mark there are no rows.
    let (mut next, end) = (0, send.progress.high_water.min(send.recipients));
    while next < end {
        let to = next.saturating_add(PART).min(end);
        let records = engine.records_of(company_id).await?;
        for part in records.sends().billed_part(send_id, next, to).await? {
            let country = Country::of_first_digits(part.first_digits).map_or("", Country::code);
            *counted.arrived.entry((country, part.billing.as_i16())).or_default() += part.messages;
        }
        next = to;
    }
    Ok(Some(counted))
}
