//! The navigation beside every page, and at the bottom of a phone: its entries, in their order, and the people who see each
//! of them.

use maud::{Markup, html};

use super::access::Access;
use super::component::icon::Icon;
use super::text::Text;
use super::unread;
use super::visitor::Person;
use crate::accounts::Role;

/// The entry of the navigation that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Menu {
    Overview,
    Inbox,
    Sends,
    Contacts,
    Templates,
    Media,
    Channels,
    Suppressions,
    Costs,
    QuickReplies,
    AutomaticAnswers,
    Keys,
    Programs,
    Webhooks,
    Company,
    Account,
    Operator,
    Nodes,
    Users,
    Tiers,
    Prices,
    Changes,
    /// No entry.
    None,
}

/// An entry: its page, its address, its text and its icon.
type MenuItem = (Menu, &'static str, &'static str, Icon);

/// What people answer; agents see nothing else.
const INBOX: MenuItem = (Menu::Inbox, "/console/inbox", "shell-inbox", Icon::Entry("inbox"));

/// What people work with every day. On a phone, the first of them are in the bar.
const WORK: [MenuItem; 8] = [
    (Menu::Overview, "/console", "shell-overview", Icon::Entry("layout-dashboard")),
    INBOX,
    (Menu::Sends, "/console/sends", "shell-sends", Icon::Entry("send")),
    (Menu::Contacts, "/console/contacts", "shell-contacts", Icon::Entry("users")),
    (Menu::Channels, "/console/channels", "shell-channels", Icon::Entry("smartphone")),
    (Menu::Templates, "/console/templates", "shell-templates", Icon::Entry("message-square-text")),
    (Menu::Media, "/console/media", "shell-media", Icon::Entry("image")),
    (Menu::Suppressions, "/console/suppressions", "shell-suppressions", Icon::Entry("ban")),
];

/// What is set up once, and the access that a person needs to see the entry. Members are a part of the company's page.
const SETTINGS: [(MenuItem, Access); 8] = [
    ((Menu::Company, "/console/company", "shell-company", Icon::Company), Access::Viewer),
    ((Menu::None, "/console/company#members", "shell-members", Icon::Entry("user-plus")), Access::Viewer),
    ((Menu::QuickReplies, "/console/quick-replies", "shell-replies", Icon::Entry("zap")), Access::Viewer),
    (
        (Menu::AutomaticAnswers, "/console/automatic-answers", "shell-automatic", Icon::Entry("clock")),
        Access::Viewer,
    ),
    ((Menu::Keys, "/console/keys", "shell-keys", Icon::Entry("key-round")), Access::Owner),
    ((Menu::Programs, "/console/programs", "shell-programs", Icon::Entry("plug")), Access::Owner),
    ((Menu::Webhooks, "/console/webhooks", "shell-webhooks", Icon::Entry("webhook")), Access::Viewer),
    ((Menu::Costs, "/console/costs", "shell-costs", Icon::Entry("banknote")), Access::Viewer),
];

/// The entries for operators.
const OPERATION: [MenuItem; 6] = [
    (Menu::Operator, "/console/operator", "shell-operator", Icon::Entry("layers")),
    (Menu::Users, "/console/operator/users", "shell-users", Icon::Account),
    (Menu::Nodes, "/console/operator/nodes", "shell-nodes", Icon::Entry("server")),
    (Menu::Tiers, "/console/operator/tiers", "shell-tiers", Icon::Entry("gauge")),
    (Menu::Prices, "/console/operator/prices", "shell-prices", Icon::Entry("coins")),
    (Menu::Changes, "/console/operator/changes", "shell-changes", Icon::Entry("history")),
];

/// The entries in the bar of a phone, beside the one for all others.
const BAR: usize = 4;

/// Where the number of unread conversations stands: beside a wide page, and in the bar of a phone.
const SIDE: &str = "side";
const BELOW: &str = "bar";

/// The id of the sheet with the entries that the bar has no room for.
const SHEET: &str = "more-entries";

