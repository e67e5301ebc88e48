//! What people type into a new send, kept on the server as a draft until they send it or delete it.

use url::form_urlencoded::Serializer;
use uuid::Uuid;

use super::State;
use super::error::Result;
use super::words::Words;
use crate::clock::Timestamp;
use crate::domain::send::NAME_CHARS;
use crate::engine::records::drafts::{LONGEST, NewDraft};

/// The path of the form.
pub(super) const PLACE: &str = "/console/sends/new";
/// The field with the id of the draft that a form continues.
pub(super) const FIELD: &str = "draft";
/// Fields that are about one page of the form.
const OF_ONE_PAGE: [&str; 11] =
    ["action", "checked", "once", "counting", "run", "step", "changed", "kept", "pick", "own_number", FIELD];
/// The longest word for a kind of message.
const KIND_CHARS: usize = 20;

/// Whether what a person typed is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// It is the draft of this id.
    As(Uuid),
    /// It is longer than a draft may be.
    TooLong,
    /// The person has saved as many drafts as one may.
    TooMany,
}

/// Keeps what a person of this company typed, in place of the draft that it continues.
pub(super) async fn keep(
    state: &State,
    (company, user): (Uuid, Uuid),
    words: &Words,
    is_saved: bool,
) -> Result<Keeping> {
    let typed = words.iter().filter(|(name, value)| !OF_ONE_PAGE.contains(name) && !value.is_empty());
    let content = Serializer::new(String::new()).extend_pairs(typed).finish();
    if content.len() > LONGEST {
        return Ok(Keeping::TooLong);
    }
    let name: String = words.one("name").chars().take(NAME_CHARS).collect();
    let kind: String = words.one("type").chars().take(KIND_CHARS).collect();
    let draft = NewDraft {
        id: words.one(FIELD).parse().ok(),
        name: &name,
        channel_id: words.one("channel").parse().ok(),
        kind: &kind,
        content: &content,
        is_saved,
    };
    let kept = state.engine.company(company).await?.drafts().keep(user, draft, Timestamp::now()).await?;
    Ok(kept.map_or(Keeping::TooMany, Keeping::As))
}

/// The address of the form with a draft.
pub(super) fn place(id: Uuid) -> String {
    format!("{PLACE}?{FIELD}={id}")
}
