//! What a send costs by published prices: the estimate, and what was billed so far. A live part.

use std::time::Duration;

use maud::{Markup, html};
use uuid::Uuid;

use crate::console::State;
use crate::console::component::cost;
use crate::console::error::Result;
use crate::console::visitor::Viewer;
use crate::domain::channel::Kind;
use crate::engine::SendCost;
use crate::engine::records::sends::Record;

/// How old the figures of a page may be: several pages of a send share them.
const AGE: Duration = Duration::from_secs(5);
/// How long a page waits for the figures of a large send that is not counted yet; it shows them later.
const PATIENCE: Duration = Duration::from_millis(25);

/// The part of the page; empty for a send through a linked phone, which costs nothing, and until the figures are known.
pub(super) async fn part(viewer: &Viewer, state: &State, send: &Record) -> Result<Markup> {
    let company = viewer.company.id;
    let key = format!("cost {company} {}", send.id);
    let known = state.shared.get(key, AGE, async || known(state, company, send).await).await?;
    Ok(html! { div id="cost" { @if let Some(known) = &*known { (shown(viewer, known)) } } })
}

async fn known(state: &State, company: Uuid, send: &Record) -> Result<Option<SendCost>> {
    let channel = state.engine.channel(send.channel_id).await?;
    if channel.is_some_and(|channel| channel.kind == Kind::WebSession) {
        return Ok(None);
    }
    Ok(state.engine.sends().cost(company, send, PATIENCE).await?)
}

fn shown(
    viewer: &Viewer,
    SendCost { estimate, arrived, free, amount, unpriced, at: _ }: &SendCost,
) -> Markup {
    let text = viewer.text;
    html! {
        section.panel aria-labelledby="cost-title" {
            h2 id="cost-title" { (text.get("costs-send")) }
            @if *arrived == 0 {
                p { (text.get("costs-nothing-yet")) }
            } @else {
                @let sum = cost::amount(text, &estimate.currency, *amount);
                p { strong { (text.with("costs-so-far", [("amount", sum.into())])) } }
                p { (text.with("costs-arrived", [("count", (*arrived).into()), ("free", (*free).into())])) "." }
                @if *unpriced > 0 { p { (text.with("costs-unpriced", [("count", (*unpriced).into())])) } }
            }
            (cost::estimate(text, estimate))
        }
    }
}
