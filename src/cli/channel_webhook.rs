//! `pombo channel webhook`: the settings with which the provider sends webhooks for a channel.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use uuid::Uuid;

use super::argument::OfChannel;
use super::secret_input;
use super::session::Session;
use crate::app::key_proof::require_to_seal;
use crate::domain::channel::Kind;
use crate::engine::verify_token;
use crate::vault::context;

#[derive(Debug, Args)]
pub(super) struct Webhook {
    #[command(flatten)]
    of: OfChannel,
    /// The file with the app secret that signs the provider's webhooks; - reads standard input
    #[arg(long, value_name = "FILE")]
    app_secret_file: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Record {
    channel_id: Uuid,
    path: String,
    /// The whole address; `None` while `server.public_url` is not set.
    callback_url: Option<String>,
    verify_token: String,
    has_app_secret: bool,
}

pub(super) async fn show(session: &Session, arguments: Webhook) -> anyhow::Result<()> {
    let Webhook { of, app_secret_file } = arguments;
    let (store, vault) = (&session.app.store, &session.app.vault);
    let channel = session.channel(&of.channel).await?;
    let id = channel.id;
    if channel.kind == Kind::WebSession {
        return Err(anyhow!("the channel `{}` is a web session, which has no webhook", channel.name));
    }
    // A verify token is sealed here too, if the channel has none.
    require_to_seal(&session.app).await?;
    if let Some(file) = app_secret_file {
        let secret = secret_input::read(&file)?;
        let _hold = vault.hold();
        let context = context::app_secret(id);
        let known = store.channels().secrets(id).await?.and_then(|secrets| secrets.app_secret);
        if !vault.is_sealed(known.as_deref(), &secret, &context) {
            let sealed = vault.seal(secret.expose().as_bytes(), &context);
            store.channels().set_app_secret(&session.who(), id, sealed).await?;
        }
    }
    let has_app_secret =
        store.channels().secrets(id).await?.is_some_and(|secrets| secrets.app_secret.is_some());
    let path = format!("/hooks/meta/{id}");
    let public = session.app.config.server.public_url.as_ref();
    let record = Record {
        channel_id: id,
        callback_url: public.map(|url| format!("{}{path}", url.as_str().trim_end_matches('/'))),
        path,
        verify_token: verify_token(store, vault, id).await?.expose().to_owned(),
        has_app_secret,
    };
    let signed = if has_app_secret {
        "the app secret is known: webhooks that it does not sign are refused".to_owned()
    } else {
        format!(
            "the app secret is not known, so every webhook is refused; give it with\n  \
             pombo channel webhook {id} --app-secret-file FILE"
        )
    };
    let callback = match &record.callback_url {
        Some(url) => url.clone(),
        None => format!(
            "the service's public https address, then {}\n               \
             (the service does not know its public address: set server.public_url, and the whole URL is shown here)",
            record.path
        ),
    };
    let said = format!("callback URL   {callback}\nverify token   {}\n{signed}", record.verify_token);
    session.output.record(&record, &said)
}
