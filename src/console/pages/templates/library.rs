//! Meta's library of templates: searched from here for a business account. One that is chosen is [copied](copy) into the account.

pub(crate) mod copy;
mod words;

use actix_web::web::Data;
use maud::{Markup, html};
use url::form_urlencoded;

use self::words::{INDUSTRIES, TOPICS, USECASES, offered, shown};
use super::accounts::TemplateAccounts;
use super::category;
use crate::console::State;
use crate::console::component::empty::empty;
use crate::console::component::field::Field;
use crate::console::component::notice;
use crate::console::component::phone::phone;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::template::{LibraryPage, LibraryQuery, LibraryTemplate};
use crate::engine::{self, Declined, TemplateDesk};
use crate::error::Code;

/// The address of this page.
const PLACE: &str = "/console/templates/library";
/// The most characters of a filter.
const FILTER: usize = 200;
/// The most characters of the cursor of a part.
const CURSOR: usize = 2_000;
/// The names of the filters.
const FILTERS: [&str; 6] = ["account", "search", "topic", "usecase", "industry", "language"];

pub(crate) async fn list(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let text = viewer.text;
    let accounts = TemplateAccounts::read(&state, viewer.company.id).await?;
    let wanted = accounts.with_library(query.text("account", FILTER));
    let Some(channel) = wanted.or_else(|| accounts.with_library(None)) else {
        let body = empty(&text.get("library-no-account"), &html! {});
        return Ok(Page::new(text.get("library-title"), Menu::Templates, body));
    };
    let filter = |name: &str| query.text(name, FILTER);
    let asked = LibraryQuery {
        name: None,
        search: filter("search"),
        topic: filter("topic"),
        usecase: filter("usecase"),
        industry: filter("industry"),
        language: filter("language"),
        after: query.text("after", CURSOR),
    };
    let found = TemplateDesk::of(&state.engine, channel).library(&asked).await;
    let account = channel.template_account();
    let found = match found {
        Ok(found) => results(text, &query, account, &found),
        Err(declined) => notice::fault(&away(text, declined)?),
    };
    let body = html! {
        section.panel { p { (text.get("library-about")) } }
        (filters(text, &query, &accounts, account))
        (found)
        p { a href="/console/templates" { (text.get("templates-all")) } }
    };
    Ok(Page::new(text.get("library-title"), Menu::Templates, body))
}

fn filters(text: Text, query: &Query, accounts: &TemplateAccounts, account: &str) -> Markup {
    let given = FILTERS.iter().filter_map(|name| Some((*name, query.text(name, FILTER)?.to_owned())));
    let mut form = Form::filled(text, given);
    form.put("account", account);
    let several: Vec<_> = accounts.libraries(text).collect();
    html! {
        form.row.bottom method="get" role="search" {
            (Field::new(&form, "search", &text.get("library-search")).most(FILTER).input("search"))
            (Field::new(&form, "topic", &text.get("library-topic")).select(offered(text, TOPICS)))
            (Field::new(&form, "usecase", &text.get("library-usecase")).select(offered(text, USECASES)))
            (Field::new(&form, "industry", &text.get("library-industry")).select(offered(text, INDUSTRIES)))
            (Field::new(&form, "language", &text.get("templates-language")).most(FILTER)
                .suggesting(super::form::LANGUAGES))
            @if several.len() > 1 {
                (Field::new(&form, "account", &text.get("templates-account")).select(several))
            } @else {
                input type="hidden" name="account" value=(account);
            }
            button.plain type="submit" { (text.get("templates-find")) }
        }
    }
}

fn results(text: Text, query: &Query, account: &str, found: &LibraryPage) -> Markup {
    let is_later = query.text("after", CURSOR).is_some();
    html! {
        @if found.templates.is_empty() { p { (text.get("templates-nothing-found")) } }
        div.columns { @for template in &found.templates { (one(text, account, template)) } }
        @if is_later || found.after.is_some() {
            nav.pager aria-label=(text.get("shell-pages")) {
                @if is_later { a rel="first" href=(query.with("after", "")) { (text.get("shell-page-first")) } }
                @if let Some(after) = &found.after {
                    a rel="next" href=(query.with("after", after)) { (text.get("shell-page-next")) }
                }
            }
        }
    }
}

fn one(text: Text, account: &str, template: &LibraryTemplate) -> Markup {
    html! {
        article.panel aria-label=(template.name) {
            h2 { a href=(place(account, template)) { bdi { (template.name) } } }
            p.soft { (template.language) " · " (category(text, template.category.as_str())) }
            (about(text, template))
            (phone(text, &template.components))
            p { a href=(place(account, template)) { (text.get("library-use")) } }
        }
    }
}

/// What a template is about.
fn about(text: Text, template: &LibraryTemplate) -> Markup {
    html! {
        p.soft {
            @if !template.usecase.is_empty() { (shown(text, USECASES, &template.usecase)) }
            @if !template.topic.is_empty() {
                @if !template.usecase.is_empty() { " · " }
                (shown(text, TOPICS, &template.topic))
            }
            @for industry in &template.industries { " · " (shown(text, INDUSTRIES, industry)) }
        }
    }
}

/// The address of the page that copies a template.
fn place(account: &str, template: &LibraryTemplate) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("account", account).append_pair("language", &template.language);
    format!("{}?{}", path(template), query.finish())
}

fn path(template: &LibraryTemplate) -> String {
    let name: String = form_urlencoded::byte_serialize(template.name.as_bytes()).collect();
    format!("{PLACE}/{name}")
}

/// Why the library is not shown, in words of the person's language.
fn away(text: Text, declined: Declined) -> Result<String> {
    match declined {
        Declined::ByProvider(failure) => {
            Ok(text.with("library-refused", [("reason", failure.sentence.into())]))
        }
        Declined::Here(engine::Error::Refused(refusal)) if refusal.code == Code::ProviderUnavailable => {
            Ok(text.get("library-away"))
        }
        Declined::Here(engine::Error::Refused(refusal)) if refusal.code == Code::ReconnectWaba => {
            Ok(text.get("library-no-token"))
        }
        Declined::Here(error) => Err(error.into()),
    }
}
