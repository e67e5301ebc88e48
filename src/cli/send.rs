//! `pombo send`: a text or a template to numbers, or to the rows of a file with values of their own.
//!
//! Only the running service takes sends, so this command asks it over HTTP. It has the company's key from a file or the
//! environment; without one, it makes a key for itself, as a person who can open the database may.

mod arguments;
mod body;
mod columns;
mod dry_run;
mod following;
mod recipients;
mod results;
mod service;

use anyhow::bail;
use serde_json::Value;

pub(super) use self::arguments::Arguments;
use self::arguments::What;
use self::body::SendBody;
use self::following::Interrupted;
use self::recipients::Recipients;
use self::service::SendService;
use super::Global;
use super::failure::{Misused, OtherEnd};
use super::output::Output;
use super::remote::{Declined, OwnKey, Remote};
use super::session::Session;
use crate::app::shutdown;

pub(super) async fn run(global: &Global, arguments: &Arguments) -> anyhow::Result<()> {
    let what = arguments.what()?;
    results::check(arguments.results.as_deref())?;
    // The file is read before anything is asked for, so that its faults are named first.
    let recipients = arguments.recipients()?;
    let Some(key) = arguments.key()? else {
        let session = Session::open(global, crate::app::Secrecy::NoKeys).await?;
        let done = with_own_key(&session, arguments, what, &recipients).await;
        session.close().await;
        return done;
    };
    if arguments.company.is_some() {
        let sentence = "--company is for a command without a key: a key is of one company";
        return Err(Misused(sentence.to_owned()).into());
    }
    let remote = Remote::new(&arguments.url(global)?, key)?;
    let sender = SendService::new(remote, Output::new(global.json), arguments.channel.clone());
    Box::pin(sender.carry_out(arguments, what, &recipients)).await
}

/// Sends with a key that is revoked when the command ends.
async fn with_own_key(
    session: &Session,
    arguments: &Arguments,
    what: What,
    recipients: &Recipients,
) -> anyhow::Result<()> {
    let (company, channel) = arguments.own_company(session).await?;
    let url = arguments.url.clone().unwrap_or_else(|| session.own_url());
    let (key, remote) =
        OwnKey::add(session, (company, url.as_str()), "pombo send", service::SCOPES, service::SPAN).await?;
    let sender = SendService::new(remote, Output::new(session.output.json), channel);
    let done = Box::pin(sender.carry_out(arguments, what, recipients)).await;
    key.revoke(session).await;
    done
}

impl SendService {
    /// Makes the request, and follows the send until it is over.
    async fn carry_out(
        self,
        arguments: &Arguments,
        what: What,
        recipients: &Recipients,
    ) -> anyhow::Result<()> {
        // Listened for from here on, so that no moment is between a send and its end.
        let mut interrupted: Interrupted = Box::pin(shutdown::requested());
        let send = match what {
            What::Follow(send) => send,
            What::Send(content) => {
                let channel = self.channel().await?;
                let template = self.template(&channel, &content).await?;
                let body = SendBody::new(arguments, &content, template.as_ref(), recipients)?;
                let posted = tokio::select! {
                    posted = self.post(&channel, &body, arguments.dry_run) => posted,
                    _ = &mut interrupted => return Err(body.interrupted(arguments.dry_run)),
                };
                let answer = match posted {
                    Ok(answer) => answer,
                    Err(error) => return Err(self.explained(error, &body)),
                };
                if arguments.dry_run {
                    return dry_run::show(self.output(), &answer, &body, template.as_ref());
                }
                let Some(send) = answer["send_id"].as_str().and_then(|id| id.parse().ok()) else {
                    bail!("the service accepted the send, and its answer has no id: is this Pombo?");
                };
                if arguments.detach {
                    return self.accepted(&answer, send, &body);
                }
                if !self.output().json {
                    dry_run::problems(self.output(), &answer, &body)?;
                }
                send
            }
        };
        let records = following::until_both_over(&self, send, &mut interrupted).await?;
        let written = match &arguments.results {
            Some(path) => Some(results::write(&self, &records, recipients, path).await?),
            None => None,
        };
        following::told(&self, &records, written.as_ref()).await?;
        let reached = following::reached(&records);
        let all = following::sum(&records, "recipients_count") + following::sum(&records, "skipped_count");
        if reached == all {
            return Ok(());
        }
        Err(OtherEnd {
            code: OtherEnd::NOT_EVERYBODY,
            said: format!("{} of {all} did not get it", all - reached),
        }
        .into())
    }

    /// The answer to a send that is not followed.
    fn accepted(&self, answer: &Value, send: uuid::Uuid, body: &SendBody) -> anyhow::Result<()> {
        if !self.output().json {
            dry_run::problems(self.output(), answer, body)?;
        }
        let count = answer["recipients_count"].as_u64().unwrap_or_default();
        let said = format!("accepted for {count}; follow it with `pombo send --follow {send}`");
        self.output().record(answer, &said)
    }

    /// A refusal, after what it says about recipients.
    fn explained(&self, error: anyhow::Error, body: &SendBody) -> anyhow::Error {
        let Some(Declined { body: answer, .. }) = error.downcast_ref::<Declined>() else { return error };
        let shown = if self.output().json {
            self.output().record(answer, "")
        } else {
            dry_run::problems(self.output(), answer, body)
        };
        shown.err().unwrap_or(error)
    }
}
