//! The company's API keys: creating a key, which is shown once with a command to paste, and revoking keys.

use std::collections::HashSet;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};

use crate::clock::Timestamp;
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::confirm::confirm;
use crate::console::component::copy;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::notice;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{maybe, moment};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::{State, address};
use crate::domain::channel::{Channel, Kind, Status};
use crate::domain::page::PageRequest;
use crate::domain::scope::{Scope, Scopes};
use crate::engine::records::CompanyRecords;
use crate::engine::records::keys::{ApiKey, NewKey};
use crate::vault::api_key;

/// The path of this page.
const PLACE: &str = "/console/keys";
/// The name under which a new key is kept until it is shown.
const NEW: &str = "new key";
/// A number that nobody has: WhatsApp delivers no message to it, and the simulator delivers all.
const NOBODY: &str = "+999 900 000 001";
/// The most channels that a key can be bound to here.
const MOST_CHANNELS: u64 = 100;
/// How long keys may be valid, in days.
const DAYS: [&str; 4] = ["30", "90", "365", "730"];
const DAY: Duration = Duration::from_secs(24 * 3_600);

pub(crate) async fn show(viewer: Viewer, state: Data<State>, request: HttpRequest) -> Result<Page> {
    let all = Scope::ALL.map(|scope| ("scope", scope.as_str().to_owned()));
    page(&viewer, &state, &request, &Form::filled(viewer.text, all)).await
}

