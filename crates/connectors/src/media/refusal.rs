//! Why a link is refused, in sentences for the caller.
//!
//! Each sentence says what happened and what to do. None contains data from the host, or an address that a
//! name resolved to: both would reveal internals of the operator's network.

use super::{Kind, formats};
use domain::error::{Code, Refusal};

/// The link, or the file behind it, is at fault.
fn of_link(code: Code, sentence: impl Into<String>) -> Refusal {
    Refusal::new(code, sentence).about("link")
}

/// The link leads to an address that is not allowed.
fn not_allowed(sentence: &str) -> Refusal {
    of_link(Code::LinkNotAllowed, sentence)
}

/// There is no usable file behind the link.
pub(super) fn unavailable(sentence: impl Into<String>) -> Refusal {
    of_link(Code::MediaUnavailable, sentence)
}

pub(super) fn scheme() -> Refusal {
    not_allowed(
        "the link leads to an address that is neither http nor https: give one that leads to the file",
    )
}

pub(super) fn credentials() -> Refusal {
    not_allowed(
        "the link has, or leads to an address with, a user name or a password in it: give a link that needs none",
    )
}

pub(super) fn port() -> Refusal {
    not_allowed("the link leads to a port on which no files are served: use port 80, 443 or one from 1024 up")
}

pub(super) fn not_public() -> Refusal {
    not_allowed(
        "the link leads to an address that is not on the public internet: put the file where everyone can fetch it",
    )
}

pub(super) fn downgrade() -> Refusal {
    not_allowed(
        "the link leads from https to http, where anyone could change the file: give a link that stays on https",
    )
}

pub(super) fn too_many_redirects(most: usize) -> Refusal {
    unavailable(format!("the link redirects more than {most} times: give the file's own address"))
}

pub(super) fn lost_redirect() -> Refusal {
    unavailable("the link redirects to an invalid address: give the file's own address")
}

pub(super) fn status(status: u16) -> Refusal {
    let remedy = match status {
        401 | 403 | 407 => "give a link that opens without signing in",
        404 | 410 => "check that the file is there",
        429 | 500..=599 => "try again later",
        _ => "give the file's own address",
    };
    unavailable(format!("the link answers with status {status}: {remedy}"))
}

pub(super) fn unknown_host() -> Refusal {
    unavailable("the host in the link is not known: check its name")
}

pub(super) fn no_connection() -> Refusal {
    unavailable("no connection could be made to the link's host: check that it answers, and its certificate")
}

pub(super) fn broken_off() -> Refusal {
    unavailable("the link's host broke off before the end of the file: try again, or put the file elsewhere")
}

pub(super) fn too_slow() -> Refusal {
    unavailable("the link's host did not give the file in time: try again, or put the file on a faster host")
}

pub(super) fn compressed() -> Refusal {
    unavailable(
        "the link's host sends the file compressed, although asked not to: serve it without compression",
    )
}

pub(super) fn empty() -> Refusal {
    unavailable("the file behind the link is empty: check that it is there")
}

pub(super) fn damaged(wanted: Kind) -> Refusal {
    unavailable(format!("the file behind the link cannot be read as {}: check that it opens", wanted.noun()))
}

pub(super) fn web_page(wanted: Kind) -> Refusal {
    let noun = wanted.noun();
    unavailable(format!("the link answers with a web page and not with {noun}: give the file's own address"))
}

/// `mime_type` is from our own list of types, never from the host.
pub(super) fn wrong_kind(wanted: Kind, mime_type: &str) -> Refusal {
    let noun = wanted.noun();
    unavailable(format!(
        "the file behind the link is of the type {mime_type}, which cannot be sent as {noun}: give {}, or send it \
         as a document",
        formats(wanted)
    ))
}

pub(super) fn too_large(wanted: Kind, limit: usize) -> Refusal {
    let size = size(limit);
    let sentence = format!(
        "the file behind the link is larger than {size}, the most for {}: give a smaller one",
        wanted.noun()
    );
    of_link(Code::MediaTooLarge, sentence)
}

pub(super) fn sticker_size(width: u32, height: u32, side: u32) -> Refusal {
    unavailable(format!(
        "the file behind the link is {width} by {height} pixels large: a sticker must be {side} by {side}"
    ))
}

pub(super) fn still_sticker(limit: usize) -> Refusal {
    let sentence = format!(
        "the file behind the link is larger than {}, the most for a sticker that does not move: give a smaller one",
        size(limit)
    );
    Refusal::new(Code::MediaTooLarge, sentence)
}

pub(super) fn busy() -> Refusal {
    Refusal::new(Code::ServiceUnavailable, "too many files are being fetched now: try again in a moment")
}

/// The size as it is written in the configuration.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0 => "0 B".to_owned(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_shown_as_in_the_configuration() {
        for (bytes, text) in [(16 << 20, "16 MiB"), (64 << 10, "64 KiB"), (1000, "1000 B"), (0, "0 B")] {
            assert_eq!(size(bytes), text);
        }
    }
}
