//! The service that sends, asked for channels and templates by name.

use std::time::Duration;

use anyhow::bail;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::arguments::{Composed, NamedTemplate};
use super::body::SendBody;
use crate::cli::output::Output;
use crate::cli::remote::{Remote, Unanswered};
use crate::domain::nearest::nearest;
use crate::domain::scope::Scope;

/// What the key of a command has to be for.
pub(super) const SCOPES: &[Scope] = &[Scope::Send, Scope::Read];
/// How long such a key is valid if it is not revoked. Following a longer send takes a key that was given.
pub(super) const SPAN: Duration = Duration::from_secs(24 * 3_600);
/// How long the service may take to accept a send: a large file has to arrive first.
const ACCEPTING: Duration = Duration::from_secs(600);
/// How often a request without an answer is made, and the pause between.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// Records of one page.
const PAGE: u64 = 1_000;

/// A service, and where results are shown.
pub(super) struct SendService {
    remote: Remote,
    output: Output,
    /// The channel that is asked for.
    wanted: Option<String>,
}

/// The template that is sent, to all or to those whose window is closed.
pub(super) struct SendTemplate {
    pub(super) id: Option<i64>,
    /// Its parts, as the provider has them.
    pub(super) components: Value,
}

impl SendService {
    pub(super) const fn new(remote: Remote, output: Output, wanted: Option<String>) -> Self {
        Self { remote, output, wanted }
    }

    pub(super) const fn remote(&self) -> &Remote {
        &self.remote
    }

    pub(super) const fn output(&self) -> &Output {
        &self.output
    }

    /// The id of the channel that sends.
    pub(super) async fn channel(&self) -> anyhow::Result<String> {
        let channels = self.listed("/api/v1/chat?").await?;
        let Some(wanted) = self.wanted.as_deref().map(str::trim) else {
            let connected: Vec<_> =
                channels.iter().filter(|channel| channel["status"] == "connected").collect();
            return match &connected[..] {
                [only] => Ok(text(only, "id").to_owned()),
                [] => bail!("the company has no connected business account; see `pombo channel list`"),
                several => {
                    let names: Vec<_> = several.iter().map(|channel| text(channel, "name")).collect();
                    bail!("the company has several channels: name one with --channel ({})", names.join(", "))
                }
            };
        };
        let found: Vec<_> = channels
            .iter()
            .filter(|channel| text(channel, "id") == wanted || text(channel, "name") == wanted)
            .collect();
        match &found[..] {
            [only] => Ok(text(only, "id").to_owned()),
            [] => {
                let near = nearest(wanted, channels.iter().map(|channel| text(channel, "name")));
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                bail!("the company has no business account called `{wanted}`{hint}")
            }
            _ => bail!("several channels are called `{wanted}`: give the id of one"),
        }
    }

    /// The template of a content, if it has one.
    pub(super) async fn template(
        &self,
        channel: &str,
        content: &Composed,
    ) -> anyhow::Result<Option<SendTemplate>> {
        let Some(NamedTemplate { name, language }) = content.template() else { return Ok(None) };
        let mut path = format!("/api/v1/chat/{channel}/templates?");
        if let Some(language) = language {
            let mut pair = url::form_urlencoded::Serializer::new(String::new());
            path.push_str(&pair.append_pair("language", language).finish());
            path.push('&');
        }
        let templates = self.listed(&path).await?;
        let is_it = |template: &&Value| {
            text(template, "name") == name
                || template["id"].as_i64().is_some_and(|id| id.to_string() == *name)
        };
        let found: Vec<_> = templates.iter().filter(is_it).collect();
        match &found[..] {
            [only] => {
                Ok(Some(SendTemplate { id: only["id"].as_i64(), components: only["components"].clone() }))
            }
            [] => {
                let near = nearest(name, templates.iter().map(|template| text(template, "name")));
                let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                bail!("the channel has no approved template `{name}`{hint}")
            }
            several => {
                let languages: Vec<_> = several.iter().map(|template| text(template, "language")).collect();
                bail!(
                    "the template `{name}` has several languages: choose one with --language ({})",
                    languages.join(", ")
                )
            }
        }
    }

    /// Makes the request. One whose answer is lost is made again: its key sees to it that it is carried out once.
    pub(super) async fn post(
        &self,
        channel: &str,
        body: &SendBody,
        is_dry_run: bool,
    ) -> anyhow::Result<Value> {
        let dry_run = if is_dry_run { "?dry_run=true" } else { "" };
        let path = format!("/api/v1/chat/{channel}/messages{dry_run}");
        let mut attempt = 1;
        loop {
            let mut request = self.remote.request(Method::POST, &path).timeout(ACCEPTING);
            if !is_dry_run {
                request = request.header("Idempotency-Key", &body.idempotency_key);
            }
            let request = request.header(CONTENT_TYPE, &body.media_type).body(body.bytes.clone());
            match self.remote.ask(request).await {
                Err(error) if error.is::<Unanswered>() && attempt < ATTEMPTS => attempt += 1,
                result => return result,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// All records of a list. `path` ends where a further parameter can follow.
    pub(super) async fn listed(&self, path: &str) -> anyhow::Result<Vec<Value>> {
        let mut all = Vec::new();
        for page in 1.. {
            let mut answer = self.remote.get(&format!("{path}limit={PAGE}&page={page}")).await?;
            let Some(Value::Array(records)) = answer.get_mut("data").map(Value::take) else {
                bail!("the answer of the service has no list: is this Pombo?");
            };
            all.extend(records);
            if answer["totalPages"].as_u64().is_none_or(|pages| page >= pages) {
                break;
            }
        }
        Ok(all)
    }
}

/// A field that is a text.
pub(super) fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap_or_default()
}
