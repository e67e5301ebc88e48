//! One webhook endpoint: its state and what to do, a test, the log of its deliveries, and its settings.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};
use uuid::Uuid;

use super::deliveries::{KeptAnswer, answered, log};
use super::words::{Doing, GROUPS, event, gets, state, unsealable};
use super::{ANSWER, EVERY, SECRET, fields, kept_for, place, replay};
use crate::clock::Timestamp;
use crate::console::component::confirm::confirm;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::notice::{done, fault, warning};
use crate::console::component::pager::pager;
use crate::console::component::time::moment;
use crate::console::component::{copy, empty};
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::console::{State, live};
use crate::domain::page::{Page as Records, PageRequest};
use crate::domain::webhook::{Resume, SetFor, Settings, Shape};
use crate::engine::ShownEndpoint;
use crate::engine::records::webhooks::Delivery;

/// Deliveries on a page: each may have an answer.
const PER_PAGE: u64 = 10;
/// The former secret signs, too, for a day.
pub(super) const FOR_A_DAY: &str = "day";
/// The former secret does not sign any more.
pub(super) const NO_LONGER: &str = "now";

/// An endpoint with a page of its deliveries.
struct WithDeliveries {
    shown: ShownEndpoint,
    deliveries: Records<Delivery>,
}

pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
) -> Result<Page, Error> {
    page(&viewer, &state, id.0, &query, None).await
}

/// The live parts of the page.
pub(in crate::console) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let (company, window) = (viewer.company.id, query.page(PER_PAGE));
    find(&viewer, &state, id.0).await?;
    let kept = (format!("webhook {company} {} {}", id.0, window.page), EVERY);
    let read = async move |state: &State| read_one(state, company, id.0, window).await;
    live::stream_shared(&request, &state, kept, read, move |read: &WithDeliveries| {
        parts(&viewer, read).into()
    })
}

/// The endpoint, if it belongs to the company.
pub(super) async fn find(viewer: &Viewer, state: &State, id: Uuid) -> Result<ShownEndpoint, Error> {
    Ok(state.engine.webhook_endpoints().find(viewer.company.id, id).await?)
}

async fn read_one(
    state: &State,
    company: Uuid,
    id: Uuid,
    window: PageRequest,
) -> Result<WithDeliveries, Error> {
    let endpoints = state.engine.webhook_endpoints();
    let shown = endpoints.find(company, id).await?;
    Ok(WithDeliveries { shown, deliveries: endpoints.deliveries(company, id, window.into()).await? })
}

/// The page, with a submitted form of the settings or a new one.
pub(super) async fn page(
    viewer: &Viewer,
    state: &State,
    id: Uuid,
    query: &Query,
    submitted: Option<&Form>,
) -> Result<Page, Error> {
    let text = viewer.text;
    let window = query.page(PER_PAGE);
    let read = read_one(state, viewer.company.id, id, window).await?;
    let settings = &read.shown.endpoint.settings;
    let [head, switch, progress, deliveries] = parts(viewer, &read);
    let present = fields::filled(text, settings);
    let form = submitted.unwrap_or(&present);
    let owned = match viewer.is_owner() {
        true => owned(form, &read.shown, &fields::offered(viewer, state, &settings.channels).await?),
        false => html! {},
    };
    // After the last reading that can fail: a page of an error would lose what is shown only once.
    let secret = kept_for(viewer, state, SECRET, id);
    let answer = kept_for(viewer, state, ANSWER, id);
    let answer = answer.and_then(|kept| serde_json::from_str::<KeptAnswer>(&kept).ok());
    let body = html! {
        @if let Some(said) = state.flashes.take(viewer.session, "done") { (done(&said)) }
        @if let Some(said) = state.flashes.take(viewer.session, "fault") { (fault(&said)) }
        (faults(form))
        @if let Some(secret) = &secret { (shown_once(viewer, settings.shape, secret)) }
        @if let Some(answer) = &answer { (answered(text, answer)) }
        (head)
        @if viewer.is_owner() {
            (test(viewer, id, settings, answer.as_ref().and_then(KeptAnswer::tested)))
            @if settings.shape == Shape::Graph { (verify(viewer, id)) }
        }
        section aria-labelledby="deliveries" {
            h2 id="deliveries" { (text.get("webhooks-deliveries")) }
            p.soft { (text.get("webhooks-deliveries-hint")) }
            @if viewer.is_owner() {
                form method="post" action=(format!("{}/resend", place(id))) { (once(&Form::new(text))) (deliveries) }
            } @else { (deliveries) }
            (pager(text, query, window, read.deliveries.total))
        }
        @if viewer.is_owner() { (replay::section(text, id, &progress)) } @else { (progress) }
        (owned)
        (switch)
        @if viewer.is_owner() {
            (confirm(text, &format!("{}/remove", place(id)), &text.get("webhooks-remove"), &text.get("webhooks-remove-question")))
        }
    };
    let page = Page::new(settings.public_url(), Menu::Webhooks, body);
    let page = page.live(format!("{}/live?{}", place(id), query.encoded()));
    // A submitted form may have secrets in its headers.
    Ok(if secret.is_some() || submitted.is_some() { page.secret() } else { page })
}

