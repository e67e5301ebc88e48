//! Retries of a send, with a dry run before: the messages that did not arrive are sent again.

mod choice;

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};
use tokio::time::timeout;
use uuid::Uuid;

use self::choice::RetryChoice;
use super::figures::View;
use super::{skipped_row, words};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::time::second;
use crate::console::component::{cost, notice};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::live;
use crate::console::once::Turn;
use crate::console::page::{Menu, Page};
use crate::console::pages::compose::instead::{self, is_choosing};
use crate::console::pages::compose::refused::fault;
use crate::console::query::{Id, Query};
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::message::State as At;
use crate::domain::request::RetryRequest;
use crate::domain::send::Counts;
use crate::engine::{self, DryRun, DryRunInstead};
use crate::error::{Code, Refusal};

/// The number of skipped entries that a page shows.
const SKIPPED_SHOWN: usize = 20;
/// The largest send whose messages are read while the page waits: that takes some milliseconds.
const AT_ONCE: u64 = 10_000;
/// How long the page waits for the dry run of a larger send, which it shows later.
const PATIENCE: Duration = Duration::from_millis(20);
/// How old a dry run may be, and how often a page looks for it.
const FRESH: Duration = Duration::from_secs(10);
const EVERY: Duration = Duration::from_millis(500);

/// The result of the dry run, or the refusal.
type Rehearsed = Result<DryRun, Refusal>;

/// The link from the page of a send to this page, while some messages can be retried; a live part.
pub(super) fn link(viewer: &Viewer, view: &View, can_repeat: bool) -> Markup {
    let way = view.tally().filter(|_| can_repeat && viewer.may_work()).and_then(|tally| way(&tally.counts));
    html! {
        p.row id="again" {
            @if let Some((key, query)) = way {
                a.button.plain href=(format!("/console/sends/{}/again{query}", view.send.id)) { (viewer.text.get(key)) }
            }
        }
    }
}

/// The words of the link and the query of its address; `None` when nothing can be retried.
fn way(counts: &Counts) -> Option<(&'static str, String)> {
    if counts.of(At::Failed) + counts.of(At::Expired) > 0 {
        return Some(("send-again", String::new()));
    }
    // Recipients who have opted out are skipped again, so they alone are not a reason for a retry.
    let rest = [At::Canceled, At::Unknown].into_iter().filter(|state| counts.of(*state) > 0);
    let query: Vec<_> = rest.map(|state| format!("state={}", state.as_str())).collect();
    (!query.is_empty()).then(|| ("send-again-rest", format!("?{}", query.join("&"))))
}

/// Shows what would be sent.
pub(crate) async fn show(viewer: Viewer, state: Data<State>, Id(id): Id, query: Query) -> Result<Page> {
    let mut form = choice::form(viewer.text, &query);
    let choice = RetryChoice::read(&state, &viewer, id, &mut form).await?;
    let asked = if is_choosing(form.words()) { None } else { choice.request(&viewer, &mut form) };
    page(&viewer, &state, id, (&choice, &mut form), asked).await
}

/// Shows the dry run of a large send as soon as it is ready.
pub(crate) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    Id(id): Id,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse> {
    let mut form = choice::form(viewer.text, &query);
    // Another company's send has no stream.
    let choice = RetryChoice::read(&state, &viewer, id, &mut form).await?;
    let asked = choice.request(&viewer, &mut form).ok_or(Error::NotFound)?;
    let (own, company, mut shown) = (state.clone(), viewer.company.id, None);
    live::stream(&request, &state, EVERY, async move || {
        if shown.is_none() {
            let dry_run = within_patience(&own, company, id, asked.clone()).await?;
            shown = dry_run.map(|dry_run| {
                let form = Form::new(viewer.text);
                found(&viewer, id, &form, &choice.values, Some(dry_run.as_ref()))
            });
        }
        Ok(shown.clone().into_iter().collect())
    })
}

