//! `pombo demo phone TEXT`: writes as a person to a channel of a demonstration that runs, and shows the conversation as the
//! person's phone does.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::app::demo::{Running, RunningChannel, SOMEBODY, none_runs};
use crate::cli::output::Output;
use crate::cli::{Global, argument};
use crate::connector::http;
use crate::domain::phone::PhoneNumber;

/// The timeout of the simulator's answers.
const PATIENCE: Duration = Duration::from_secs(10);
/// The messages of the conversation that are shown.
const SHOWN: &str = "20";

/// The message, and its writer. With nothing but `--data`, the phone is linked.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// What the person writes; with --send, the caption or the name
    text: Option<String>,
    /// The channel that the person writes to: its name or id
    #[arg(long, value_name = "CHANNEL")]
    to: Option<String>,
    /// The number of the person; +999 900 000 001 without it
    #[arg(long, value_name = "NUMBER", value_parser = argument::recipient)]
    from: Option<PhoneNumber>,
    /// Send a file, a place or the card of a person
    #[arg(long, value_name = "KIND")]
    send: Option<PersonSends>,
    /// React with this emoji to the newest message of the channel, or to that of --about
    #[arg(long, value_name = "EMOJI", conflicts_with_all = ["text", "send"])]
    react: Option<String>,
    /// The id of the message that this answers
    #[arg(long, value_name = "ID")]
    about: Option<String>,
    /// A file with what the person writes, as POST /_sim/write of the simulator takes it, for everything else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "send", "react"])]
    body: Option<PathBuf>,
    /// Write nothing, and only show the conversation
    #[arg(long, conflicts_with_all = ["text", "send", "react", "body", "about"])]
    show: bool,
}

/// What can be sent besides texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PersonSends {
    Image,
    Video,
    Audio,
    Voice,
    Document,
    Sticker,
    Location,
    Contact,
}

impl Arguments {
    /// Whether something is to be written or shown.
    pub(super) fn is_given(&self) -> bool {
        let Self { text, to, from, send, react, about, body, show } = self;
        let texts = [text, to, react, about];
        let has_more = from.is_some() || send.is_some() || body.is_some();
        *show || has_more || texts.into_iter().any(Option::is_some)
    }

    fn person(&self) -> String {
        self.from.map_or_else(|| SOMEBODY.replace(' ', ""), |number| format!("+{number}"))
    }

    /// What is written; `None` for nothing.
    fn content(&self) -> anyhow::Result<Option<Value>> {
        if let Some(path) = &self.body {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            let body: Value = serde_json::from_str(&text)
                .with_context(|| format!("{} is not understood", path.display()))?;
            if !body.is_object() {
                bail!("{} has to be a JSON object", path.display());
            }
            return Ok(Some(body));
        }
        let text = self.text.as_deref();
        let file = || match text {
            Some(caption) => json!({ "caption": caption }),
            None => json!({}),
        };
        let named = |name: &'static str| text.unwrap_or(name);
        let content = match (&self.react, self.send, text) {
            (Some(emoji), _, _) => json!({ "reaction": { "emoji": emoji } }),
            (None, Some(PersonSends::Image), _) => json!({ "image": file() }),
            (None, Some(PersonSends::Video), _) => json!({ "video": file() }),
            (None, Some(PersonSends::Audio), _) => json!({ "audio": {} }),
            (None, Some(PersonSends::Voice), _) => json!({ "voice": {} }),
            (None, Some(PersonSends::Document), _) => {
                json!({ "document": { "file_name": named("list.pdf") } })
            }
            (None, Some(PersonSends::Sticker), _) => json!({ "sticker": {} }),
            (None, Some(PersonSends::Location), _) => {
                let place =
                    json!({ "latitude": -23.5614, "longitude": -46.6559, "name": named("Padaria Sol") });
                json!({ "location": place })
            }
            (None, Some(PersonSends::Contact), _) => {
                json!({ "contacts": [{ "name": named("Rui Almeida"), "phones": ["+999 900 000 077"] }] })
            }
            (None, None, Some(text)) => json!({ "text": text }),
            (None, None, None) => return Ok(None),
        };
        Ok(Some(content))
    }
}

