//! A file that a person sent, inside a conversation: what it is, and the words below it.

use maud::{Markup, html};
use uuid::Uuid;

use super::formatting;
use super::library::size;
use crate::console::text::Text;
use crate::domain::inbound::InboundMedia;

/// The longest name of a file that is shown, in characters.
const NAME_CHARS: usize = 120;

/// The file of a message, of which `kind` is the word. The id is the one by which the file is found.
pub(in crate::console) fn attachment(text: Text, message: Uuid, kind: &str, media: &InboundMedia) -> Markup {
    html! {
        div.attachment id=(format!("file-{message}")) {
            strong { (kind) }
            @if let Some(name) = &media.file_name { " " bdi { (formatting::plain(name, NAME_CHARS)) } }
            @if let Some(bytes) = media.size { " " span.soft { (size(text, bytes)) } }
            p.soft { (text.get("inbox-file-pending")) }
        }
        @if let Some(caption) = &media.caption { (formatting::lines(caption, None)) }
    }
}
