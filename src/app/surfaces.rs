//! What each listener serves beside the API: the console, and the door that speaks Graph.

use std::sync::Arc;

use actix_web::web;

use crate::api::{self, Beside, BesideResources, Listener};
use crate::config::Config;
use crate::console;
use crate::engine::Engine;
use crate::graph::{self, GraphOptions, GraphState};

/// The listener of companies, beside one of operators or alone.
pub(super) const fn listener_of(has_operators: bool) -> Listener {
    if has_operators { Listener::Public } else { Listener::Whole }
}

/// The door that speaks Graph, under the bounds of the API.
pub(super) fn door(config: &Config, engine: &Engine, options: &api::Options) -> GraphState {
    let options = GraphOptions {
        wait: config.graph.wait,
        web_interactive: config.graph.web_interactive,
        passes_through: config.graph.pass_through,
        body_bytes: options.body_bytes,
        send: options.send.clone(),
        proxies: options.proxies.clone(),
        public_url: config.server.public_url.clone(),
    };
    GraphState { engine: engine.clone(), options }
}

/// The console's resources on each listener: pages for operators are on the listener of the operator API. Around them those of
/// the door that speaks Graph, on its listener.
pub(super) fn beside(
    pages: &web::Data<console::State>,
    door: Option<(Listener, web::Data<GraphState>)>,
) -> Beside {
    let pages = pages.clone();
    Arc::new(move |listener| {
        let mut all = BesideResources::default();
        if listener != Listener::Graph {
            all.rest = console::resources(&pages, listener.admits_operators());
        }
        if let Some((_, door)) = door.as_ref().filter(|(own, _)| *own == listener) {
            all.first.push(graph::busiest(door));
            all.rest.extend(graph::resources(door));
        }
        all
    })
}
