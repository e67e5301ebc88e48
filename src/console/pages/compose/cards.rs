//! The templates to choose from, each as a phone shows it; those that cannot be sent now say why.

use maud::{Markup, html};

use super::choice::Choice;
use crate::console::component::field::Field;
use crate::console::component::notice;
use crate::console::component::phone::phone;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::pages::templates::{category, state_of, why};
use crate::console::text::Text;
use crate::console::words::Words;
use crate::domain::page::PageRequest;
use crate::domain::template::Template;
use crate::engine::records::CompanyRecords;
use crate::engine::records::templates::{Filter, Listed, Record};

/// The number of templates that are drawn, and of those that cannot be sent.
const DRAWN: u64 = 12;
const UNFIT: u64 = 4;
/// The longest search, in characters.
const SEARCH_CHARS: usize = 200;

/// The templates of a business account that a search finds.
#[derive(Default)]
pub(super) struct Cards {
    fit: Vec<Record>,
    /// How many there are in all.
    total: u64,
    unfit: Vec<Record>,
    is_searched: bool,
}

impl Cards {
    /// The newest templates that can be sent, and some that cannot.
    pub(super) async fn read(records: &CompanyRecords, waba: &str, words: &Words) -> Result<Self> {
        let search: String = words.one("find_template").chars().take(SEARCH_CHARS).collect();
        let search = Some(search.as_str()).filter(|search| !search.is_empty());
        let page = |limit| PageRequest { page: 1, limit };
        let filter = Filter { search, is_offered: true, ..Filter::default() };
        let fit = records.templates().approved(waba, page(DRAWN), filter).await?;
        let unfit = Listed { waba_id: Some(waba), search, only_unfit: true, ..Listed::default() };
        let unfit = records.templates().page(page(UNFIT), unfit).await?;
        let is_searched = search.is_some();
        Ok(Self { fit: fit.records, total: fit.total, unfit: unfit.records, is_searched })
    }

    /// The ids and names of those that can be sent.
    pub(super) fn offered(&self) -> impl Iterator<Item = (i64, &str)> {
        self.fit.iter().map(|record| (record.id, record.name.as_str()))
    }

    /// Whether there is one that can be sent.
    pub(super) const fn has_fit(&self) -> bool {
        !self.fit.is_empty()
    }
}

/// The chosen template with a button to choose another one, or the cards.
pub(super) fn fields(text: Text, form: &Form, choice: &Choice) -> Markup {
    html! {
        @if let Some(unfit) = &choice.unfit { (not_now(text, unfit)) }
        @if let Some(fault) = form.fault_of("template") { (notice::fault(fault)) }
        @match &choice.template {
            Some(template) => (chosen(text, template)),
            None => (offered(text, form, &choice.cards)),
        }
    }
}

fn chosen(text: Text, template: &Template) -> Markup {
    html! {
        div.row {
            span.soft { (text.get("compose-template")) ":" }
            strong { bdi { (template.name) } } " " span.soft { (template.language) }
            input type="hidden" name="template" value=(template.id);
            button.plain type="submit" name="action" value="templates" formnovalidate { (text.get("compose-other-template")) }
        }
    }
}

fn offered(text: Text, form: &Form, cards: &Cards) -> Markup {
    let Cards { fit, total, unfit, is_searched } = cards;
    html! {
        @if *is_searched || *total > DRAWN {
            p.soft { (text.with("compose-more-templates", [("count", (*total).into())])) }
            div.row.bottom {
                (Field::new(form, "find_template", &text.get("compose-find-template")).most(SEARCH_CHARS).input("search"))
                button.plain type="submit" name="action" value="find_template" formnovalidate { (text.get("compose-find-button")) }
            }
        }
        @if fit.is_empty() {
            p { (text.get(if *is_searched { "compose-template-not-found" } else { "compose-no-template" })) }
        }
        ul.template-cards {
            @for template in fit {
                li { (card(text, template, &html! {
                    button.plain type="submit" name="template" value=(template.id) formnovalidate {
                        (text.get("compose-use")) span.unseen { " " (template.name) " " (template.language) }
                    }
                })) }
            }
            @for template in unfit { li { (card(text, template, &why(text, template))) } }
        }
    }
}

fn card(text: Text, template: &Record, below: &Markup) -> Markup {
    html! {
        article.panel aria-label=(template.name) {
            h3 { bdi { (template.name) } " " (state_of(text, template.status.as_str())) }
            p.soft { (template.language) " · " (category(text, template.category.as_str())) }
            (phone(text, &template.components))
            (below)
        }
    }
}

/// Says that a template cannot be sent now, why, and where it is shown.
fn not_now(text: Text, template: &Record) -> Markup {
    let search =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("search", &template.name).finish();
    notice::warning(&html! {
        p {
            bdi { (template.name) } " (" (template.language) "): " (text.get("compose-template-not-now")) " "
            (state_of(text, template.status.as_str()))
        }
        (why(text, template))
        p { a href=(format!("/console/templates?{search}")) { (text.get("compose-to-template")) } }
    })
}
