//! The files that every page shares. The address of each has a hash of its content, so browsers can cache the
//! file permanently and load it again when it has changed.

use std::sync::LazyLock;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use actix_web::{HttpRequest, HttpResponse};
use flate2::Compression;
use maud::{Markup, PreEscaped};
use sha2::{Digest as _, Sha256};

use super::error::{Error, Result};
use crate::surface::gzip::{gzip, takes_gzip};

/// A file that is compiled in.
#[derive(Debug)]
pub(super) struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static str,
    made: LazyLock<Made>,
}

/// The values that are computed when a file is first requested.
#[derive(Debug)]
struct Made {
    file: String,
    tag: String,
    compressed: Vec<u8>,
}

/// Declares a file; the second name is for its computed values.
macro_rules! asset {
    ($asset:ident, $name:literal, $extension:literal, $kind:literal) => {
        pub(super) static $asset: Asset = Asset {
            name: concat!($name, ".", $extension),
            kind: $kind,
            content: include_str!(concat!("assets/", $name, ".", $extension)),
            made: LazyLock::new(|| {
                make($name, $extension, include_str!(concat!("assets/", $name, ".", $extension)))
            }),
        };
    };
}

asset!(STYLE, "style", "css", "text/css; charset=utf-8");
asset!(SCRIPT, "script", "js", "text/javascript; charset=utf-8");
asset!(CONTACTS, "contacts", "js", "text/javascript; charset=utf-8");
asset!(INBOX, "inbox", "js", "text/javascript; charset=utf-8");
asset!(EMOJI, "emoji", "js", "text/javascript; charset=utf-8");
asset!(ICON, "icon", "svg", "image/svg+xml");
asset!(ICONS, "icons", "svg", "image/svg+xml");

fn make(name: &str, extension: &str, content: &str) -> Made {
    let tag = hex::encode(&Sha256::digest(content.as_bytes())[..8]);
    let file = format!("{name}-{tag}.{extension}");
    Made { file, tag: format!("\"{tag}\""), compressed: gzip(content.as_bytes(), Compression::best()) }
}

impl Asset {
    /// The path of the file.
    pub(super) fn address(&self) -> String {
        format!("/console/assets/{}", self.made.file)
    }

    /// The path of one picture of the file.
    pub(super) fn picture(&self, id: &str) -> String {
        format!("/console/assets/{}#{id}", self.made.file)
    }

    /// Whether the file has a picture of this id.
    #[cfg(test)]
    pub(super) fn has_picture(&self, id: &str) -> bool {
        self.content.contains(&format!("<symbol id=\"{id}\""))
    }
}

/// The logo beside the name.
pub(super) fn mark() -> Markup {
    PreEscaped(ICON.content.replacen("<svg", "<svg aria-hidden=\"true\" class=\"mark\"", 1))
}

/// Answers with one of the files.
pub(super) async fn serve(request: HttpRequest) -> Result<HttpResponse> {
    let file = request.match_info().query("file");
    let all = [&STYLE, &SCRIPT, &CONTACTS, &INBOX, &EMOJI, &ICON, &ICONS];
    let known = all.into_iter().find(|asset| asset.made.file == file);
    let Asset { name, kind, content, made } = known.ok_or(Error::NotFound)?;
    let is_known =
        request.headers().get(IF_NONE_MATCH).is_some_and(|tag| tag.as_bytes() == made.tag.as_bytes());
    let mut answer = if is_known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    answer
        .insert_header((CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .insert_header((ETAG, made.tag.as_str()))
        .insert_header((VARY, "accept-encoding"));
    if is_known {
        return Ok(answer.finish());
    }
    tracing::trace!(file = name, "a browser fetched a file");
    answer.insert_header((CONTENT_TYPE, *kind));
    if takes_gzip(request.headers()) {
        return Ok(answer.insert_header((CONTENT_ENCODING, "gzip")).body(made.compressed.as_slice()));
    }
    Ok(answer.body(*content))
}
