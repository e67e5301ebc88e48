//! Automatic answers that are due: each goes as a direct send, under the same limits as every other.
//!
//! The store has an answer from the commit of the message that it answers until its send is in the ledger. The send carries a key
//! made of the message's id, as a client's would: an answer that is taken up again, after a process died or another took
//! over, finds the send that there is.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use uuid::Uuid;

use super::idempotency::Turn;
use super::to_its_end;
use crate::handover::{Form, HandedOver};
use crate::ledger::Claim;
use crate::shared::Shared;
use crate::{Engine, Error, KeyGuard, Who};
use clock::Timestamp;
use domain::automatic::{AnswerKind, LATEST, REFLEX};
use domain::channel::{Channel, Kind};
use domain::content::Content;
use domain::inbound::PeerKey;
use domain::phone::PhoneNumber;
use domain::request::{Audience, BusinessRequest, RequestedContent, Skipped, WebRecipient, WebRequest};
use domain::send::{Label, Recipients, Schedule};
use store::automatic::DueAnswer;

/// The answers that are under way at once, over all companies. Those through web sessions take some seconds each.
pub(crate) const MOST_AT_ONCE: usize = 64;
/// How often answers that are due are looked for.
const EACH: Duration = Duration::from_secs(1);
/// An answer that was taken up is taken up again after this time and the patience of web sessions, unless it is over.
const TAKEN_FOR: Duration = Duration::from_secs(60);
/// Delay before an answer is tried again that its channel cannot send now.
const LATER: Duration = Duration::from_secs(30);

/// The answers of web sessions have no caller who reads them.
pub(super) const UNREAD: Form = Form { name: "automatic", render: unread };

fn unread(_: HandedOver) -> String {
    String::new()
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerAttempt {
    /// The answer is in the ledger, or not wanted any more.
    Over,
    /// It is tried again after this time.
    Later(Duration),
}

/// Takes up answers that are due, as many as `room` has permits, and returns when to look again.
pub(crate) async fn round(engine: &Engine, room: &Arc<Semaphore>) -> Duration {
    let free = u32::try_from(room.available_permits()).unwrap_or_default();
    if free == 0 || engine.check_running().is_err() {
        return EACH;
    }
    let now = Timestamp::now();
    let until = now.plus(TAKEN_FOR + engine.0.web_sessions.patience());
    let claimed = match engine.store().automatic().claim(now, until, free).await {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::debug!(%error, "cannot look for automatic answers that are due");
            return EACH;
        }
    };
    for answer in claimed {
        // Nobody else takes permits.
        let Ok(permit) = Arc::clone(room).try_acquire_owned() else { break };
        let engine = engine.clone();
        actix::spawn(async move {
            let attempt = attempt(&engine, &answer).await;
            let store = engine.store().automatic();
            let noted = match attempt {
                AnswerAttempt::Over => store.end(&answer).await,
                AnswerAttempt::Later(wait) => store.try_again(&answer, Timestamp::now().plus(wait)).await,
            };
            if let Err(error) = noted {
                // It is taken up again, and its key tells that it went.
                tracing::debug!(%error, "cannot note the end of an automatic answer yet");
            }
            drop(permit);
        });
    }
    EACH
}

/// Sends an answer, unless it is sent or not wanted any more.
async fn attempt(engine: &Engine, answer: &DueAnswer) -> AnswerAttempt {
    match try_to_send(engine, answer).await {
        Ok(()) | Err(Error::Nobody { .. }) => AnswerAttempt::Over,
        Err(Error::Unavailable { retry_after } | Error::TooSoon { retry_after, .. }) => {
            AnswerAttempt::Later(retry_after.min(LATER))
        }
        Err(error @ (Error::Refused(_) | Error::Internal)) => {
            tracing::debug!(%error, channel.id = %answer.channel_id, "an automatic answer cannot be sent now");
            AnswerAttempt::Later(LATER)
        }
    }
}

async fn try_to_send(engine: &Engine, answer: &DueAnswer) -> Result<(), Error> {
    let DueAnswer { company_id, recipient, kind, at, channel_id, message_id } = *answer;
    if at.plus(LATEST) < Timestamp::now() {
        tracing::info!(channel.id = %channel_id, kind = kind.as_str(), "an automatic answer is too old and not sent");
        return Ok(());
    }
    let channel = engine.channel(channel_id).await?.filter(|channel| channel.company_id == company_id);
    let texts = engine.store().of(company_id).automatic().texts().await?;
    let (Some(channel), Some(text)) = (channel, texts.of(kind)) else { return Ok(()) };
    if kind == AnswerKind::Away && is_answered(engine, answer).await? {
        return Ok(());
    }
    let claim = Claim { key: format!("automatic-answer-{message_id}"), fingerprint: [0; 32] };
    let Turn::First(guard) = engine.claim(company_id, claim).await? else { return Ok(()) };
    let content = Content::Text { body: text.to_owned(), preview_url: None };
    let confirms = kind == AnswerKind::Stop;
    match channel.kind {
        Kind::BusinessAccount => send(engine, channel, (recipient, content), confirms, guard).await,
        Kind::WebSession => send_web(engine, channel, (recipient, content), confirms, guard).await,
    }
}

