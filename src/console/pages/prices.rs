//! The rate cards by which costs are estimated. A file is uploaded in two steps: the page first shows which prices would
//! change.

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Data;
use maud::{Markup, html};

use crate::clock::Timestamp;
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults};
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::component::{confirm, cost};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::Query;
use crate::console::visitor::Person;
use crate::domain::price::{CARD_BYTES, PriceCategory, PriceChange, RateCard, day_of};
use crate::engine;
use crate::engine::costs::{KnownCard, MOST_CARDS};
use crate::surface::body::{Fault, Incoming};
use crate::surface::multipart::Multipart;

/// The path of the page.
const PLACE: &str = "/console/operator/prices";
/// The most bytes of the form with the file. Beyond this it is not read to its end.
const FORM: usize = 4 * CARD_BYTES;
/// The longest date in a query.
const DATE: usize = 10;

/// A card that would be applied, and the prices that it changes.
type Checked = (RateCard, Vec<PriceChange>);

pub(crate) async fn show(person: Person, state: Data<State>, query: Query) -> Result<Page> {
    page(&person, &state, &Form::new(person.text), query.text("date", DATE), None).await
}

/// Reads an uploaded file, and shows which prices would change.
pub(crate) async fn check(person: Person, state: Data<State>, body: Incoming) -> Result<Answer> {
    let mut form = Form::new(person.text);
    let file = file_of(body, &mut form).await?;
    let checked = compare(&state, file.as_deref(), &mut form).await?;
    let is_refused = checked.is_none();
    let page = page(&person, &state, &form, None, checked).await?;
    Ok(if is_refused { page.unprocessable() } else { page }.into())
}

/// Applies the card that was shown.
pub(crate) async fn apply(person: Person, state: Data<State>, mut form: Form) -> Result<Answer> {
    let text = person.text;
    let file = form.value("csv").to_owned();
    if let Some((card, _)) = compare(&state, Some(&file), &mut form).await? {
        match state.engine.costs().put(&person.who(), &card).await {
            Ok(()) => {
                let day = card.date.to_string();
                let done = text.with("prices-applied", [("day", day.as_str().into())]);
                return Ok(Answer::done(&state, &person, done, format!("{PLACE}?date={day}")));
            }
            Err(engine::Error::Refused(_)) => {
                form.fault("file", text.with("prices-too-many", [("most", MOST_CARDS.into())]));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(page(&person, &state, &form, None, None).await?.unprocessable().into())
}

/// Removes an uploaded card.
pub(crate) async fn remove(person: Person, state: Data<State>, form: Form) -> Result<Answer> {
    let day = form.words().one("date").to_owned();
    match state.engine.costs().remove(&person.who(), &day).await {
        Ok(()) => {
            let done = person.text.with("prices-removed", [("day", day.as_str().into())]);
            Ok(Answer::done(&state, &person, done, PLACE))
        }
        Err(engine::Error::Refused(_)) => Err(Error::NotFound),
        Err(error) => Err(error.into()),
    }
}

/// Downloads a card, to change it and to upload it again.
pub(crate) async fn file(_: Person, state: Data<State>, query: Query) -> Result<HttpResponse> {
    let cards = state.engine.costs().cards().await?;
    let day = query.text("date", DATE).unwrap_or_default();
    let known = cards.into_iter().find(|known| known.card.date.to_string() == day).ok_or(Error::NotFound)?;
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "text/csv; charset=utf-8; header=present"))
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"rate-card-{day}.csv\"")))
        .body(known.card.to_csv()))
}

/// The text of the uploaded file; `None` with a fault in the form.
async fn file_of(body: Incoming, form: &mut Form) -> Result<Option<String>> {
    let text = form.text();
    let mut parts = Multipart::new(body, FORM)?;
    let mut file = None;
    while let Some(part) = parts.next().await? {
        if part.name == "file" && part.file_name.is_some_and(|name| !name.is_empty()) {
            match parts.text(CARD_BYTES).await {
                Ok(text) => file = Some(text),
                Err(Fault::TooLarge(_)) => {
                    let most = (CARD_BYTES / 1024).into();
                    form.fault("file", text.with("prices-too-large", [("most", most)]));
                }
                Err(fault) => return Err(fault.into()),
            }
        }
    }
    if file.is_none() {
        form.fault("file", text.get("prices-no-file"));
    }
    Ok(file)
}

/// The card of a file with the prices that it changes; `None` with the file's faults in the form.
async fn compare(state: &State, file: Option<&str>, form: &mut Form) -> Result<Option<Checked>> {
    let Some(file) = file else { return Ok(None) };
    match state.engine.costs().compare(file).await? {
        Ok(checked) => Ok(Some(checked)),
        Err(faults) => {
            let text = form.text();
            form.fault("file", text.with("prices-wrong", [("faults", faults.join("; ").into())]));
            Ok(None)
        }
    }
}