/// Sends the chosen messages again.
pub(crate) async fn send(viewer: Viewer, state: Data<State>, Id(id): Id, mut form: Form) -> Result<Answer> {
    let choice = RetryChoice::read(&state, &viewer, id, &mut form).await?;
    let Some(asked) = choice.request(&viewer, &mut form) else {
        let page = Box::pin(page(&viewer, &state, id, (&choice, &mut form), None)).await?;
        return Ok(page.unprocessable().into());
    };
    let retried = state.engine.sends().retried(viewer.company.id, id).await?;
    let fingerprint = form.words().digest(&id.to_string(), &["once"]);
    let acted = state.once.act(&viewer, &form, async || {
        let held = match Turn::of(&state, &viewer, &form, fingerprint).await? {
            Turn::First(held) => held,
            Turn::Done(send_id) => return Ok(Answer::to(format!("/console/sends/{send_id}"))),
        };
        let accepted =
            state.engine.sends().retry(retried.made_by(&viewer.who()), asked.clone(), held).await?;
        let said = viewer.text.with("send-again-done", [("count", accepted.recipients.into())]);
        Ok(Answer::done(&state, &viewer, said, format!("/console/sends/{}", accepted.send_id)))
    });
    match Box::pin(acted).await {
        Err(Error::Refused(refusal)) => {
            form.general_fault(refusal.sentence);
            let page = Box::pin(page(&viewer, &state, id, (&choice, &mut form), Some(asked))).await?;
            Ok(page.unprocessable().into())
        }
        other => other,
    }
}

/// The page, with what this request would send; without one, the form has a fault or only chooses.
async fn page(
    viewer: &Viewer,
    state: &Data<State>,
    id: Uuid,
    (choice, form): (&RetryChoice, &mut Form),
    asked: Option<RetryRequest>,
) -> Result<Page> {
    let (text, company) = (viewer.text, viewer.company.id);
    let mut is_checked = asked.is_some();
    let dry_run = match asked {
        Some(asked) if choice.recipients <= AT_ONCE => {
            Some(Arc::new(dry_run(state, company, id, asked).await?))
        }
        Some(asked) => within_patience(state, company, id, asked).await?,
        None => None,
    };
    if let Some(Err(refusal)) = dry_run.as_deref()
        && is_of_template(refusal)
    {
        fault(form, refusal);
        is_checked = false;
    }
    let form = &*form;
    let states = At::RETRIED.map(|state| (state.as_str(), words::state_word(text, state)));
    let body = html! {
        p { a href=(format!("/console/sends/{id}")) { (text.get("send-again-back")) } }
        (faults(form))
        form.panel method="get" action=(format!("/console/sends/{id}/again")) {
            (Field::new(form, "state", &text.get("send-again-which")).boxes(states))
            (Field::new(form, "code", &text.get("send-code")).hint(&text.get("send-again-code")).input("number"))
            (choice.fields(text, form))
            p.actions {
                // The first one is that of the key Enter.
                button.plain type="submit" { (text.get("send-again-check")) }
                @if choice.instead.is_offered() { (instead::show_button(text)) }
            }
        }
        @if is_checked { (found(viewer, id, form, &choice.values, dry_run.as_deref())) }
    };
    let page = Page::new(text.get("send-again-title"), Menu::Sends, body);
    if dry_run.is_some() || !is_checked {
        return Ok(page);
    }
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(&choice.values);
    Ok(page.live(format!("/console/sends/{id}/again/live?{}", query.finish())))
}

/// Whether a refusal is about the template for people whose window is closed, which the form has.
fn is_of_template(refusal: &Refusal) -> bool {
    refusal.param.as_deref().is_some_and(|param| param.starts_with("template_instead"))
}

async fn dry_run(state: &State, company: Uuid, id: Uuid, asked: RetryRequest) -> Result<Rehearsed> {
    let retried = state.engine.sends().retried(company, id).await?;
    match state.engine.sends().dry_run_retry(retried, asked).await {
        Ok(dry_run) => Ok(Ok(dry_run)),
        Err(engine::Error::Refused(refusal) | engine::Error::Nobody { refusal, .. }) => Ok(Err(refusal)),
        Err(other) => Err(other.into()),
    }
}

