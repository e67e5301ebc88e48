//! The companies that a person may use. All other pages are about the chosen company.

use actix_web::web::Data;
use maud::html;

use crate::accounts::{self, Role};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::empty::empty;
use crate::console::component::field::Field;
use crate::console::component::notice;
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::gate::inner;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Person;

/// The longest search.
const SEARCH: usize = 200;

/// Shows all companies, or those that a search finds.
pub(crate) async fn show(person: Person, state: Data<State>, query: Query) -> Result<Page> {
    let text = person.text;
    let (search, page) = (query.text("search", SEARCH), query.page(state.options.page_size));
    let found = state.accounts.companies_of(&person.signed_in.user, page, search).await?;
    let next = inner(query.one("next"));
    let form = Form::filled(text, [("search", search.unwrap_or_default().to_owned())]);
    let columns = Column::all(text, ["companies-name", "companies-role", ""]);
    let rows = found.records.iter().map(|company| {
        let is_chosen = person.company.as_ref().is_some_and(|chosen| chosen.id == company.company_id);
        let label = text.with("companies-choose-this", [("name", company.company_name.as_str().into())]);
        vec![
            html! {
                bdi { (company.company_name) }
                @if is_chosen { " " (badge(Tone::Good, &text.get("companies-chosen"))) }
                @if company.is_disabled {
                    " " (badge(Tone::Bad, &text.get("companies-disabled")))
                    p.soft { (text.get("companies-disabled-why")) }
                }
            },
            html! { (role(text, company.role)) },
            html! {
                @if !company.is_disabled {
                    form method="post" {
                        input type="hidden" name="company" value=(company.company_id);
                        input type="hidden" name="next" value=(next);
                        button.plain type="submit" aria-label=(label) { (text.get("companies-choose")) }
                    }
                }
            },
        ]
    });
    let body = html! {
        form.row.bottom method="get" role="search" data-search="found" {
            input type="hidden" name="next" value=(next);
            (Field::new(&form, "search", &text.get("companies-search")).most(SEARCH).input("search"))
            button.plain type="submit" { (text.get("companies-find")) }
        }
        @if person.signed_in.is_curbed {
            (notice::warning(&html! { p { (text.get("companies-operator")) } }))
        }
        div id="found" {
            @if found.records.is_empty() {
                (empty(&text.get(if search.is_some() { "companies-none-found" } else { "companies-none" }), &html! {}))
            } @else {
                (table(&text.get("companies-title"), &columns, rows))
                (pager(text, &query, page, found.total))
            }
        }
    };
    Ok(Page::new(text.get("companies-title"), Menu::None, body))
}

/// Chooses a company for the session.
pub(crate) async fn choose(person: Person, state: Data<State>, form: Form) -> Result<Answer> {
    let id = form.words().one("company").parse().map_err(|_| Error::NotFound)?;
    match state.accounts.choose_company(&person.signed_in, id).await {
        Ok(_) => Ok(Answer::to(inner(form.words().one("next")))),
        Err(accounts::Error::NotFound) => Err(Error::NotFound),
        Err(error) => Err(error.into()),
    }
}

/// The word for a role.
pub(crate) fn role(text: Text, role: Role) -> String {
    text.get(match role {
        Role::Owner => "companies-owner",
        Role::Member => "companies-member",
        Role::Viewer => "companies-viewer",
        Role::Agent => "companies-agent",
    })
}
