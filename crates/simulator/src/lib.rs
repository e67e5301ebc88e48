//! A simulated provider: an HTTP server that answers as Meta's Graph API does.
//!
//! `pombo simulator`, `pombo demo` and tests start one with [`start`]; a connector speaks to it exactly as to
//! the provider, with another base URL. No code in the engine or the connector knows that it exists, and it
//! imports nothing from them. Only [`FakeWhatsApp`], which replaces a connector's driver, knows the connector's
//! interface.
//!
//! It counts every accepted message exactly ([`NumberFigures`]), keeps the newest in a log, enforces
//! throttles, sends signed webhooks to configured receivers, and fails on request (`/_sim/script`). It also
//! accepts other requests of the provider's clients: uploads of files, business profiles, greetings, blocked
//! people, QR codes, commerce settings, callbacks of a number's own, the library of templates. Its memory is bounded by
//! [`Options`] and [`ReceiptOptions`].
//!
//! It has either only seeded accounts (the default; other tokens and objects are unknown), or, with
//! [`Options::accept_any`], accepts any id of digits and any token that does not begin with `EXPIRED`.
//!
//! A script is a rule, a switch, or an array of them:
//!
//! ```json
//! [
//!   {"match": {"to_suffix": "0001"}, "times": 3, "outcome": {"error": {"code": 131056}}},
//!   {"every": 100, "outcome": {"hang_then_accept": "30s"}},
//!   {"probability": 0.01, "seed": 7, "outcome": {"async_failed": {"code": 131026}}},
//!   {"number": {"phone_number_id": "2001", "status": "DISCONNECTED"}},
//!   {"token": {"value": "T-1", "valid": false}}
//! ]
//! ```
//!
//! Outcomes: `error`, `delay`, `hang_then_accept`, `hang_then_drop`, `drop_reply`, `garbled_reply`, `reset`,
//! `bad_gateway`, `async_failed`, `status`. Switches, with their fields besides the name of their object:
//!
//! | switch | fields or value |
//! |---|---|
//! | `number` | `status`, `throttle`, `throttled_for` (130429), `maintenance` (131057), `upgrade_for` (131057, then HIGH), `level`, `is_on_biz_app`, `fields`, `token` |
//! | `account` | `restriction`, `throttled_for` (80007), `usage`, `regain_minutes` |
//! | `app` | `throttled_for` (4), `usage` |
//! | `token` | `valid` |
//! | `template` | `status`, `pacing`, `end_pacing` |
//! | `webhook` | `account_update`, `business_capability_update`, `user_preferences`, `inbound`, `errors` or `change`; and `after`, `copies` |
//! | `outage` | `true`, `false`, or how long |
//! | `pair_throttle` | `true` or `false` |
//! | `service_window` | `true` or `false`: whether messages that are no templates are refused (131047) for people who wrote more than 24 hours ago, or never |
//! | `latency` | how long, or a distribution: `"p50=80ms,p99=900ms"` |
//!
//! If the provider would report the change of a switch by webhook, the simulator does so, too, if there is a
//! receiver.
//!
//! The other provider, WhatsApp Web, is simulated in place of its driver. The phone that its devices are
//! linked to is at `/phone/scan` and `/phone/messages`.
//!
//! Played people answer a share of the messages ([`ReceiptOptions::answers`]), and write what `/_sim/write` or a script says
//! ([`WrittenContent`]), to numbers by webhook and to web sessions.

use actix_web::web::{self, ServiceConfig, delete, get, post};

mod account;
mod announce;
mod authoring;
mod body;
mod budget;
mod callback;
mod catalogue;
mod conversation;
mod delivery;
mod diary;
mod directory;
mod error;
mod fail;
mod figures;
mod graph;
mod inspect;
mod interactive;
mod keys;
mod latency;
mod level;
mod library;
mod log;
mod management;
mod media;
mod multipart;
mod node;
mod notice;
mod options;
mod outbox;
mod pacing;
mod parameters;
mod person;
mod phone;
mod progression;
mod qr_code;
mod reply;
mod scheduler;
mod script;
mod seed;
mod send;
mod server;
mod signs;
mod span;
mod switch;
mod target;
mod template;
#[cfg(test)]
mod tests;
mod throttle;
mod timeline;
mod timers;
mod unversioned;
mod upkeep;
mod upload;
mod web_session;
mod webhook;
mod window;
mod world;
mod writing;
mod written;

