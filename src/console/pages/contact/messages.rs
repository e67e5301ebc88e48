//! The last messages to a contact, over all sends.

use std::collections::HashMap;

use maud::{Markup, html};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::time::maybe;
use crate::console::error::Result;
use crate::console::pages::send::words;
use crate::console::visitor::Viewer;
use crate::domain::message;
use crate::domain::page::PageRequest;
use crate::domain::phone::PhoneNumber;
use crate::engine::records::sends::Filter;

/// How many are shown.
const SHOWN: u64 = 10;

/// A message, with the name of its send.
pub(super) struct LastMessage {
    send: Uuid,
    ordinal: u64,
    name: String,
    state: message::State,
    code: Option<i64>,
    updated_at: Option<Timestamp>,
}

/// The last messages to the person with this number, under any form of it.
pub(super) async fn read(viewer: &Viewer, state: &State, number: PhoneNumber) -> Result<Vec<LastMessage>> {
    let (company, last) = (viewer.company.id, PageRequest { page: 1, limit: SHOWN });
    let found = state.engine.sends().to_person(company, number, None, Filter::default(), last.into()).await?;
    let records = state.engine.company(company).await?;
    let mut names: HashMap<Uuid, Option<String>> = HashMap::new();
    let mut lines = Vec::new();
    for addressed in found.records {
        let send = addressed.send_id;
        let name = match names.get(&send) {
            Some(known) => known.clone(),
            None => {
                let head = records.sends().head(send, Timestamp::now()).await?;
                let name = head.map(|head| words::name(viewer.text, &head));
                names.insert(send, name.clone());
                name
            }
        };
        // A send that was deleted meanwhile has no page any more.
        let Some(name) = name else { continue };
        let (outcome, updated_at) = (addressed.message.outcome, addressed.message.updated_at);
        lines.push(LastMessage {
            send,
            ordinal: outcome.position.ordinal,
            name,
            state: outcome.state,
            code: outcome.error.and_then(|error| error.code),
            updated_at,
        });
    }
    Ok(lines)
}

/// The panel of the contact's page.
pub(super) fn panel(viewer: &Viewer, lines: &[LastMessage]) -> Markup {
    let text = viewer.text;
    html! {
        section.panel {
            h2 { (text.get("contacts-messages")) }
            @if lines.is_empty() {
                p.soft { (text.get("contacts-no-messages")) }
            } @else {
                ul.last {
                    @for line in lines { (row(viewer, line)) }
                }
            }
        }
    }
}

fn row(viewer: &Viewer, line: &LastMessage) -> Markup {
    let text = viewer.text;
    let place = format!("/console/sends/{}", line.send);
    let is_over =
        matches!(line.state, message::State::Failed | message::State::Unknown | message::State::Expired);
    html! {
        li {
            p { a href=(place) { bdi { (line.name) } } }
            p {
                (words::linked_state(text, line.state, &format!("{place}/messages/{}", line.ordinal))) " "
                span.soft { (maybe(viewer, line.updated_at)) }
            }
            @if is_over { p.soft { (words::cause(text, line.state, line.code)) } }
        }
    }
}
