//! The words that fields may have, from the lists in the domain, so that a new word is documented by itself.

use crate::cluster;
use crate::domain::channel::{Kind, Status};
use crate::domain::event::Type;
use crate::domain::inbound::{self, ConversationKind, WindowRule};
use crate::domain::message::{Milestone, Reception, State};
use crate::domain::outlook::Reason;
use crate::domain::own_field::FieldKind;
use crate::domain::plan::Binding;
use crate::domain::price::PriceCategory;
use crate::domain::scope::Scope;
use crate::domain::send::{EndReason, Stage};
use crate::domain::suppression::{Source, Suppression};
use crate::domain::template::ParameterFormat;
use crate::domain::tier::UnknownOutcome;
use crate::domain::user::Role;
use crate::domain::webhook::{Cause, ReplayOf, Resume, SealedPart, Shape, WebhookProfile, known_types};
use crate::domain::{limit, media, request, schema_words};
use crate::engine::records::changes::What;
use crate::engine::records::imports;
use crate::engine::records::segments::Lack;
use crate::engine::web_session;

schema_words! {
    /// The type of a send's messages.
    pub(crate) SendType = request::business_types();
    /// The kind of provider of a channel.
    pub(crate) ChannelKind = Kind::ALL.iter().map(|kind| kind.as_str());
    /// Whether a channel can send. Only business accounts are `blocked`, only web sessions `pairing`.
    pub(crate) ChannelStatus = Status::ALL.iter().map(|status| status.as_str());
    /// The state of a channel's pairing with a phone.
    pub(crate) PairingState = web_session::Stage::ALL.iter().map(|stage| stage.as_str());
    /// The state of a send.
    pub(crate) SendState = Stage::ALL.iter().map(|stage| stage.as_str());
    /// Why a send ended although nobody asked for that.
    pub(crate) SendEndReason = EndReason::ALL.iter().map(|reason| reason.as_str());
    /// The kind of reason for which an entry of a send is skipped.
    pub(crate) SkippedCode = request::SkipCode::ALL.map(request::SkipCode::as_str);
    /// The outcome of a send for a contact.
    pub(crate) SendReception = Reception::ALL.iter().map(|word| word.as_str());
    /// What the filter of a segment names and the company has no more.
    pub(crate) SegmentLack = Lack::ALL.iter().map(|lack| lack.as_str());
    /// The state of a message.
    pub(crate) MessageState = State::ALL.iter().map(|state| state.as_str());
    /// Why no message of a send, or of a channel, goes out now.
    pub(crate) WaitingReason = Reason::ALL.iter().map(|reason| reason.as_str());
    /// The limit that decides how long a send takes.
    pub(crate) BindingLimit = Binding::ALL.iter().map(|binding| binding.as_str());
    /// What happened to a message. `attempted` and `sent` may have no time, because it is not always kept;
    /// `delivered` has none for a message that was read.
    pub(crate) MessageMilestone = Milestone::ALL.iter().map(|milestone| milestone.as_str());
    /// The category of a message that decides its price; `other` has no published price.
    pub(crate) MessageCategory = PriceCategory::ALL.iter().map(|category| category.as_str());
    /// The name of a limit. Only web sessions have `daily_cap` and `cold_contacts`.
    pub(crate) LimitName = limit::Name::ALL.iter().map(|name| name.as_str());
    /// How a template names its variables.
    pub(crate) TemplateParameterFormat = ParameterFormat::ALL.iter().map(|format| format.as_str());
    /// What happens to a message whose outcome is unknown, because the provider may have accepted it.
    pub(crate) OnUnknownOutcome = UnknownOutcome::ALL.iter().map(|outcome| outcome.as_str());
    /// The result for one record of a batch.
    pub(crate) WriteResult = ["created", "updated", "unchanged", "rejected"];
    /// The type of message that a file is sent as.
    pub(crate) MediaKind = media::Kind::ALL.iter().map(|kind| kind.as_str());
    /// The state of an import.
    pub(crate) ImportState = imports::State::ALL.iter().map(|state| state.as_str());
    /// What the values of an own field of contacts are.
    pub(crate) ContactFieldType = FieldKind::ALL.iter().map(|kind| kind.as_str());
    /// The action on an import.
    pub(crate) ImportAction = ["start", "cancel"];
    /// With whom a conversation is.
    pub(crate) ConversationPeer = ConversationKind::ALL.iter().map(|kind| kind.as_str());
    /// Whether a conversation is dealt with.
    pub(crate) ConversationState = inbound::ConversationState::ALL.iter().map(|state| state.as_str());
    /// Who wrote a message: the person (`in`), the company on its own phone or with another program (`echo`), or the company
    /// through Pombo (`out`).
    pub(crate) MessageDirection = ["in", "echo", "out"];
    /// Who decides whether messages go to people whose window is closed.
    pub(crate) WindowRuleName = WindowRule::ALL.iter().map(|rule| rule.as_str());
    /// The type of an event that a webhook endpoint can get.
    pub(crate) EventType = known_types().map(Type::as_str);
    /// Whether events are sent to a webhook endpoint.
    pub(crate) WebhookState = ["enabled", "disabled"];
    /// The form in which a webhook endpoint gets events: Pombo's own (`pombo`), or that of Meta's webhooks (`graph`).
    pub(crate) WebhookShape = Shape::ALL.iter().map(|shape| shape.as_str());
    /// What a receiver of Meta's webhooks understands: everything (`meta`); what every program knows, where anything else is
    /// `unsupported` (`strict`); or the same with echoes, and reactions as texts (`chatwoot`).
    pub(crate) ReceiverProfile = WebhookProfile::ALL.iter().map(|profile| profile.as_str());
    /// For what a program set a webhook endpoint at the door that speaks Graph.
    pub(crate) ReceiverOf = ["number", "account", "app"];
    /// Why a webhook endpoint is disabled: its receiver answered 410 (`gone`), a `person` or a program disabled it, or all
    /// attempts of five days failed (`failures`).
    pub(crate) WebhookDisabledReason = Cause::ALL.iter().map(|cause| cause.as_str());
    /// A part of a webhook endpoint that is stored sealed: the `secret` that signs its requests, or their `headers`.
    pub(crate) WebhookSealedPart = SealedPart::ALL.iter().map(|part| part.as_str());
    /// The events that a webhook endpoint gets once more: `all` that it gets, or those that `failed`, which were given up or wait
    /// for another attempt.
    pub(crate) WebhookReplayState = ReplayOf::ALL.iter().map(|of| of.as_str());
    /// The first events that an enabled webhook endpoint gets: those that happened while it was disabled (`cursor`), or those
    /// that happen from `now` on.
    pub(crate) WebhookResume = Resume::ALL.iter().map(|resume| resume.as_str());
    /// The scope of an API key.
    pub(crate) KeyScope = Scope::ALL.map(Scope::as_str);
    /// The role of a person in a company.
    pub(crate) MemberRole = Role::ALL.map(Role::as_str);
    /// The messages that a recipient does not get.
    pub(crate) LeftOutOf = Suppression::ALL.map(Suppression::as_str);
    /// Where a suppression comes from: the `provider` reported it, the person stopped marketing in WhatsApp
    /// (`preference`) or wrote an opt-out word (`message`), or an `operator`, a user or an API key added it.
    pub(crate) SuppressionSource = Source::ALL.map(Source::as_str);
    /// The messages that a person who writes an opt-out word does not get.
    pub(crate) StoppedByWord = std::iter::once("nothing").chain(Suppression::ALL.map(Suppression::as_str));
    /// The state of a node: it takes channels; it gives them away; or others take them over.
    pub(crate) NodeState = cluster::NodeState::ALL.map(cluster::NodeState::as_str);
    /// The kind of record that was changed.
    pub(crate) ChangeSubject = What::ALL.iter().map(|what| what.as_str());
}