/// The dry run, if it is ready within [`PATIENCE`]. Otherwise it continues, once for all requests.
async fn within_patience(
    state: &Data<State>,
    company: Uuid,
    id: Uuid,
    asked: RetryRequest,
) -> Result<Option<Arc<Rehearsed>>> {
    let mut about = Words::default();
    about.add("asked", format!("{asked:?}"));
    let key = format!("again {company} {id} {}", hex::encode(about.digest("a retry", &[])));
    let own = state.clone();
    let running = actix_web::rt::spawn(async move {
        own.shared.get(key, FRESH, async || dry_run(&own, company, id, asked).await).await
    });
    match timeout(PATIENCE, running).await {
        Ok(dry_run) => dry_run.map_err(|_| Error::Internal)?.map(Some),
        Err(_) => Ok(None),
    }
}

/// The result of the dry run, with the button; a live part.
fn found(
    viewer: &Viewer,
    id: Uuid,
    form: &Form,
    values: &[(String, String)],
    dry_run: Option<&Rehearsed>,
) -> Markup {
    html! {
        div id="found" {
            @match dry_run {
                None => p.notice role="status" { (viewer.text.get("send-again-looking")) },
                Some(Err(refusal)) if refusal.code == Code::NoValidRecipients => {
                    @let text = viewer.text;
                    (notice::warning(&html! { p { (text.get("send-refused")) " " (text.get("send-again-nobody")) } }))
                },
                Some(Err(refusal)) => (refused(viewer, refusal)),
                Some(Ok(dry_run)) => {
                    (outcome(viewer, dry_run, false))
                    form method="post" action=(format!("/console/sends/{id}/again")) {
                        (once(form))
                        @for (name, value) in values { input type="hidden" name=(name) value=(value); }
                        button type="submit" { (viewer.text.get("send-again-send")) }
                    }
                }
            }
        }
    }
}

/// Why nothing would be sent.
pub(in crate::console::pages) fn refused(viewer: &Viewer, refusal: &Refusal) -> Markup {
    notice::warning(&html! {
        p { (viewer.text.get("send-refused")) }
        p.said lang="en" { (refusal.sentence) }
    })
}

/// The result of the dry run: the number of recipients, skipped entries with their reasons, the duration and
/// the limit that decides it. The rows of a file are left to the table of them, if the page `has_rows`.
pub(in crate::console::pages) fn outcome(viewer: &Viewer, dry_run: &DryRun, has_rows: bool) -> Markup {
    let text = viewer.text;
    let DryRun {
        recipients,
        skipped,
        takes: _,
        suppressed: _,
        without_fields,
        ends,
        binding,
        cost: costs,
        instead,
        examples: _,
        ignored: _,
    } = dry_run;
    html! {
        section.panel id="check" aria-label=(text.get("send-check-title")) {
            p { strong { (text.with("send-check-count", [("count", (*recipients).into())])) } }
            @match ends {
                Some(end) => p { (text.get("send-check-end")) " " (second(viewer, *end)) },
                None => p { (text.get("send-check-no-end")) },
            }
            @if let Some(binding) = binding {
                p { (text.get("send-check-limit")) " " (words::binding(text, *binding)) }
            }
            @if let Some(estimate) = costs { (cost::estimate(text, estimate)) }
            @if let Some(DryRunInstead { recipients, cost: costs }) = instead {
                p { strong { (text.with("send-check-instead", [("count", (*recipients).into())])) } }
                @if let Some(estimate) = costs.as_ref().filter(|_| *recipients > 0) { (cost::estimate(text, estimate)) }
            }
            @if let Some(lacking) = without_fields.filter(|lacking| lacking.count > 0) {
                p.fault {
                    @let (count, checked) = (lacking.count.into(), lacking.checked.into());
                    @if lacking.checked < *recipients {
                        (text.with("send-check-lacking-part", [("count", count), ("checked", checked)]))
                    } @else {
                        (text.with("send-check-lacking", [("count", count)]))
                    }
                }
            }
            @let mut entries = skipped.first.iter().filter(|entry| !has_rows || entry.index.is_none()).peekable();
            @if entries.peek().is_some() {
                details {
                    summary { (text.with("send-check-skipped", [("count", skipped.count.into())])) }
                    ul {
                        @for entry in entries.take(SKIPPED_SHOWN) {
                            @let reason = skipped_row::reason(text, (&[], &[]), entry, (&entry.input, None));
                            li { bdi { code { (entry.input) } } " " (reason) }
                        }
                    }
                }
            }
        }
    }
}