/// A group of entries, with the key of its heading if it has one.
struct MenuGroup {
    heading: Option<&'static str>,
    entries: Vec<MenuItem>,
}

/// The groups that a person sees.
fn groups(person: &Person) -> Vec<MenuGroup> {
    let mut groups = Vec::new();
    if person.is_agent() {
        groups.push(MenuGroup { heading: None, entries: vec![INBOX] });
    } else if let Some(company) = &person.company {
        groups.push(MenuGroup { heading: None, entries: WORK.to_vec() });
        let is_owner = company.role == Role::Owner;
        let settings = SETTINGS.into_iter().filter(|(_, access)| *access != Access::Owner || is_owner);
        let entries = settings.map(|(entry, _)| entry).collect();
        groups.push(MenuGroup { heading: Some("shell-settings"), entries });
    }
    if person.is_operator() {
        groups.push(MenuGroup { heading: Some("shell-operation"), entries: OPERATION.to_vec() });
    }
    groups
}

/// The groups without the entries that the bar has.
fn beyond_the_bar(groups: &[MenuGroup]) -> Vec<MenuGroup> {
    let mut in_bar = BAR;
    let rest = groups.iter().map(|group| {
        let here = in_bar.min(group.entries.len());
        in_bar -= here;
        MenuGroup { heading: group.heading, entries: group.entries.iter().skip(here).copied().collect() }
    });
    rest.filter(|group| !group.entries.is_empty()).collect()
}

/// The number of conversations with something unread, at its place.
fn count(text: Text, at: &str, unread: Option<u64>) -> Markup {
    let unread = unread.filter(|unread| *unread > 0);
    html! {
        span.count id=(format!("unread-{at}")) data-unread=[unread] {
            @if let Some(unread) = unread {
                (unread::shown(unread)) span.unseen { " " (text.get("shell-unread")) }
            }
        }
    }
}

/// The same again, for a page that keeps it up to date.
pub(super) fn counts(text: Text, unread: u64) -> [Markup; 2] {
    [SIDE, BELOW].map(|at| count(text, at, Some(unread)))
}

/// The navigation of a person who is signed in and sees a page of the entry `current`: groups beside a wide page, and a bar
/// on a phone.
pub(super) fn navigation(person: &Person, current: Menu) -> Markup {
    let text = person.text;
    let groups = groups(person);
    let all: Vec<MenuItem> = groups.iter().flat_map(|group| group.entries.iter().copied()).collect();
    let is_current = |menu: Menu| menu == current && menu != Menu::None;
    let link = |(menu, place, key, icon): MenuItem, at: &str| {
        html! {
            li {
                a href=(place) aria-current=[is_current(menu).then_some("page")] {
                    (icon) span { (text.get(key)) }
                    @if menu == Menu::Inbox { (count(text, at, person.unread)) }
                }
            }
        }
    };
    let listed = |groups: &[MenuGroup]| {
        html! {
            @for group in groups {
                @if let Some(heading) = group.heading { p { (text.get(heading)) } }
                ul { @for entry in &group.entries { (link(*entry, SIDE)) } }
            }
        }
    };
    let is_in_sheet = all.iter().skip(BAR).any(|(menu, ..)| is_current(*menu));
    html! {
        nav.side aria-label=(text.get("shell-navigation")) {
            div.groups { (listed(&groups)) }
            ul.bar {
                @for entry in all.iter().take(BAR) { (link(*entry, BELOW)) }
                @if all.len() > BAR {
                    li {
                        button.here[is_in_sheet] type="button" popovertarget=(SHEET) {
                            (Icon::More) span { (text.get("shell-more")) }
                        }
                    }
                }
            }
            @if all.len() > BAR { div.sheet popover id=(SHEET) { (listed(&beyond_the_bar(&groups))) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_of_every_entry_is_in_the_file() {
        let entries = WORK.into_iter().chain(SETTINGS.map(|(entry, _)| entry)).chain(OPERATION);
        for (_, place, _, icon) in entries {
            assert!(icon.is_drawn(), "{place}: {icon:?}");
        }
    }
}
