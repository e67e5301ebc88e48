//! The company's templates, each as a phone shows it, with its state and the reason; and their [writing](write).

mod accounts;
mod examples;
mod form;
pub(crate) mod library;
pub(crate) mod write;

use std::collections::BTreeSet;

use actix_web::web::Data;
use maud::{Markup, html};

use self::accounts::TemplateAccounts;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::copy;
use crate::console::component::empty::empty;
use crate::console::component::pager::pager;
use crate::console::component::phone::phone;
use crate::console::component::time::moment;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::channel::words::quality as rating;
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::engine::records::templates::{Listed, Record};

/// Templates on a page: each is drawn whole.
const PER_PAGE: u64 = 24;
/// The most characters of a filter.
const FILTER: usize = 200;
/// The states by which the list can be filtered.
const STATUSES: [&str; 8] =
    ["APPROVED", "PENDING", "REJECTED", "PAUSED", "DISABLED", "IN_APPEAL", "LIMIT_EXCEEDED", "DELETED"];

pub(crate) async fn show(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let (text, company) = (viewer.text, viewer.company.id);
    let page = query.page(PER_PAGE);
    let (account, search) = (query.text("account", FILTER), query.text("search", FILTER));
    let status = query.text("status", FILTER);
    let records = state.engine.company(company).await?;
    let accounts: BTreeSet<String> = records
        .channels()
        .business_accounts()
        .await?
        .into_iter()
        .filter_map(|channel| channel.waba_id)
        .collect();
    let filter = Listed { waba_id: account, status, search, ..Listed::default() };
    let found = records.templates().page(page, filter).await?;
    drop(records);
    let is_filtered = account.is_some() || search.is_some() || status.is_some();
    let written = TemplateAccounts::read(&state, company).await?;
    let has_none = written.is_empty() && found.total == 0;
    let body = html! {
        @if has_none {
            (empty(&text.get("templates-no-account"), &html! {
                @if viewer.is_owner() { a.button href="/console/channels/new" { (text.get("templates-add-channel")) } }
            }))
        } @else {
            (about(&viewer, &state, &accounts))
            @if !accounts.is_empty() && viewer.may_work() {
                form method="post" action="/console/templates/sync" {
                    button.plain type="submit" { (text.get("templates-sync")) }
                }
            }
            (filters(text, &accounts, account, status, search))
            @if found.records.is_empty() {
                @if is_filtered { p { (text.get("templates-nothing-found")) } }
                @else { (empty(&text.get("templates-none"), &html! { p.soft { (text.get("templates-none-hint")) } })) }
            }
            div.columns { @for template in &found.records { (one(&viewer, template)) } }
            (pager(text, &query, page, found.total))
        }
    };
    let shown = Page::new(text.get("templates-title"), Menu::Templates, body);
    Ok(match viewer.may_work() && !written.is_empty() {
        true => shown.action(html! {
            @if written.with_library(None).is_some() {
                a.button.plain href="/console/templates/library" { (text.get("library-title")) }
            }
            a.button href="/console/templates/new" { (text.get("templates-new")) }
        }),
        false => shown,
    })
}

/// What this page can do, when the provider was last asked, and what each state means.
fn about(viewer: &Viewer, state: &State, accounts: &BTreeSet<String>) -> Markup {
    let text = viewer.text;
    html! {
        section.panel {
            p { (text.get("templates-managed")) }
            @if viewer.may_work() && !accounts.is_empty() { p { (text.get("templates-sync-hint")) } }
            ul {
                @for account in accounts {
                    li {
                        (text.get("templates-account")) " " bdi { (account) } ": "
                        @match state.engine.webhooks().templates_synced_at(viewer.company.id, account) {
                            Some(at) => { (text.get("templates-synced")) " " (moment(viewer, at)) }
                            None => (text.get("templates-not-synced")),
                        }
                    }
                }
            }
            details.more id="template-states" {
                summary { (text.get("templates-states")) }
                dl.facts {
                    @for status in STATUSES {
                        dt { (state_of(text, status)) }
                        dd { @if let Some(key) = meaning(status) { (text.get(key)) } }
                    }
                }
            }
        }
    }
}

/// Fetches the templates of every connected business account again.
pub(crate) async fn sync(viewer: Viewer, state: Data<State>, _: Form) -> Result<Answer> {
    let accounts = state.engine.company(viewer.company.id).await?.channels().business_accounts().await?;
    for channel in &accounts {
        state.engine.webhooks().sync_templates(channel);
    }
    Ok(Answer::done(&state, &viewer, viewer.text.get("templates-syncing"), "/console/templates"))
}

