//! The button that offers emoji for a text field. The emoji are in the page's script `emoji.js`, which shows the button.

use maud::{Markup, html};

use super::icon::Icon;
use crate::console::text::Text;

/// The names of the groups, in the order in which the script has them.
const GROUPS: [&str; 8] = [
    "emoji-faces",
    "emoji-people",
    "emoji-hearts",
    "emoji-nature",
    "emoji-food",
    "emoji-places",
    "emoji-things",
    "emoji-signs",
];

/// The button for the field of this id, on a page with the script.
pub(crate) fn picker(text: Text, field: &str) -> Markup {
    let groups = GROUPS.map(|key| text.get(key)).join("|");
    html! {
        button.quiet type="button" hidden data-emoji=(field) data-groups=(groups) aria-expanded="false" {
            (Icon::Emoji) (text.get("emoji-insert"))
        }
    }
}
