//! Alerts by e-mail: what a person chooses on the page of the account, who of a company gets what, and the mails.

mod letter;
mod topic;

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

pub use self::letter::MailWriter;
use crate::accounts::{AlertChoice, AlertChoices, AlertListener};
use crate::console::answer::Answer;
use crate::console::component::field::Field;
use crate::console::component::notice;
use crate::console::component::table::{Column, table};
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::visitor::{Person, Viewer};
use crate::console::{State, address};
use crate::domain::alert::AlertKind;

/// The section of the page of the account.
const PLACE: &str = "/console/account#alerts";
/// The names of what the section shows once.
const DONE: &str = "mail-done";
const FAULT: &str = "mail-fault";
/// The name of the note that a test mail goes, or went a short while ago: neither a double click nor anybody else fills a mailbox.
const TESTED: &str = "mail-tested";
/// The people that a kind of alerts lists by name.
const MOST_NAMES: usize = 10;

/// The name of a kind of alerts.
fn name(text: Text, kind: AlertKind) -> String {
    text.get(match kind {
        AlertKind::Channel => "alerts-kind-channel",
        AlertKind::Send => "alerts-kind-send",
        AlertKind::Quota => "alerts-kind-quota",
        AlertKind::Key => "alerts-kind-key",
        AlertKind::Template => "alerts-kind-template",
        AlertKind::Webhook => "alerts-kind-webhook",
    })
}

/// Saves what a person is told of a company.
pub(crate) async fn choose(person: Person, state: Data<State>, form: Form) -> Result<Answer> {
    let company: Uuid = form.words().one("company").parse().map_err(|_| Error::NotFound)?;
    let kinds: Result<Vec<AlertKind>, _> = form.words().all("kind").map(str::parse).collect();
    let kinds = kinds.map_err(|_| Error::Unreadable)?;
    let choices = AlertChoices::of(&state.accounts);
    choices.choose(&person.signed_in, company, &kinds, &person.origin).await?;
    state.flashes.put(person.session, DONE, person.text.get("alerts-saved"));
    Ok(Answer::to(PLACE))
}

/// Sends the person a test mail, and says what the server answers.
pub(crate) async fn test(person: Person, state: Data<State>, request: HttpRequest) -> Result<Answer> {
    let text = person.text;
    let Some(mailer) = &state.options.mailer else {
        state.flashes.put(person.session, FAULT, text.get("alerts-off"));
        return Ok(Answer::to(PLACE));
    };
    let user = &person.signed_in.user;
    let to = user.email.as_str();
    if state.flashes.holds(person.session, TESTED) {
        let said = text.with("alerts-test-again", [("address", to.into())]);
        state.flashes.put_behind(person.session, DONE, said);
        return Ok(Answer::to(PLACE));
    }
    state.flashes.put(person.session, TESTED, "");
    let writer = MailWriter::at(address::base(&request, &state));
    match mailer.send(&writer.test(text, to, &user.name)).await {
        Ok(said) => {
            let said = [("address", to.into()), ("said", said.into())];
            state.flashes.put(person.session, DONE, text.with("alerts-test-sent", said));
        }
        Err(error) => {
            state.flashes.take(person.session, TESTED);
            let said = [("address", to.into()), ("error", error.to_string().into())];
            state.flashes.put(person.session, FAULT, text.with("alerts-test-failed", said));
        }
    }
    Ok(Answer::to(PLACE))
}

/// The section of the account's page.
pub(super) async fn section(person: &Person, state: &State) -> Result<Markup> {
    let text = person.text;
    let choices = AlertChoices::of(&state.accounts).of_user(&person.signed_in.user).await?;
    let is_on = state.options.mailer.is_some();
    let (done, fault) = (state.flashes.take(person.session, DONE), state.flashes.take(person.session, FAULT));
    Ok(html! {
        section.panel aria-labelledby="alerts" {
            h2 id="alerts" { (text.get("alerts-title")) }
            @if let Some(sentence) = done { (notice::done(&sentence)) }
            @if let Some(sentence) = fault { (notice::fault(&sentence)) }
            @if !is_on { (off(text)) }
            p { (text.with("alerts-what", [("address", person.signed_in.user.email.as_str().into())])) }
            @if choices.is_empty() { p.soft { (text.get("alerts-no-company")) } }
            @for (index, choice) in choices.iter().enumerate() { (choice_form(text, index, choice)) }
            @if is_on {
                form method="post" action="/console/account/alerts/test" {
                    button.quiet type="submit" { (text.get("alerts-test")) }
                }
            }
        }
    })
}

/// Says that nothing is sent, and what the operator does about it.
fn off(text: Text) -> Markup {
    notice::warning(&html! { p { (text.get("alerts-off")) } })
}

/// What the person is told of one company. The index tells apart the fields of several companies.
fn choice_form(text: Text, index: usize, choice: &AlertChoice) -> Markup {
    let AlertChoice { company_id, company_name, kinds } = choice;
    let form = Form::filled(text, kinds.iter().map(|kind| ("kind", kind.as_str().to_owned())));
    let (scope, label) =
        (format!("company{index}"), text.with("alerts-of", [("company", company_name.as_str().into())]));
    let boxes = AlertKind::ALL.iter().map(|kind| (kind.as_str(), name(text, *kind)));
    html! {
        form method="post" action="/console/account/alerts" {
            input type="hidden" name="company" value=(company_id);
            (Field::new(&form, "kind", &label).within(&scope).boxes(boxes))
            button.plain type="submit" { (text.get("alerts-save")) }
        }
    }
}

/// The section of the company's page: who gets what, and which events a webhook gets instead.
pub(super) async fn of_company(viewer: &Viewer, state: &State) -> Result<Markup> {
    let text = viewer.text;
    let listeners = AlertChoices::of(&state.accounts).listeners(viewer.company.id).await?;
    let columns = Column::all(text, ["alerts-about", "alerts-people", "alerts-events"]);
    let rows = AlertKind::ALL.iter().map(|kind| {
        let events = kind.types().iter().enumerate();
        vec![
            html! { (name(text, *kind)) },
            people(text, &listeners, *kind),
            html! { @for (index, event) in events { @if index > 0 { " " } code { (event.as_str()) } } },
        ]
    });
    Ok(html! {
        section aria-labelledby="alerts" {
            h2 id="alerts" { (text.get("alerts-title")) }
            @if state.options.mailer.is_none() { (off(text)) }
            p { (text.get("alerts-who")) " " a href=(PLACE) { (text.get("alerts-choose")) } }
            (table(&text.get("alerts-title"), &columns, rows))
            p.hint { (text.get("alerts-webhook")) " " a href="/console/webhooks" { (text.get("alerts-webhook-see")) } }
        }
    })
}

/// The people who get alerts of this kind.
fn people(text: Text, listeners: &[AlertListener], kind: AlertKind) -> Markup {
    let told: Vec<_> = listeners.iter().filter(|listener| listener.kinds.contains(&kind)).collect();
    let more = told.len().saturating_sub(MOST_NAMES);
    html! {
        @if told.is_empty() { span.soft { (text.get("alerts-nobody")) } }
        @for (index, listener) in told.iter().take(MOST_NAMES).enumerate() {
            @if index > 0 { ", " }
            bdi { (listener.name) }
        }
        @if more > 0 { " " span.soft { (text.with("alerts-more-people", [("count", more.into())])) } }
    }
}
