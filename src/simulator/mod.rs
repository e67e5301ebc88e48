//! A stand-in for the provider: an HTTP server that answers as Meta's Graph API does.
//!
//! `pombo simulator`, `pombo demo` and tests start one with [`start`]; a connector speaks to it
//! exactly as to the provider, with another base URL. Nothing in the engine or the connector knows
//! that it exists, and it imports nothing of them.
//!
//! It counts every accepted message exactly ([`NumberFigures`]), keeps the newest in a log, enforces
//! throttles, sends signed receipts when told where to, and misbehaves on request (`/_sim/script`).
//! What it keeps is bounded; where it is bounded is said at [`Options`] and [`ReceiptOptions`].
//!
//! Two ways to know accounts: seeded ones only (the default; what is not seeded answers as an
//! unknown token or object), or [`Options::accept_any`], where any id of digits and any token that
//! does not begin with `EXPIRED` will do.

use actix_web::web::{self, ServiceConfig, delete, get, post};

mod account;
mod body;
mod catalogue;
mod delivery;
mod directory;
mod error;
mod figures;
mod graph;
mod inspect;
mod interactive;
mod lock;
mod log;
mod management;
mod options;
mod parameters;
mod phone;
mod receipt;
mod reply;
mod script;
mod seed;
mod send;
mod server;
mod span;
mod switch;
mod template;
#[cfg(test)]
mod tests;
mod throttle;
mod webhook;
mod world;

pub use self::figures::NumberFigures;
pub use self::log::LoggedMessage;
pub use self::options::{Options, ReceiptOptions};
pub use self::seed::{Account, Number, Seed, Template, default_templates};
pub use self::server::{Error, Simulator, start};

/// Every route: the simulator's own surface, and the provider's under any version.
fn routes(config: &mut ServiceConfig) {
    config
        .service(
            web::scope("/_sim")
                .route("/numbers", get().to(inspect::numbers))
                .route("/numbers/{phone_number_id}", get().to(inspect::number))
                .route("/messages", get().to(inspect::messages))
                .route("/script", post().to(inspect::script))
                .route("/script", get().to(inspect::script_progress))
                .route("/script", delete().to(inspect::end_script))
                .route("/webhook", post().to(inspect::aim))
                .route("/webhook", get().to(inspect::receipts))
                .route("/webhook", delete().to(inspect::stop_receipts))
                .route("/accounts", post().to(inspect::accounts))
                .route("/reset", post().to(inspect::reset)),
        )
        .service(
            web::scope(r"/{version:v\d+\.\d+}")
                .route("/{phone_number_id}/messages", post().to(send::send))
                .route("/debug_token", get().to(graph::debug_token))
                .route("/{phone_number_id}/register", post().to(graph::register))
                .route("/{waba_id}/phone_numbers", get().to(graph::phone_numbers))
                .route("/{waba_id}/subscribed_apps", post().to(graph::subscribe))
                .route("/{waba_id}/message_templates", get().to(management::templates))
                .route("/{waba_id}/message_templates", post().to(management::create))
                .route("/{template_id}/unpause", post().to(management::unpause))
                .route("/{id}", get().to(graph::node)),
        )
        .default_service(web::route().to(graph::unknown_path));
}