/// The live parts: the state, enabling and disabling, the progress of a replay, and the deliveries.
fn parts(viewer: &Viewer, WithDeliveries { shown, deliveries }: &WithDeliveries) -> [Markup; 4] {
    let text = viewer.text;
    let deliveries = html! {
        div #webhook-deliveries {
            @if deliveries.records.is_empty() {
                (empty::empty(&text.get("webhooks-no-deliveries"), &html! {}))
            } @else { (log(viewer, &deliveries.records)) }
        }
    };
    [head(viewer, shown), switch(viewer, shown), replay::progress(viewer, shown), deliveries]
}

/// The endpoint and its state; a live part.
fn head(viewer: &Viewer, shown: &ShownEndpoint) -> Markup {
    let text = viewer.text;
    let ShownEndpoint { endpoint, retries, given_up, lost, waiting_since, .. } = shown;
    let (settings, doing) = (&endpoint.settings, Doing::of(shown, Timestamp::now()));
    html! {
        section.panel #webhook-head {
            p { (state(viewer, doing)) }
            p { (text.get(doing.meaning())) }
            (unsealable(text, &shown.unsealable))
            @if *lost > 0 {
                (warning(&html! { p { (text.with("webhooks-lost", [("count", (*lost).into())])) } }))
            }
            dl.facts {
                dt { (text.get("webhooks-address")) }
                dd {
                    // The query of an address may contain a secret.
                    @if viewer.is_owner() { (copy::copy(text, &text.get("webhooks-address"), &settings.url)) }
                    @else { bdi { (settings.public_url()) } }
                }
                dt { (text.get("webhooks-form")) } dd { (text.get(fields::form_words(settings))) }
                @if settings.set_for.is_some() {
                    dt { (text.get("webhooks-set-for")) } dd { (text.get(set_for(settings))) }
                }
                dt { (text.get("webhooks-gets")) } dd { (gets(text, settings)) }
                dt { (text.get("webhooks-channels")) }
                dd {
                    @if settings.channels.is_empty() { (text.get("webhooks-all-channels")) }
                    @else { (text.with("webhooks-of-channels", [("count", settings.channels.len().into())])) }
                }
                @if shown.header_names.is_none() {
                    dt { (text.get("webhooks-headers")) } dd { (text.get("webhooks-headers-sealed")) }
                }
                dt { (text.get("webhooks-retries")) } dd { (text.number(*retries)) }
                @if *given_up > 0 {
                    dt { (text.get("webhooks-given-up")) } dd { (text.number(*given_up)) }
                }
                @if endpoint.health.failures > 0 {
                    dt { (text.get("webhooks-failures")) } dd { (text.number(endpoint.health.failures.into())) }
                }
                @if let Some(since) = waiting_since.filter(|_| doing != Doing::Working) {
                    dt { (text.get("webhooks-waiting")) } dd { (moment(viewer, since)) }
                }
                dt { (text.get("webhooks-added-at")) } dd { (moment(viewer, endpoint.created_at)) }
                dt { (text.get("shell-id")) } dd { (copy::id(text, endpoint.id)) }
            }
        }
    }
}

