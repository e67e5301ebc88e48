//! The people who sign in, for operators: their companies, their last sign-in, links for them, and who is kept out.

use std::collections::HashMap;

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use super::company;
use crate::accounts::{self, Membership, NewLink, User};
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::confirm::confirm;
use crate::console::component::copy;
use crate::console::component::empty::empty;
use crate::console::component::field::Field;
use crate::console::component::notice;
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::time::{maybe, moment};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::companies::role as role_word;
use crate::console::query::{Id, Query};
use crate::console::text::Text;
use crate::console::visitor::Person;
use crate::console::{State, address};

/// The path of the list.
const PLACE: &str = "/console/operator/users";
/// The name of the link that is shown once.
const LINK: &str = "user_link";
/// The longest search.
const SEARCH: usize = 200;
/// The companies of a person that a row of the list names.
const NAMED: usize = 3;

/// The page of a person.
pub(super) fn place(id: Uuid) -> String {
    format!("{PLACE}/{id}")
}

/// Shows all people, or those that a search finds.
pub(crate) async fn list(person: Person, state: Data<State>, query: Query) -> Result<Page> {
    let text = person.text;
    let (search, request) = (query.text("search", SEARCH), query.page(state.options.page_size));
    let found = state.accounts.users(request, search).await?;
    let companies = state.accounts.companies_of_each(&found.records).await?;
    let searched = Form::filled(text, [("search", search.unwrap_or_default().to_owned())]);
    let body = html! {
        form.row.bottom method="get" role="search" data-search="found" {
            (Field::new(&searched, "search", &text.get("users-search")).most(SEARCH).input("search"))
            button.plain type="submit" { (text.get("companies-find")) }
        }
        div id="found" {
            @if found.records.is_empty() { (empty(&text.get("users-none"), &html! {})) }
            @else {
                (users_table(&person, &found.records, &companies))
                (pager(text, &query, request, found.total))
            }
        }
    };
    Ok(Page::new(text.get("users-title"), Menu::Users, body))
}

fn users_table(person: &Person, users: &[User], companies: &HashMap<Uuid, Vec<Membership>>) -> Markup {
    let text = person.text;
    let columns =
        Column::all(text, ["company-person", "companies-title", "users-last-sign-in", "keys-state"]);
    let rows = users.iter().map(|user| {
        let companies = companies.get(&user.id).map(Vec::as_slice).unwrap_or_default();
        vec![
            html! {
                a href=(place(user.id)) { bdi { (user.name) } }
                div.soft { bdi { (user.email) } }
            },
            html! {
                @for company in companies.iter().take(NAMED) { div { (membership(text, company)) } }
                @if companies.len() > NAMED {
                    div.soft { (text.with("users-more-companies", [("count", (companies.len() - NAMED).into())])) }
                }
            },
            maybe(person, user.last_sign_in_at),
            marks(text, user),
        ]
    });
    table(&text.get("users-title"), &columns, rows)
}

/// A company of a person, with the person's role.
fn membership(text: Text, membership: &Membership) -> Markup {
    html! {
        a href=(company::place(membership.company_id)) { bdi { (membership.company_name) } }
        " " span.soft { (role_word(text, membership.role)) }
    }
}

/// What an operator has to know about a person.
fn marks(text: Text, user: &User) -> Markup {
    html! {
        @if user.disabled_at.is_some() { (badge(Tone::Bad, &text.get("users-disabled"))) " " }
        @else if !user.has_password { (badge(Tone::Warning, &text.get("users-no-password"))) " " }
        @else { (badge(Tone::Good, &text.get("users-active"))) " " }
        @if user.is_operator { (badge(Tone::Plain, &text.get("operator-title"))) " " }
        @if user.has_totp { (badge(Tone::Plain, &text.get("account-totp"))) }
    }
}

