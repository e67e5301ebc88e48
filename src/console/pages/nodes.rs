//! The nodes of a cluster: the state of each, what runs on it, and the button that drains it. For a service
//! that runs alone, the page says so.

use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};

use super::operator::channel_list;
use crate::clock::database::TOLERATED;
use crate::cluster::{Link, NodeState, NodeStatus, Status};
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::confirm;
use crate::console::component::copy;
use crate::console::component::empty::empty;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{maybe, moment};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::{Id, Query};
use crate::console::text::Text;
use crate::console::visitor::Person;
use crate::console::{State, live};
use crate::engine::ShownCluster;

/// The paths of this page and of its live parts.
const PLACE: &str = "/console/operator/nodes";
const LIVE: &str = "/console/operator/nodes/live";
/// How often the live parts are refreshed, and how old their data may be.
const EVERY: Duration = Duration::from_secs(2);

pub(crate) async fn show(person: Person, state: Data<State>) -> Result<Page> {
    let text = person.text;
    // Not the shared copy, because a node may have just been drained.
    let Some(cluster) = &state.engine.nodes().cluster().await? else {
        return Ok(Page::new(text.get("nodes-title"), Menu::Nodes, alone(text)));
    };
    let body = html! {
        @for part in parts(&person, cluster) { (part) }
        p.hint { (text.get("nodes-hint")) }
    };
    Ok(Page::new(text.get("nodes-title"), Menu::Nodes, body).live(LIVE))
}

/// Keeps the nodes up to date.
pub(crate) async fn follow(person: Person, state: Data<State>, request: HttpRequest) -> Result<HttpResponse> {
    let kept = ("nodes".to_owned(), EVERY);
    // `None` for a service that runs alone.
    let read = async |state: &State| Ok::<_, Error>(state.engine.nodes().cluster().await?);
    live::stream_shared(&request, &state, kept, read, move |cluster: &Option<ShownCluster>| {
        cluster.iter().flat_map(|cluster| parts(&person, cluster)).collect()
    })
}

/// Shows one node, with the channels that run on it.
pub(crate) async fn one(person: Person, state: Data<State>, query: Query, id: Id) -> Result<Page> {
    let text = person.text;
    let page = query.page_of("channels", state.options.page_size);
    let (node, channels) = state.engine.nodes().channels_of_node(id.0, page).await?;
    let body = html! {
        section.panel {
            dl.facts {
                dt { (text.get("nodes-state")) } dd { (standing(text, node.state)) }
                dt { (text.get("shell-id")) } dd { (copy::id(text, id.0)) }
                dt { (text.get("nodes-address")) } dd { bdi { (node.node.address) } }
                dt { (text.get("nodes-version")) } dd { (node.node.version) }
                dt { (text.get("nodes-cores")) } dd { (text.number(node.node.cores.into())) }
                dt { (text.get("nodes-since")) } dd { (moment(&person, node.node.started_at)) }
                dt { (text.get("nodes-shards")) } dd { (text.number(node.shards)) }
                dt { (text.get("nodes-clock")) } dd { (clock(text, &node)) }
            }
        }
        (channel_list(&person, &query, page, &channels))
        p { a href=(PLACE) { (text.get("nodes-all")) } }
    };
    Ok(Page::new(node.node.name, Menu::Nodes, body))
}

pub(crate) async fn drain(person: Person, state: Data<State>, id: Id, form: Form) -> Result<Answer> {
    let drained = async || {
        let node = state.engine.nodes().drain_node(&person.who(), id.0).await?.node;
        let done = person.text.with("nodes-drained", [("name", node.name.into())]);
        Ok(Answer::done(&state, &person, done, PLACE))
    };
    state.once.act(&person, &form, drained).await
}

pub(crate) async fn undrain(person: Person, state: Data<State>, id: Id, form: Form) -> Result<Answer> {
    let undrained = async || {
        let node = state.engine.nodes().undrain_node(&person.who(), id.0).await?.node;
        let done = person.text.with("nodes-undrained", [("name", node.name.into())]);
        Ok(Answer::done(&state, &person, done, PLACE))
    };
    state.once.act(&person, &form, undrained).await
}

fn alone(text: Text) -> Markup {
    let how = html! {
        p.soft { (text.get("nodes-alone-how")) " " code { "cluster.name" } }
    };
    empty(&text.get("nodes-alone"), &how)
}

fn parts(person: &Person, cluster: &ShownCluster) -> [Markup; 2] {
    [figures(person, cluster), list(person, cluster)]
}

