//! Words for the kinds of changes and for their fields.

use crate::console::pages::tiers;
use crate::console::text::Text;
use crate::engine::records::changes::What;

/// Who made a change, from the name in the record.
pub(in crate::console) fn author(text: Text, who: &str) -> String {
    match who.split_once(':') {
        Some(("user", "")) => text.get("changes-by-stranger"),
        Some(("user", email)) => email.to_owned(),
        Some(("key", name)) => text.with("changes-by-key", [("name", name.into())]),
        Some(("cli", name)) => text.with("changes-by-command-line", [("name", name.into())]),
        _ if who == "pombo" => text.get("changes-by-pombo"),
        _ => text.with("changes-by-operator", [("name", who.into())]),
    }
}

/// The kind of record that was changed.
pub(in crate::console) fn kind(text: Text, what: What) -> String {
    text.get(match what {
        What::Tier => "changes-kind-tier",
        What::Company => "changes-kind-company",
        What::ApiKey => "changes-kind-key",
        What::Channel => "changes-kind-channel",
        What::ChannelAppSecret => "changes-kind-app-secret",
        What::SealingKey => "changes-kind-sealing-key",
        What::ChannelTier => "changes-kind-channel-tier",
        What::ChannelToken => "changes-kind-channel-token",
        What::ChannelRisk => "changes-kind-channel-risk",
        What::ChannelStatus => "changes-kind-channel-status",
        What::Operator => "changes-kind-operator",
        What::Suppression => "changes-kind-suppression",
        What::User => "changes-kind-user",
        What::UserPassword => "changes-kind-password",
        What::UserTotp => "changes-kind-totp",
        What::Membership => "changes-kind-membership",
        What::Link => "changes-kind-link",
        What::SignIn => "changes-kind-sign-in",
        What::Session => "changes-kind-session",
        What::Contacts => "changes-kind-contacts",
        What::Tags => "changes-kind-tags",
        What::Segments => "changes-kind-segments",
        What::ContactFields => "changes-kind-fields",
        What::Import => "changes-kind-import",
        What::Media => "changes-kind-media",
        What::Node => "changes-kind-node",
        What::Webhook => "changes-kind-webhook",
        What::WebhookSecret => "changes-kind-webhook-secret",
        What::Alerts => "changes-kind-alerts",
        What::Send => "changes-kind-send",
        What::RateCard => "changes-kind-rate-card",
        What::Database => "changes-kind-database",
    })
}

/// A field of a recorded value; `None` for a field without words, which is shown by its name.
pub(in crate::console) fn field(text: Text, name: &str) -> Option<String> {
    let key = match name {
        "id" => "shell-id",
        "name" => "changes-field-name",
        "kind" => "changes-field-kind",
        "status" => "changes-field-status",
        "state" => "changes-field-state",
        "reason" => "changes-field-reason",
        "times" => "changes-field-times",
        "by" => "changes-field-by",
        "browser" => "account-browser",
        "company_id" => "changes-field-company",
        "tier" => "channels-tier",
        "country" => "company-country",
        "shown_name" => "look-name",
        "colour" => "look-colour",
        "logo" => "look-logo",
        "opt_out_words" => "suppressions-words",
        "phone_number" => "channels-number",
        "phone_number_id" => "changes-field-phone-number-id",
        "waba_id" => "changes-field-waba-id",
        "prefix" => "changes-field-prefix",
        "scopes" => "changes-field-scopes",
        "expires_at" => "changes-field-expires-at",
        "role" => "changes-field-role",
        "is_operator" => "changes-field-is-operator",
        "language" => "account-language",
        "time_zone" => "account-zone",
        "purpose" => "changes-field-purpose",
        "session_id" => "changes-field-session",
        "left_out_of" => "changes-field-left-out-of",
        "held_for_a_while" => "changes-field-held",
        "color" => "changes-field-color",
        "contact" => "changes-field-contact",
        "contacts" => "shell-contacts",
        "tag" => "changes-field-tag",
        "file" => "changes-field-file",
        "created" => "changes-field-created",
        "updated" => "changes-field-updated",
        "merged" => "changes-field-merged",
        "added" => "changes-field-added",
        "removed" => "changes-field-removed",
        "deleted" => "changes-field-deleted",
        "recolored" => "changes-field-recolored",
        "notes_added" => "changes-field-notes-added",
        "notes_changed" => "changes-field-notes-changed",
        "notes_deleted" => "changes-field-notes-deleted",
        "filter" => "changes-field-filter",
        "ended_sends" => "changes-field-ended-sends",
        "unknown_messages" => "changes-field-unknown-messages",
        "paused_sends" => "changes-field-paused-sends",
        "url" => "webhooks-address",
        "types" => "webhooks-gets",
        "channels" => "shell-channels",
        "headers" => "webhooks-headers",
        "max_in_flight" => "webhooks-at-once",
        "batch" => "webhooks-batch",
        "masks_numbers" => "webhooks-masks",
        "send_at" => "send-starts",
        "nothing_sent_since" => "changes-field-nothing-sent",
        _ => tiers::label(name)?,
    };
    Some(text.get(key))
}
