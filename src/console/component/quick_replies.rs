//! Texts that a company answers with often, each under a short word. Without script a list and a button put one into the
//! answer; with script, `/` at its beginning offers them.

use maud::{Markup, html};

use super::formatting::beginning;
use crate::console::text::Text;
use crate::engine::conversations::types::QuickReply;

/// The field with the chosen one, and the action that takes it.
pub(crate) const CHOSEN: &str = "quick";
pub(crate) const TAKE: &str = "quick-reply";
/// The characters of a text that the script shows beside its word: the page has two hundred of them at most.
const OFFERED_CHARS: usize = 80;

/// The list of quick replies; nothing when there are none.
pub(crate) fn offered(text: Text, replies: &[QuickReply]) -> Markup {
    html! {
        @if !replies.is_empty() {
            div.row.bottom {
                div.field {
                    label for=(CHOSEN) { (text.get("inbox-quick")) }
                    select id=(CHOSEN) name=(CHOSEN) {
                        @for QuickReply { draft, .. } in replies {
                            option value=(draft.word) data-text=(beginning(&draft.text, OFFERED_CHARS)) { "/" (draft.word) }
                        }
                    }
                }
                button.plain type="submit" name="action" value=(TAKE) formnovalidate { (text.get("inbox-quick-take")) }
            }
        }
    }
}

/// The one with this word.
pub(crate) fn find<'a>(replies: &'a [QuickReply], word: &str) -> Option<&'a QuickReply> {
    replies.iter().find(|reply| reply.draft.word == word)
}
