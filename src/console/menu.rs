//! The navigation beside every page: its entries, in their order, and the people who see each of them.

use maud::{Markup, html};

use super::access::Access;
use super::visitor::Person;
use crate::accounts::Role;

/// The entry of the navigation that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Menu {
    Overview,
    Sends,
    Contacts,
    Templates,
    Channels,
    Suppressions,
    Keys,
    Webhooks,
    Company,
    Account,
    Operator,
    Nodes,
    Tiers,
    Changes,
    /// No entry.
    None,
}

/// The entries about the chosen company: address, text, and the access that a person needs to see the entry.
const OF_COMPANY: [(Menu, &str, &str, Access); 9] = [
    (Menu::Overview, "/console", "shell-overview", Access::Viewer),
    (Menu::Sends, "/console/sends", "shell-sends", Access::Viewer),
    (Menu::Contacts, "/console/contacts", "shell-contacts", Access::Viewer),
    (Menu::Templates, "/console/templates", "shell-templates", Access::Viewer),
    (Menu::Channels, "/console/channels", "shell-channels", Access::Viewer),
    (Menu::Suppressions, "/console/suppressions", "shell-suppressions", Access::Viewer),
    (Menu::Keys, "/console/keys", "shell-keys", Access::Owner),
    (Menu::Webhooks, "/console/webhooks", "shell-webhooks", Access::Viewer),
    (Menu::Company, "/console/company", "shell-company", Access::Viewer),
];

/// The entries for operators.
const OF_OPERATORS: [(Menu, &str, &str); 4] = [
    (Menu::Operator, "/console/operator", "shell-operator"),
    (Menu::Nodes, "/console/operator/nodes", "shell-nodes"),
    (Menu::Tiers, "/console/operator/tiers", "shell-tiers"),
    (Menu::Changes, "/console/operator/changes", "shell-changes"),
];

/// The navigation of a person who is signed in and sees a page of the entry `current`.
pub(super) fn navigation(person: &Person, current: Menu) -> Markup {
    let text = person.text;
    let entry = |menu: Menu, place: &str, key: &str| {
        html! { li { a href=(place) aria-current=[(menu == current).then_some("page")] { (text.get(key)) } } }
    };
    let role = person.company.as_ref().map(|company| company.role);
    html! {
        nav.side aria-label=(text.get("shell-navigation")) {
            @if role.is_some() {
                ul {
                    @for (menu, place, key, access) in OF_COMPANY {
                        @if access != Access::Owner || role == Some(Role::Owner) { (entry(menu, place, key)) }
                    }
                }
            }
            @if person.is_operator() {
                p { (text.get("shell-operation")) }
                ul { @for (menu, place, key) in OF_OPERATORS { (entry(menu, place, key)) } }
            }
        }
    }
}
