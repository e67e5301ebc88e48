//! `pombo channel pair` and `pombo channel unlink`.
//!
//! Only the running service may open sessions, so these commands ask it over HTTP, as any program of the
//! company does. A person who can run these commands can open the database anyway, so a command creates a key
//! for itself, which is valid only while the command runs.

mod following;
mod passkey;
mod screen;
mod service;

use std::time::Duration;

use anyhow::bail;
use clap::Args;
use reqwest::Method;
use serde_json::json;

#[cfg(feature = "tools")]
pub(super) use self::following::is_linked;
pub(super) use self::following::{Showing, follow};
pub(super) use self::screen::Screen;
pub(super) use self::service::Service;
use super::argument::{self, OfChannel};
use super::remote::OwnKey;
use super::session::Session;
use crate::domain::channel::{Channel, Kind};
use crate::domain::phone::PhoneNumber;
use crate::domain::scope::Scope;

/// How long the key is valid if it is not revoked. QR codes are used up after some three minutes.
const KEY_SPAN: Duration = Duration::from_secs(15 * 60);
/// The text above a QR code.
const SCAN: &str = "On the phone: Settings, Linked devices, Link a device; then scan this.";

#[derive(Debug, Args)]
pub(super) struct Pair {
    #[command(flatten)]
    of: OfChannel,
    /// Get a code to type into the phone with this number, instead of a QR code
    #[arg(long, value_name = "NUMBER", value_parser = argument::recipient)]
    phone: Option<PhoneNumber>,
    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
pub(super) struct Unlink {
    #[command(flatten)]
    of: OfChannel,
    #[command(flatten)]
    at: At,
}

/// The address of the service.
#[derive(Debug, Args)]
struct At {
    /// The address of the service; without it, the address in `server.bind`
    #[arg(long)]
    url: Option<String>,
}

pub(super) async fn pair(session: &Session, Pair { of, phone, at }: Pair) -> anyhow::Result<()> {
    let asker = Asker::new(session, &of, at).await?;
    let mut showing = Showing { output: &session.output, screen: Screen::replacing(), scan: SCAN };
    let paired = follow(&mut showing, &asker.service, phone, async |_| Ok(())).await;
    let channel = asker.end(session).await;
    let pairing = paired?;
    let number = pairing["phone_number"].as_str().unwrap_or("a phone");
    showing.end(&pairing, &format!("channel {} is connected as {number}", channel.name))
}

pub(super) async fn unlink(session: &Session, Unlink { of, at }: Unlink) -> anyhow::Result<()> {
    let asker = Asker::new(session, &of, at).await?;
    let unlinked = asker.service.ask(Method::DELETE, None).await;
    let channel = asker.end(session).await;
    unlinked?;
    let said = format!("channel {} has no phone any more, and its keys are deleted", channel.name);
    session.output.record(&json!({ "id": channel.id, "state": "unlinked" }), &said)
}

/// Asks a service with a key that is revoked when the command ends.
struct Asker {
    service: Service,
    channel: Channel,
    key: OwnKey,
}

impl Asker {
    async fn new(session: &Session, of: &OfChannel, At { url }: At) -> anyhow::Result<Self> {
        let channel = session.channel(&of.channel).await?;
        if channel.kind != Kind::WebSession {
            bail!(
                "the channel `{}` is a business account, which has a token and no linked phone",
                channel.name
            );
        }
        let base_url = url.unwrap_or_else(|| session.own_url());
        let at = (channel.company_id, base_url.as_str());
        let (key, remote) =
            OwnKey::add(session, at, "pombo channel pair", &[Scope::Control], KEY_SPAN).await?;
        Ok(Self { service: Service::new(remote, channel.id), channel, key })
    }

    /// Revokes the key; the channel that was asked about.
    async fn end(self, session: &Session) -> Channel {
        self.key.revoke(session).await;
        self.channel
    }
}
