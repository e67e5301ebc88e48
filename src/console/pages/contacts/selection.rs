//! The selected contacts, and the bar above the list that says which they are and has the actions on them.

use maud::{Markup, html};
use uuid::Uuid;

use super::listed::Listed;
use super::{PLACE, Shown};
use crate::console::component::field::{Field, once};
use crate::console::form::Form;
use crate::console::visitor::Viewer;
use crate::engine::Whom;

/// The maximum of contacts that are selected one by one.
const MOST: usize = 1_000;
/// The maximum of people that a link to a new send names. For more there are tags.
const MOST_NAMED: usize = 100;

/// The contacts that a form selects.
pub(in crate::console::pages) enum Selected {
    /// These, one by one.
    These(Vec<Uuid>),
    /// All that the list has.
    All,
}

impl Selected {
    /// Reads the form; without any contact it has a fault.
    pub(in crate::console::pages) fn read(form: &mut Form) -> Self {
        let words = form.words();
        let ids: Vec<&str> = match words.one("scope") {
            "all" => return Self::All,
            // Every contact of the page, whatever is ticked.
            "page" => words.one("shown").split(' ').collect(),
            _ => words.all("contact").collect(),
        };
        let ids = ids.into_iter().filter_map(|id| Uuid::try_parse(id).ok());
        let ids: Vec<Uuid> = ids.take(MOST).collect();
        if ids.is_empty() {
            let sentence = form.text().get("contacts-none-picked");
            form.fault("scope", sentence);
        }
        Self::These(ids)
    }

    /// The selected contacts of a list, for a change.
    pub(super) fn whom(self, listed: &Listed) -> Whom {
        match self {
            Self::These(ids) => Whom::Named { ids, numbers: Vec::new() },
            Self::All => Whom::Found(listed.filter()),
        }
    }

    /// The address of a new send to the selected contacts. A send goes to tags and to people, so for other selections there
    /// is none.
    pub(super) fn new_send(&self, listed: &Listed) -> Option<String> {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        match self {
            Self::All => {
                query.append_pair("tag", &listed.only_tag()?.id.to_string());
            }
            Self::These(ids) if ids.len() <= MOST_NAMED => {
                for id in ids {
                    query.append_pair("contact", &id.to_string());
                }
            }
            Self::These(_) => return None,
        }
        Some(format!("/console/sends/new?{}", query.finish()))
    }
}

/// The fields that say which list the form belongs to.
pub(super) fn of_list(listed: &Listed) -> Markup {
    html! {
        @if let Some(search) = &listed.search { input type="hidden" name="search" value=(search); }
        @for tag in &listed.tags { input type="hidden" name="of_tag" value=(tag.id); }
        @for tag in &listed.without { input type="hidden" name="not_tag" value=(tag.id); }
        @for condition in &listed.conditions { input type="hidden" name="of_field" value=(condition); }
    }
}

/// The bar: which contacts, how many, and what to do with them.
pub(super) fn bar(viewer: &Viewer, form: &Form, shown: &Shown) -> Markup {
    let text = viewer.text;
    let count = [("count", shown.found.total.into())];
    let all = if shown.listed.is_everybody() {
        text.with("contacts-scope-everybody", count)
    } else if shown.listed.only_tag().is_some() {
        text.with("contacts-scope-tagged", count)
    } else {
        text.with("contacts-scope-found", count)
    };
    let ids: Vec<String> = shown.found.records.iter().map(|contact| contact.id.to_string()).collect();
    let on_page = ids.len() as u64;
    let scopes = [
        ("picked", text.get("contacts-scope-picked")),
        ("page", text.with("contacts-scope-page", [("count", on_page.into())])),
        ("all", all),
    ];
    let scope = Some(form.value("scope")).filter(|scope| !scope.is_empty()).unwrap_or("picked");
    html! {
        fieldset.panel.selection {
            legend.unseen { (text.get("contacts-do")) }
            (once(form))
            (of_list(&shown.listed))
            // One field for all of them: a form has a bound for its fields.
            input type="hidden" name="shown" value=(ids.join(" "));
            input type="hidden" name="page" value=(shown.page.page);
            div.row.scopes {
                @for (value, words) in &scopes {
                    label.choice { input type="radio" name="scope" value=(value) checked[*value == scope]; span { (words) } }
                }
                // The script counts, and shows the number.
                strong.selected role="status" data-selected=(text.with("contacts-selected", [("count", "#".into())])) hidden {}
            }
            @if let Some(fault) = form.fault_of("scope") { p.fault { (fault) } }
            div.row.bottom {
                (Field::new(form, "tag", &text.get("contacts-tag")).most(100).around(&html! {
                    input id="field-tag" type="text" name="tag" value=(form.value("tag")) maxlength="100" list="known-tags" autocomplete="off";
                }))
                datalist id="known-tags" { @for tag in &shown.tags.records { option value=(tag.summary.name) {} } }
                button.plain type="submit" name="action" value="tag" { (text.get("contacts-do-tag")) }
                button.plain type="submit" name="action" value="untag" { (text.get("contacts-do-untag")) }
                button.plain type="submit" name="action" value="send" { (text.get("contacts-do-send")) }
                button.plain type="submit" formaction=(format!("{PLACE}/export")) { (text.get("contacts-do-export")) }
                button.risky type="submit" name="action" value="delete" { (text.get("contacts-do-delete")) }
            }
        }
    }
}
