//! The recipients that the company's sends skip, with reason and time; adding and lifting suppressions.

mod words;

use actix_web::web::Data;
use maud::{Markup, html};

pub(crate) use self::words::set_words;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::empty::empty;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::pager::pager;
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::component::{confirm, explain, number};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::contact::country;
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::opt_out::OptOutWords;
use crate::domain::page::{Page as Records, PageRequest};
use crate::domain::phone::{Country, PhoneNumber};
use crate::domain::suppression::{Source, Suppression};
use crate::engine::records::suppressions::Kept;

pub(crate) async fn list(viewer: Viewer, state: Data<State>, query: Query) -> Result<Page> {
    let request = query.page(state.options.page_size);
    let search = query.text("search", 64).unwrap_or_default();
    let found = read(&viewer, &state, request, search).await?;
    let words = known_words(&viewer, &state).await?;
    let form = Form::filled(viewer.text, [("scope", Suppression::Marketing.as_str().to_owned())]);
    let words = words::Shown { form: &words::filled(viewer.text, &words), is_open: false };
    let adding = Adding { form: &form, meant: &[], country: country(&viewer, &state).await? };
    Ok(page(&viewer, &adding, &words, Some((&query, request)), search, &found))
}

/// Suppresses a number.
pub(crate) async fn add(viewer: Viewer, state: Data<State>, mut form: Form) -> Result<Answer> {
    let text = viewer.text;
    form.required("number", 64);
    let scope = form.choice("scope", &[Suppression::Marketing.as_str(), Suppression::Everything.as_str()]);
    let country = country(&viewer, &state).await?;
    let (number, meant) = number::required(&mut form, "number", country, "suppressions-number-wrong");
    let scope = scope.and_then(|scope| scope.parse::<Suppression>().ok());
    let (Some(number), Some(scope), false) = (number, scope, form.has_faults()) else {
        let first = PageRequest { page: 1, limit: state.options.page_size };
        let found = read(&viewer, &state, first, "").await?;
        let words = words::filled(text, &known_words(&viewer, &state).await?);
        let words = words::Shown { form: &words, is_open: false };
        let adding = Adding { form: &form, meant: &meant, country };
        return Ok(page(&viewer, &adding, &words, None, "", &found).unprocessable().into());
    };
    state
        .once
        .act(&viewer, &form, async || {
            let records = state.engine.company(viewer.company.id).await?;
            let added = state.engine.contacts().suppress(&viewer.who(), &records, number, scope).await?;
            let key = if added { "suppressions-added" } else { "suppressions-known" };
            let shown = number::grouped(number);
            let done = text.with(key, [("number", shown.as_str().into())]);
            Ok(Answer::done(&state, &viewer, done, "/console/suppressions"))
        })
        .await
}

/// Lifts the suppressions of a number.
pub(crate) async fn lift(viewer: Viewer, state: Data<State>, form: Form) -> Result<Answer> {
    let number = PhoneNumber::parse(form.words().one("number")).map_err(|_| Error::NotFound)?;
    let records = state.engine.company(viewer.company.id).await?;
    let lifted = state.engine.contacts().lift_suppressions(&viewer.who(), &records, number).await?;
    if !lifted.is_empty() {
        let shown = number::grouped(number);
        let done = viewer.text.with("suppressions-lifted", [("number", shown.as_str().into())]);
        state.flashes.put(viewer.session, "done", done);
    }
    Ok(Answer::to("/console/suppressions"))
}

/// What the company does with opt-out words.
async fn known_words(viewer: &Viewer, state: &State) -> Result<OptOutWords> {
    Ok(state.engine.company(viewer.company.id).await?.suppressions().words().await?)
}

async fn read(viewer: &Viewer, state: &State, request: PageRequest, search: &str) -> Result<Records<Kept>> {
    let records = state.engine.company(viewer.company.id).await?;
    let number = match search {
        "" => None,
        text => match PhoneNumber::parse(text) {
            Ok(number) => Some(number),
            Err(_) => return Ok(Records { records: Vec::new(), total: 0 }),
        },
    };
    Ok(records.suppressions().page(request, number, Timestamp::now()).await?)
}

/// The form of a new suppression, and the numbers that its text may mean.
struct Adding<'a> {
    form: &'a Form,
    meant: &'a [PhoneNumber],
    /// The company's country, in which the number is read.
    country: Option<Country>,
}

