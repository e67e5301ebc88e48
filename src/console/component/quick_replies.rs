//! Texts that a company answers with often, each under a short word. Without script a list and a button put one into the
//! answer; with script, `/` at its beginning offers them.

use maud::{Markup, html};

use crate::console::text::Text;

/// The field with the chosen one, and the action that takes it.
pub(in crate::console) const CHOSEN: &str = "quick";
pub(in crate::console) const TAKE: &str = "quick-reply";

/// The list of these words and texts; nothing when there are none.
pub(in crate::console) fn offered(text: Text, replies: &[(String, String)]) -> Markup {
    html! {
        @if !replies.is_empty() {
            div.row.bottom {
                div.field {
                    label for=(CHOSEN) { (text.get("inbox-quick")) }
                    select id=(CHOSEN) name=(CHOSEN) {
                        @for (word, reply) in replies {
                            option value=(word) data-text=(reply) { "/" (word) }
                        }
                    }
                }
                button.plain type="submit" name="action" value=(TAKE) formnovalidate { (text.get("inbox-quick-take")) }
            }
        }
    }
}

/// The text of this word.
pub(in crate::console) fn find<'a>(replies: &'a [(String, String)], word: &str) -> Option<&'a str> {
    replies.iter().find(|(known, _)| known == word).map(|(_, reply)| reply.as_str())
}