async fn page(
    person: &Person,
    state: &State,
    form: &Form,
    date: Option<&str>,
    checked: Option<Checked>,
) -> Result<Page> {
    let text = person.text;
    let cards = state.engine.costs().cards().await?;
    let today = day_of(Timestamp::now());
    let is_shown = |known: &&KnownCard| match date {
        Some(date) => known.card.date.to_string() == date,
        None => known.card.date <= today,
    };
    let shown = cards.iter().find(is_shown);
    if date.is_some() && shown.is_none() {
        return Err(Error::NotFound);
    }
    let label = text.get("prices-file");
    let file = Field::new(form, "file", &label);
    let body = html! {
        (faults(form))
        @if let Some(checked) = &checked { (consequences(person, checked)) }
        p { (text.get("prices-hint")) }
        (known_cards(person, &cards))
        form.panel method="post" action=(format!("{PLACE}/check")) enctype="multipart/form-data" {
            h2 { (text.get("prices-upload")) }
            p { (text.get("prices-upload-hint")) }
            (file.around(&html! { input id=(file.id()) type="file" name="file" accept=".csv,text/csv" required; }))
            button.plain type="submit" { (text.get("prices-check")) }
        }
        @if let Some(known) = shown { (markets(person, &known.card)) }
    };
    Ok(Page::new(text.get("prices-title"), Menu::Prices, body))
}

/// The prices that would change, and the button that applies the card.
fn consequences(person: &Person, (card, changes): &Checked) -> Markup {
    let text = person.text;
    let columns = [
        Column::words(text.get("prices-market")),
        Column::words(text.get("prices-category")),
        Column::numbers(text.get("changes-before")),
        Column::numbers(text.get("changes-after")),
    ];
    let rows = changes.iter().map(|change| {
        vec![
            html! { bdi { (change.market) } },
            html! { (cost::category(text, change.category)) },
            html! { (cost::price(text, change.old)) },
            html! { (cost::price(text, change.new)) },
        ]
    });
    let values = [("day", card.date.to_string().into()), ("currency", card.currency.as_str().into())];
    html! {
        section.panel aria-labelledby="check" {
            h2 id="check" { (text.get("prices-would-change")) }
            p { (text.with("prices-of", values)) }
            @if changes.is_empty() { p { (text.get("prices-nothing")) } }
            @else { (table(&text.get("prices-would-change"), &columns, rows)) }
            form method="post" action=(PLACE) {
                input type="hidden" name="csv" value=(card.to_csv());
                button type="submit" { (text.get("prices-apply")) }
            }
        }
    }
}

fn known_cards(person: &Person, cards: &[KnownCard]) -> Markup {
    let text = person.text;
    let columns = [
        Column::words(text.get("prices-from")),
        Column::words(text.get("prices-source")),
        Column::words(text.get("prices-uploaded")),
        Column::words(text.get("prices-download")),
        Column::words(String::new()),
    ];
    let rows = cards.iter().map(|KnownCard { card, uploaded_at }| {
        let day = card.date.to_string();
        vec![
            html! { a href=(format!("{PLACE}?date={day}")) { (day) } " " (card.currency) },
            html! { bdi { (card.source) } },
            match uploaded_at {
                Some(at) => moment(person, *at),
                None => html! { (text.get("prices-shipped")) },
            },
            html! { a href=(format!("{PLACE}/file?date={day}")) download { "CSV" } },
            html! {
                @if uploaded_at.is_some() {
                    @let label = text.with("prices-remove", [("day", day.as_str().into())]);
                    @let fields = html! { input type="hidden" name="date" value=(day); };
                    (confirm::with(text, &format!("{PLACE}/remove"), &label, &text.get("prices-remove-question"), &fields))
                }
            },
        ]
    });
    table(&text.get("prices-title"), &columns, rows)
}

/// The prices of a card by market.
fn markets(person: &Person, card: &RateCard) -> Markup {
    let text = person.text;
    let mut columns =
        vec![Column::words(text.get("prices-market")), Column::words(text.get("prices-countries"))];
    columns.extend(PriceCategory::PRICED.map(|category| Column::numbers(cost::category(text, category))));
    let rows = card.markets.iter().map(|market| {
        let codes: Vec<_> = market.countries.iter().map(|country| country.code()).collect();
        let countries = if market.has_rest { text.get("prices-rest") } else { codes.join(" ") };
        let mut row = vec![html! { bdi { (market.name) } }, html! { span.soft { (countries) } }];
        row.extend(
            PriceCategory::PRICED.map(|category| html! { (cost::price(text, market.price(category))) }),
        );
        row
    });
    let values = [("day", card.date.to_string().into()), ("currency", card.currency.as_str().into())];
    let title = text.with("prices-of", values);
    html! { section { h2 { (title) } (table(&title, &columns, rows)) } }
}
