//! The latest sends with the outcome of their messages, and those that wait with their reasons.

use maud::{Markup, html};
use uuid::Uuid;

use crate::console::State;
use crate::console::component::bar::{self, Shares};
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::component::waiting::{lasting, waiting};
use crate::console::error::Result;
use crate::console::pages::send::words;
use crate::console::visitor::Viewer;
use crate::domain::outlook::Outlook;
use crate::engine::records::sends::Record;

/// A send, with the outcome of its messages if they are counted.
pub(super) struct Latest {
    send: Record,
    shares: Option<Shares>,
}

/// Reads the outcome of these sends, as far as they are counted at once.
pub(super) async fn read(state: &State, company: Uuid, sends: Vec<Record>) -> Result<Vec<Latest>> {
    let counts = state.engine.sends().counts(company, &sends).await?;
    let outcome = |send: Record| {
        let shares = counts.get(&send.id).map(Shares::from);
        Latest { send, shares }
    };
    Ok(sends.into_iter().map(outcome).collect())
}

/// The latest sends; a live part.
pub(super) fn show(viewer: &Viewer, latest: &[Latest]) -> Markup {
    let text = viewer.text;
    if latest.is_empty() {
        return html! { div id="latest" {} };
    }
    html! {
        section id="latest" aria-labelledby="latest-heading" {
            h2 id="latest-heading" { (text.get("overview-latest")) }
            ul.latest { @for send in latest { li { (one(viewer, send)) } } }
            p { a href="/console/sends" { (text.get("overview-all-sends")) } }
        }
    }
}

fn one(viewer: &Viewer, Latest { send, shares }: &Latest) -> Markup {
    let text = viewer.text;
    html! {
        div.what {
            a href=(format!("/console/sends/{}", send.id)) { bdi { (words::name(text, send)) } } " "
            (words::stage(text, send.stage))
            p {
                (moment(viewer, send.created_at)) " · "
                (text.with("overview-to", [("count", send.recipients.into())]))
            }
        }
        @match shares {
            Some(shares) => div { (bar::bar(text, shares)) (bar::line(text, shares)) },
            None => p { (text.get("overview-counting")) },
        }
    }
}

/// The active sends that wait, with their reasons; a live part. Those that go out are among the latest.
pub(super) fn waiting_sends(viewer: &Viewer, active: &[(Record, Option<Outlook>)]) -> Markup {
    let text = viewer.text;
    let sends = active.iter().filter_map(|(send, outlook)| Some((send, outlook.as_ref().and_then(lasting)?)));
    let sends: Vec<_> = sends.collect();
    if sends.is_empty() {
        return html! { div id="sends" {} };
    }
    let columns = [
        Column::words(text.get("overview-send")),
        Column::numbers(text.get("overview-recipients")),
        Column::words(text.get("overview-waits")),
    ];
    let rows = sends.into_iter().map(|(send, what)| {
        vec![
            html! {
                a href=(format!("/console/sends/{}", send.id)) { bdi { (words::name(text, send)) } }
                " " (moment(viewer, send.created_at))
            },
            html! { (text.number(send.recipients)) },
            waiting(viewer, what),
        ]
    });
    html! {
        section id="sends" aria-labelledby="sends-heading" {
            h2 id="sends-heading" { (text.get("overview-sends")) }
            (table(&text.get("overview-sends"), &columns, rows))
        }
    }
}