/// Disabling an endpoint that is enabled, and enabling one that is disabled; a live part.
fn switch(viewer: &Viewer, shown: &ShownEndpoint) -> Markup {
    let (text, place) = (viewer.text, place(shown.endpoint.id));
    let form = Form::filled(text, [("from", Resume::CatchUp.as_str().to_owned())]);
    let begins = [
        (Resume::CatchUp.as_str(), text.get("webhooks-from-cursor")),
        (Resume::FromNow.as_str(), text.get("webhooks-from-now")),
    ];
    html! {
        section.panel #webhook-switch hidden[!viewer.is_owner()] {
            @if viewer.is_owner() && shown.endpoint.is_enabled() {
                h2 { (text.get("webhooks-disable-title")) }
                p { (text.get("webhooks-disable-hint")) }
                (confirm(text, &format!("{place}/disable"), &text.get("webhooks-disable"), &text.get("webhooks-disable-question")))
            } @else if viewer.is_owner() {
                h2 { (text.get("webhooks-enable-title")) }
                form method="post" action=(format!("{place}/enable")) {
                    (Field::new(&form, "from", &text.get("webhooks-from")).radios(begins))
                    button type="submit" { (text.get("webhooks-enable")) }
                }
            }
        }
    }
}

/// The key of the words for what a program set an endpoint for.
const fn set_for(settings: &Settings) -> &'static str {
    match settings.set_for {
        Some(SetFor::Number(_)) => "webhooks-set-for-number",
        Some(SetFor::Account(_)) => "webhooks-set-for-account",
        Some(SetFor::App) | None => "webhooks-set-for-app",
    }
}

/// The secret of an endpoint, which is shown only once, and what it is for.
fn shown_once(viewer: &Viewer, shape: Shape, secret: &str) -> Markup {
    let text = viewer.text;
    let how = match shape {
        Shape::Pombo => "webhooks-secret-how",
        Shape::Graph => "webhooks-secret-how-graph",
    };
    html! {
        section.panel aria-labelledby="secret" {
            h2 id="secret" { (text.get("webhooks-secret")) }
            (warning(&html! { p { (text.get("webhooks-secret-once")) } }))
            (copy::block(text, &text.get("webhooks-secret-name"), secret))
            p { (text.get(how)) }
        }
    }
}

/// The form that sends an example, with the type that was tested last.
fn test(viewer: &Viewer, id: Uuid, settings: &Settings, tested: Option<&str>) -> Markup {
    let text = viewer.text;
    let form = Form::filled(text, tested.map(|word| ("type", word.to_owned())));
    let types = GROUPS.iter().flat_map(|group| group.types).filter(|one| match settings.shape {
        Shape::Pombo => true,
        Shape::Graph => settings.default_types().contains(one),
    });
    let types = types.map(|one| (one.as_str(), event(text, *one)));
    html! {
        section.panel aria-labelledby="test" {
            h2 id="test" { (text.get("webhooks-test-title")) }
            p { (text.get("webhooks-test-hint")) }
            form.row.bottom method="post" action=(format!("{}/test", place(id))) {
                (once(&form))
                (Field::new(&form, "type", &text.get("webhooks-event")).within("test").select(types))
                button.plain type="submit" { (text.get("webhooks-test")) }
            }
        }
    }
}

/// The form that asks the receiver of Meta's webhooks whether it expects them.
fn verify(viewer: &Viewer, id: Uuid) -> Markup {
    let text = viewer.text;
    let form = Form::new(text);
    html! {
        section.panel aria-labelledby="verify" {
            h2 id="verify" { (text.get("webhooks-verify-title")) }
            p { (text.get("webhooks-verify-lead")) }
            form method="post" action=(format!("{}/verify", place(id))) {
                (once(&form))
                (fields::token(&form, &text.get("webhooks-verify-once")))
                button.plain type="submit" { (text.get("webhooks-verify")) }
            }
        }
    }
}

