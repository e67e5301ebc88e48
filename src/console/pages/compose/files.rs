//! The files behind the links of a message. They are fetched when the message is checked, so that a wrong link is told before
//! the provider finds it. The provider fetches them itself, perhaps from where this service cannot: so a file that cannot
//! be fetched here is a warning, and the message can be sent.

use std::time::Duration;

use maud::{Markup, html};
use tokio::time::{Instant, timeout_at};
use url::Url;
use uuid::Uuid;

use super::choice::Choice;
use super::content::{self, Kind};
use super::preview::own_file;
use super::{template, web};
use crate::console::component::notice;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::content::Content;
use crate::domain::template::contact_field::is_in;
use crate::engine::{DryRunFile, Engine};
use crate::error::Code;

/// The most files that are fetched for one check: a carousel has at most ten.
const MOST: usize = 12;
/// How long the files of one check are fetched.
const WITHIN: Duration = Duration::from_secs(10);

/// A file of the message.
#[derive(Clone)]
pub(super) struct SeenFile {
    /// The host that it comes from.
    host: String,
    found: Result<DryRunFile, Code>,
}

/// The files that the form names, as contents of their own. Those of the console's own library are known already.
pub(super) fn named(choice: &Choice, words: &Words) -> Vec<Content> {
    let given = |field: &str| words.one(field).to_owned();
    let of_template = choice.filled().map(|template| template::files(template, words));
    let files = match choice.kind {
        Kind::Image | Kind::Video | Kind::Audio | Kind::Document => {
            vec![(choice.kind.as_str(), given("link"))]
        }
        Kind::Buttons => vec![(content::header_type(choice.kind, words).as_str(), given("header"))],
        Kind::Text | Kind::Template | Kind::List | Kind::Product | Kind::Products => Vec::new(),
    };
    // Of a link that differs from recipient to recipient, there is no one file.
    let is_one = |link: &str| !link.is_empty() && !is_in(link) && own_file(link).is_none();
    let files = files.into_iter().chain(of_template.into_iter().flatten());
    let files = files.filter(|(_, link)| is_one(link));
    files.filter_map(|(kind, link)| file(kind, link)).take(MOST).collect()
}

fn file(kind: &str, link: String) -> Option<Content> {
    Some(match kind {
        "image" => Content::Image { link, caption: None },
        "video" => Content::Video { link, caption: None },
        "audio" => Content::Audio { link, voice: None },
        "document" => Content::Document { link, caption: None, filename: None },
        _ => return None,
    })
}

/// Fetches the files, one after the other.
pub(super) async fn look(engine: &Engine, company: Uuid, files: &[Content]) -> Vec<SeenFile> {
    let (until, mut seen) = (Instant::now() + WITHIN, Vec::new());
    for content in files {
        let (Content::Image { link, .. }
        | Content::Video { link, .. }
        | Content::Audio { link, .. }
        | Content::Document { link, .. }) = content
        else {
            continue;
        };
        let host = Url::parse(link).ok().and_then(|link| link.host_str().map(str::to_owned));
        let found = match timeout_at(until, engine.sends().look_at_file(company, content)).await {
            Ok(Ok(Some(file))) => Ok(file),
            Ok(Ok(None)) => continue,
            Ok(Err(refusal)) => Err(refusal.code),
            Err(_) => Err(Code::ServiceUnavailable),
        };
        seen.push(SeenFile { host: host.unwrap_or_else(|| link.clone()), found });
    }
    seen
}

/// The files that could not be fetched, or are none.
pub(super) fn problems(text: Text, seen: &[SeenFile]) -> Markup {
    html! {
        @for SeenFile { host, found } in seen {
            @if let Err(code) = found {
                (notice::warning(&html! {
                    p { bdi { (host) } ": " (text.get(sentence(*code))) }
                    p { (text.get("compose-file-anyway")) }
                }))
            }
        }
    }
}

/// The files that were fetched.
pub(super) fn shown(viewer: &Viewer, seen: &[SeenFile]) -> Markup {
    html! {
        @for SeenFile { host, found } in seen {
            @if let Ok(file) = found { p { bdi { (host) } ": " (web::described(viewer, file)) } }
        }
    }
}

const fn sentence(code: Code) -> &'static str {
    match code {
        Code::LinkNotAllowed => "compose-fault-link-inner",
        Code::InvalidLink => "compose-fault-link",
        Code::MediaTooLarge => "compose-fault-file-large",
        Code::ServiceUnavailable => "compose-file-slow",
        _ => "compose-fault-file",
    }
}
