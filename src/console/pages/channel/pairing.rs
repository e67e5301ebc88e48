//! Linking a phone to a web session: for each step, what the phone shows and what the person has to do.
//!
//! Codes and challenges are secrets of the device that is being linked: only people who may pair see them.

use actix_web::web::Data;
use maud::{Markup, PreEscaped, html};
use qrcode::QrCode;
use qrcode::render::svg;
use serde_json::Value;

use super::{back, of_kind};
use crate::connector::web_session::Assertion;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::field::{Field, once};
use crate::console::component::notice::warning;
use crate::console::component::time::second;
use crate::console::component::{confirm, copy};
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind, Status};
use crate::domain::phone::PhoneNumber;
use crate::engine;
use crate::engine::web_session::{Pairing, Passkey, PasskeyAnswer, Shown, Stage};
use crate::error::{Code, Refusal};

/// The longest number that a person may type.
const NUMBER: usize = 40;
/// The longest assertion; assertions have some 2,000 characters.
const ASSERTION: usize = 64 * 1024;

/// Begins to link a phone, with a code to type if a number is given.
pub(crate) async fn pair(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let channel = of_kind(&viewer, &state, id, Kind::WebSession).await?;
    let number = form.optional("phone_number", NUMBER).map(|typed| PhoneNumber::parse(&typed)).transpose();
    let number = number.unwrap_or_else(|_| {
        form.fault("phone_number", viewer.text.get("pairing-fault-number"));
        None
    });
    let is_accepted = is_risk_accepted(&state, &channel).await?;
    if !is_accepted {
        require_acceptance(&mut form);
    }
    if form.has_faults() {
        return Ok(super::page(&viewer, &state, &channel, &form).await?.unprocessable().into());
    }
    if !is_accepted {
        state.engine.channels().accept_risk(&viewer.who(), channel.id).await?;
    }
    state.engine.phones().pair(&channel, number).await?;
    Ok(back(&channel))
}

/// Whether a person accepted the risks of this channel.
async fn is_risk_accepted(state: &State, channel: &Channel) -> Result<bool> {
    Ok(state.engine.company(channel.company_id).await?.channels().is_risk_accepted(channel.id).await?)
}

/// Notes a fault unless the person accepts the risks.
pub(crate) fn require_acceptance(form: &mut Form) {
    if !form.words().has("risk", "accepted") {
        form.fault("risk", form.text().get("pairing-fault-risk"));
    }
}

/// The risks of a connection that WhatsApp does not offer to programs, and the checkbox that accepts them.
pub(crate) fn risk(form: &Form) -> Markup {
    let text = form.text();
    html! {
        (warning(&html! {
            ul {
                @for key in ["pairing-risk-ban", "pairing-risk-number", "pairing-risk-slowly", "pairing-risk-official"] {
                    li { (text.get(key)) }
                }
            }
        }))
        (Field::new(form, "risk", &text.get("pairing-risk")).boxes([("accepted", text.get("pairing-risk-accept"))]))
    }
}