pub(super) async fn run(global: &Global, arguments: &Arguments, data: &Path) -> anyhow::Result<()> {
    // The requests here are not encrypted, but the HTTP client needs a provider of cryptography.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let running = Running::find(data)?;
    let channel = channel(&running, arguments.to.as_deref())?;
    let phone = PersonPhone { running: &running, data, channel, person: arguments.person() };
    let told = phone.talk(arguments).await?;
    let output = Output::new(global.json);
    if output.json {
        return output.record(&told, "");
    }
    let lines = told["conversation"].as_array().context("the demonstration is of another version")?;
    if lines.is_empty() {
        return output.record(&(), &format!("{} and {} wrote nothing yet", phone.person, channel.name));
    }
    let row = |line: &Value| {
        let plain = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        let by = if line["by"] == "person" { phone.person.clone() } else { channel.name.clone() };
        vec![plain("at"), by, plain("type"), plain("text"), plain("id")]
    };
    output.table(&["at", "by", "type", "text", "id"], lines.iter().map(row))
}

/// The channel of this name or id; the first one without it.
fn channel<'r>(running: &'r Running, wanted: Option<&str>) -> anyhow::Result<&'r RunningChannel> {
    let is_it = |channel: &&RunningChannel| {
        wanted.is_none_or(|wanted| channel.name == wanted || channel.id.to_string() == wanted)
    };
    running.channels.iter().find(is_it).with_context(|| {
        let names: Vec<_> = running.channels.iter().map(|channel| format!("`{}`", channel.name)).collect();
        format!("the demonstration has no such channel; --to takes {}", names.join(", "))
    })
}

/// The phone of a person who writes to a channel.
struct PersonPhone<'r> {
    running: &'r Running,
    /// The directory of the demonstration.
    data: &'r Path,
    channel: &'r RunningChannel,
    person: String,
}

impl PersonPhone<'_> {
    /// Writes, if something is to be written. Returns its id and the conversation.
    async fn talk(&self, arguments: &Arguments) -> anyhow::Result<Value> {
        let mut id = Value::Null;
        if let Some(mut message) = arguments.content()? {
            let about = match (&arguments.about, &arguments.react) {
                (None, Some(_)) => Some(self.newest_of_channel().await?),
                (about, _) => about.clone(),
            };
            message["to"] = self.channel.address.as_str().into();
            message["from"] = self.person.as_str().into();
            if let Some(about) = about {
                message["context"] = about.into();
            }
            let request = client()?.post(self.url("write")).json(&message);
            let written = self.answer(request).await?;
            id = written["data"][0]["id"].clone();
        }
        let lines = self.lines().await?;
        Ok(json!({ "channel": self.channel.name, "person": self.person, "id": id, "conversation": lines }))
    }

    /// The id of the newest message that the person got.
    async fn newest_of_channel(&self) -> anyhow::Result<String> {
        let lines = self.lines().await?;
        let mut own = lines.as_array().into_iter().flatten().rev().filter(|line| line["by"] != "person");
        let id = own.find_map(|line| line["id"].as_str()).map(str::to_owned);
        id.context("the channel wrote nothing to this person yet; name a message with --about")
    }

    async fn lines(&self) -> anyhow::Result<Value> {
        let of = (self.channel.address.as_str(), self.person.as_str());
        let query = [("channel", of.0), ("person", of.1), ("limit", SHOWN)];
        let mut answered = self.answer(client()?.get(self.url("conversation")).query(&query)).await?;
        Ok(answered["data"].take())
    }

    /// The simulator's answer. A demonstration that was killed leaves its file behind, and no simulator.
    async fn answer(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let answer = request.send().await.map_err(|_| none_runs(self.data))?;
        let is_refused = !answer.status().is_success();
        let body: Value = answer.json().await.unwrap_or_default();
        if is_refused {
            bail!("the simulator refused: {}", body["error"].as_str().unwrap_or("it is of another version"));
        }
        Ok(body)
    }

    fn url(&self, path: &str) -> String {
        format!("{}/_sim/{path}", self.running.simulator_url)
    }
}

fn client() -> anyhow::Result<reqwest::Client> {
    http::direct().timeout(PATIENCE).build().context("cannot make an HTTP client")
}