fn page(
    viewer: &Viewer,
    &Adding { form, meant, country }: &Adding<'_>,
    words: &words::Shown<'_>,
    query: Option<(&Query, PageRequest)>,
    search: &str,
    found: &Records<Kept>,
) -> Page {
    let text = viewer.text;
    let scopes = Suppression::ALL.map(|scope| (scope.as_str(), scope_words(text, scope)));
    let body = html! {
        (faults(form))
        p { (text.get("suppressions-hint")) }
        form.search method="get" action="/console/suppressions" role="search" data-search="found" {
            label for="search" { (text.get("suppressions-search")) }
            input id="search" type="search" name="search" value=(search) maxlength="64" autocomplete="off";
            button.plain type="submit" { (text.get("suppressions-find")) }
        }
        div id="found" {
            (list_of(viewer, search, found))
            @if let Some((query, request)) = query { (pager(text, query, request, found.total)) }
        }
        @if viewer.may_work() {
            form.panel method="post" action="/console/suppressions" data-preview="/console/contacts/number" {
                h2 { (text.get("suppressions-new")) }
                (once(form))
                (Field::new(form, "number", &text.get("suppressions-number")).hint(&text.get("suppressions-number-hint")).required().most(64).input("tel"))
                (number::reading(text, form.words(), "number", country, ""))
                (Field::new(form, "scope", &text.get("suppressions-scope")).radios(scopes))
                @if !meant.is_empty() { (number::choose(text, "number", meant)) }
                button type="submit" { (text.get("suppressions-add")) }
            }
        }
        (words::panel(viewer, words))
    };
    Page::new(text.get("suppressions-title"), Menu::Suppressions, body)
}

fn list_of(viewer: &Viewer, search: &str, found: &Records<Kept>) -> Markup {
    let text = viewer.text;
    if found.records.is_empty() {
        return match search.is_empty() {
            true => empty(
                &text.get("suppressions-none"),
                &html! { p.soft { (text.get("suppressions-none-hint")) } },
            ),
            false => empty(
                &text.get("suppressions-not-found"),
                &html! { a href="/console/suppressions" { (text.get("suppressions-all")) } },
            ),
        };
    }
    let columns = [
        Column::words(text.get("suppressions-number")),
        Column::words(text.get("suppressions-scope")),
        Column::words(text.get("suppressions-why")),
        Column::words(text.get("suppressions-since")),
        Column::words(text.get("suppressions-until")),
        Column::words(text.get("suppressions-action")),
    ];
    let rows = found.records.iter().map(|kept| row(viewer, kept));
    table(&text.get("suppressions-title"), &columns, rows)
}

/// What a suppression keeps back.
pub(super) fn scope_words(text: Text, scope: Suppression) -> String {
    text.get(match scope {
        Suppression::Marketing => "suppressions-scope-marketing",
        Suppression::Everything => "suppressions-scope-everything",
    })
}

/// Why there is a suppression. The provider's own code is shown beside the words, for readers who look it up.
pub(super) fn why(text: Text, kept: &Kept) -> String {
    text.get(match (kept.record.provider_code, kept.record.until, kept.source) {
        (Some(_), Some(_), _) => "suppressions-why-held",
        (Some(_), None, _) | (None, _, Some(Source::Provider)) => "suppressions-why-provider",
        (None, _, Some(Source::Preference)) => "suppressions-why-preference",
        (None, _, Some(Source::Message)) => "suppressions-why-message",
        (None, _, Some(Source::Operator)) => "suppressions-why-added",
        (None, _, None) => "suppressions-why-said",
    })
}

fn row(viewer: &Viewer, kept: &Kept) -> Vec<Markup> {
    let text = viewer.text;
    let record = &kept.record;
    let (number, shown) = (format!("+{}", record.recipient), number::grouped(record.recipient));
    let until = match record.until {
        Some(until) => moment(viewer, until),
        None => html! { (text.get("suppressions-lasting")) },
    };
    vec![
        html! { bdi.digits { (shown) } },
        html! { (scope_words(text, record.scope)) },
        html! { (why(text, kept)) @if let Some(code) = record.provider_code { " " (explain::code(code)) } },
        moment(viewer, kept.since),
        until,
        html! {
            @if viewer.may_work() {
                (confirm::with(text, "/console/suppressions/lift", &text.with("suppressions-lift", [("number", shown.as_str().into())]),
                    &text.with("suppressions-lift-question", [("number", shown.as_str().into())]),
                    &html! { input type="hidden" name="number" value=(number); }))
            }
        },
    ]
}
