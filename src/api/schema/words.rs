//! The words that fields may have, from the lists in the domain, so that a new word is documented by itself.

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::cluster;
use crate::domain::channel::{Kind, Status};
use crate::domain::message::{Milestone, State};
use crate::domain::outlook::Reason;
use crate::domain::plan::Binding;
use crate::domain::scope::Scope;
use crate::domain::send::Stage;
use crate::domain::suppression::Suppression;
use crate::domain::template::ParameterFormat;
use crate::domain::tier::UnknownOutcome;
use crate::domain::user::Role;
use crate::domain::{limit, request};
use crate::engine::records::changes::What;
use crate::engine::records::imports;
use crate::engine::web_session;
use crate::import::Field;

macro_rules! words {
    ($($(#[doc = $doc:literal])+ $name:ident = $words:expr;)*) => {$(
        $(#[doc = $doc])+
        pub(in crate::api) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                one_of(concat!($($doc),+).trim(), $words)
            }
        }

        impl ToSchema for $name {}
    )*};
}

words! {
    /// The type of a message through a business account.
    MessageType = request::business_types();
    /// The type of a send's messages.
    SendType = request::business_types();
    /// The type of a message through a web session.
    WebMessageType = request::web_types();
    /// The kind of recipient of a web session.
    RecipientType = ["number", "group"];
    /// The kind of provider of a channel.
    ChannelKind = Kind::ALL.iter().map(|kind| kind.as_str());
    /// Whether a channel can send. Only business accounts are `blocked`, only web sessions `pairing`.
    ChannelStatus = Status::ALL.iter().map(|status| status.as_str());
    /// The state of a channel's pairing with a phone.
    PairingState = web_session::Stage::ALL.iter().map(|stage| stage.as_str());
    /// The state of a send.
    SendState = Stage::ALL.iter().map(|stage| stage.as_str());
    /// The state of a message.
    MessageState = State::ALL.iter().map(|state| state.as_str());
    /// Why no message of a send, or of a channel, goes out now.
    WaitingReason = Reason::ALL.iter().map(|reason| reason.as_str());
    /// The limit that decides how long a send takes.
    BindingLimit = Binding::ALL.iter().map(|binding| binding.as_str());
    /// What happened to a message. `attempted` and `sent` may have no time, because it is not always kept;
    /// `delivered` has none for a message that was read.
    MessageMilestone = Milestone::ALL.iter().map(|milestone| milestone.as_str());
    /// The states of messages that can be retried.
    RetriedState = State::RETRIED.iter().map(|state| state.as_str());
    /// The name of a limit. Only web sessions have `daily_cap` and `cold_contacts`.
    LimitName = limit::Name::ALL.iter().map(|name| name.as_str());
    /// How a template names its variables.
    TemplateParameterFormat = ParameterFormat::ALL.iter().map(|format| format.as_str());
    /// What happens to a message whose outcome is unknown, because the provider may have accepted it.
    OnUnknownOutcome = UnknownOutcome::ALL.iter().map(|outcome| outcome.as_str());
    /// The result for one record of a batch.
    WriteResult = ["created", "updated", "unchanged", "rejected"];
    /// The state of an import.
    ImportState = imports::State::ALL.iter().map(|state| state.as_str());
    /// The field of a column of a file.
    ImportField = Field::ALL.iter().map(|field| field.as_str());
    /// The action on an import.
    ImportAction = ["start", "cancel"];
    /// The scope of an API key.
    KeyScope = Scope::ALL.map(Scope::as_str);
    /// The role of a person in a company.
    MemberRole = Role::ALL.map(Role::as_str);
    /// The messages that a recipient does not get.
    LeftOutOf = Suppression::ALL.map(Suppression::as_str);
    /// The messages that a person who writes an opt-out word does not get.
    StoppedByWord = std::iter::once("nothing").chain(Suppression::ALL.map(Suppression::as_str));
    /// The state of a node: it takes channels; it gives them away; or others take them over.
    NodeState = cluster::NodeState::ALL.map(cluster::NodeState::as_str);
    /// The kind of record that was changed.
    ChangeSubject = What::ALL.iter().map(|what| what.as_str());
}

/// A text that is one of these words.
pub(super) fn one_of<'a>(description: &str, words: impl IntoIterator<Item = &'a str>) -> RefOr<Schema> {
    let description = Some(description).filter(|description| !description.is_empty());
    ObjectBuilder::new().schema_type(Type::String).description(description).enum_values(Some(words)).into()
}

/// Types with a single word, which distinguish the alternatives of a field.
macro_rules! tags {
    ($($name:ident = [$($word:literal),+];)*) => {$(
        pub(super) enum $name {}

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $crate::api::schema::words::one_of("", [$($word),+])
            }
        }

        impl utoipa::ToSchema for $name {}
    )*};
}
pub(super) use tags;
