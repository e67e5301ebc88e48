//! The one table of error codes that clients may see.
//!
//! Every refusal in the service is a [`Refusal`]: a [`Code`] from this table and a sentence for a
//! person. What went wrong inside (a database's words, a stack of causes) never becomes a
//! `Refusal`: it is logged where it happens and the client reads `internal server error`.

use std::fmt;

/// The few kinds of refusal; the HTTP surface maps each to one status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The request itself is wrong: 400.
    Invalid,
    /// Who asks is not known: 401.
    Unauthenticated,
    /// Who asks is known and may not: 403.
    Forbidden,
    /// There is no such thing: 404.
    NotFound,
    /// The path exists, the method does not: 405.
    MethodNotAllowed,
    /// The rest of the request did not arrive in time: 408.
    TooSlow,
    /// The state of the thing forbids it now: 409.
    Conflict,
    /// The body is larger than the configured bound: 413.
    TooLarge,
    /// Who asks has asked too often: 429 with `Retry-After`.
    TooManyRequests,
    /// What is asked contradicts what was asked before: 422.
    Unprocessable,
    /// This build of the service cannot do it at all: 501.
    NotBuilt,
    /// The service cannot do it now and the client should try again: 503 with `Retry-After`.
    Unavailable,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $literal:literal, $class:ident;)*) => {
        /// A refusal's code. The literals are part of the contract and never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant,)*
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
        }
    };
}

