//! Sends to one number, which are written without a resolver.

use std::sync::Arc;

use super::Admitted;
use super::resolver::{Resolved, own_values};
use crate::ledger::{Accept, Order, Parts};
use crate::shared::Shared;
use crate::{Error, SentInstead, window_gate};
use domain::phone::PhoneNumber;
use domain::request::{Audience, OnSkipped, Skipped};
use domain::send::{Recipients, Source};

/// Writes a send to one number at most, or the template that its request has for a closed window.
pub(super) async fn resolve_one(shared: &Arc<Shared>, admitted: Admitted) -> Result<Resolved, Error> {
    let Admitted { mut order, instead, audience } = admitted;
    let Audience { mut numbers, personal, mut skipped, tags: _, without: _, segments: _, again: _ } =
        audience;
    numbers.extend(personal.iter().flat_map(|personal| personal.rows.phone_numbers()));
    if !order.confirms {
        skip_suppressed(shared, &order, &mut numbers, &mut skipped);
    }
    let known = (&shared.store, &*shared.people);
    let closed = shared.windows.take_closed_one(known, &order, &mut numbers).await?;
    let mut is_instead = false;
    match instead {
        Some(template) if !closed.is_empty() => {
            (order, numbers, is_instead) = (template, closed, true);
            order.sources.push(Source::Closed(None));
            skip_suppressed(shared, &order, &mut numbers, &mut skipped);
        }
        _ => window_gate::skip(&closed, &mut skipped),
    }
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
    let instead = is_instead.then_some(SentInstead { send_id, recipients: 1 });
    Ok(Resolved { send_id: Some(send_id), recipients: 1, instead, skipped, is_refused: false })
}

fn skip_suppressed(shared: &Shared, order: &Order, numbers: &mut Vec<PhoneNumber>, skipped: &mut Skipped) {
    let is_marketing = order.template.is_some_and(|template| template.is_marketing);
    shared.suppressions.skip_suppressed(order.company_id, is_marketing, numbers, skipped);
}
