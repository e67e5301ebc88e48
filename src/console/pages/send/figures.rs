//! The figures of a send: the outcome of its messages, why it waits, and why some did not arrive. Codes, ids and other
//! figures for technicians are behind the details.

use std::sync::Arc;
use std::time::Duration;

use maud::{Markup, html};
use uuid::Uuid;

use super::words;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::bar::{self, Shares};
use crate::console::component::chart::Chart;
use crate::console::component::copy;
use crate::console::component::explain;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{ahead, moment};
use crate::console::component::waiting::{lasting, sentence, waiting};
use crate::console::error::{Error, Result};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::message::{self, Reception};
use crate::domain::outlook::{Outlook, Waiting};
use crate::domain::send::{Cause, Tally};
use crate::engine::Counted;
use crate::engine::records::sends::Record;

/// How long a page waits for the figures of a large send that is not counted yet; it shows them later.
const PATIENCE: Duration = Duration::from_millis(25);

/// How long after its end a page waits for receipts.
const RECEIPTS: Duration = Duration::from_secs(3_600);

/// A send as a page shows it.
pub(in crate::console::pages) struct View {
    pub(in crate::console::pages) send: Record,
    outlook: Outlook,
    counted: Option<Arc<Counted>>,
}

impl View {
    /// Whether its figures may change soon: before its end, and while receipts of its messages are expected.
    pub(super) fn may_change(&self, now: Timestamp) -> bool {
        let Some(tally) = self.tally() else { return true };
        let is_heard_of = [message::State::Sent, message::State::Delivered];
        let is_heard_of = is_heard_of.into_iter().any(|state| tally.counts.of(state) > 0);
        let is_fresh = self.send.finished_at.is_some_and(|end| now < end.plus(RECEIPTS));
        !self.send.stage.is_over() || is_heard_of && is_fresh
    }

    /// The outcome of its messages, if they are counted.
    fn shares(&self) -> Option<Shares> {
        self.tally().map(|tally| Shares::from(&tally.counts))
    }

    /// The figures of the send, if they are counted.
    pub(super) fn tally(&self) -> Option<&Tally> {
        self.counted.as_ref().map(|counted| &counted.tally)
    }
}

/// The company's send of this id, as it is now.
pub(in crate::console::pages) async fn view(state: &State, company: Uuid, id: Uuid) -> Result<View> {
    let records = state.engine.company(company).await?;
    let send = records.sends().head(id, Timestamp::now()).await?.ok_or(Error::NotFound)?;
    drop(records);
    let mut outlooks = state.engine.sends().outlook(send.channel_id, &[&send]).await?;
    let outlook = outlooks.remove(&id).unwrap_or_default();
    let counted = state.engine.sends().tally(company, &send, PATIENCE).await?;
    Ok(View { send, outlook, counted })
}

/// The outcome of the messages, and why the send waits.
pub(super) fn progress(viewer: &Viewer, view: &View) -> Markup {
    let View { send, outlook, .. } = view;
    let text = viewer.text;
    html! {
        section.panel id="progress" aria-label=(text.get("send-progress-title")) {
            p {
                (words::stage(text, send.stage)) " "
                @match view.shares() {
                    Some(shares) => {
                        @let (sent, all) = (shares.taken().into(), send.recipients.into());
                        (text.with("send-progress", [("sent", sent), ("all", all)]))
                    }
                    None => (text.with("send-people", [("count", send.recipients.into())])),
                }
            }
            @match view.shares() {
                Some(shares) => {
                    (bar::bar(text, &shares))
                    (bar::figures(text, &shares))
                    (contacts(text, view))
                }
                None => p.notice { (text.get("send-counting")) },
            }
            @if let Some(end) = outlook.estimated_end {
                p { (text.get("send-end")) " " (ahead(viewer, end)) }
            }
            @if let Some(waiting) = lasting(outlook) { (waits(viewer, waiting)) }
        }
    }
}

/// The links to the contacts that the send reached, and to those that it did not.
fn contacts(text: Text, view: &View) -> Markup {
    let counts = view.tally().map(|tally| &tally.counts);
    let people = |reception: Reception| counts.map_or(0, |counts| counts.of_reception(reception));
    let known: Vec<_> = Reception::ALL.iter().filter(|reception| people(**reception) > 0).collect();
    html! {
        @if !known.is_empty() {
            p {
                (text.get("send-show-contacts"))
                @for reception in known {
                    " " a href=(format!("/console/contacts?send={}&outcome={reception}", view.send.id)) {
                        (words::reception(text, *reception))
                    }
                }
            }
        }
    }
}

/// Why a send waits, and until when.
pub(in crate::console::pages) fn waits(viewer: &Viewer, what: &Waiting) -> Markup {
    html! {
        p { strong { (viewer.text.get("send-waits")) } " " (waiting(viewer, what)) }
        (sentence(viewer, what))
    }
}