pub use self::fail::Fail;
pub use self::figures::NumberFigures;
pub use self::latency::Latency;
pub use self::level::{Level, Throttle};
pub use self::log::LoggedMessage;
pub use self::options::{Options, ReceiptOptions};
pub use self::seed::{Account, Number, Seed, Template, default_templates};
pub use self::server::{Error, Simulator, start};
pub use self::signs::ShownSign;
pub use self::timeline::Timeline;
pub use self::web_session::{FakeWhatsApp, WebFile, WebMessage, WebSessionOptions, WebState};
pub use self::written::{WrittenCard, WrittenContent, WrittenFile, WrittenItem};

/// Every route: the simulator's own surface, and the provider's under any version.
fn routes(config: &mut ServiceConfig) {
    config
        .service(
            web::scope("/_sim")
                .route("/numbers", get().to(inspect::numbers))
                .route("/numbers/{phone_number_id}", get().to(inspect::number))
                .route("/numbers/{phone_number_id}/recipients", get().to(inspect::recipients))
                .route("/numbers/{phone_number_id}/timeline", get().to(inspect::timeline))
                .route("/messages", get().to(inspect::messages))
                .route("/write", post().to(writing::write))
                .route("/conversation", get().to(writing::conversation))
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
            web::scope("/phone")
                .route("", get().to(web_session::show))
                .route("", post().to(web_session::press))
                .route("/scan", post().to(web_session::scan))
                .route("/passkey", post().to(web_session::sign))
                .route("/messages", get().to(web_session::messages)),
        )
        .route("/media/{id}", get().to(media::download))
        .service(
            web::scope(r"/{version:v\d+\.\d+}")
                .route("/{phone_number_id}/messages", post().to(send::send))
                .route("/debug_token", get().to(graph::debug_token))
                .route("/message_template_library", get().to(library::list))
                .route("/{phone_number_id}/register", post().to(graph::register))
                .route("/{phone_number_id}/deregister", post().to(graph::deregister))
                .route("/{phone_number_id}/media", post().to(media::upload))
                .route("/{phone_number_id}/message_qrdls", get().to(qr_code::list))
                .route("/{phone_number_id}/message_qrdls", post().to(qr_code::write))
                .route("/{phone_number_id}/message_qrdls/{code}", get().to(qr_code::show))
                .route("/{phone_number_id}/message_qrdls/{code}", delete().to(qr_code::delete))
                .route("/{phone_number_id}/whatsapp_commerce_settings", get().to(upkeep::show_commerce))
                .route("/{phone_number_id}/whatsapp_commerce_settings", post().to(upkeep::set_commerce))
                .route("/{phone_number_id}/whatsapp_business_profile", get().to(upkeep::show_profile))
                .route("/{phone_number_id}/whatsapp_business_profile", post().to(upkeep::set_profile))
                .route("/{phone_number_id}/conversational_automation", post().to(upkeep::set_automation))
                .route("/{phone_number_id}/block_users", get().to(upkeep::show_blocked))
                .route("/{phone_number_id}/block_users", post().to(upkeep::block))
                .route("/{phone_number_id}/block_users", delete().to(upkeep::unblock))
                .route("/{waba_id}/phone_numbers", get().to(graph::phone_numbers))
                .route("/{waba_id}/subscribed_apps", get().to(callback::show))
                .route("/{waba_id}/subscribed_apps", post().to(callback::subscribe))
                .route("/{waba_id}/subscribed_apps", delete().to(callback::unsubscribe))
                .route("/{waba_id}/message_templates", get().to(management::templates))
                .route("/{waba_id}/message_templates", post().to(management::create))
                .route("/{waba_id}/message_templates", delete().to(management::delete))
                .route("/{app_id}/uploads", post().to(upload::open))
                .route("/{session:upload:.*}", post().to(upload::take))
                .route("/{session:upload:.*}", get().to(upload::show))
                .route("/{template_id}/unpause", post().to(management::unpause))
                .route("/{id}", get().to(graph::node))
                .route("/{phone_number_id}", post().to(callback::configure))
                .route("/{media_id}", delete().to(media::delete)),
        )
        .default_service(web::route().to(graph::unknown_path));
}
