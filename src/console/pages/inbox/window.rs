//! Whether the company may write freely in a conversation now: the ring that empties, and the words.

use maud::{Markup, html};

use crate::clock::Timestamp;
use crate::console::component::ring::ring;
use crate::console::component::time::until;
use crate::console::visitor::Viewer;
use crate::domain::channel::{Channel, Kind};
use crate::domain::inbound::SERVICE_WINDOW;
use crate::engine::conversations::types::Conversation;

/// Whether free messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// At any time: a linked phone.
    Always,
    /// Until this moment.
    Until(Timestamp),
    /// Nobody knows: the person's messages are not recorded for long enough.
    Unsure,
    /// Only templates go.
    Closed,
    /// Nothing goes: the channel was removed, the person has no number, or it is a group of a business account.
    Never,
}

impl Reach {
    /// Of a conversation on this channel; `is_enforced` says whether a closed window is refused.
    pub(super) fn of(
        conversation: &Conversation,
        channel: Option<&Channel>,
        is_enforced: bool,
        now: Timestamp,
    ) -> Self {
        let Some(channel) = channel.filter(|_| conversation.peer.user_id().is_none()) else {
            return Self::Never;
        };
        match (channel.kind, conversation.window_until.filter(|end| *end > now)) {
            (Kind::WebSession, _) => Self::Always,
            (Kind::BusinessAccount, _) if conversation.peer.group().is_some() => Self::Never,
            (Kind::BusinessAccount, Some(end)) => Self::Until(end),
            (Kind::BusinessAccount, None) if is_enforced => Self::Closed,
            (Kind::BusinessAccount, None) => Self::Unsure,
        }
    }

    /// Whether a free message may go.
    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::Always | Self::Until(_) | Self::Unsure)
    }

    /// The ring in the list, with the words for screen readers.
    pub(super) fn ring(self, viewer: &Viewer, now: Timestamp) -> Markup {
        let text = viewer.text;
        html! {
            @match self {
                Self::Until(end) => {
                    (ring(end.from_now(now), SERVICE_WINDOW))
                    span.unseen { (text.get("inbox-window-open")) " " (viewer.minute(end)) }
                }
                Self::Closed => span.unseen { (text.get("inbox-window-closed")) },
                Self::Always | Self::Unsure | Self::Never => {},
            }
        }
    }

    /// The line above the answer.
    pub(super) fn line(self, viewer: &Viewer, conversation: &Conversation, now: Timestamp) -> Markup {
        let text = viewer.text;
        let is_free = conversation.entry_point_until.filter(|end| *end > now);
        html! {
            div id="window" {
                p {
                    @match self {
                        Self::Until(end) => {
                            (ring(end.from_now(now), SERVICE_WINDOW)) " "
                            (text.get("inbox-window-open")) " " (until(viewer, end))
                        }
                        Self::Always => (text.get("inbox-window-none")),
                        Self::Unsure => (text.get("inbox-window-unsure")),
                        Self::Closed => (text.get("inbox-window-closed")),
                        Self::Never => (text.get("inbox-window-never")),
                    }
                }
                @if let Some(end) = is_free { p.soft { (text.get("inbox-window-free")) " " (until(viewer, end)) } }
            }
        }
    }
}