/// What owners may change.
fn owned(form: &Form, shown: &ShownEndpoint, channels: &fields::OfferedChannels) -> Markup {
    let (text, place) = (form.text(), place(shown.endpoint.id));
    let names = shown.header_names.as_deref();
    let secret = Form::filled(text, [("overlap", FOR_A_DAY.to_owned())]);
    let overlaps =
        [(FOR_A_DAY, text.get("webhooks-overlap-day")), (NO_LONGER, text.get("webhooks-overlap-now"))];
    html! {
        section.panel aria-labelledby="settings" {
            h2 id="settings" { (text.get("webhooks-settings")) }
            form method="post" action=(place) {
                (fields::fields(form, channels, names))
                button type="submit" { (text.get("webhooks-save")) }
            }
        }
        section.panel aria-labelledby="replace" {
            h2 id="replace" { (text.get("webhooks-replace-title")) }
            p { (text.get("webhooks-replace-hint")) }
            form method="post" action=(format!("{place}/secret")) {
                (once(&secret))
                (Field::new(&secret, "overlap", &text.get("webhooks-overlap")).radios(overlaps))
                button.plain type="submit" { (text.get("webhooks-replace")) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::accounts::Role;
    use crate::domain::webhook::{
        Cause, Endpoint, FaultKind, Health, Replay, ReplayRequest, SealedPart, SentHeaders, State,
    };

    const AT: Timestamp = Timestamp::from_millis(1_700_000_000_007);

    /// An endpoint with a replay and a failed delivery of an event that can be sent again.
    fn read(state: State, finished_at: Option<Timestamp>) -> WithDeliveries {
        let request = ReplayRequest::default();
        let replay = Replay { id: Uuid::nil(), request, started_at: AT, finished_at };
        let shown = ShownEndpoint {
            endpoint: Endpoint {
                id: Uuid::nil(),
                company_id: Uuid::nil(),
                settings: Settings::new("https://example.com/"),
                health: Health { failures: 3, failing_since: Some(AT), failed_at: Some(AT), state },
                created_at: AT,
            },
            header_names: None,
            unsealable: vec![SealedPart::Secret, SealedPart::Headers],
            retries: 2,
            given_up: 1,
            lost: 1,
            waiting_since: Some(AT),
            replay: Some(replay),
        };
        let delivery = Delivery {
            id: Uuid::nil(),
            endpoint_id: Uuid::nil(),
            at: AT,
            event_id: "a.1.sent".to_owned(),
            r#type: "message.sent".to_owned(),
            sequence: Some("7".parse().unwrap()),
            events: 2,
            attempt: 1,
            status: Some(503),
            took: Duration::from_millis(20),
            answer: Some("busy".to_owned()),
            fault: Some("The receiver answered with status 503.".to_owned()),
            fault_kind: Some(FaultKind::Status),
            sent: SentHeaders::default(),
        };
        WithDeliveries { shown, deliveries: Records { records: vec![delivery], total: 1 } }
    }

    #[test]
    fn live_parts_stay_the_same_while_nothing_happens() {
        let disabled = State::Disabled { cause: Cause::Failures, since: AT };
        for role in [Role::Owner, Role::Member, Role::Viewer] {
            let viewer = Viewer::example(role);
            for state in [State::Enabled, disabled] {
                for finished_at in [None, Some(AT)] {
                    let read = read(state, finished_at);
                    let rendered = || parts(&viewer, &read).map(Markup::into_string);
                    let first = rendered();
                    assert_eq!(first, rendered());
                    assert!(first.iter().all(|part| !part.contains("name=\"once\"")), "{first:?}");
                    let ends = first.iter().any(|part| part.contains("/replay/end\""));
                    assert_eq!(ends, role == Role::Owner && finished_at.is_none(), "{first:?}");
                }
            }
        }
    }
}
