//! The schemas of the API reference that no type of ours has: the provider's documents, and words.

mod described;
mod words;

pub(super) use self::described::{
    ChangedValue, LibraryBodyInputs, LibraryButtonInput, SentCard, SentComponent, SentInteractive,
    SentLocation, SentReaction, TemplatePart, WebhookBody,
};
pub(super) use self::words::*;
