//! `GET /phone`: the played phone for people, with buttons that scan codes and use the passkey.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Form};
use maud::{DOCTYPE, Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::device::Scan;
use super::gates::Shown;
use crate::world::World;

/// Messages that are shown.
const MESSAGES: usize = 20;
/// Seconds between two refreshes.
const REFRESH: u32 = 2;

/// A button that was pressed.
#[derive(Deserialize)]
pub(crate) struct Pressed {
    /// The code that the phone scans.
    code: String,
    /// `yes` when its account is protected by a passkey.
    #[serde(default)]
    passkey: String,
}

/// Shows the phone.
pub(crate) async fn show(world: Data<World>) -> HttpResponse {
    let sessions = &world.web_sessions;
    let (codes, gates) = (sessions.codes.scannable(), sessions.gates.all());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="refresh" content=(REFRESH);
                title { "The played phone" }
                style { "body{font-family:system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}textarea{width:100%;box-sizing:border-box}button{font:inherit;padding:.4rem 1rem;margin:.2rem}section{border:1px solid #888;border-radius:.5rem;padding:1rem;margin-block:1rem}code{overflow-wrap:anywhere}" }
            }
            body {
                h1 { "The played phone" }
                p { "This stands for a phone with WhatsApp. The simulator plays it; nothing reaches WhatsApp." }
                @if codes.is_empty() && gates.is_empty() {
                    p { "No device shows a code. Press Pair on the page of a web session." }
                }
                @for code in &codes { (scan(code)) }
                @for gate in &gates { (at_gate(world.web_sessions.passkey.sign(&gate.options), gate)) }
                h2 { "Messages" }
                ul {
                    @for message in sessions.inbox.newest(None, MESSAGES).iter().rev() {
                        li { code { (message.to) } " " (message.words()) " (" (message.state.as_str()) ")" }
                    }
                }
            }
        }
    };
    HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page.into_string())
}

fn scan(code: &str) -> Markup {
    html! {
        section {
            p { "A device shows the code " code { (code) } }
            form method="post" action="/phone" {
                input type="hidden" name="code" value=(code);
                button type="submit" { "Scan" }
                button type="submit" name="passkey" value="yes" { "Scan with an account that has a passkey" }
            }
        }
    }
}

fn at_gate(assertion: Option<Value>, gate: &Shown) -> Markup {
    html! {
        section {
            @if let Some(code) = &gate.code {
                p { "Is this the code that the other device shows?" }
                p { strong { (code) } }
                p { "Confirm it there; this phone follows." }
            } @else {
                p { "Continue on WhatsApp Web. Keep the app open on both devices." }
                @if let Some(assertion) = assertion {
                    label { "The answer of the passkey of +" (gate.number) ", as a browser gives it. Paste it there:"
                        textarea rows="8" readonly { (assertion) }
                    }
                }
            }
        }
    }
}

/// Handles a pressed button. A code that was replaced meanwhile changes nothing.
pub(crate) async fn press(world: Data<World>, pressed: Form<Pressed>) -> HttpResponse {
    let Pressed { code, passkey } = pressed.into_inner();
    world.web_sessions.scan(Scan { code, number: None, has_passkey: passkey == "yes" }).await;
    HttpResponse::SeeOther().insert_header((LOCATION, "/phone")).finish()
}
