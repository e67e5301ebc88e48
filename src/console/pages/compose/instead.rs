//! The template that people get in place of the message while their window is closed: without one, they are skipped.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::choice::{CHOOSE, Choice};
use super::content::Kind;
use super::template;
use crate::console::component::field::Field;
use crate::console::component::library::OfferedFiles;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::own_field::OwnField;
use crate::domain::page::PageRequest;
use crate::domain::template::{Status, Template};
use crate::engine::records::CompanyRecords;
use crate::engine::records::templates::{Filter, Record};

/// The field with the template's id. The fields of its values have the names that those of any template have: a form has one.
pub(in crate::console::pages) const INSTEAD: &str = "instead";
/// The number of templates that are offered, the newest.
const OFFERED: u64 = 100;

/// What people get whose window is closed.
#[derive(Default)]
pub(in crate::console::pages) struct Instead {
    offered: Vec<Record>,
    pub(in crate::console::pages) chosen: Option<Template>,
}

impl Instead {
    /// The templates of a business account that can be sent, and the one that the form names.
    pub(in crate::console::pages) async fn read(
        records: &CompanyRecords,
        waba: &str,
        words: &Words,
    ) -> Result<Self> {
        let page = PageRequest { page: 1, limit: OFFERED };
        let filter = Filter { is_offered: true, ..Filter::default() };
        let offered = records.templates().approved(waba, page, filter).await?.records;
        let named = match words.one(INSTEAD).parse::<i64>() {
            Ok(id) => records.templates().find(id).await?,
            Err(_) => None,
        };
        let named = named.filter(|found| found.waba_id == waba && found.status == Status::Approved);
        Ok(Self { offered, chosen: named.map(Template::from) })
    }

    /// Notes a fault for a template that cannot be sent any more.
    pub(in crate::console::pages) fn complain(&self, form: &mut Form) {
        if self.chosen.is_none() && !form.words().one(INSTEAD).is_empty() {
            let sentence = form.text().get("compose-fault-template");
            form.fault(INSTEAD, sentence);
        }
    }

    /// The template with the values of the form, as a request has it; `None` without one.
    pub(in crate::console::pages) fn requested(&self, words: &Words) -> Option<Value> {
        let chosen = self.chosen.as_ref()?;
        let components = template::components(chosen, words);
        Some(json!({"template_id": chosen.id, "components": components, "contact_fields": true}))
    }

    /// Whether there is a template to choose.
    pub(in crate::console::pages) fn is_offered(&self) -> bool {
        !self.offered.is_empty() || self.chosen.is_some()
    }

    /// The choice of a template with this button beside it, and the fields of its values.
    pub(in crate::console::pages) fn fields(
        &self,
        text: Text,
        known: (&OfferedFiles, &[OwnField]),
        form: &Form,
        button: &Markup,
    ) -> Markup {
        let Self { offered, chosen } = self;
        if !self.is_offered() && form.fault_of(INSTEAD).is_none() {
            return html! {};
        }
        let option = |id: i64, name: &str, language: &str| (id.to_string(), format!("{name} ({language})"));
        let nothing = (String::new(), text.get("compose-instead-nothing"));
        let older = chosen.iter().filter(|chosen| offered.iter().all(|template| template.id != chosen.id));
        let older = older.map(|chosen| option(chosen.id, &chosen.name, &chosen.language));
        let newest = offered.iter().map(|template| option(template.id, &template.name, &template.language));
        html! {
            fieldset.field {
                legend { (text.get("compose-instead")) }
                div.row.bottom {
                    (Field::new(form, INSTEAD, &text.get("compose-instead-get")).select(
                        std::iter::once(nothing).chain(older).chain(newest)
                    ))
                    (button)
                }
                @if let Some(chosen) = chosen { (template::fields(text, chosen, known, form)) }
            }
        }
    }
}

/// Adds the template to a request.
pub(super) fn add(body: &mut Map<String, Value>, choice: &Choice, words: &Words) {
    if choice.kind != Kind::Template
        && let Some(requested) = choice.instead.requested(words)
    {
        body.insert("template_instead".to_owned(), requested);
    }
}

/// The choice of a template, and the fields of its values.
pub(super) fn fields(text: Text, choice: &Choice, form: &Form) -> Markup {
    choice.instead.fields(text, (&choice.files, &choice.own), form, &show_button(text))
}

/// The button that shows the fields of the chosen template, and does nothing else.
pub(in crate::console::pages) fn show_button(text: Text) -> Markup {
    html! {
        button.plain type="submit" name="action" value=(CHOOSE) formnovalidate { (text.get("compose-instead-show")) }
    }
}

/// Whether a form was sent with that button.
pub(in crate::console::pages) fn is_choosing(words: &Words) -> bool {
    words.one("action") == CHOOSE
}
