//! The file with the recipients of a new send, as the form names it: which columns hold the numbers and the references, and
//! whether its people become contacts.

use maud::{Markup, html};
use uuid::Uuid;

use super::choice::Choice;
use super::upload;
use crate::console::State;
use crate::console::component::countries;
use crate::console::component::field::Field;
use crate::console::component::formatting::beginning;
use crate::console::component::notice;
use crate::console::error::Result;
use crate::console::form::Form;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::phone::Country;
use crate::domain::values::Values;
use crate::engine::records::imports::Import;
use crate::engine::{self, WantedRows, import_settings};
use crate::import::{Field as Held, Settings, check_tag, column_name, value_names};

/// The field with the id of the file, and those of its columns.
pub(super) const LIST: &str = "list";
pub(super) const FILE_NAME: &str = "list_name";
pub(super) const PHONE: &str = "list_phone";
pub(super) const REFERENCE: &str = "list_reference";
pub(super) const COUNTRY: &str = "list_country";
pub(super) const TAG: &str = "list_tag";
/// The field of a test, whose values are those of the first row.
pub(super) const TESTED: &str = "list_test";
/// The action that takes the file out of the form.
pub(super) const DROP: &str = "drop_list";
/// Characters of a column's name and of an example that are shown.
const SHOWN_CHARS: usize = 60;
/// The longest name of a tag.
const TAG_CHARS: usize = 100;

/// The file.
pub(super) struct RecipientList {
    settings: Settings,
    /// The names of the columns' values.
    pub(super) names: Vec<String>,
    /// The first row.
    first: Vec<String>,
}

/// The id of the file that the form names.
pub(super) fn named(words: &Words) -> Option<Uuid> {
    words.one(LIST).parse().ok()
}

/// The place of the column that a field names.
pub(super) fn place(words: &Words, field: &str) -> Option<usize> {
    words.one(field).parse().ok()
}

/// The country by whose rules numbers are read.
pub(super) fn country(words: &Words) -> Option<Country> {
    Country::parse(words.one(COUNTRY))
}

/// The place of the column that seems to hold the numbers.
pub(super) fn phone_column(settings: &Settings) -> Option<usize> {
    settings.fields().into_iter().position(|field| field == Some(Held::PhoneNumber))
}

impl RecipientList {
    /// The file that the form names, as long as it is kept; a linked phone has none.
    pub(super) async fn read(
        state: &State,
        viewer: &Viewer,
        choice: &Choice,
        words: &Words,
    ) -> Result<Option<Self>> {
        let Some(id) = named(words).filter(|_| !choice.is_web()) else { return Ok(None) };
        let (imports, company) = (state.engine.imports(), viewer.company.id);
        let Some(file) = imports.recipients(company, id).await? else { return Ok(None) };
        let first = imports.recipient_rows(company, id, WantedRows::First(1)).await;
        let first = match first {
            Ok(rows) => rows.into_iter().next().map(|(_, row)| row.cells).unwrap_or_default(),
            // The check says what is wrong with the file.
            Err(engine::Error::Refused(_)) => Vec::new(),
            Err(other) => return Err(other.into()),
        };
        Ok(Some(Self::of(&file, first)))
    }

    fn of(file: &Import, first: Vec<String>) -> Self {
        let settings = import_settings(file);
        let names = value_names(&settings.header);
        Self { settings, names, first }
    }

    /// The columns: the names of their values, and their own.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&str, String)> {
        let label = |place| beginning(&column_name(&self.settings.header, place), SHOWN_CHARS).to_owned();
        self.names.iter().enumerate().map(move |(place, name)| (name.as_str(), label(place)))
    }

    /// The values of the first row.
    pub(super) fn example(&self) -> Values {
        let mut values = Values::default();
        for (name, cell) in self.names.iter().zip(&self.first) {
            // What is too long for a value is no example.
            let _ = values.set(name, cell);
        }
        values.cleaned()
    }
}

/// Notes what the fields of the file lack; not that the file is gone: a form that is sent again finds its send without it.
pub(super) fn complain(form: &mut Form) {
    let text = form.text();
    if place(form.words(), PHONE).is_none() {
        form.fault(PHONE, text.get("compose-fault-list-phone"));
    }
    let tag = form.words().one(TAG);
    if !tag.is_empty() && check_tag(tag).is_err() {
        form.fault(TAG, text.get("imports-tag-wrong"));
    }
}

/// Takes the file out of the form.
pub(super) async fn drop(viewer: &Viewer, state: &State, form: &mut Form) -> Result<()> {
    if let Some(id) = named(form.words()) {
        state.engine.imports().discard_recipients(viewer.company.id, id).await?;
    }
    for field in [LIST, FILE_NAME, PHONE, REFERENCE, COUNTRY, TAG] {
        form.put(field, "");
    }
    Ok(())
}

/// The file with its columns, or the button to upload one.
pub(super) fn fields(viewer: &Viewer, form: &Form, list: Option<&RecipientList>) -> Markup {
    let text = viewer.text;
    html! {
        fieldset.field {
            legend { (text.get("compose-list")) }
            @if let Some(fault) = form.fault_of(LIST) { (notice::fault(fault)) }
            @match list {
                Some(list) => (columns(form, list)),
                None => {
                    @if named(form.words()).is_some() && form.fault_of(LIST).is_none() {
                        (notice::warning(&html! { p { (text.get("compose-list-gone")) } }))
                    }
                    p.hint { (text.get("compose-list-hint")) }
                }
            }
            p.row {
                button.plain type="submit" name="action" value=(upload::BEGIN) formnovalidate {
                    (text.get(if list.is_some() { "compose-list-other" } else { "compose-list-upload" }))
                }
                @if named(form.words()).is_some() {
                    button.quiet type="submit" name="action" value=(DROP) formnovalidate { (text.get("compose-list-drop")) }
                }
            }
        }
    }
}

fn columns(form: &Form, list: &RecipientList) -> Markup {
    let text = form.text();
    let shown = |(place, (_, label)): (usize, (&str, String))| {
        let example = list.first.get(place).map(|cell| beginning(cell, SHOWN_CHARS)).unwrap_or_default();
        let label = if example.is_empty() { label } else { format!("{label} ({example})") };
        (place.to_string(), label)
    };
    let places: Vec<(String, String)> = list.columns().enumerate().map(shown).collect();
    let none = (String::new(), text.get("compose-list-none"));
    let with_none = || std::iter::once(none.clone()).chain(places.iter().cloned());
    let mut countries = countries::options(text);
    if let Some(first) = countries.first_mut() {
        first.1 = text.get("imports-numbers-international");
    }
    html! {
        p { strong { bdi { (form.value(FILE_NAME)) } } }
        input type="hidden" name=(LIST) value=(form.value(LIST));
        input type="hidden" name=(FILE_NAME) value=(form.value(FILE_NAME));
        (Field::new(form, PHONE, &text.get("compose-list-phone")).select(with_none()))
        (Field::new(form, COUNTRY, &text.get("compose-list-country")).hint(&text.get("imports-country-hint")).select(countries))
        (Field::new(form, REFERENCE, &text.get("compose-list-reference")).hint(&text.get("compose-list-reference-hint"))
            .select(with_none()))
        (Field::new(form, TAG, &text.get("compose-list-tag")).hint(&text.get("compose-list-tag-hint")).most(TAG_CHARS).text())
    }
}
