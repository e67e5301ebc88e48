//! A button for an action that cannot be undone: it asks first, in a dialog. With script the dialog is modal, so that it keeps
//! the focus; without script the browser shows the same element as a popover.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use maud::{Markup, html};

use crate::console::text::Text;

/// A button with this label. It opens a question that says what will happen, with the button for the action.
pub(crate) fn confirm(text: Text, action: &str, label: &str, question: &str) -> Markup {
    with(text, action, label, question, &html! {})
}

/// The same with additional fields, such as hidden ones.
pub(crate) fn with(text: Text, action: &str, label: &str, question: &str, fields: &Markup) -> Markup {
    let id = id(action, label, fields);
    let close = text.get("shell-close");
    html! {
        button.risky type="button" popovertarget=(id) { (label) }
        dialog.confirm popover id=(id) aria-label=(label) {
            form method="post" action=(action) {
                p { (question) }
                (fields)
                div.row.end {
                    button.plain type="button" popovertarget=(id) popovertargetaction="hide" { (close) }
                    button.danger type="submit" { (text.with("shell-confirm", [("what", label.into())])) }
                }
            }
        }
    }
}

/// An id that is the same for the same button each time that the page is rendered.
fn id(action: &str, label: &str, Markup { 0: fields }: &Markup) -> String {
    let mut hasher = DefaultHasher::new();
    (action, label, fields).hash(&mut hasher);
    format!("confirm-{:x}", hasher.finish())
}
