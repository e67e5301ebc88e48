//! The template that people get in place of the message while their window is closed: without one, they are skipped.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::choice::{CHOOSE, Choice};
use super::content::Kind;
use super::template;
use crate::console::component::field::Field;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::page::PageRequest;
use crate::domain::template::{Status, Template};
use crate::engine::records::CompanyRecords;
use crate::engine::records::templates::{Filter, Record};

/// The field with the template's id. The fields of its values have the names that those of any template have: a form has one.
pub(super) const INSTEAD: &str = "instead";
/// The number of templates that are offered, the newest.
const OFFERED: u64 = 100;

/// What people get whose window is closed.
#[derive(Default)]
pub(super) struct Instead {
    offered: Vec<Record>,
    pub(super) chosen: Option<Template>,
}

impl Instead {
    /// The templates of a business account that can be sent, and the one that the form names.
    pub(super) async fn read(records: &CompanyRecords, waba: &str, words: &Words) -> Result<Self> {
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
    pub(super) fn complain(&self, form: &mut Form) {
        if self.chosen.is_none() && !form.words().one(INSTEAD).is_empty() {
            let sentence = form.text().get("compose-fault-template");
            form.fault(INSTEAD, sentence);
        }
    }
}

/// Adds the template to a request.
pub(super) fn add(body: &mut Map<String, Value>, choice: &Choice, words: &Words) {
    if let Some(chosen) = choice.instead.chosen.as_ref().filter(|_| choice.kind != Kind::Template) {
        let components = template::components(chosen, words);
        let instead = json!({"template_id": chosen.id, "components": components, "contact_fields": true});
        body.insert("template_instead".to_owned(), instead);
    }
}

/// The choice of a template, and the fields of its values.
pub(super) fn fields(text: Text, choice: &Choice, form: &Form) -> Markup {
    let Instead { offered, chosen } = &choice.instead;
    if offered.is_empty() && chosen.is_none() && form.fault_of(INSTEAD).is_none() {
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
                button.plain type="submit" name="action" value=(CHOOSE) formnovalidate { (text.get("compose-instead-show")) }
            }
            @if let Some(chosen) = chosen {
                (template::fields(text, chosen, (&choice.files, &choice.own), form))
            }
        }
    }
}
