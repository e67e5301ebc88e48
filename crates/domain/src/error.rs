//! The one table of error codes that clients may see.
//!
//! Every refusal in the service is a [`Refusal`]: a [`Code`] from this table and a sentence for a
//! person. An internal failure (a database's message, a chain of causes) never becomes a
//! `Refusal`: it is logged where it occurs, and the client reads `internal server error`.

use std::fmt;

/// The few kinds of refusal; the HTTP surface maps each to one status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The request itself is wrong: 400.
    Invalid,
    /// The caller is not authenticated: 401.
    Unauthenticated,
    /// The caller is authenticated and may not do this: 403.
    Forbidden,
    /// The path or the record does not exist: 404.
    NotFound,
    /// What was there is no longer kept: 410.
    Gone,
    /// The path exists, the method does not: 405.
    MethodNotAllowed,
    /// The rest of the request did not arrive in time: 408.
    TooSlow,
    /// The state of the record forbids the request now: 409.
    Conflict,
    /// The body is larger than the configured bound: 413.
    TooLarge,
    /// The caller makes too many requests: 429 with `Retry-After`.
    TooManyRequests,
    /// The request is well-formed and cannot be carried out: 422.
    Unprocessable,
    /// This build of the service lacks the feature: 501.
    NotBuilt,
    /// The service cannot do it now; the caller should retry: 503 with `Retry-After`.
    Unavailable,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $literal:literal, $class:ident;)*) => {
        /// A refusal's code. The literals are part of the contract and never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl Code {
            /// Every code, for tests and for the reference page.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The literal that clients compare with.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $literal,)* }
            }

            /// The kind of refusal that this code belongs to.
            pub const fn class(self) -> Class {
                match self { $(Self::$variant => Class::$class,)* }
            }

            /// What the code means, for people: the text that documents the variant.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim(),)* }
            }
        }
    };
}