/// Why messages did not arrive; nothing as long as all do.
pub(super) fn causes(viewer: &Viewer, view: &View) -> Markup {
    let text = viewer.text;
    let causes = view.tally().map(|tally| tally.causes.as_slice()).unwrap_or_default();
    let columns = [Column::words(text.get("send-cause")), Column::numbers(text.get("send-messages"))];
    let rows = causes.iter().map(|cause| {
        let code = cause.code.map(|code| format!("&code={code}")).unwrap_or_default();
        let address = format!("/console/sends/{}?state={}{code}#list", view.send.id, cause.state.as_str());
        let words = words::cause(text, cause.state, cause.code);
        vec![
            html! { a href=(address) { (words) } " " (explain::mark(text, words::topic(cause.state, cause.code), &words)) },
            html! { (text.number(cause.messages)) },
        ]
    });
    html! {
        section id="causes" {
            @if !causes.is_empty() {
                h2 { (text.get("send-causes")) }
                (table(&text.get("send-causes"), &columns, rows))
            }
        }
    }
}

/// What technicians ask for: ids, every state, codes, the pace.
pub(super) fn technical(viewer: &Viewer, view: &View) -> Markup {
    let View { send, outlook, counted } = view;
    let text = viewer.text;
    html! {
        div id="figures" {
            details.more id="technical" {
                summary { (text.get("send-details")) }
                p { (copy::id(text, send.id)) }
                dl.facts {
                    @if let Some(template) = &send.template {
                        dt { (text.get("send-template")) }
                        dd { bdi { (template.name) } " (" (template.language) ")" }
                    }
                    @if let Some(reference) = &send.label.reference {
                        dt { (text.get("send-reference")) }
                        dd { bdi { (reference) } }
                    }
                    @for (name, note) in &send.label.metadata { dt { bdi { (name) } } dd { bdi { (note) } } }
                    @if let Some(rate) = outlook.rate {
                        dt { (text.get("send-pace")) }
                        dd { (text.with("send-rate", [("rate", text.0.decimal(rate, 1).into())])) }
                    }
                    @if let Some(counted) = counted {
                        dt { (text.get("send-counted")) }
                        dd { (moment(viewer, counted.at)) }
                    }
                }
                @if let Some(tally) = view.tally() {
                    div.columns {
                        (states(viewer, view, tally))
                        (codes(viewer, &tally.causes))
                    }
                    (pace(viewer, view, tally))
                }
            }
        }
    }
}

/// The pace of a send over time.
fn pace(viewer: &Viewer, view: &View, tally: &Tally) -> Markup {
    let text = viewer.text;
    let seconds = tally.pace.step.as_secs_f64().max(1.0);
    let values: Vec<_> = tally.pace.messages.iter().map(|messages| *messages as f64 / seconds).collect();
    let steps = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let end = tally.pace.from.plus(tally.pace.step.saturating_mul(steps));
    let span = (viewer.zone.clock(tally.pace.from), viewer.zone.clock(end));
    let chart = Chart {
        name: &text.get("send-pace"),
        unit: &text.get("send-pace-unit"),
        values: &values,
        limit: None,
        span: (&span.0, &span.1),
        is_over: view.send.stage.is_over(),
    };
    html! { @if !values.is_empty() { (chart.show(text)) } }
}

fn states(viewer: &Viewer, view: &View, tally: &Tally) -> Markup {
    let text = viewer.text;
    let columns = [Column::words(text.get("send-state")), Column::numbers(text.get("send-messages"))];
    let there = message::State::ALL.into_iter().filter(|state| tally.counts.of(*state) > 0);
    let rows = there.map(|state| {
        let address = format!("/console/sends/{}?state={}#list", view.send.id, state.as_str());
        vec![words::linked_state(text, state, &address), html! { (text.number(tally.counts.of(state))) }]
    });
    html! { section { h2 { (text.get("send-by-state")) } (table(&text.get("send-by-state"), &columns, rows)) } }
}

/// The provider's codes and words.
fn codes(viewer: &Viewer, causes: &[Cause]) -> Markup {
    let text = viewer.text;
    let columns = [
        Column::words(text.get("send-code")),
        Column::words(text.get("send-said")),
        Column::numbers(text.get("send-messages")),
    ];
    let rows = causes.iter().map(|cause| {
        vec![
            html! {
                @match cause.code {
                    Some(code) if code >= 0 => (explain::code(code)),
                    _ => (words::state(text, cause.state)),
                }
            },
            html! {
                @match &cause.sentence {
                    Some(sentence) => span lang="en" { bdi { (sentence) } },
                    None => span.soft { "—" },
                }
            },
            html! { (text.number(cause.messages)) },
        ]
    });
    html! {
        @if !causes.is_empty() {
            section { h2 { (text.get("send-codes")) } (table(&text.get("send-codes"), &columns, rows)) }
        }
    }
}