fn figures(person: &Person, ShownCluster { name, status, link, .. }: &ShownCluster) -> Markup {
    let text = person.text;
    let Status { nodes, moves, server } = status;
    let serving = nodes.iter().filter(|node| node.state == NodeState::Serving).count();
    let connections = [
        ("open", whole(text, server.connections).into()),
        ("most", whole(text, server.most_connections).into()),
    ];
    html! {
        section #cluster aria-label=(text.get("nodes-cluster")) {
            dl.tiles {
                div.tile {
                    dt { (text.get("nodes-cluster")) }
                    dd { bdi { (name) } }
                    dd { small { (text.with("nodes-serving", [("count", (serving as u64).into())])) } }
                }
                div.tile {
                    dt { (text.get("nodes-moves")) }
                    dd { (whole(text, moves.count)) }
                    dd { small { (text.get("nodes-moved-at")) " " (maybe(person, moves.last)) } }
                }
                div.tile {
                    dt { "PostgreSQL " (server.version) }
                    dd { (text.0.decimal(server.answers_in.as_secs_f64() * 1_000.0, 1)) " " small { "ms" } }
                    dd { small { (text.with("nodes-connections", connections)) } }
                }
                div.tile {
                    dt { "NATS" @if let Some(version) = link.as_ref().and_then(|link| link.version.as_ref()) { " " (version) } }
                    dd { (connection(text, link.as_ref())) }
                    dd { small { (text.get("nodes-from-here")) } }
                }
            }
        }
    }
}

fn connection(text: Text, link: Option<&Link>) -> Markup {
    match link {
        None => badge(Tone::Plain, &text.get("nodes-nats-none")),
        Some(Link { is_connected: true, .. }) => badge(Tone::Good, &text.get("nodes-nats-connected")),
        Some(Link { is_connected: false, .. }) => badge(Tone::Warning, &text.get("nodes-nats-away")),
    }
}

fn list(person: &Person, ShownCluster { own, status, .. }: &ShownCluster) -> Markup {
    let text = person.text;
    let columns = [
        Column::words(text.get("nodes-name")),
        Column::words(text.get("nodes-state")),
        Column::numbers(text.get("shell-channels")),
        Column::numbers(text.get("nodes-lease")),
        Column::numbers(text.get("nodes-clock")),
        Column::words(text.get("nodes-since")),
        Column::words(text.get("nodes-version")),
        Column::words(""),
    ];
    let serving = status.nodes.iter().filter(|node| node.state == NodeState::Serving).count();
    let rows = status.nodes.iter().map(|shown| {
        let place = format!("{PLACE}/{}", shown.node.id);
        vec![
            html! {
                a href=(place) { bdi { (shown.node.name) } }
                @if shown.node.id == *own { " " span.soft { (text.get("nodes-this")) } }
                div.soft { bdi { (shown.node.address) } }
            },
            standing(text, shown.state),
            html! { a href=(place) { (text.number(shown.channels)) } },
            html! { (text.0.decimal(shown.lease().as_secs_f64(), 1)) " s" },
            clock(text, shown),
            moment(person, shown.node.started_at),
            html! { (shown.node.version) },
            html! {
                @match shown.state {
                    NodeState::Serving => { (drain_button(text, shown, serving)) }
                    NodeState::Draining => { (undrain_button(text, shown)) }
                    NodeState::LacksKey | NodeState::Lapsed => {}
                }
            },
        ]
    });
    html! {
        section #members aria-label=(text.get("nodes-title")) { (table(&text.get("nodes-title"), &columns, rows)) }
    }
}

/// The button that drains a node. It asks first, and says what happens to the channels.
fn drain_button(text: Text, shown: &NodeStatus, serving: usize) -> Markup {
    let question = if serving > 1 { "nodes-drain-question" } else { "nodes-drain-last" };
    let name = shown.node.name.as_str();
    let label = text.with("nodes-drain", [("name", name.into())]);
    let place = format!("{PLACE}/{}/drain", shown.node.id);
    confirm::confirm(text, &place, &label, &text.with(question, [("name", name.into())]))
}

/// The button that lets a node that drains take channels again.
fn undrain_button(text: Text, shown: &NodeStatus) -> Markup {
    let name = shown.node.name.as_str();
    let label = text.with("nodes-undrain", [("name", name.into())]);
    let place = format!("{PLACE}/{}/undrain", shown.node.id);
    confirm::confirm(text, &place, &label, &text.with("nodes-undrain-question", [("name", name.into())]))
}

/// How far the node's clock is ahead of the database's.
fn clock(text: Text, shown: &NodeStatus) -> Markup {
    let Some(ahead) = shown.clock_ahead() else { return html! { "–" } };
    let said = format!("{}{} s", if ahead < 0.0 { "−" } else { "+" }, text.0.decimal(ahead.abs(), 1));
    if ahead.abs() > TOLERATED.as_secs_f64() {
        badge(Tone::Warning, &said)
    } else {
        html! { (said) }
    }
}

fn standing(text: Text, state: NodeState) -> Markup {
    match state {
        NodeState::Serving => badge(Tone::Good, &text.get("nodes-state-serving")),
        NodeState::Draining => badge(Tone::Busy, &text.get("nodes-state-draining")),
        NodeState::LacksKey => badge(Tone::Bad, &text.get("nodes-state-lacks-key")),
        NodeState::Lapsed => badge(Tone::Bad, &text.get("nodes-state-lapsed")),
    }
}

fn whole(text: Text, count: i64) -> String {
    text.number(u64::try_from(count).unwrap_or(0))
}