/// Whether somebody of the company answers the person anyway, or the message came so soon after one of the company that a
/// program wrote it.
async fn is_answered(engine: &Engine, answer: &DueAnswer) -> Result<bool, Error> {
    let DueAnswer { company_id, recipient, at, channel_id, .. } = *answer;
    let conversations = engine.store().of(company_id).conversations();
    let found = conversations.find_with(channel_id, &PeerKey::of_number(recipient)).await?;
    let answered = found.and_then(|conversation| conversation.last_outbound_at);
    Ok(answered.is_some_and(|answered| answered.plus(REFLEX) >= at))
}

/// Sends through a business account.
async fn send(
    engine: &Engine,
    channel: Arc<Channel>,
    (recipient, content): (PhoneNumber, Content),
    confirms: bool,
    guard: KeyGuard,
) -> Result<(), Error> {
    let audience = Audience { numbers: vec![recipient], ..Audience::default() };
    let request = BusinessRequest {
        content: RequestedContent::Ready(content),
        audience,
        schedule: Schedule::default(),
        label: label(),
        quotes: None,
        ignored: Vec::new(),
    };
    let engine = engine.clone();
    to_its_end(async move {
        let claim = Some(guard.claim().clone());
        let mut admitted = engine.admit(&channel, request, claim).await?;
        admitted.order.confirms = confirms;
        let resolved = engine.resolve(admitted).await?;
        drop(guard);
        if resolved.send_id.is_none() {
            return Err(super::nobody(false, false, resolved.skipped));
        }
        engine.owners().hint(&channel);
        metrics::counter!("pombo_sends_accepted_total").increment(1);
        metrics::counter!("pombo_recipients_accepted_total").increment(1);
        Ok(())
    })
    .await
}

/// Sends through a web session.
async fn send_web(
    engine: &Engine,
    channel: Arc<Channel>,
    (recipient, content): (PhoneNumber, Content),
    confirms: bool,
    guard: KeyGuard,
) -> Result<(), Error> {
    let recipient = WebRecipient::Number(recipient);
    let request =
        WebRequest { recipient, content, quotes: None, label: label(), values: None, ignored: Vec::new() };
    let web_sends = engine.web_sends();
    if confirms {
        web_sends.send_to_anybody(&channel, request, Some(guard), UNREAD).await.map(drop)
    } else {
        web_sends.send(&channel, request, Some(guard), UNREAD).await.map(drop)
    }
}

/// Says that nobody made the send.
fn label() -> Label {
    Label { made_by: Some(Who::Pombo.to_string()), ..Label::default() }
}

impl Shared {
    /// Notes in its conversation what is sent to one person or group. An automatic answer is not noted: what the person wrote
    /// waits for a person, unread.
    pub(super) fn note_answer(&self, order: &super::Order, recipients: Recipients, send_id: Uuid) {
        if order.label.made_by.as_deref() == Some(Who::Pombo.to_string().as_str()) {
            return;
        }
        let peer = match (recipients, &order.group) {
            (Recipients::One(number), _) => PeerKey::of_number(self.people.person(order.company_id, number)),
            (Recipients::Group, Some(group)) => PeerKey::of_group(group),
            (Recipients::Group, None) | (Recipients::Blocks(_), _) => return,
        };
        self.answers.note((order.company_id, order.channel_id), peer, send_id, &order.content);
    }
}

/// Refuses a message to a person who wants none.
pub(super) fn check_opted_out(
    shared: &Shared,
    channel: &Channel,
    recipient: &WebRecipient,
) -> Result<(), Error> {
    let WebRecipient::Number(number) = recipient else { return Ok(()) };
    let (mut numbers, mut skipped) = (vec![*number], Skipped::default());
    shared.suppressions.skip_suppressed(channel.company_id, false, &mut numbers, &mut skipped);
    if numbers.is_empty() { Err(super::nobody(false, false, skipped)) } else { Ok(()) }
}
