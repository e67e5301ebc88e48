//! The states of channels in words.

use maud::Markup;

use super::badge::{Tone, explained};
use super::explain::Topic;
use crate::console::text::Text;
use crate::domain::channel::Status;

/// The word for a channel's state.
pub(crate) fn word(text: Text, status: Status) -> String {
    text.get(match status {
        Status::Connected => "shell-status-connected",
        Status::Connecting => "shell-status-connecting",
        Status::Disconnected => "shell-status-disconnected",
        Status::Blocked => "shell-status-blocked",
        Status::Pairing => "shell-status-pairing",
    })
}

/// The badge for a channel's state.
pub(crate) fn status(text: Text, status: Status) -> Markup {
    let tone = match status {
        Status::Connected => Tone::Good,
        Status::Connecting => Tone::Busy,
        Status::Disconnected | Status::Blocked => Tone::Bad,
        Status::Pairing => Tone::Warning,
    };
    explained(tone, &word(text, status), Topic::Channel(status))
}
