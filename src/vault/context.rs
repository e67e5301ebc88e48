//! The places that secrets are sealed to. Sealing and opening take the name from here, so that
//! they cannot differ; the names are part of what is stored and never change.

use uuid::Uuid;

/// A channel's access token.
pub fn token(channel_id: Uuid) -> String {
    format!("channel:{channel_id}:token")
}

/// What a channel's webhook word was derived from before words were kept; nothing is sealed there.
pub(super) fn derived_verify_token(channel_id: Uuid) -> String {
    format!("channel:{channel_id}:verify_token")
}

/// The word by which the provider's webhook handshake knows a channel.
pub fn verify_token(channel_id: Uuid) -> String {
    format!("channel:{channel_id}:webhook:verify_token")
}

/// One record of what a web session keeps. The length says where the namespace ends.
pub fn web_session_record(channel_id: Uuid, namespace: &str, key: &str) -> String {
    format!("channel:{channel_id}:web_session:{}:{namespace}:{key}", namespace.len())
}

/// A channel's app secret, which signs the provider's webhooks.
pub fn app_secret(channel_id: Uuid) -> String {
    format!("channel:{channel_id}:app_secret")
}

/// The secret of a person's second factor.
pub fn totp_secret(user_id: Uuid) -> String {
    format!("user:{user_id}:totp_secret")
}
