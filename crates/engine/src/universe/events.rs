//! The events of a world.

use std::sync::Arc;

use super::ledger::LedgerEvent;
use super::nodes::NodeEvent;
use super::people::Action;
use super::reads::Reading;
use super::web::WebEvent;
use crate::account;
use crate::channel::machine::Input;
use clock::Timestamp;
use store::conversations::Inbound;
use store::ledger::Receipt;

/// Something that happens.
pub(super) enum Event {
    /// An input for a channel of the process; `is_answer` if the machine waits for it.
    Tell {
        life: u64,
        channel: usize,
        input: Box<Input>,
        is_answer: bool,
    },
    /// The timer of a channel fires.
    Timer {
        life: u64,
        channel: usize,
        timer: u64,
    },
    /// The store is read for a channel.
    Read {
        life: u64,
        channel: usize,
        reading: Box<Reading>,
    },
    /// Something happens to a business account.
    Account {
        life: u64,
        account: Arc<str>,
        input: Box<account::Input>,
    },
    /// The store is read for a business account.
    AccountReads {
        life: u64,
        account: Arc<str>,
        span: (Timestamp, Timestamp),
    },
    /// The database carries out a write, or does not.
    CommitApplies {
        number: u64,
    },
    /// Something happens to the ledger.
    Ledger {
        life: u64,
        event: Box<LedgerEvent>,
    },
    /// Something happens to web sessions, of the process of this life if there is one.
    Web {
        life: Option<u64>,
        event: Box<WebEvent>,
    },
    /// The provider sends a receipt.
    Webhook {
        channel: usize,
        receipt: Box<Receipt>,
    },
    /// The provider tells what a person wrote.
    Wrote(Box<Inbound>),
    /// Something happens to a node, of the process of this life unless it happens elsewhere.
    Node {
        life: Option<u64>,
        event: Box<NodeEvent>,
    },
    /// A person does something.
    Person(Action),
    /// A round of the sentinel.
    Changes {
        life: u64,
    },
    Expiry {
        life: u64,
    },
    Overlooked {
        life: u64,
    },
    /// A process that lost the lease ends.
    Ends {
        life: u64,
    },
    /// A second is over: things may go wrong.
    Second,
    /// The process starts again.
    Restart,
    /// An operator gives this channel a new token.
    Reconnects(usize),
    /// The provider lets a template be sent again.
    TemplateResumes(i64),
    /// Nothing goes wrong any more.
    Calm,
    /// Checks whether everything is done.
    Look,
}

impl Event {
    /// The life of the process that it is for; `None` when it is for no process.
    pub(super) const fn life(&self) -> Option<u64> {
        match self {
            Self::Tell { life, .. }
            | Self::Timer { life, .. }
            | Self::Read { life, .. }
            | Self::Account { life, .. }
            | Self::AccountReads { life, .. }
            | Self::Ledger { life, .. }
            | Self::Ends { life }
            | Self::Changes { life }
            | Self::Expiry { life }
            | Self::Overlooked { life } => Some(*life),
            Self::Web { life, .. } | Self::Node { life, .. } => *life,
            // The database carries out a requested commit even if the process is gone.
            Self::CommitApplies { .. }
            | Self::Webhook { .. }
            | Self::Wrote(_)
            | Self::Person(_)
            | Self::Second
            | Self::Restart
            | Self::Reconnects(_)
            | Self::TemplateResumes(_)
            | Self::Calm
            | Self::Look => None,
        }
    }
}
