//! The words that fields take, from the lists that the domain keeps: a list that grows describes itself.

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
    /// What a business account sends.
    MessageType = request::business_types();
    /// What a send sends.
    SendType = request::business_types();
    /// What a web session sends.
    WebMessageType = request::web_types();
    /// The kind of recipient of a web session.
    RecipientType = ["number", "group"];
    /// Which kind of provider stands behind a channel.
    ChannelKind = Kind::ALL.iter().map(|kind| kind.as_str());
    /// Whether a channel can send. Only business accounts are `blocked`, only web sessions `pairing`.
    ChannelStatus = Status::ALL.iter().map(|status| status.as_str());
    /// How far a channel is with being linked to a phone.
    PairingState = web_session::Stage::ALL.iter().map(|stage| stage.as_str());
    /// Where a send is.
    SendState = Stage::ALL.iter().map(|stage| stage.as_str());
    /// Where a message is.
    MessageState = State::ALL.iter().map(|state| state.as_str());
    /// Why nothing of a send, or of a channel, goes now.
    WaitingReason = Reason::ALL.iter().map(|reason| reason.as_str());
    /// The limit that decides how long a send takes.
    BindingLimit = Binding::ALL.iter().map(|binding| binding.as_str());
    /// What happened to a message. `attempted` and `sent` have no time where it is not kept, nor has `delivered` of a
    /// message that was read.
    MessageMilestone = Milestone::ALL.iter().map(|milestone| milestone.as_str());
    /// How a message may have ended that is sent again.
    RetriedState = State::RETRIED.iter().map(|state| state.as_str());
    /// What is limited. Only web sessions have `daily_cap` and `cold_contacts`.
    LimitName = limit::Name::ALL.iter().map(|name| name.as_str());
    /// How a template calls its variables.
    TemplateParameterFormat = ParameterFormat::ALL.iter().map(|format| format.as_str());
    /// What happens to a message whose outcome is unknown: the provider may have taken it.
    OnUnknownOutcome = UnknownOutcome::ALL.iter().map(|outcome| outcome.as_str());
    /// The result for one record of a batch.
    WriteResult = ["created", "updated", "unchanged", "rejected"];
    /// Where an import is.
    ImportState = imports::State::ALL.iter().map(|state| state.as_str());
    /// What a column of a file holds.
    ImportField = Field::ALL.iter().map(|field| field.as_str());
    /// What happens to an import.
    ImportAction = ["start", "cancel"];
    /// What an API key may be used for.
    KeyScope = Scope::ALL.map(Scope::as_str);
    /// What a person may do in a company.
    MemberRole = Role::ALL.map(Role::as_str);
    /// What a recipient is left out of.
    LeftOutOf = Suppression::ALL.map(Suppression::as_str);
    /// How a node stands: it takes channels; it gives them away; others take them over.
    NodeState = cluster::NodeState::ALL.map(cluster::NodeState::as_str);
    /// What was changed.
    ChangeSubject = What::ALL.iter().map(|what| what.as_str());
}

/// A text that is one of these words.
pub(super) fn one_of<'a>(description: &str, words: impl IntoIterator<Item = &'a str>) -> RefOr<Schema> {
    let description = Some(description).filter(|description| !description.is_empty());
    ObjectBuilder::new().schema_type(Type::String).description(description).enum_values(Some(words)).into()
}

/// Types of one word, which tell the alternatives of a field apart.
macro_rules! tags {
    ($($name:ident = [$($word:literal),+];)*) => {$(
        pub(super) enum $name {}

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $crate::api::openapi::words::one_of("", [$($word),+])
            }
        }

        impl utoipa::ToSchema for $name {}
    )*};
}
pub(super) use tags;
