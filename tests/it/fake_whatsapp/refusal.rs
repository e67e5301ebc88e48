//! The ways in which WhatsApp refuses a device.

use whatsapp_rust::wacore_binary::Node;
use whatsapp_rust::wacore_binary::builder::NodeBuilder;

/// The reason why a device is refused, or its stream is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is not linked (any more).
    LoggedOut,
    /// The account may do nothing for a while.
    Banned {
        /// The reason, such as 101 for too many messages to strangers.
        code: u16,
        seconds: u32,
    },
    /// The account is locked.
    Locked,
    /// The client is too old.
    Outdated,
    /// WhatsApp does not know the client.
    UnknownClient,
    /// WhatsApp is unavailable at the moment.
    Unavailable,
}

impl Refusal {
    fn reason(self) -> u16 {
        match self {
            Self::LoggedOut => 401,
            Self::Banned { .. } => 402,
            Self::Locked => 403,
            Self::Outdated => 405,
            Self::UnknownClient => 418,
            Self::Unavailable => 503,
        }
    }

    pub(super) fn stanza(self) -> Node {
        let failure =
            NodeBuilder::new("failure").attr("reason", self.reason().to_string()).attr("location", "frc");
        let failure = match self {
            Self::Banned { code, seconds } => {
                failure.attr("code", code.to_string()).attr("expire", seconds.to_string())
            }
            _ => failure,
        };
        failure.build()
    }
}