pub(crate) async fn create(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer> {
    let name = form.required("name", 100);
    let days = match form.words().one("expires") {
        "" => None,
        _ => form.choice("expires", &DAYS).and_then(|days| days.parse::<u32>().ok()),
    };
    let chosen: Vec<_> =
        Scope::ALL.into_iter().filter(|scope| form.is_ticked("scope", scope.as_str())).collect();
    if chosen.is_empty() {
        form.fault("scope", viewer.text.get("keys-no-scope"));
    }
    let records = state.engine.company(viewer.company.id).await?;
    let channels = of_company(&records).await?;
    drop(records);
    let bound: Vec<_> = channels
        .iter()
        .map(|channel| channel.id)
        .filter(|id| form.is_ticked("channel", &id.to_string()))
        .collect();
    // A key with all scopes also gets scopes that later versions add.
    let scopes = if chosen.len() == Scope::ALL.len() { Scopes::ALL } else { chosen.into_iter().collect() };
    // A channel that is gone must not make a key for all.
    if bound.len() != form.words().all("channel").collect::<HashSet<_>>().len() {
        form.fault("channel", viewer.text.get("keys-channel-gone"));
    } else if !bound.is_empty() && !scopes.may_be_bound() {
        form.fault("channel", viewer.text.get("keys-channels-graph"));
    }
    if form.has_faults() {
        return Ok(page(&viewer, &state, &request, &form).await?.unprocessable().into());
    }
    let act = async || {
        let (key, prefix) = api_key::generate();
        let expires_at = days.map(|days| Timestamp::now().plus(DAY * days));
        let hash = api_key::hash(key.expose());
        let new = NewKey { name: &name, prefix: &prefix, hash, expires_at, scopes };
        let bound = (!bound.is_empty()).then_some(bound.as_slice());
        state.engine.company(viewer.company.id).await?.keys().add_for(&viewer.who(), new, bound).await?;
        state.flashes.put(viewer.session, NEW, format!("{} {}", key.expose(), scopes.words().join(" ")));
        Ok(Answer::to(PLACE))
    };
    state.once.act(&viewer, &form, act).await
}

pub(crate) async fn revoke(viewer: Viewer, state: Data<State>, id: Id) -> Result<Answer> {
    let records = state.engine.company(viewer.company.id).await?;
    // A key of another company is treated as unknown.
    let key = records.keys().find(id.0).await?.ok_or(Error::NotFound)?;
    state.engine.revoke_key(&viewer.who(), &records, key.id).await?;
    let revoked = viewer.text.with("keys-revoked", [("name", key.name.as_str().into())]);
    Ok(Answer::done(&state, &viewer, revoked, PLACE))
}

async fn page(viewer: &Viewer, state: &State, request: &HttpRequest, form: &Form) -> Result<Page> {
    let text = viewer.text;
    let new = state.flashes.take(viewer.session, NEW);
    let new = new.as_deref().and_then(|shown| shown.split_once(' '));
    let records = state.engine.company(viewer.company.id).await?;
    let keys = records.keys().all().await?;
    let channels = of_company(&records).await?;
    let sender = match &new {
        Some((_, scopes)) if scopes.contains(Scope::Send.as_str()) => sender(&records).await?,
        _ => None,
    };
    drop(records);
    let expiries = [(String::new(), text.get("keys-never"))].into_iter();
    let expiries = expiries.chain(DAYS.map(|days| {
        let count: u64 = days.parse().unwrap_or_default();
        (days.to_owned(), text.with("keys-days", [("days", count.into())]))
    }));
    let body = html! {
        @if let Some((key, scopes)) = new {
            (shown_once(text, &address::base(request, state), key, Scopes::from_stored(Some(scopes)), sender.as_ref()))
        }
        @if keys.is_empty() {
            (empty(&text.get("keys-none"), &html! {}))
        } @else {
            (list(viewer, &keys, state.engine.others_follow_within()))
        }
        section.panel {
            h2 { (text.get("keys-new")) }
            form method="post" action=(PLACE) {
                (faults(form)) (once(form))
                (Field::new(form, "name", &text.get("keys-name")).hint(&text.get("keys-name-hint")).required().most(100).text())
                (Field::new(form, "scope", &text.get("keys-scopes")).boxes(Scope::ALL.map(|scope| (scope.as_str(), does(text, scope)))))
                @if !channels.is_empty() {
                    (Field::new(form, "channel", &text.get("keys-channels")).hint(&text.get("keys-channels-hint"))
                        .boxes(channels.iter().map(|channel| (channel.id.to_string(), channel.name.as_str()))))
                }
                (Field::new(form, "expires", &text.get("keys-expires")).select(expiries))
                button type="submit" { (text.get("keys-create")) }
            }
        }
    };
    let page = Page::new(text.get("keys-title"), Menu::Keys, body);
    Ok(if new.is_some() { page.secret() } else { page })
}

/// What a scope allows.
fn does(text: Text, scope: Scope) -> String {
    text.get(match scope {
        Scope::Send => "keys-scope-send",
        Scope::Read => "keys-scope-read",
        Scope::Contacts => "keys-scope-contacts",
        Scope::Control => "keys-scope-control",
        Scope::Events => "keys-scope-events",
        Scope::Inbox => "keys-scope-inbox",
        Scope::Graph => "keys-scope-graph",
    })
}

/// The channels that a key can be bound to, the newest first.
async fn of_company(records: &CompanyRecords) -> Result<Vec<Channel>> {
    Ok(records.channels().page(PageRequest { page: 1, limit: MOST_CHANNELS }, None).await?.records)
}

/// A channel that a first message can go through.
async fn sender(records: &CompanyRecords) -> Result<Option<Channel>> {
    let first = PageRequest { page: 1, limit: 50 };
    for kind in [Kind::BusinessAccount, Kind::WebSession] {
        let channels = records.channels().of_kind(kind, first, None).await?.records;
        let connected = channels.into_iter().find(|channel| channel.connection.status == Status::Connected);
        if connected.is_some() {
            return Ok(connected);
        }
    }
    Ok(None)
}

/// The key, which is shown only once, and how to use it.
fn shown_once(text: Text, base: &str, key: &str, scopes: Scopes, sender: Option<&Channel>) -> Markup {
    let readable = [(Scope::Contacts, "contacts?limit=1"), (Scope::Read, "chat?limit=1")];
    let read = readable
        .into_iter()
        .find(|(scope, _)| scopes.has(*scope))
        .map(|(_, path)| format!("curl '{base}/api/v1/{path}' \\\n  -H 'Authorization: Bearer {key}'"));
    let send = sender.map(|channel| {
        let (path, fields) = match channel.kind {
            Kind::BusinessAccount => ("chat", ""),
            Kind::WebSession => ("web-chat", "\"recipient_type\": \"number\", "),
        };
        format!(
            "curl '{base}/api/v1/{path}/{}/messages' \\\n  -H 'Authorization: Bearer {key}' \\\n  \
             -H 'Content-Type: application/json' \\\n  \
             -d '{{{fields}\"type\": \"text\", \"message\": \"{}\", \"phone_number\": \"{NOBODY}\"}}'",
            channel.id,
            text.get("keys-hello").replace(['\'', '"', '\\'], ""),
        )
    });
    html! {
        section.panel {
            h2 { (text.get("keys-created")) }
            (notice::warning(&html! { p { (text.get("keys-once")) } }))
            (copy::block(text, &text.get("keys-new-name"), key))
            @if let Some(send) = &send {
                p { (text.with("keys-send", [("number", NOBODY.into())])) }
                (copy::block(text, &text.get("keys-send-name"), send))
            } @else if let Some(read) = &read {
                p { (text.get("keys-read")) " " a href="/console/channels" { (text.get("shell-channels")) } }
                (copy::block(text, &text.get("keys-read-name"), read))
            }
        }
    }
}

/// The keys; other nodes notice a revoked one within the time `follow`.
fn list(viewer: &Viewer, keys: &[ApiKey], follow: Option<Duration>) -> Markup {
    let (text, now) = (viewer.text, Timestamp::now());
    let columns = [
        Column::words(text.get("keys-name")),
        Column::words(text.get("keys-prefix")),
        Column::words(text.get("keys-state")),
        Column::words(text.get("keys-scopes")),
        Column::words(text.get("keys-made")),
        Column::words(text.get("account-last-used")),
        Column::words(text.get("keys-expires")),
        Column::words(""),
    ];
    let rows = keys.iter().map(|key| {
        let is_over = key.expires_at.is_some_and(|end| end <= now);
        let (tone, word) = match key.revoked_at {
            Some(_) => (Tone::Plain, "keys-state-revoked"),
            None if is_over => (Tone::Warning, "keys-state-expired"),
            None => (Tone::Good, "keys-state-valid"),
        };
        let revoke = if key.revoked_at.is_some() {
            html! {}
        } else {
            let mut question = text.with("keys-revoke-question", [("name", key.name.as_str().into())]);
            if let Some(wait) = follow {
                let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                question = format!("{question} {}", text.with("keys-revoke-nodes", [("wait", wait.into())]));
            }
            confirm(text, &format!("{PLACE}/{}/revoke", key.id), &text.get("keys-revoke"), &question)
        };
        vec![
            html! { bdi { (key.name) } },
            html! { code { (key.prefix) "…" } },
            badge(tone, &text.get(word)),
            html! {
                @if key.scopes == Scopes::ALL { (text.get("keys-everything")) }
                @else { (key.scopes.words().join(", ")) }
                @if let Some(bound) = &key.channels {
                    " " (text.with("keys-bound", [("count", (bound.len() as u64).into())]))
                }
            },
            moment(viewer, key.created_at),
            maybe(viewer, key.last_used_at),
            maybe(viewer, key.expires_at),
            revoke,
        ]
    });
    table(&text.get("keys-title"), &columns, rows)
}