fn filters(
    text: Text,
    accounts: &BTreeSet<String>,
    account: Option<&str>,
    status: Option<&str>,
    search: Option<&str>,
) -> Markup {
    html! {
        form.row method="get" role="search" {
            input type="search" name="search" value=(search.unwrap_or_default()) maxlength=(FILTER)
                aria-label=(text.get("templates-search")) placeholder=(text.get("templates-search"));
            select name="status" aria-label=(text.get("templates-status")) {
                option value="" { (text.get("templates-any-status")) }
                @for known in STATUSES {
                    option value=(known) selected[status == Some(known)] { (status_word(text, known)) }
                }
            }
            @if accounts.len() > 1 {
                select name="account" aria-label=(text.get("templates-account")) {
                    option value="" { (text.get("templates-any-account")) }
                    @for known in accounts {
                        option value=(known) selected[account == Some(known.as_str())] { (known) }
                    }
                }
            } @else if let Some(account) = account {
                input type="hidden" name="account" value=(account);
            }
            button.plain type="submit" { (text.get("templates-find")) }
        }
    }
}

fn one(viewer: &Viewer, template: &Record) -> Markup {
    let text = viewer.text;
    html! {
        article.panel aria-label=(template.name) {
            h2 {
                a href=(write::place(template.id)) { bdi { (template.name) } } " " (state_of(text, template.status.as_str()))
                @if template.archived_at.is_some() { " " (archived(text)) }
            }
            p.soft { (template.language) " · " (category(text, template.category.as_str())) }
            (why(text, template))
            (phone(text, &template.components))
            p.soft {
                (text.get("templates-changed")) " " (moment(viewer, template.updated_at))
                @if let Some(quality) = template.quality_score.as_deref().filter(|quality| *quality != "UNKNOWN") {
                    " · " (text.get("templates-quality")) " " (rating(text, Some(quality)))
                }
            }
            p.soft { (text.get("templates-number")) " " (copy::copy(text, &text.get("templates-number"), &template.id.to_string())) }
        }
    }
}

/// The badge of an archived template.
fn archived(text: Text) -> Markup {
    badge(Tone::Plain, &text.get("templates-archived"))
}

/// The state of a template as a badge.
pub(super) fn state_of(text: Text, status: &str) -> Markup {
    let tone = match status {
        "APPROVED" => Tone::Good,
        "PENDING" | "IN_APPEAL" => Tone::Busy,
        "PAUSED" | "LIMIT_EXCEEDED" => Tone::Warning,
        "REJECTED" | "DISABLED" => Tone::Bad,
        _ => Tone::Plain,
    };
    badge(tone, &status_word(text, status))
}

fn status_word(text: Text, status: &str) -> String {
    text.get(match status {
        "APPROVED" => "templates-approved",
        "PENDING" => "templates-pending",
        "REJECTED" => "templates-rejected",
        "PAUSED" => "templates-paused",
        "DISABLED" => "templates-disabled",
        "IN_APPEAL" => "templates-in-appeal",
        "LIMIT_EXCEEDED" => "templates-limit-exceeded",
        "DELETED" => "templates-deleted",
        _ => return status.to_owned(),
    })
}

/// The category in words.
pub(super) fn category(text: Text, category: &str) -> String {
    text.get(match category {
        "MARKETING" => "templates-marketing",
        "UTILITY" => "templates-utility",
        "AUTHENTICATION" => "templates-authentication",
        _ => return category.to_owned(),
    })
}

/// Why the template cannot be sent, and what to do; nothing for a template that can be sent.
pub(super) fn why(text: Text, template: &Record) -> Markup {
    let status = template.status.as_str();
    let Some(sentence) = meaning(status).filter(|_| status != "APPROVED") else { return html! {} };
    let reason = template.rejected_reason.as_deref().filter(|reason| *reason != "NONE");
    html! {
        p { (text.get(sentence)) }
        @if let Some(reason) = reason {
            p { (text.get("templates-rejected-for")) " " bdi.said lang="en" { (reason) } }
            @if let Some(key) = remedy(reason) { p { (text.get(key)) } }
        }
    }
}

/// The key of what a state means, if it is known.
fn meaning(status: &str) -> Option<&'static str> {
    Some(match status {
        "APPROVED" => "templates-why-approved",
        "PENDING" => "templates-why-pending",
        "REJECTED" => "templates-why-rejected",
        "PAUSED" => "templates-why-paused",
        "DISABLED" => "templates-why-disabled",
        "IN_APPEAL" => "templates-why-in-appeal",
        "LIMIT_EXCEEDED" => "templates-why-limit-exceeded",
        "DELETED" => "templates-why-deleted",
        _ => return None,
    })
}

/// The key of what a reason of the provider means and what to change, where the reason is known.
fn remedy(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "ABUSIVE_CONTENT" => "templates-reason-abusive",
        "INCORRECT_CATEGORY" => "templates-reason-category",
        "INVALID_FORMAT" => "templates-reason-format",
        "PROMOTIONAL" => "templates-reason-promotional",
        "SCAM" => "templates-reason-scam",
        "TAG_CONTENT_MISMATCH" => "templates-reason-mismatch",
        _ => return None,
    })
}
