//! `pombo channel pair` and `pombo channel unlink`.
//!
//! The process that runs is the only one that may open sessions, so it is asked over HTTP, like by any program of the
//! company. Who gives these commands can open the database anyway: they make themselves a key that lasts no longer
//! than they do, and nobody has to have one at hand.

use std::io::{self, IsTerminal as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use uuid::Uuid;

use super::argument;
use super::session::Session;
use crate::clock::Timestamp;
use crate::domain::channel::{Channel, Kind};
use crate::domain::phone::PhoneNumber;
use crate::domain::secret::Secret;
use crate::store::api_key::NewKey;
use crate::vault::api_key;

/// How long an answer may take; unlinking gives WhatsApp its time.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the connection may take once a phone is linked.
const CONNECTING: Duration = Duration::from_secs(60);
/// How long the key lasts if nobody revokes it. QR codes are used up after some three minutes.
const KEY_SPAN: Duration = Duration::from_secs(15 * 60);

/// See [`super::Channel::Pair`].
#[derive(Debug, Args)]
pub(super) struct Pair {
    /// The channel's id, as `pombo channel list` shows it
    id: Uuid,
    /// Get a code to type into the phone with this number, instead of a QR code
    #[arg(long, value_name = "NUMBER", value_parser = argument::recipient)]
    phone: Option<PhoneNumber>,
    #[command(flatten)]
    at: At,
}

/// See [`super::Channel::Unlink`].
#[derive(Debug, Args)]
pub(super) struct Unlink {
    /// The channel's id, as `pombo channel list` shows it
    id: Uuid,
    #[command(flatten)]
    at: At,
}

/// Where the service is.
#[derive(Debug, Args)]
struct At {
    /// Where the service runs; without it, where `server.bind` says
    #[arg(long)]
    url: Option<String>,
}

pub(super) async fn pair(session: &Session, Pair { id, phone, at }: Pair) -> anyhow::Result<()> {
    let asker = Asker::new(session, id, at).await?;
    let paired = follow(session, &asker, phone).await;
    asker.end(session).await;
    paired
}

pub(super) async fn unlink(session: &Session, Unlink { id, at }: Unlink) -> anyhow::Result<()> {
    let asker = Asker::new(session, id, at).await?;
    let unlinked = asker.ask(Method::DELETE, None).await;
    asker.end(session).await;
    unlinked?;
    let said = format!("channel {} has no phone any more, and its keys are deleted", asker.channel.name);
    session.output.record(&json!({ "id": id, "state": "unlinked" }), &said)
}

/// Asks a service about the pairing of one channel.
struct Asker {
    client: Client,
    channel: Channel,
    base_url: String,
    key: Secret,
    key_id: Uuid,
}

impl Asker {
    async fn new(session: &Session, id: Uuid, At { url }: At) -> anyhow::Result<Self> {
        let channel = session.channel(id).await?;
        if channel.kind != Kind::WebSession {
            bail!(
                "the channel `{}` is a business account, which has a token and no linked phone",
                channel.name
            );
        }
        let client = Client::builder().timeout(PATIENCE).build().context("cannot make an HTTP client")?;
        let base_url = url.unwrap_or_else(|| {
            let mut address = session.app.config.server.bind;
            // Who listens everywhere is asked here.
            match address.ip() {
                IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
                IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
                IpAddr::V4(_) | IpAddr::V6(_) => {}
            }
            format!("http://{address}")
        });
        let (key, prefix) = api_key::generate();
        let new = NewKey {
            company_id: channel.company_id,
            name: "pombo channel pair",
            prefix: &prefix,
            hash: api_key::hash(key.expose()),
            expires_at: Some(Timestamp::now().plus(KEY_SPAN)),
        };
        let key_id = session.app.store.add_api_key(new).await?.id;
        let base_url = base_url.trim_end_matches('/').to_owned();
        Ok(Self { client, channel, base_url, key, key_id })
    }

    async fn end(&self, session: &Session) {
        if let Err(error) = session.app.store.revoke_api_key(self.key_id).await {
            tracing::warn!(%error, "the key of this command could not be revoked; it ends by itself");
        }
    }

    async fn ask(&self, method: Method, body: Option<Value>) -> anyhow::Result<Value> {
        let url = format!("{}/api/v1/web-chat/{}/pairing", self.base_url, self.channel.id);
        let mut request = self.client.request(method, url).bearer_auth(self.key.expose());
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.map_err(|_| {
            let base_url = &self.base_url;
            anyhow!(
                "no service answers at {base_url}: start it with `pombo serve`, or say with --url where it is"
            )
        })?;
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        if !status.is_success() {
            let said = body["error"].as_str().or(body["message"].as_str()).unwrap_or("without a sentence");
            bail!("{} answered {status}: {said}", self.base_url);
        }
        Ok(body)
    }
}

async fn follow(session: &Session, asker: &Asker, phone: Option<PhoneNumber>) -> anyhow::Result<()> {
    let body = phone.map(|phone| json!({ "phone_number": phone.to_string() }));
    let mut pairing = asker.ask(Method::POST, Some(body.unwrap_or_else(|| json!({})))).await?;
    let mut screen = Screen::new();
    let mut linked_at = None;
    loop {
        let is_linked = matches!(pairing["state"].as_str(), Some("linking" | "linked"));
        if is_linked && pairing["status"] == "connected" {
            let number = pairing["phone_number"].as_str().unwrap_or("a phone");
            let said = format!("channel {} is connected as {number}", asker.channel.name);
            return session.output.record(&pairing, &screen.instead(&said));
        }
        if pairing["state"] == "unlinked" {
            bail!("no phone was linked: {}", reason(&pairing));
        }
        if let Some(failure) = pairing["pairing_code_failure"].as_str().filter(|_| phone.is_some()) {
            bail!("there is no code: {failure}; wait a while, or leave out --phone and scan a QR code");
        }
        if is_linked && linked_at.get_or_insert_with(Instant::now).elapsed() > CONNECTING {
            bail!(
                "the phone is linked, and there is no connection yet: {}; see `pombo channel show {}`",
                reason(&pairing),
                asker.channel.id
            );
        }
        if let Some(shown) = shown(&pairing, phone.is_some())?
            && let Some(text) = screen.next(shown)
        {
            session.output.record(&pairing, &text)?;
        }
        tokio::time::sleep(PAUSE).await;
        pairing = asker.ask(Method::GET, None).await?;
    }
}

fn reason(pairing: &Value) -> &str {
    pairing["status_reason"]["sentence"].as_str().unwrap_or("nobody said why")
}

/// What the person has to see, if there is something.
fn shown(pairing: &Value, has_code: bool) -> anyhow::Result<Option<String>> {
    if has_code {
        let code = pairing["pairing_code"]["code"].as_str();
        return Ok(code.map(|code| {
            let (first, second) = code.split_at_checked(4).unwrap_or((code, ""));
            format!(
                "On the phone: Settings, Linked devices, Link a device, Link with phone number instead.\n\n    \
                 {first}-{second}\n"
            )
        }));
    }
    let payload = pairing["qr"]["payload"].as_str();
    payload.map(drawn).transpose()
}

/// A QR code of half blocks, dark on light where the terminal is light and the other way round where it is dark:
/// phones read both. Its quiet zone is part of it.
fn drawn(payload: &str) -> anyhow::Result<String> {
    let code = QrCode::new(payload).context("the code cannot be drawn")?;
    let blocks = code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
    Ok(format!("On the phone: Settings, Linked devices, Link a device; then scan this.\n\n{blocks}\n"))
}

/// What stands on the terminal, which is replaced; anywhere else things stand one after the other.
struct Screen {
    is_terminal: bool,
    shown: String,
}

impl Screen {
    fn new() -> Self {
        Self { is_terminal: io::stdout().is_terminal(), shown: String::new() }
    }

    /// What is to be written for this to be shown; `None` when it is already.
    fn next(&mut self, text: String) -> Option<String> {
        if text == self.shown {
            return None;
        }
        let written = self.instead(&text);
        self.shown = text;
        Some(written)
    }

    /// The text, with what takes away all that stands there.
    fn instead(&self, text: &str) -> String {
        if !self.is_terminal || self.shown.is_empty() {
            return text.to_owned();
        }
        // Each text is followed by an end of line.
        let lines = self.shown.matches('\n').count() + 1;
        format!("\u{1b}[{lines}F\u{1b}[J{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_drawn_with_half_blocks_and_a_quiet_zone() {
        let text = drawn("2@ref,noise,identity,secret,1").unwrap();
        let rows: Vec<_> = text.lines().skip(2).take_while(|row| !row.is_empty()).collect();
        let width = rows[0].chars().count();
        assert!(rows.iter().all(|row| row.chars().count() == width), "{text}");
        assert!(text.chars().all(|c| c.is_ascii() || "█▀▄".contains(c)), "{text}");
        assert!(rows[0].chars().all(|c| c == '█'), "{text}");
    }

    #[test]
    fn a_newer_code_takes_the_place_of_the_older_on_a_terminal_only() {
        let mut screen = Screen { is_terminal: true, shown: String::new() };
        assert_eq!(screen.next("one\ntwo".to_owned()).unwrap(), "one\ntwo");
        assert_eq!(screen.next("one\ntwo".to_owned()), None);
        assert_eq!(screen.next("three".to_owned()).unwrap(), "\u{1b}[2F\u{1b}[Jthree");
        let mut screen = Screen { is_terminal: false, shown: "one".to_owned() };
        assert_eq!(screen.next("two".to_owned()).unwrap(), "two");
    }
}
