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

/// The value by which a process proves that it has a key.
pub(super) fn key_proof(key: KeyId) -> String {
    format!("sealing_key:{key}:proof")
}
