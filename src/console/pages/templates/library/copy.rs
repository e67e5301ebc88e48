//! A template of Meta's library, previewed, with the fields of what it asks for. The copy is a template of the account like any other.

use actix_web::HttpRequest;
use actix_web::web::Data;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::{FILTER, PLACE, about, away, path, place};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::field::{Field, faults, once};
use crate::console::component::notice;
use crate::console::component::phone::phone;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::pages::templates::accounts::{TemplateAccounts, name as account_name};
use crate::console::pages::templates::{category, write};
use crate::console::query::{Query, segment};
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::channel::Channel;
use crate::domain::phone::PhoneNumber;
use crate::domain::template::{
    Category, LIBRARY_NAME, LibraryButton, LibraryFields, LibraryInput, LibraryQuery, LibraryTemplate,
    Status, variable_names,
};
use crate::engine::{Declined, TemplateDesk};

/// The most characters of an address and a number.
const ADDRESS: usize = 2_000;
const NUMBER: usize = 30;
/// The most minutes after which a code expires.
const MOST_MINUTES: u64 = 90;

/// The languages of one template of the library.
struct Translations {
    all: Vec<LibraryTemplate>,
    /// The place of the chosen one.
    chosen: usize,
}

impl Translations {
    /// The template of this name; `None` when the library has none.
    async fn find(
        state: &State,
        channel: &Channel,
        name: &str,
        language: Option<&str>,
        text: Text,
    ) -> Result<Option<Self>, Declined> {
        // Older versions of the provider's API know no search for a whole name.
        let asked = LibraryQuery { name: Some(name), search: Some(name), ..LibraryQuery::default() };
        let mut all = TemplateDesk::of(&state.engine, channel).library(&asked).await?.templates;
        all.retain(|template| template.name == name);
        let own = text.0.as_str().replace('-', "_");
        let is_own = |template: &LibraryTemplate| template.language.starts_with(&own);
        let wanted = all.iter().position(|template| Some(template.language.as_str()) == language);
        let chosen = wanted.or_else(|| all.iter().position(is_own)).unwrap_or_default();
        Ok((!all.is_empty()).then_some(Self { all, chosen }))
    }

    fn chosen(&self) -> Option<&LibraryTemplate> {
        self.all.get(self.chosen)
    }

    fn others(&self) -> impl Iterator<Item = &LibraryTemplate> {
        self.all.iter().enumerate().filter(|(place, _)| *place != self.chosen).map(|(_, template)| template)
    }
}

pub(crate) async fn show(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
    query: Query,
) -> Result<Page> {
    let accounts = TemplateAccounts::read(&state, viewer.company.id).await?;
    let channel = accounts.with_library(query.text("account", FILTER)).ok_or(Error::NotFound)?;
    let (name, language) = (segment::<String>(&request, "name")?, query.text("language", FILTER));
    let found = match Translations::find(&state, channel, &name, language, viewer.text).await {
        Ok(found) => found.ok_or(Error::NotFound)?,
        Err(declined) => return unread(viewer.text, declined),
    };
    let form = Form::filled(viewer.text, [("name", name)]);
    page(&viewer, channel, &found, &form)
}

/// Asks Meta for the copy.
pub(crate) async fn create(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
    mut form: Form,
) -> Result<Answer> {
    let accounts = TemplateAccounts::read(&state, viewer.company.id).await?;
    let account = Some(form.words().one("account")).filter(|account| !account.is_empty());
    let channel = accounts.with_library(account).ok_or(Error::NotFound)?;
    let name = segment::<String>(&request, "name")?;
    let language = form.words().one("language").to_owned();
    let found = match Translations::find(&state, channel, &name, Some(&language), viewer.text).await {
        Ok(found) => found.ok_or(Error::NotFound)?,
        Err(declined) => return Ok(unread(viewer.text, declined)?.into()),
    };
    let template = found.chosen().ok_or(Error::NotFound)?;
    let given = given(&mut form, template);
    if !form.has_faults() {
        let created = state
            .once
            .attempt::<Declined>(&viewer, &form, async || {
                let asked = LibraryFields {
                    name: form.words().one("name"),
                    language: &template.language,
                    category: template.category.as_str(),
                    given: &given,
                };
                let desk = TemplateDesk::of(&state.engine, channel);
                Ok(match desk.create_from_library(&viewer.who(), asked).await {
                    Ok(record) => {
                        let key = match record.status {
                            Status::Approved => "templates-created-approved",
                            _ => "templates-created",
                        };
                        Ok(Answer::done(&state, &viewer, viewer.text.get(key), write::place(record.id)))
                    }
                    Err(declined) => Err(declined),
                })
            })
            .await?;
        match created {
            Ok(answer) => return Ok(answer),
            Err(declined) => write::refused(&mut form, declined, &Value::Null)?,
        }
    }
    Ok(page(&viewer, channel, &found, &form)?.unprocessable().into())
}

/// The page without the template, which Meta did not tell.
fn unread(text: Text, declined: Declined) -> Result<Page> {
    let body = html! {
        (notice::fault(&away(text, declined)?))
        p { a href=(PLACE) { (text.get("library-title")) } }
    };
    Ok(Page::new(text.get("library-title"), Menu::Templates, body))
}