/// Unlinks the phone, or ends a pairing.
pub(crate) async fn unlink(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer> {
    let channel = of_kind(&viewer, &state, id, Kind::WebSession).await?;
    state.engine.phones().unlink(&channel).await?;
    state.flashes.put(viewer.session, "done", viewer.text.get("pairing-unlinked-done"));
    Ok(back(&channel))
}

/// Takes the answer at the passkey gate: an assertion, or the confirmation that the codes are the same.
pub(crate) async fn passkey(viewer: Viewer, state: Data<State>, id: Id, mut form: Form) -> Result<Answer> {
    let channel = of_kind(&viewer, &state, id, Kind::WebSession).await?;
    let answer = if form.words().has("confirmed", "yes") {
        Some(PasskeyAnswer::Confirmation)
    } else {
        assertion(&mut form).map(PasskeyAnswer::Assertion)
    };
    if let Some(answer) = answer {
        match state.engine.phones().answer_passkey(&channel, answer).await {
            Ok(_) => return Ok(back(&channel)),
            Err(engine::Error::Refused(Refusal { code: Code::InvalidField, .. })) => {
                form.fault("assertion", viewer.text.get("pairing-fault-challenge"));
            }
            // The step is over: the page shows the present step.
            Err(engine::Error::Refused(Refusal { code: Code::PasskeyNotExpected, .. })) => {
                return Ok(back(&channel));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(super::page(&viewer, &state, &channel, &form).await?.unprocessable().into())
}

/// The pasted assertion, by itself or in the `assertion` of a program's request.
fn assertion(form: &mut Form) -> Option<Assertion> {
    let pasted = form.required("assertion", ASSERTION);
    if form.has_faults() {
        return None;
    }
    let given: Value = serde_json::from_str(&pasted).unwrap_or_default();
    let inner = given.get("assertion").unwrap_or(&given);
    match Assertion::parse(inner) {
        Ok(assertion) => Some(assertion),
        Err(fault) => {
            let said = [("fault", fault.to_string().into())];
            form.fault("assertion", form.text().with("pairing-fault-assertion", said));
            None
        }
    }
}

/// The part of the page.
pub(super) async fn part(viewer: &Viewer, state: &State, channel: &Channel, form: &Form) -> Result<Markup> {
    let place = format!("/console/channels/{}", channel.id);
    let shows_assertion = form.fault_of("assertion").is_some();
    let (stage, progress) = progress(viewer, state, channel).await?;
    Ok(html! {
        (progress)
        @if shows_assertion {
            // Outside of the live part, which would remove the fault.
            section.panel { (assertion_form(form, &place)) }
        }
        (actions(viewer, state, channel, stage, form, is_risk_accepted(state, channel).await?))
    })
}

/// The buttons of this stage; a live part.
pub(super) fn actions(
    viewer: &Viewer,
    state: &State,
    channel: &Channel,
    stage: Stage,
    form: &Form,
    is_risk_accepted: bool,
) -> Markup {
    let (text, place) = (viewer.text, format!("/console/channels/{}", channel.id));
    let has_fault = form.fault_of("phone_number").is_some();
    // A session that a person has to open again is linked but not connected.
    let is_on = matches!(channel.connection.status, Status::Connected | Status::Connecting);
    let may_pair = !(stage == Stage::Linked && is_on);
    let may_unlink = stage != Stage::Unlinked || channel.linked_at.is_some();
    let is_live = !has_fault && (is_risk_accepted || !may_pair);
    html! {
        // With a fault or a checkbox this is not a live part, because an update would remove what the person did.
        section.panel id=(if is_live { "channel-pairing-actions" } else { "channel-pairing-again" }) hidden[!viewer.may_work()] {
            @if viewer.may_work() {
                h2 { (text.get(if may_pair { "pairing-actions" } else { "pairing-unlink-title" })) }
                @if may_pair {
                    form method="post" action=(format!("{place}/pair")) {
                        @if !is_risk_accepted { (risk(form)) }
                        details.more id="channel-by-number" open[has_fault] {
                            summary { (text.get("pairing-by-number")) }
                            (Field::new(form, "phone_number", &text.get("pairing-number")).hint(&text.get("pairing-number-hint")).most(NUMBER).autocomplete("off").input("tel"))
                        }
                        button type="submit" { (text.get("pairing-pair")) }
                    }
                    @if let Some(page) = state.engine.phones().played_phone() {
                        p { a href=(page) target="_blank" rel="noopener noreferrer" { (text.get("pairing-played-phone")) } }
                    }
                }
                @if may_unlink {
                    (confirm::confirm(text, &format!("{place}/unlink"), &text.get("pairing-unlink"), &text.get("pairing-unlink-question")))
                }
            }
        }
    }
}

/// The progress of the pairing; a live part.
pub(super) async fn progress(viewer: &Viewer, state: &State, channel: &Channel) -> Result<(Stage, Markup)> {
    let text = viewer.text;
    let pairing = match state.engine.phones().pairing(channel.id).await {
        Ok(pairing) => pairing,
        Err(engine::Error::Refused(Refusal { code: Code::FeatureUnavailable, .. })) => {
            let shown = html! {
                section.panel #channel-pairing {
                    h2 { (text.get("pairing-title")) }
                    p { (text.get("pairing-not-built")) }
                }
            };
            return Ok((Stage::Unlinked, shown));
        }
        Err(error) => return Err(error.into()),
    };
    let (tone, key) = stage(pairing.stage);
    let shown = html! {
        section.panel #channel-pairing {
            h2 { (text.get("pairing-title")) " " (badge(tone, &text.get(key))) }
            div role="status" { (instruction(text, &pairing)) }
            @if let Some(failure) = &pairing.code_failure {
                p.notice.warning { (text.get("pairing-no-code")) " " span lang="en" { (failure) } }
            }
            @if viewer.may_work() { (codes(viewer, channel, &pairing)) }
        }
    };
    Ok((pairing.stage, shown))
}

const fn stage(stage: Stage) -> (Tone, &'static str) {
    match stage {
        Stage::Unlinked => (Tone::Plain, "pairing-unlinked"),
        Stage::Starting => (Tone::Busy, "pairing-starting"),
        Stage::Waiting => (Tone::Busy, "pairing-waiting"),
        Stage::PasskeyRequired => (Tone::Warning, "pairing-passkey-required"),
        Stage::PasskeyConfirm => (Tone::Warning, "pairing-passkey-confirm"),
        Stage::Linking => (Tone::Busy, "pairing-linking"),
        Stage::Linked => (Tone::Good, "pairing-linked"),
    }
}

/// What the phone shows, and what the person has to do.
fn instruction(text: Text, pairing: &Pairing) -> Markup {
    let waits_for_phone = pairing.passkey.as_ref().is_some_and(|passkey| passkey.waits_for_phone);
    let (phone, act) = match pairing.stage {
        Stage::Unlinked => ("pairing-unlinked-phone", "pairing-unlinked-act"),
        Stage::Starting => ("pairing-starting-phone", "pairing-starting-act"),
        Stage::Waiting if pairing.code.is_some() => ("pairing-code-phone", "pairing-code-act"),
        Stage::Waiting => ("pairing-waiting-phone", "pairing-waiting-act"),
        Stage::PasskeyRequired if waits_for_phone => {
            ("pairing-passkey-sent-phone", "pairing-passkey-sent-act")
        }
        Stage::PasskeyRequired => ("pairing-passkey-required-phone", "pairing-passkey-required-act"),
        Stage::PasskeyConfirm if waits_for_phone => {
            ("pairing-passkey-confirmed-phone", "pairing-passkey-confirmed-act")
        }
        Stage::PasskeyConfirm => ("pairing-passkey-confirm-phone", "pairing-passkey-confirm-act"),
        Stage::Linking => ("pairing-linking-phone", "pairing-linking-act"),
        Stage::Linked => ("pairing-linked-phone", "pairing-linked-act"),
    };
    html! {
        dl.facts {
            dt { (text.get("pairing-on-the-phone")) } dd { (text.get(phone)) }
            dt { (text.get("pairing-to-do")) } dd { (text.get(act)) }
        }
    }
}

/// The code or challenge to scan, type, sign or compare.
fn codes(viewer: &Viewer, channel: &Channel, pairing: &Pairing) -> Markup {
    let text = viewer.text;
    let until = |at| html! { p.soft { (text.get("pairing-until")) " " (second(viewer, at)) } };
    html! {
        @if let Some(Shown { secret, expires_at }) = &pairing.code {
            p { code.code aria-label=(text.get("pairing-code")) role="text" { (grouped(secret.expose())) } }
            (until(*expires_at))
        }
        @if pairing.stage == Stage::Waiting && let Some(Shown { secret, expires_at }) = &pairing.qr {
            (drawn(text, secret.expose()))
            (until(*expires_at))
        }
        @if let Some(passkey) = &pairing.passkey {
            @if !passkey.waits_for_phone { (gate(viewer, channel, pairing.stage, passkey)) }
            (until(passkey.expires_at))
        }
    }
}

fn gate(viewer: &Viewer, channel: &Channel, stage: Stage, passkey: &Passkey) -> Markup {
    let text = viewer.text;
    let place = format!("/console/channels/{}", channel.id);
    match &passkey.code {
        Some(code) if stage == Stage::PasskeyConfirm => html! {
            p { code.code aria-label=(text.get("pairing-code")) role="text" { (code.expose()) } }
            form method="post" action=(format!("{place}/passkey")) {
                input type="hidden" name="confirmed" value="yes";
                button type="submit" { (text.get("pairing-same")) }
            }
        },
        _ => {
            let challenge = Value::Object(passkey.challenge.options().clone()).to_string();
            html! {
                details.more id="channel-assertion" {
                    summary { (text.get("pairing-keep-passkey")) }
                    p { (text.get("pairing-keep-passkey-how")) }
                    (copy::block(text, &text.get("pairing-challenge"), &challenge))
                    (assertion_form(&Form::new(text), &place))
                    p.soft { (text.get("pairing-programs")) " " code { (format!("/api/v1/web-chat/{}/pairing/passkey", channel.id)) } }
                }
            }
        }
    }
}

fn assertion_form(form: &Form, place: &str) -> Markup {
    let text = form.text();
    html! {
        form method="post" action=(format!("{place}/passkey")) {
            (once(form))
            (Field::new(form, "assertion", &text.get("pairing-assertion")).hint(&text.get("pairing-assertion-hint")).required().area(6))
            button type="submit" { (text.get("pairing-hand-in")) }
        }
    }
}

/// The QR code as an image, dark on light in both themes.
fn drawn(text: Text, payload: &str) -> Markup {
    let Ok(code) = QrCode::new(payload) else {
        tracing::error!("the pairing code does not fit into a QR code");
        return html! {};
    };
    let drawn = code.render::<svg::Color<'_>>().min_dimensions(256, 256).build();
    let drawn = drawn.find("<svg").map_or("", |start| &drawn[start..]);
    html! { div.qr role="img" aria-label=(text.get("pairing-qr")) data-payload=(payload) { (PreEscaped(drawn)) } }
}

/// The eight characters, grouped as the phone asks for them.
fn grouped(code: &str) -> String {
    code.split_at_checked(4).map_or_else(|| code.to_owned(), |(first, second)| format!("{first}-{second}"))
}
