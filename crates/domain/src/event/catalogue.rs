//! The catalogue of events.

use crate::channel::Status;
use crate::inbound::{Direction, InboundContent};
use crate::message::State;
use crate::send;
use crate::template;

crate::worded! {
    /// The types of events.
    #[derive(PartialOrd, Ord)]
    pub enum Type {
        /// The provider accepted a message.
        MessageSent = "message.sent",
        /// The recipient's device has a message.
        MessageDelivered = "message.delivered",
        /// The recipient read a message.
        MessageRead = "message.read",
        /// A message will not arrive.
        MessageFailed = "message.failed",
        /// A message did not start in time.
        MessageExpired = "message.expired",
        /// A message was canceled before it started.
        MessageCanceled = "message.canceled",
        /// The provider may or may not have a message.
        MessageUnknown = "message.unknown",
        /// A message's recipient opted out before it went.
        MessageSuppressed = "message.suppressed",
        /// A send is over.
        SendFinished = "send.finished",
        /// A send was canceled.
        SendCanceled = "send.canceled",
        /// A send expired.
        SendExpired = "send.expired",
        /// A channel waits for the provider's confirmation.
        ChannelConnecting = "channel.connecting",
        /// A channel can send.
        ChannelConnected = "channel.connected",
        /// A channel cannot send.
        ChannelDisconnected = "channel.disconnected",
        /// A channel's account is restricted.
        ChannelBlocked = "channel.blocked",
        /// A channel waits for a phone.
        ChannelPairing = "channel.pairing",
        /// A person wrote to a channel.
        MessageReceived = "message.received",
        /// A person put an emoji below a message, or removed it.
        MessageReaction = "message.reaction",
        /// A person changed the text of an earlier message.
        MessageEdited = "message.edited",
        /// A person deleted an earlier message.
        MessageDeleted = "message.deleted",
        /// The company wrote to a person on its own phone.
        MessageEcho = "message.echo",
        /// A conversation began.
        ConversationOpened = "conversation.opened",
        /// A conversation is dealt with.
        ConversationClosed = "conversation.closed",
        /// A closed conversation is open again.
        ConversationReopened = "conversation.reopened",
        /// A conversation was given to a user, or taken back.
        ConversationAssigned = "conversation.assigned",
        /// A person opted out.
        ContactOptedOut = "contact.opted_out",
        /// A person opted in again.
        ContactOptedIn = "contact.opted_in",
        /// A template can be sent.
        TemplateApproved = "template.approved",
        /// The provider rejected a template.
        TemplateRejected = "template.rejected",
        /// The provider paused a template for a while.
        TemplatePaused = "template.paused",
        /// The provider disabled a template.
        TemplateDisabled = "template.disabled",
        /// A template belongs to another category.
        TemplateCategoryChanged = "template.category_changed",
        /// The provider rates a template differently.
        TemplateQualityChanged = "template.quality_changed",
        /// The provider said something that has no event of its own.
        ProviderNotice = "provider.notice",
        /// A quota of a channel is nearly used up.
        QuotaLow = "quota.low",
        /// A quota of a channel is used up.
        QuotaUsedUp = "quota.used_up",
        /// An API key expires within a week.
        KeyExpiring = "key.expiring",
        /// A webhook endpoint gets no events until a person enables it.
        WebhookDisabled = "webhook.disabled",
        /// A webhook endpoint accepts events again.
        WebhookRecovered = "webhook.recovered",
        /// Events were dropped.
        OutboxLost = "outbox.lost",
    }
}

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
