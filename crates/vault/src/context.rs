//! The contexts that secrets are sealed to. Sealing and opening use the same name from here. The names are
//! part of the stored values and never change.

use uuid::Uuid;

use super::KeyId;

/// A channel's access token.
pub fn token(channel_id: Uuid) -> String {
    format!("channel:{channel_id}:token")
}

/// A channel's verify token for the provider's webhook handshake.
pub fn verify_token(channel_id: Uuid) -> String {
    format!("channel:{channel_id}:webhook:verify_token")
}

/// One record of a web session. The length shows where the namespace ends.
pub fn web_session_record(channel_id: Uuid, namespace: &str, key: &str) -> String {
    format!("channel:{channel_id}:web_session:{}:{namespace}:{key}", namespace.len())
}

/// A channel's app secret, which signs the provider's webhooks.
pub fn app_secret(channel_id: Uuid) -> String {
    format!("channel:{channel_id}:app_secret")
}

/// The secret of a second factor that a session sets up.
pub fn totp_setup(session_id: Uuid) -> String {
    format!("session:{session_id}:totp_setup")
}

/// The secret of a person's second factor.
pub fn totp_secret(user_id: Uuid) -> String {
    format!("user:{user_id}:totp_secret")
}

/// The secrets that sign the requests to a webhook endpoint: the present one, and the former one while it is valid.
pub fn webhook_secret(endpoint_id: Uuid) -> String {
    format!("webhook:{endpoint_id}:secret")
}

/// The headers of the requests to a webhook endpoint.
pub fn webhook_headers(endpoint_id: Uuid) -> String {
    format!("webhook:{endpoint_id}:headers")
}

/// A key with which the contents of a company are sealed.
pub fn data_key(key_id: Uuid) -> String {
    format!("company_key:{key_id}:data_key")
}

/// What a person wrote, sealed with a key of the company.
pub fn inbound_body(message_id: Uuid) -> String {
    format!("conversation_message:{message_id}:content")
}

/// What is needed to fetch the file of a message, sealed with a key of the company.
pub fn inbound_file(message_id: Uuid) -> String {
    format!("inbound_file:{message_id}:source")
}

/// The line by which a list shows a conversation, of the message with this id.
pub fn conversation_line(message_id: Uuid) -> String {
    format!("conversation:{message_id}:last_line")
}

/// A note about a conversation.
pub fn conversation_note(note_id: Uuid) -> String {
    format!("conversation_note:{note_id}:text")
}

/// The answer that a user has begun in a conversation.
pub fn conversation_draft(conversation_id: Uuid, user_id: Uuid) -> String {
    format!("conversation_draft:{conversation_id}:{user_id}:text")
}

/// A block of values of a send's recipients, sealed with a key of the company. `seal` is made before the send has an id.
pub fn send_values(seal: Uuid, first_ordinal: u64) -> String {
    format!("send_values:{seal}:{first_ordinal}:packed")
}

/// The value by which a process proves that it has a key.
pub(super) fn key_proof(key: KeyId) -> String {
    format!("sealing_key:{key}:proof")
}