codes! {
    /// The `Authorization` header is missing or malformed.
    InvalidAuthHeader = "invalid_auth_header", Unauthenticated;
    /// The API key is unknown, revoked or expired.
    InvalidApiKey = "invalid_api_key", Unauthenticated;
    /// The company makes more requests than its tier allows, or the pacing of a web session would delay the message for
    /// too long. Retry after the seconds of `Retry-After`.
    RateLimited = "rate_limited", TooManyRequests;
    /// The API key lacks the scope that the path needs.
    InsufficientScope = "insufficient_scope", Forbidden;
    /// An operator disabled the company that the key or the token belongs to.
    CompanyDisabled = "company_disabled", Forbidden;
    /// The channel belongs to another company.
    CredentialResourceMismatch = "credential_resource_mismatch", Forbidden;
    /// The bytes are not an HTTP request. A head that is too large is answered with 431, one that arrives too slowly
    /// with 408.
    MalformedRequest = "malformed_request", Invalid;
    /// No such path.
    NotFound = "not_found", NotFound;
    /// The path exists, this method does not.
    MethodNotAllowed = "method_not_allowed", MethodNotAllowed;
    /// No such channel.
    ChannelNotFound = "channel_not_found", NotFound;
    /// No such company.
    CompanyNotFound = "company_not_found", NotFound;
    /// The company has no such active API key.
    KeyNotFound = "key_not_found", NotFound;
    /// No such user.
    UserNotFound = "user_not_found", NotFound;
    /// No such invitation, or it was used or has expired.
    InvitationNotFound = "invitation_not_found", NotFound;
    /// No such node.
    NodeNotFound = "node_not_found", NotFound;
    /// The company has no suppression for this number.
    SuppressionNotFound = "suppression_not_found", NotFound;
    /// Another company has the name, another user has the e-mail, or another channel has the number.
    AlreadyExists = "already_exists", Conflict;
    /// The provider does not know the business account or its number, restricts it, or refuses the token.
    ProviderRefused = "provider_refused", Unprocessable;
    /// The provider does not answer a query that the request depends on.
    ProviderUnavailable = "provider_unavailable", Unavailable;
    /// The channel still has sends and cannot be removed.
    ChannelInUse = "channel_in_use", Conflict;
    /// No such tier.
    TierNotFound = "tier_not_found", NotFound;
    /// The body is not a valid tier, or the tier is not for this kind of channel.
    InvalidTier = "invalid_tier", Invalid;
    /// A tier cannot change the kind of channel that it is for.
    TierKindChanged = "tier_kind_changed", Conflict;
    /// The tier is used by a channel or a company.
    TierInUse = "tier_in_use", Conflict;
    /// No operator uploaded a rate card of this date.
    RateCardNotFound = "rate_card_not_found", NotFound;
    /// There is no such entry in the history, or it has nothing to go back to.
    ChangeNotFound = "change_not_found", NotFound;
    /// The channel id in a web session's path is not an id.
    InvalidIdParam = "invalid_id_param", Invalid;
    /// The webhook is not signed with the channel's app secret.
    InvalidSignature = "invalid_signature", Forbidden;
    /// The verify token of the webhook's handshake is not the channel's.
    InvalidVerifyToken = "invalid_verify_token", Forbidden;
    /// The body is not a JSON object.
    InvalidBody = "invalid_body", Invalid;
    /// The body is over the configured size, or would take too much memory when it is read.
    BodyTooLarge = "body_too_large", TooLarge;
    /// The body did not arrive within `server.body_timeout`, or arrived too slowly.
    BodyTooSlow = "body_too_slow", TooSlow;
    /// A known field has a wrong JSON type or an impossible value.
    InvalidField = "invalid_field", Invalid;
    /// A field of the body is unknown, and its name is nearly that of a known one: `did you mean` names it. Unknown fields
    /// with other names are accepted.
    UnknownField = "unknown_field", Invalid;
    /// A value of a recipient has a name that is none, or is no text, number or boolean; or there are more than 64 of them.
    InvalidValues = "invalid_values", Invalid;
    /// A value of all recipients cannot stand where the message has it, such as one with a line break in a template.
    ValueNotAllowed = "value_not_allowed", Unprocessable;
    /// Some recipients would be skipped, and the request asks in `on_skipped` that nobody gets the message then.
    RecipientsSkipped = "recipients_skipped", Unprocessable;
    /// The values of the send's recipients are no longer kept (`values.keep`): it cannot be sent again.
    ValuesGone = "values_gone", Gone;
    /// The path has no query parameter of this name.
    UnknownParameter = "unknown_parameter", Invalid;
    /// A query parameter that has one value is given more than once.
    RepeatedParameter = "repeated_parameter", Invalid;
    /// `page` or `limit` is out of its range.
    InvalidPagination = "invalid_pagination", Invalid;
    /// `type` is absent.
    MissingType = "missing_type", Invalid;
    /// `type` is not one that this channel can send.
    InvalidType = "invalid_type", Invalid;
    /// None of `phone_number`, `contact_tag_id` and `segment_id` is given.
    MissingRecipient = "missing_recipient", Invalid;
    /// No recipient with a valid number is left.
    NoValidRecipients = "no_valid_recipients", Invalid;
    /// More `phone_number` entries than one request may have, or a reaction to more than one recipient.
    TooManyRecipients = "too_many_recipients", Invalid;
    /// More tags than one request may have.
    TooManyTags = "too_many_tags", Invalid;
    /// A text send without text.
    MissingMessage = "missing_message", Invalid;
    /// The text is over the configured length.
    TextTooLong = "text_too_long", Invalid;
    /// A media send without link.
    MissingLink = "missing_link", Invalid;
    /// The link is neither an absolute http or https address nor that of a file of the library.
    InvalidLink = "invalid_link", Invalid;
    /// The link is over the configured length.
    LinkTooLong = "link_too_long", Invalid;
    /// The caption is over the configured length.
    CaptionTooLong = "caption_too_long", Invalid;
    /// A template send without `template_id`.
    MissingTemplateId = "missing_template_id", Invalid;
    /// `template_id` is not a number.
    InvalidTemplateIdFormat = "invalid_template_id_format", Invalid;
    /// A template send without `components`.
    MissingComponents = "missing_components", Invalid;
    /// `components` do not fit the template.
    InvalidComponents = "invalid_components", Invalid;
    /// An interactive send without `interactive`.
    MissingInteractive = "missing_interactive", Invalid;
    /// The interactive payload breaks one of the provider's rules.
    InvalidInteractive = "invalid_interactive", Invalid;
    /// A location send without `location`.
    MissingLocation = "missing_location", Invalid;
    /// `location` is no place on the map, or one of its texts is too long.
    InvalidLocation = "invalid_location", Invalid;
    /// A contacts send without `contacts`.
    MissingContacts = "missing_contacts", Invalid;
    /// A card of `contacts` lacks what the provider asks for, or breaks one of its rules.
    InvalidContacts = "invalid_contacts", Invalid;
    /// A reaction send without `reaction`.
    MissingReaction = "missing_reaction", Invalid;
    /// `reaction` does not name one message and one emoji.
    InvalidReaction = "invalid_reaction", Invalid;
    /// `send_at` and `expires_at` leave no time to send in, or are too far ahead.
    InvalidSchedule = "invalid_schedule", Invalid;
    /// No such template in this company.
    TemplateNotFound = "template_not_found", NotFound;
    /// The template breaks one of the provider's rules.
    InvalidTemplate = "invalid_template", Invalid;
    /// The account has a template of this name in this language.
    TemplateNameTaken = "template_name_taken", Conflict;
    /// The web sessions of the company have as many templates as they may have.
    TooManyTemplates = "too_many_templates", Conflict;
    /// The template is not approved by the provider.
    TemplateNotApproved = "template_not_approved", Invalid;
    /// The channel is disconnected or blocked: reconnect it, or resolve the block with the provider.
    ReconnectWaba = "reconnect_waba", Invalid;
    /// A web-session send, or a check of numbers, without `phone_number`.
    MissingPhoneNumber = "missing_phone_number", Invalid;
    /// The phone number, or the id of a group, is malformed.
    InvalidPhoneNumber = "invalid_phone_number", Invalid;
    /// A web-session send without `recipient_type`.
    MissingRecipientType = "missing_recipient_type", Invalid;
    /// `recipient_type` is neither `number` nor `group`.
    InvalidRecipientType = "invalid_recipient_type", Invalid;
    /// The file behind the link cannot be fetched, or it or an uploaded file cannot be sent as this `type`.
    MediaUnavailable = "media_unavailable", Invalid;
    /// The number is not on WhatsApp, or the group cannot be written to.
    NotOnWhatsapp = "not_on_whatsapp", Unprocessable;
    /// The link leads to an address that is not public, or that `media.refuse` names.
    LinkNotAllowed = "link_not_allowed", Invalid;
    /// The file behind the link is over the configured size, or an uploaded file is larger than WhatsApp takes.
    MediaTooLarge = "media_too_large", Invalid;
    /// The company's library has no such file.
    MediaNotFound = "media_not_found", NotFound;
    /// The company's library has as many files, or as many bytes, as it may have.
    MediaLibraryFull = "media_library_full", Conflict;
    /// The provider cannot fetch a file of the library, because the service has no address that others reach.
    NoPublicAddress = "no_public_address", Conflict;
    /// The web session is not connected.
    SessionDisconnected = "session_disconnected", Conflict;
    /// The pairing is not waiting for a passkey, or it is waiting for another step of the passkey.
    PasskeyNotExpected = "passkey_not_expected", Conflict;
    /// The program was built without the feature `web-session`.
    FeatureUnavailable = "feature_unavailable", NotBuilt;
    /// `Idempotency-Key` is not 1 to 255 visible ASCII characters, or is given twice.
    InvalidIdempotencyKey = "invalid_idempotency_key", Invalid;
    /// A different request was accepted under this `Idempotency-Key`.
    IdempotencyKeyReused = "idempotency_key_reused", Unprocessable;
    /// A request under this `Idempotency-Key` is still in progress.
    IdempotencyInProgress = "idempotency_in_progress", Conflict;
    /// The person did not write to the channel in the last 24 hours, so that WhatsApp takes only templates.
    WindowClosed = "window_closed", Conflict;
    /// The company has no such conversation.
    ConversationNotFound = "conversation_not_found", NotFound;
    /// A conversation can be assigned only to members who answer: not to viewers, nor to users who are disabled.
    UserCannotAnswer = "user_cannot_answer", Conflict;
    /// The company has no such send.
    SendNotFound = "send_not_found", NotFound;
    /// The send has no message with this ordinal.
    MessageNotFound = "message_not_found", NotFound;
    /// The send is over: it can no longer be paused, resumed or canceled.
    SendIsOver = "send_is_over", Conflict;
    /// The send is not scheduled, or has begun: its start can no longer be moved.
    SendHasBegun = "send_has_begun", Conflict;
    /// A retry of this send, or of one that it belongs to, is being accepted.
    RetryInProgress = "retry_in_progress", Conflict;
    /// The company has no such contact.
    ContactNotFound = "contact_not_found", NotFound;
    /// Another contact of the company has the number.
    NumberTaken = "number_taken", Conflict;
    /// More contacts than one request may have.
    TooManyContacts = "too_many_contacts", Invalid;
    /// The company has no such tag.
    TagNotFound = "tag_not_found", NotFound;
    /// Another tag of the company has the name.
    TagNameTaken = "tag_name_taken", Conflict;
    /// The company has no such segment.
    SegmentNotFound = "segment_not_found", NotFound;
    /// Another segment of the company has the name.
    SegmentNameTaken = "segment_name_taken", Conflict;
    /// The company has as many segments as it may have.
    TooManySegments = "too_many_segments", Conflict;
    /// The contact or the conversation has no such note, or it is another author's.
    NoteNotFound = "note_not_found", NotFound;
    /// The contact has as many notes as a contact may have.
    TooManyNotes = "too_many_notes", Conflict;
    /// No such own field of contacts.
    FieldNotFound = "field_not_found", NotFound;
    /// Another own field of the company has the name, or every contact has a field of this name.
    FieldNameTaken = "field_name_taken", Conflict;
    /// The company has as many own fields of contacts as it may have.
    TooManyFields = "too_many_fields", Conflict;
    /// The company has no such import.
    ImportNotFound = "import_not_found", NotFound;
    /// The import is over or already running, and cannot be started or changed.
    ImportHasBegun = "import_has_begun", Conflict;
    /// The company has as many unfinished imports as it may have.
    TooManyImports = "too_many_imports", Conflict;
    /// The file is not a readable table of contacts.
    InvalidFile = "invalid_file", Invalid;
    /// The file has more columns than are read.
    TooManyColumns = "too_many_columns", Invalid;
    /// More mappings than a file may have columns.
    TooManyMappings = "too_many_mappings", Invalid;
    /// The mapping names columns that the file does not have, or fields that do not exist.
    InvalidMapping = "invalid_mapping", Invalid;
    /// What follows this place in the log of events is no longer kept.
    CursorExpired = "cursor_expired", Gone;
    /// The company has no such webhook endpoint.
    WebhookNotFound = "webhook_not_found", NotFound;
    /// The company has as many webhook endpoints as it may have.
    TooManyWebhooks = "too_many_webhooks", Conflict;
    /// The company has no such quick reply.
    QuickReplyNotFound = "quick_reply_not_found", NotFound;
    /// Another quick reply of the company has the word.
    QuickReplyWordTaken = "quick_reply_word_taken", Conflict;
    /// The company has as many quick replies as it may have.
    TooManyQuickReplies = "too_many_quick_replies", Conflict;
    /// A webhook endpoint already gets events once more.
    ReplayRunning = "replay_running", Conflict;
    /// The secret or the headers of a webhook endpoint cannot be unsealed, because the service lacks the key that sealed them.
    WebhookUnsealable = "webhook_unsealable", Conflict;
    /// The log of the company's events has no such event, or no longer.
    EventNotFound = "event_not_found", NotFound;
    /// The database is unreachable or full, too many request bodies are being read, or the service is stopping. Nothing was
    /// accepted: retry after the seconds of `Retry-After`.
    ServiceUnavailable = "service_unavailable", Unavailable;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refused request, explained in words that the caller may read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Refusal {
    /// The code from the table.
    pub code: Code,
    /// One sentence for a person: what is wrong and what to do about it.
    pub sentence: String,
    /// The field or the parameter at fault, if one is: its name as it was given, or its path in the body.
    pub param: Option<String>,
}

impl Refusal {
    /// A refusal with this code and sentence.
    pub fn new(code: Code, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into(), param: None }
    }

    /// The refusal of a field or a parameter: "`param` what".
    pub fn of(param: impl Into<String>, code: Code, what: impl fmt::Display) -> Self {
        let param = param.into();
        Self::new(code, format!("`{param}` {what}")).about(param)
    }

    /// The same refusal, with the field or the parameter at fault.
    #[must_use]
    pub fn about(self, param: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..self }
    }
}