/// The fields that the provider gets for the copy; what is wrong is noted in the form.
fn given(form: &mut Form, template: &LibraryTemplate) -> Map<String, Value> {
    let mut given = Map::from_iter([(LIBRARY_NAME.to_owned(), json!(template.name))]);
    let buttons = template.buttons();
    let inputs = buttons.iter().enumerate().map(|(row, button)| match button.input {
        LibraryInput::Address => address(form, row),
        LibraryInput::Phone => number(form, row),
        LibraryInput::Code => json!({ "type": "OTP", "otp_type": "COPY_CODE" }),
    });
    let inputs: Vec<_> = inputs.collect();
    if !inputs.is_empty() {
        given.insert("library_template_button_inputs".to_owned(), inputs.into());
    }
    if template.category == Category::Authentication {
        given.insert("library_template_body_inputs".to_owned(), extras(form));
    }
    given
}

fn field(part: &str, row: usize) -> String {
    format!("{part}_{row}")
}

fn address(form: &mut Form, row: usize) -> Value {
    let (name, of_example) = (field("address", row), field("example", row));
    let (address, example) = (form.required(&name, ADDRESS), form.optional(&of_example, ADDRESS));
    let is_web = |text: &str| text.starts_with("https://") || text.starts_with("http://");
    let variables = variable_names(&address);
    let has_its_place = match variables.len() {
        0 => !address.contains("{{"),
        count => count == 1 && address.ends_with("{{1}}"),
    };
    if !is_web(&address) || !has_its_place {
        form.fault(&name, form.text().get("library-fault-address"));
    }
    let mut url = json!({ "base_url": address });
    if !variables.is_empty() {
        match example.filter(|example| is_web(example)) {
            Some(example) => url["url_suffix_example"] = example.into(),
            None => form.fault(&of_example, form.text().get("library-fault-example")),
        }
    }
    json!({ "type": "URL", "url": url })
}

fn number(form: &mut Form, row: usize) -> Value {
    let name = field("phone", row);
    let written = form.required(&name, NUMBER);
    let number = PhoneNumber::parse(&written).ok().filter(|_| written.starts_with('+'));
    match number {
        Some(number) => json!({ "type": "PHONE_NUMBER", "phone_number": format!("+{number}") }),
        None => {
            form.fault(&name, form.text().get("library-fault-phone"));
            Value::Null
        }
    }
}

/// What is added to the text of a code.
fn extras(form: &mut Form) -> Value {
    let mut extras = json!({ "add_security_recommendation": form.is_ticked("safety", "yes") });
    if let Some(minutes) = form.optional("minutes", NUMBER) {
        match minutes.parse::<u64>().ok().filter(|minutes| (1..=MOST_MINUTES).contains(minutes)) {
            Some(minutes) => extras["code_expiration_minutes"] = minutes.into(),
            None => form.fault("minutes", form.text().get("library-fault-minutes")),
        }
    }
    extras
}

fn page(viewer: &Viewer, channel: &Channel, found: &Translations, form: &Form) -> Result<Page> {
    let (text, account) = (viewer.text, channel.template_account());
    let template = found.chosen().ok_or(Error::NotFound)?;
    let body = html! {
        (faults(form))
        (others(text, account, found))
        form method="post" action=(path(template)) {
            (once(form))
            input type="hidden" name="account" value=(account);
            input type="hidden" name="language" value=(template.language);
            div.with-preview {
                section.panel {
                    dl.facts {
                        dt { (text.get("templates-account")) } dd { bdi { (account_name(text, channel)) } }
                        dt { (text.get("templates-language")) } dd { (template.language) }
                        dt { (text.get("templates-category")) } dd { (category(text, template.category.as_str())) }
                    }
                    (about(text, template))
                    (Field::new(form, "name", &text.get("templates-name")).hint(&text.get("library-name-hint")).required()
                        .most(512).text())
                    @for (row, button) in template.buttons().iter().enumerate() { (asked(form, row, button)) }
                    @if template.category == Category::Authentication { (asked_for_code(form)) }
                    button type="submit" { (text.get("templates-create")) }
                }
                section.panel aria-label=(text.get("compose-preview")) {
                    h2 { (text.get("compose-preview")) }
                    (phone(text, &template.components))
                    p.hint { (text.get("library-fixed")) }
                }
            }
        }
        p { a href=(PLACE) { (text.get("library-back")) } }
    };
    Ok(Page::new(template.name.clone(), Menu::Templates, body))
}

/// The same template in other languages.
fn others(text: Text, account: &str, found: &Translations) -> Markup {
    html! {
        @if found.all.len() > 1 {
            p {
                (text.get("library-languages"))
                @for other in found.others() { " " a href=(place(account, other)) { (other.language) } }
            }
        }
    }
}

/// The fields of what a button asks for.
fn asked(form: &Form, row: usize, button: &LibraryButton<'_>) -> Markup {
    let text = form.text();
    let label = |key: &str| text.with(key, [("button", button.text.into())]);
    html! {
        @match button.input {
            LibraryInput::Address => {
                (Field::new(form, &field("address", row), &label("library-address")).hint(&text.get("library-address-hint"))
                    .required().most(ADDRESS).text())
                (Field::new(form, &field("example", row), &label("library-example")).hint(&text.get("library-example-hint"))
                    .most(ADDRESS).text())
            }
            LibraryInput::Phone => {
                (Field::new(form, &field("phone", row), &label("library-phone")).hint(&text.get("library-phone-hint"))
                    .required().most(NUMBER).input("tel"))
            }
            LibraryInput::Code => p.hint { (label("library-code")) }
        }
    }
}

/// The fields of what is added to the text of a code.
fn asked_for_code(form: &Form) -> Markup {
    let text = form.text();
    html! {
        (Field::new(form, "safety", &text.get("library-safety")).boxes([("yes", text.get("templates-code-safety"))]))
        (Field::new(form, "minutes", &text.get("library-minutes")).hint(&text.get("library-minutes-hint")).input("number"))
    }
}