codes! {
    /// The `Authorization` header is missing or malformed.
    InvalidAuthHeader = "invalid_auth_header", Unauthenticated;
    /// The API key is unknown, revoked or expired.
    InvalidApiKey = "invalid_api_key", Unauthenticated;
    /// The company makes more requests than its tier allows.
    RateLimited = "rate_limited", TooManyRequests;
    /// The API key may not be used for this.
    InsufficientScope = "insufficient_scope", Forbidden;
    /// The channel belongs to another company.
    CredentialResourceMismatch = "credential_resource_mismatch", Forbidden;
    /// What came is no HTTP request, or its head is too large or came too slowly: then 431 or 408.
    MalformedRequest = "malformed_request", Invalid;
    /// No such path.
    NotFound = "not_found", NotFound;
    /// The path exists, this method does not.
    MethodNotAllowed = "method_not_allowed", MethodNotAllowed;
    /// No such channel.
    ChannelNotFound = "channel_not_found", NotFound;
    /// No such company.
    CompanyNotFound = "company_not_found", NotFound;
    /// The company has no such API key that could be revoked.
    KeyNotFound = "key_not_found", NotFound;
    /// No such user.
    UserNotFound = "user_not_found", NotFound;
    /// No such invitation, or it was used or has ended.
    InvitationNotFound = "invitation_not_found", NotFound;
    /// The company leaves no such recipient out.
    SuppressionNotFound = "suppression_not_found", NotFound;
    /// Another company has the name, another user the e-mail, or another channel the number.
    AlreadyExists = "already_exists", Conflict;
    /// The provider does not know the business account or its number, restricts it, or refuses the token.
    ProviderRefused = "provider_refused", Unprocessable;
    /// The provider does not answer a question that a request needs answered.
    ProviderUnavailable = "provider_unavailable", Unavailable;
    /// A channel of which sends are left cannot be removed.
    ChannelInUse = "channel_in_use", Conflict;
    /// No such tier.
    TierNotFound = "tier_not_found", NotFound;
    /// What is written is no tier, or the tier is not for this kind of channel.
    InvalidTier = "invalid_tier", Invalid;
    /// A tier would become one for another kind of channel.
    TierKindChanged = "tier_kind_changed", Conflict;
    /// The channel id of a web-session path is not an id at all.
    InvalidIdParam = "invalid_id_param", Invalid;
    /// A webhook is not signed with its channel's app secret.
    InvalidSignature = "invalid_signature", Forbidden;
    /// Who sets a webhook up does not know its channel's word.
    InvalidVerifyToken = "invalid_verify_token", Forbidden;
    /// The body is not a JSON object.
    InvalidBody = "invalid_body", Invalid;
    /// The body is over the configured size.
    BodyTooLarge = "body_too_large", TooLarge;
    /// The body did not arrive in time.
    BodyTooSlow = "body_too_slow", TooSlow;
    /// A known field has a wrong JSON type or an impossible value.
    InvalidField = "invalid_field", Invalid;
    /// `page` or `limit` is out of its range.
    InvalidPagination = "invalid_pagination", Invalid;
    /// `type` is absent.
    MissingType = "missing_type", Invalid;
    /// `type` is not one that this channel can send.
    InvalidType = "invalid_type", Invalid;
    /// Neither `phone_number` nor `contact_tag_id` is given.
    MissingRecipient = "missing_recipient", Invalid;
    /// Nobody with a valid number is left to send to.
    NoValidRecipients = "no_valid_recipients", Invalid;
    /// More `phone_number` entries than one request may have.
    TooManyRecipients = "too_many_recipients", Invalid;
    /// More tags than one request may have.
    TooManyTags = "too_many_tags", Invalid;
    /// A text send without text.
    MissingMessage = "missing_message", Invalid;
    /// The text is over the configured length.
    TextTooLong = "text_too_long", Invalid;
    /// A media send without link.
    MissingLink = "missing_link", Invalid;
    /// The link is not an absolute http or https address.
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
    /// `send_at` and `expires_at` leave no time to send in, or are too far ahead.
    InvalidSchedule = "invalid_schedule", Invalid;
    /// No such template in this company.
    TemplateNotFound = "template_not_found", NotFound;
    /// The template is not approved by the provider.
    TemplateNotApproved = "template_not_approved", Invalid;
    /// The business account is disconnected and needs a person.
    ReconnectWaba = "reconnect_waba", Invalid;
    /// A web-session send without `phone_number`.
    MissingPhoneNumber = "missing_phone_number", Invalid;
    /// The number (or group id) of a web-session send cannot be one.
    InvalidPhoneNumber = "invalid_phone_number", Invalid;
    /// A web-session send without `recipient_type`.
    MissingRecipientType = "missing_recipient_type", Invalid;
    /// `recipient_type` is neither `number` nor `group`.
    InvalidRecipientType = "invalid_recipient_type", Invalid;
    /// The link answers no file that can be sent as what is wanted.
    MediaUnavailable = "media_unavailable", Invalid;
    /// The number is not on WhatsApp, or the group cannot be written to.
    NotOnWhatsapp = "not_on_whatsapp", Unprocessable;
    /// The link leads to an address that no link may lead to.
    LinkNotAllowed = "link_not_allowed", Invalid;
    /// The file behind the link is over the configured size.
    MediaTooLarge = "media_too_large", Invalid;
    /// The web session is not connected.
    SessionDisconnected = "session_disconnected", Conflict;
    /// The pairing of the web session waits for no passkey, or for another step of it.
    PasskeyNotExpected = "passkey_not_expected", Conflict;
    /// The program was built without web sessions.
    FeatureUnavailable = "feature_unavailable", NotBuilt;
    /// `Idempotency-Key` is not 1 to 255 visible ASCII characters, or is given twice.
    InvalidIdempotencyKey = "invalid_idempotency_key", Invalid;
    /// Another request was accepted under this `Idempotency-Key`.
    IdempotencyKeyReused = "idempotency_key_reused", Unprocessable;
    /// A request under this `Idempotency-Key` is still being carried out.
    IdempotencyInProgress = "idempotency_in_progress", Conflict;
    /// The company has no such send.
    SendNotFound = "send_not_found", NotFound;
    /// The send has no message with this ordinal.
    MessageNotFound = "message_not_found", NotFound;
    /// Nothing more of the send will go: it can neither be paused nor resumed nor canceled.
    SendIsOver = "send_is_over", Conflict;
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
    /// The company has no such import.
    ImportNotFound = "import_not_found", NotFound;
    /// The import is over, or runs already, so that it cannot be begun or changed.
    ImportHasBegun = "import_has_begun", Conflict;
    /// The company has as many imports that are not over as it may have.
    TooManyImports = "too_many_imports", Conflict;
    /// The file is no table of contacts that can be read.
    InvalidFile = "invalid_file", Invalid;
    /// What is said of the file's columns does not fit them.
    InvalidMapping = "invalid_mapping", Invalid;
    /// The database is away, full, too many bodies are being read, or the service is stopping.
    ServiceUnavailable = "service_unavailable", Unavailable;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A request that we refuse, in words that its sender may read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Refusal {
    /// The code from the table.
    pub code: Code,
    /// One sentence for a person: what is wrong and what to do about it.
    pub sentence: String,
}

impl Refusal {
    /// A refusal with this code and sentence.
    pub fn new(code: Code, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into() }
    }
}
