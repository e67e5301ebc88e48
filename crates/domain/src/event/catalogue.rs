//! The catalogue of events.

use crate::channel::Status;
use crate::inbound::{Direction, InboundContent};
use crate::message::State;
use crate::send;
use crate::template;
use crate::words::words;

/// The types of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// The provider accepted a message.
    MessageSent,
    /// The recipient's device has a message.
    MessageDelivered,
    /// The recipient read a message.
    MessageRead,
    /// A message will not arrive.
    MessageFailed,
    /// A message did not start in time.
    MessageExpired,
    /// A message was canceled before it started.
    MessageCanceled,
    /// The provider may or may not have a message.
    MessageUnknown,
    /// A message's recipient opted out before it went.
    MessageSuppressed,
    /// A send is over.
    SendFinished,
    /// A send was canceled.
    SendCanceled,
    /// A send expired.
    SendExpired,
    /// A channel waits for the provider's confirmation.
    ChannelConnecting,
    /// A channel can send.
    ChannelConnected,
    /// A channel cannot send.
    ChannelDisconnected,
    /// A channel's account is restricted.
    ChannelBlocked,
    /// A channel waits for a phone.
    ChannelPairing,
    /// A person wrote to a channel.
    MessageReceived,
    /// A person put an emoji below a message, or removed it.
    MessageReaction,
    /// A person changed the text of an earlier message.
    MessageEdited,
    /// A person deleted an earlier message.
    MessageDeleted,
    /// The company wrote to a person on its own phone.
    MessageEcho,
    /// A conversation began.
    ConversationOpened,
    /// A conversation is dealt with.
    ConversationClosed,
    /// A closed conversation is open again.
    ConversationReopened,
    /// A conversation was given to a user, or taken back.
    ConversationAssigned,
    /// A person opted out.
    ContactOptedOut,
    /// A person opted in again.
    ContactOptedIn,
    /// A template can be sent.
    TemplateApproved,
    /// The provider rejected a template.
    TemplateRejected,
    /// The provider paused a template for a while.
    TemplatePaused,
    /// The provider disabled a template.
    TemplateDisabled,
    /// A template belongs to another category.
    TemplateCategoryChanged,
    /// The provider rates a template differently.
    TemplateQualityChanged,
    /// The provider said something that has no event of its own.
    ProviderNotice,
    /// A quota of a channel is nearly used up.
    QuotaLow,
    /// A quota of a channel is used up.
    QuotaUsedUp,
    /// An API key expires within a week.
    KeyExpiring,
    /// A webhook endpoint gets no events until a person enables it.
    WebhookDisabled,
    /// A webhook endpoint accepts events again.
    WebhookRecovered,
    /// Events were dropped.
    OutboxLost,
}

words!(Type {
    MessageSent = "message.sent",
    MessageDelivered = "message.delivered",
    MessageRead = "message.read",
    MessageFailed = "message.failed",
    MessageExpired = "message.expired",
    MessageCanceled = "message.canceled",
    MessageUnknown = "message.unknown",
    MessageSuppressed = "message.suppressed",
    SendFinished = "send.finished",
    SendCanceled = "send.canceled",
    SendExpired = "send.expired",
    ChannelConnecting = "channel.connecting",
    ChannelConnected = "channel.connected",
    ChannelDisconnected = "channel.disconnected",
    ChannelBlocked = "channel.blocked",
    ChannelPairing = "channel.pairing",
    MessageReceived = "message.received",
    MessageReaction = "message.reaction",
    MessageEdited = "message.edited",
    MessageDeleted = "message.deleted",
    MessageEcho = "message.echo",
    ConversationOpened = "conversation.opened",
    ConversationClosed = "conversation.closed",
    ConversationReopened = "conversation.reopened",
    ConversationAssigned = "conversation.assigned",
    ContactOptedOut = "contact.opted_out",
    ContactOptedIn = "contact.opted_in",
    TemplateApproved = "template.approved",
    TemplateRejected = "template.rejected",
    TemplatePaused = "template.paused",
    TemplateDisabled = "template.disabled",
    TemplateCategoryChanged = "template.category_changed",
    TemplateQualityChanged = "template.quality_changed",
    ProviderNotice = "provider.notice",
    QuotaLow = "quota.low",
    QuotaUsedUp = "quota.used_up",
    KeyExpiring = "key.expiring",
    WebhookDisabled = "webhook.disabled",
    WebhookRecovered = "webhook.recovered",
    OutboxLost = "outbox.lost",
});

impl Type {
    /// Of a message that reached this state; `None` for a state that is no event.
    pub const fn of_message(state: State) -> Option<Self> {
        Some(match state {
            State::Queued | State::Sending => return None,
            State::Sent => Self::MessageSent,
            State::Delivered => Self::MessageDelivered,
            State::Read => Self::MessageRead,
            State::Failed => Self::MessageFailed,
            State::Expired => Self::MessageExpired,
            State::Canceled => Self::MessageCanceled,
            State::Unknown => Self::MessageUnknown,
            State::Suppressed => Self::MessageSuppressed,
        })
    }

    /// Of a message that a person, or the company on its own phone, wrote.
    pub const fn of_inbound(direction: Direction, content: &InboundContent) -> Self {
        match (direction, content) {
            (Direction::Echo, _) => Self::MessageEcho,
            (Direction::In, InboundContent::Reaction { .. }) => Self::MessageReaction,
            (Direction::In, InboundContent::Edit { .. }) => Self::MessageEdited,
            (Direction::In, InboundContent::Deletion { .. }) => Self::MessageDeleted,
            (Direction::In, _) => Self::MessageReceived,
        }
    }

    /// Of a send that is over.
    pub const fn of_send(state: send::State) -> Self {
        match state {
            send::State::Canceled => Self::SendCanceled,
            send::State::Expired => Self::SendExpired,
            send::State::Finished | send::State::Resolving | send::State::Active => Self::SendFinished,
        }
    }

    /// Of a channel that reached this status.
    pub const fn of_channel(status: Status) -> Self {
        match status {
            Status::Connecting => Self::ChannelConnecting,
            Status::Connected => Self::ChannelConnected,
            Status::Disconnected => Self::ChannelDisconnected,
            Status::Blocked => Self::ChannelBlocked,
            Status::Pairing => Self::ChannelPairing,
        }
    }

    /// Of a template that reached this status; `None` for a status that is no event.
    pub const fn of_template(status: &template::Status) -> Option<Self> {
        Some(match status {
            template::Status::Approved => Self::TemplateApproved,
            template::Status::Rejected => Self::TemplateRejected,
            template::Status::Paused => Self::TemplatePaused,
            template::Status::Disabled => Self::TemplateDisabled,
            template::Status::Pending
            | template::Status::InAppeal
            | template::Status::LimitExceeded
            | template::Status::Deleted
            | template::Status::Other(_) => return None,
        })
    }

    /// The words after the dot.
    pub(super) fn word(self) -> &'static str {
        self.as_str().split_once('.').map_or("", |(_, word)| word)
    }
}
