//! One connected program: what to type into it, its webhook, the checks, and its end.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, PreEscaped, html};
use uuid::Uuid;

use super::typebot::TOKEN;
use super::words::{self, Passed};
use super::{ADDRESS, CHECKED, KEY, PLACE, base_url, line, place};
use crate::console::answer::Answer;
use crate::console::component::confirm::confirm;
use crate::console::component::copy;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::notice;
use crate::console::component::time::moment;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::webhooks::kept_for;
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::{State, address};
use crate::domain::channel::Channel;
use crate::domain::graph::ProgramKind;
use crate::domain::secret::Secret;
use crate::engine::graph::GraphDoor;
use crate::engine::programs::{ConnectedProgram, ProgramCheck, Programs};

/// The ids of a channel as programs know it.
struct Ids {
    number: String,
    account: String,
}

pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Result<Page, Error> {
    let program = own(&viewer, &state, id.0).await?;
    page(&viewer, &state, &request, &program, &Form::new(viewer.text)).await
}

/// Checks the program now. Of Chatwoot's inbox it asks with a token, which is not kept.
pub(in crate::console) async fn check(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer, Error> {
    let program = own(&viewer, &state, id.0).await?;
    let token = form.optional("token", TOKEN).map(Secret::new);
    if form.has_faults() {
        return Ok(page(&viewer, &state, &request, &program, &form).await?.unprocessable().into());
    }
    let act = async || {
        let checks = Programs::new(&state.engine, viewer.company.id).check(&program, token).await?;
        let line = line(program.kind, &address::base(&request, &state));
        let shown = result(viewer.text, &checks, &line).into_string();
        state.flashes.put(viewer.session, CHECKED, format!("{} {shown}", program.id));
        Ok(Answer::to(place(program.id)))
    };
    state.once.act(&viewer, &form, act).await
}

/// Disconnects the program.
pub(in crate::console) async fn remove(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer, Error> {
    let program = own(&viewer, &state, id.0).await?;
    Programs::new(&state.engine, viewer.company.id).remove(&viewer.who(), &program).await?;
    let said = viewer.text.with("programs-removed", [("program", program.kind.title().into())]);
    state.flashes.put(viewer.session, "done", said);
    Ok(Answer::to(PLACE))
}

/// The program, if it is the company's.
pub(super) async fn own(viewer: &Viewer, state: &State, id: Uuid) -> Result<ConnectedProgram, Error> {
    Programs::new(&state.engine, viewer.company.id).find(id).await?.ok_or(Error::NotFound)
}

/// The page, with a submitted form or a new one.
pub(super) async fn page(
    viewer: &Viewer,
    state: &State,
    request: &HttpRequest,
    program: &ConnectedProgram,
    form: &Form,
) -> Result<Page, Error> {
    let text = viewer.text;
    let records = state.engine.company(viewer.company.id).await?;
    let channel = records.channels().find(program.channel_id).await?;
    drop(records);
    let door = GraphDoor::new(&state.engine, viewer.company.id, None);
    let ids = match &channel {
        Some(channel) => {
            Some(Ids { number: door.number_id(channel).await?, account: door.account_id(channel).await? })
        }
        None => None,
    };
    let base = address::base(request, state);
    // After the last reading that can fail: a page of an error would lose what is shown only once.
    let key = kept_for(viewer, state, KEY, program.id);
    let checked = kept_for(viewer, state, CHECKED, program.id);
    let body = html! {
        @if let Some(said) = state.flashes.take(viewer.session, "done") { (notice::done(&said)) }
        (faults(form))
        @if let (Some(key), Some(ids)) = (&key, &ids) { (shown_once(text, state, program.kind, (&base, key, ids))) }
        @if program.kind == ProgramKind::Typebot && channel.is_some() { (webhook(form, program)) }
        (facts(viewer, program, channel.as_ref(), ids.as_ref()))
        (checks(text, program, checked.as_deref(), form))
        (confirm(text, &format!("{}/remove", place(program.id)), &text.get("programs-remove"), &text.get("programs-remove-question")))
        p { a href=(PLACE) { (text.get("programs-all")) } }
    };
    let page = Page::new(program.kind.title(), Menu::Programs, body);
    Ok(if key.is_some() { page.secret() } else { page })
}

/// What is typed into the program. The key is shown only once.
fn shown_once(text: Text, state: &State, kind: ProgramKind, (base, key, ids): (&str, &str, &Ids)) -> Markup {
    html! {
        section.panel {
            h2 { (text.get("programs-type")) }
            (notice::warning(&html! { p { (text.get("programs-once")) } }))
            (base_url(text, state, kind, base))
            p { (text.get("programs-type-token")) }
            (copy::block(text, &text.get("programs-key"), key))
            p { (text.get("programs-type-number")) }
            (copy::block(text, &text.get("programs-number-id"), &ids.number))
            p { (text.get("programs-type-after")) }
        }
    }
}

/// The form for Typebot's receiver. It is what most people do here until there is a webhook.
fn webhook(form: &Form, program: &ConnectedProgram) -> Markup {
    let text = form.text();
    let label =
        text.get(if program.webhook_id.is_some() { "programs-verify-again" } else { "programs-verify" });
    html! {
        form.panel method="post" action=(format!("{}/webhook", place(program.id))) {
            h2 { (text.get("programs-webhook")) }
            (once(form))
            (Field::new(form, "url", &text.get("programs-callback")).hint(&text.get("programs-callback-hint")).required().most(ADDRESS).autocomplete("off").input("url"))
            (Field::new(form, "verify_token", &text.get("programs-verify-token")).hint(&text.get("programs-verify-token-hint")).required().most(TOKEN).autocomplete("off").text())
            @if program.webhook_id.is_some() { button.plain type="submit" { (label) } }
            @else { button type="submit" { (label) } }
        }
    }
}

fn facts(
    viewer: &Viewer,
    program: &ConnectedProgram,
    channel: Option<&Channel>,
    ids: Option<&Ids>,
) -> Markup {
    let text = viewer.text;
    html! {
        section.panel {
            dl.facts {
                dt { (text.get("programs-channel")) }
                dd {
                    @match channel {
                        Some(channel) => a href=(format!("/console/channels/{}", channel.id)) { bdi { (channel.name) } },
                        None => (text.get("programs-channel-gone")),
                    }
                }
                @if !program.address.is_empty() {
                    dt { (text.get("programs-address")) } dd { bdi { (program.address) } }
                }
                @if let Some((account, inbox)) = program.inbox {
                    dt { (text.get("programs-account")) } dd { (account) }
                    dt { (text.get("programs-inbox-number")) } dd { (inbox) }
                }
                @if let Some(ids) = ids {
                    dt { (text.get("programs-number-id")) }
                    dd { (copy::copy(text, &text.get("programs-number-id"), &ids.number)) }
                    dt { (text.get("programs-account-id")) }
                    dd { (copy::copy(text, &text.get("programs-account-id"), &ids.account)) }
                }
                dt { (text.get("programs-webhook")) }
                dd {
                    @match program.webhook_id {
                        Some(id) => a href=(format!("/console/webhooks/{id}")) { (text.get("programs-webhook-see")) },
                        None => (text.get("programs-unfinished")),
                    }
                }
                dt { (text.get("programs-since")) } dd { (moment(viewer, program.created_at)) }
                dt { (text.get("shell-id")) } dd { (copy::id(text, program.id)) }
            }
        }
    }
}

/// The result of the latest check, once, and the button for the next.
fn checks(text: Text, program: &ConnectedProgram, checked: Option<&str>, form: &Form) -> Markup {
    html! {
        section.panel {
            h2 { (text.get("programs-checks")) }
            @match checked {
                // It was made by `result`, or by the form that connected the program, and waited for this page.
                Some(shown) => (PreEscaped(shown)),
                None => p { (text.get("programs-checks-hint")) },
            }
            form method="post" action=(format!("{}/check", place(program.id))) {
                (once(&Form::new(text)))
                @if program.inbox.is_some() {
                    (Field::new(form, "token", &text.get("programs-token")).within("check").hint(&text.get("programs-check-token-hint")).autocomplete("off").password())
                }
                button.plain type="submit" { (text.get("programs-check")) }
            }
        }
    }
}

/// What a check found.
fn result(text: Text, checks: &[ProgramCheck], line: &str) -> Markup {
    let steps = checks.iter().map(|(step, fault)| match fault {
        Some(_) => (*step, Passed::No),
        None => (*step, Passed::Yes),
    });
    html! {
        (words::list(text, steps))
        @for fault in checks.iter().filter_map(|(_, fault)| fault.as_ref()) {
            (notice::fault(&words::words(text, fault, line)))
        }
    }
}