/// Shows one person.
pub(crate) async fn show(person: Person, state: Data<State>, id: Id) -> Result<Page> {
    let text = person.text;
    let user = state.accounts.user(id.0).await?;
    let mut companies = state.accounts.companies_of_each(std::slice::from_ref(&user)).await?;
    let companies = companies.remove(&user.id).unwrap_or_default();
    let link = state.flashes.take(person.session, LINK);
    let body = html! {
        @if let Some(link) = &link {
            (notice::warning(&html! { p { (text.get("users-link-once")) } }))
            (copy::block(text, &text.get("users-link"), link))
        }
        dl.facts.panel {
            dt { (text.get("sign-in-email")) } dd { bdi { (user.email) } }
            dt { (text.get("keys-state")) } dd { (marks(text, &user)) }
            dt { (text.get("companies-title")) }
            dd {
                @for company in &companies { div { (membership(text, company)) } }
                @if companies.is_empty() { "—" }
            }
            dt { (text.get("users-last-sign-in")) } dd { (maybe(&person, user.last_sign_in_at)) }
            dt { (text.get("users-since")) } dd { (moment(&person, user.created_at)) }
            @if let Some(at) = user.disabled_at { dt { (text.get("users-disabled")) } dd { (moment(&person, at)) } }
            dt { (text.get("shell-id")) } dd { (copy::id(text, user.id)) }
        }
        // An operator who locks themselves out may be the last one.
        @if user.id != person.signed_in.user.id { (actions(text, &user)) }
    };
    let page = Page::new(user.name.clone(), Menu::Users, body);
    Ok(if link.is_some() { page.secret() } else { page })
}

fn actions(text: Text, user: &User) -> Markup {
    let place = place(user.id);
    html! {
        section.panel aria-labelledby="access" {
            h2 id="access" { (text.get("users-access")) }
            @if user.disabled_at.is_none() {
                p { (text.get("users-link-what")) }
                div.row {
                    form method="post" action={ (place) "/sign-in" } {
                        button.plain type="submit" { (text.get("users-sign-in-link")) }
                    }
                    form method="post" action={ (place) "/password" } {
                        button.plain type="submit" { (text.get("users-password-link")) }
                    }
                    (confirm(
                        text,
                        &format!("{place}/disable"),
                        &text.get("users-disable"),
                        &text.with("users-disable-question", [("name", user.name.as_str().into())]),
                    ))
                }
            } @else {
                p { (text.get("users-disabled-what")) }
                form method="post" action={ (place) "/enable" } {
                    button.plain type="submit" { (text.get("users-enable")) }
                }
            }
        }
    }
}

/// Makes a link that signs the person in; it is shown once.
pub(crate) async fn sign_in(
    person: Person,
    state: Data<State>,
    request: HttpRequest,
    id: Id,
) -> Result<Answer> {
    let user = other(&person, &state, id).await?;
    let link = state.accounts.sign_in_link(&person.who(), &user).await;
    linked(&person, &state, &request, &user, link)
}

/// Makes a link with which the person chooses a new password; it is shown once.
pub(crate) async fn password(
    person: Person,
    state: Data<State>,
    request: HttpRequest,
    id: Id,
) -> Result<Answer> {
    let user = other(&person, &state, id).await?;
    let link = state.accounts.reset(&person.who(), &user).await;
    linked(&person, &state, &request, &user, link)
}

fn linked(
    person: &Person,
    state: &State,
    request: &HttpRequest,
    user: &User,
    link: accounts::Result<NewLink>,
) -> Result<Answer> {
    let link = format!("{}{}", address::base(request, state), link?.path());
    state.flashes.put(person.session, LINK, link);
    Ok(Answer::to(place(user.id)))
}

/// Keeps the person out, and ends their sessions, links and invitations.
pub(crate) async fn disable(person: Person, state: Data<State>, id: Id) -> Result<Answer> {
    set_disabled(&person, &state, id, true).await
}

/// Lets the person sign in again.
pub(crate) async fn enable(person: Person, state: Data<State>, id: Id) -> Result<Answer> {
    set_disabled(&person, &state, id, false).await
}

async fn set_disabled(person: &Person, state: &State, id: Id, disabled: bool) -> Result<Answer> {
    let user = other(person, state, id).await?;
    state.accounts.set_disabled(&person.who(), &user, disabled).await?;
    let said = if disabled { "users-is-disabled" } else { "users-is-enabled" };
    Ok(Answer::done(state, person, person.text.get(said), place(user.id)))
}

/// The person of the path, who is not the reader.
async fn other(person: &Person, state: &State, id: Id) -> Result<User> {
    if id.0 == person.signed_in.user.id {
        return Err(Error::Forbidden);
    }
    Ok(state.accounts.user(id.0).await?)
}
