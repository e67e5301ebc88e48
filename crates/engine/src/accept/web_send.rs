//! Sending through a web session: the caller waits until the message is handed over.
//!
//! Every refusal comes before anything is written: no session, the pace, the file, the number. The pace comes first and
//! reserves the message's turn: a file for a message that would go too late is not fetched, and no channel has more
//! files fetched than it may send. Then the message takes the same way as every other: ledger, channel actor,
//! connector. Its send expires when the caller's patience ends, so that a request that was answered with an error is
//! not sent later. [`repeat`] decides how a repeated request under a client's key is answered; [`dry_run`] checks a
//! message without sending it.

mod addresses;
mod begun;
mod dry_run;
mod number_check;
mod questions;
mod repeat;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use uuid::Uuid;

use self::begun::{Urgency, check_room};
pub use self::dry_run::{DryRunFile, WebDryRun};
pub use self::number_check::NumbersChecked;
pub(crate) use self::questions::{AskNumbers, AskPicture, BeginWeb, DryRunWeb, SendWeb};
use crate::accept::automatic::{UNREAD, check_opted_out};
use crate::channel::{Admit, PAIR_SENTENCE};
use crate::handover::{Admitted, Form, HandOver, HandedOver, Render, Wait, link};
use crate::ledger::{Accept, Order};
use crate::{Engine, Error, KeyGuard, RETRY_AFTER};
use clock::Timestamp;
use connectors::media::Media;
use domain::channel::Channel;
use domain::content::Content;
use domain::error::{Code, Refusal};
use domain::limit::Spent;
use domain::outlook::Reason;
use domain::phone::PhoneNumber;
use domain::request::{Limits, Skipped, WebRecipient, WebRequest};
use domain::send::{Recipients, Schedule};
use domain::tier::TURN_SPAN;
use driver::Session;
use store::web_sessions::contacts::KnownNumber;
use telemetry::Origin;

/// The caller is answered at most this long after its send expires.
const AFTERWARDS: Duration = Duration::from_secs(30);

/// A message whose send is written, waiting to be handed over.
struct Submitted {
    send_id: Uuid,
    wait: Wait,
    stranger: Option<PhoneNumber>,
    patience: Duration,
}

/// Messages through web sessions, whose callers wait.
#[derive(Clone, Copy)]
pub struct WebSends<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// Messages through web sessions, whose callers wait.
    pub const fn web_sends(&self) -> WebSends<'_> {
        WebSends { engine: self }
    }
}

impl WebSends<'_> {
    /// Registers the forms in which answers are rendered, before the engine answers other nodes.
    pub fn render_as(&self, forms: &[Form]) {
        // Called once for each engine.
        let _ = self.engine.0.forms.set([forms, &[UNREAD]].concat());
    }

    /// The form of this name, for another node.
    ///
    /// # Errors
    ///
    /// `service_unavailable` when this version does not have it.
    pub(crate) fn form(&self, name: &str) -> Result<Form, Refusal> {
        let known = self.engine.0.forms.get().and_then(|forms| forms.iter().find(|form| form.name == name));
        known.copied().ok_or_else(|| {
            let sentence =
                "this channel runs on a node of another version, which does not know this answer: ask that node";
            Refusal::new(Code::ServiceUnavailable, sentence)
        })
    }

    /// Sends a message through a web session, and returns its answer in this form once it is handed over. With a key
    /// `guard`, the answer is stored under its key.
    ///
    /// # Errors
    ///
    /// In this order: `no_valid_recipients` for a person who opted out of everything; `session_disconnected`;
    /// [`Error::TooSoon`]; `link_not_allowed`, `media_unavailable`, `media_too_large`; `not_on_whatsapp`; `send_is_over` when
    /// somebody canceled the send, or paused it and did not
    /// resume it in time. [`Error::Unavailable`] when it cannot be written now, and [`Error::Internal`] when nobody
    /// knows whether it was handed over. After any other error it was not, and will not be.
    pub async fn send(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        guard: Option<KeyGuard>,
        form: Form,
    ) -> Result<String, Error> {
        check_opted_out(&self.engine.0.shared, channel, &request.recipient)?;
        let request = self.filled(channel, request).await?;
        self.send_to_anybody(channel, request, guard, form).await
    }

    /// As [`WebSends::send`], also to a person who opted out: for messages whose recipients were checked, and for the one that
    /// confirms the opt-out.
    pub(crate) async fn send_to_anybody(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        guard: Option<KeyGuard>,
        form: Form,
    ) -> Result<String, Error> {
        let (engine, channel) = (self.engine.clone(), Arc::clone(channel));
        // The caller may leave before the answer comes: the request runs to its end, and the key stays held until then.
        guard.iter().for_each(KeyGuard::until_handed_over);
        let sending = actix::spawn(telemetry::carried(async move {
            let asked = to_owner(request, guard.as_ref(), form);
            if let Some(answer) = engine.owners().ask(&channel, &asked).await? {
                return Ok(answer);
            }
            let how = (form.render, Urgency::Soon);
            let submitted = engine.web_sends().submit(&channel, asked.request, guard.as_ref(), how).await;
            engine.web_sends().finish(&channel, submitted, guard).await.map(form.render)
        }));
        sending.await.unwrap_or_else(|error| {
            tracing::error!(%error, "sending through a web session was interrupted");
            Err(Error::Internal)
        })
    }

    /// Does everything up to and including the write of the send.
    async fn submit(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        guard: Option<&KeyGuard>,
        (render, wanted): (Render, Urgency),
    ) -> Result<Submitted, Error> {
        self.engine.check_running()?;
        let WebRequest { recipient, content, quotes, label, values: _, mut ignored } = request;
        let session = self.session(channel)?;
        let known = self.known(channel, &recipient).await?;
        let patience = match wanted {
            Urgency::Soon => self.engine.0.web_sessions.patience(),
            Urgency::InTurn => TURN_SPAN,
        };
        let stranger = stranger(&recipient, known.as_ref());
        let admitted = self.admit_web(channel, Admit { stranger, patience, tried: None }).await?;
        let keeps_turn = wanted == Urgency::InTurn;
        if keeps_turn {
            check_room(&admitted)?;
        }
        let file = self.file(channel, &content).await?;
        ignored.extend(unheard_voice(&content, file.as_ref()));
        let to = self.address(channel, &session, &recipient, known.as_ref()).await?;
        // A file is not kept in memory for as long as a message may be queued: it is fetched again.
        let file = file.filter(|_| admitted.wait <= self.engine.0.web_sessions.patience());
        let pending_replies = &self.engine.0.shared.pending_replies;
        let (pending_reply, wait) = match wanted {
            Urgency::Soon => pending_replies.begin(channel.id, to, file, admitted, (render, ignored)),
            Urgency::InTurn => pending_replies.begin_kept(channel.id, to, file, admitted),
        };
        let (recipients, group) = match recipient {
            WebRecipient::Number(number) => (Recipients::One(number), None),
            WebRecipient::Group(id) => (Recipients::Group, Some(id)),
        };
        let order = Order {
            company_id: channel.company_id,
            channel_id: channel.id,
            content,
            group,
            quotes,
            sender: self.engine.0.web_sessions.number(channel.id).map(|number| number.to_string()),
            template: None,
            schedule: Schedule { send_at: None, expires_at: Some(Timestamp::now().plus(patience)) },
            label,
            personal: None,
            sources: Vec::new(),
            claim: guard.map(|guard| guard.claim().clone()),
            is_awaited: !keeps_turn,
            keeps_turn,
            confirms: false,
            origin: Origin::current(),
        };
        let (order, shared) = (Arc::new(order), &self.engine.0.shared);
        let accept = Accept::new(Arc::clone(&order), recipients, Skipped::default());
        let accept = Accept { pending_reply: Some(pending_reply), ..accept };
        let send_id = shared.ledger.send(accept).await??;
        shared.note_answer(&order, recipients, send_id);
        metrics::counter!("pombo_sends_accepted_total").increment(1);
        metrics::counter!("pombo_recipients_accepted_total").increment(1);
        Ok(Submitted { send_id, wait, stranger, patience })
    }

    /// Waits until the message is handed over. If it is not, its key is released.
    async fn finish(
        &self,
        channel: &Channel,
        submitted: Result<Submitted, Error>,
        guard: Option<KeyGuard>,
    ) -> Result<HandedOver, Error> {
        let handed_over = match submitted {
            Ok(submitted) => self.until_handed_over(channel, submitted).await,
            Err(error) => Err(error),
        };
        if let (Some(guard), Err(error)) = (&guard, &handed_over) {
            self.give_key_back(channel.company_id, &guard.claim().key, error).await;
        }
        handed_over
    }

    async fn until_handed_over(&self, channel: &Channel, submitted: Submitted) -> Result<HandedOver, Error> {
        let Submitted { send_id, mut wait, stranger, patience } = submitted;
        let handed_over = told_of(&mut wait, patience, send_id).await?;
        if let Some(number) = stranger {
            self.no_stranger_any_more(channel, number, handed_over.at).await;
        }
        Ok(handed_over)
    }

    /// The request with its values, and the fields of the recipient's contact, in their places.
    ///
    /// # Errors
    ///
    /// `value_not_allowed`.
    async fn filled(&self, channel: &Channel, request: WebRequest) -> Result<WebRequest, Error> {
        let number = match &request.recipient {
            WebRecipient::Number(number) if request.values.is_some() => *number,
            WebRecipient::Number(_) | WebRecipient::Group(_) => {
                return Ok(request.filled(None, &Limits::default())?);
            }
        };
        let people = self.engine.store().of(channel.company_id).contacts().people(&[number]).await?;
        Ok(request.filled(people.get(&number), &Limits::default())?)
    }

    /// The channel's session, if it can send. The session knows first that it is connected; while it reconnects, the
    /// channel's state counts.
    pub(crate) fn session(&self, channel: &Arc<Channel>) -> Result<Arc<dyn Session>, Refusal> {
        let gate = self.engine.directory().actor(channel);
        let session = self.engine.0.web_sessions.session(channel.id);
        if !session.as_ref().is_some_and(|session| session.figures().is_logged_in) {
            gate.admit_to_session()?;
        }
        session.ok_or_else(reconnecting)
    }

    /// Admits a message, or says when to retry.
    async fn admit_web(&self, channel: &Channel, admit: Admit) -> Result<Admitted, Error> {
        let later = Error::Unavailable { retry_after: RETRY_AFTER };
        let admitted = self.engine.directory().ask(channel.id, admit).await.ok_or(later)?;
        Ok(admitted?)
    }

    /// The file behind the link, if there is one.
    async fn file(&self, channel: &Channel, content: &Content) -> Result<Option<Media>, Error> {
        let Some((link, kind)) = link(content) else { return Ok(None) };
        Ok(Some(self.engine.0.shared.media.fetch_new(channel.company_id, link, kind).await?))
    }

    /// Notes the first message to a person, who is no stranger from here on.
    async fn no_stranger_any_more(&self, channel: &Channel, number: PhoneNumber, at: Timestamp) {
        if let Err(error) = self.engine.store().web_sessions().note_first_sent(channel.id, number, at).await {
            tracing::warn!(channel.id = %channel.id, channel.name = %channel.name, %error, "cannot note the first message to a person");
        }
    }

    /// Releases the key of a request without effect, so that the request may be repeated under it. The key of a message
    /// that may have been handed over stays with its send.
    async fn give_key_back(&self, company: Uuid, key: &str, error: &Error) {
        if *error == Error::Internal {
            return;
        }
        if let Err(error) = self.engine.store().of(company).answers().remove(key).await {
            // The ledger says that nothing was sent, which decides when the request is repeated.
            tracing::warn!(%error, "cannot release the key of a request without effect");
        }
    }
}

/// The outcome of a message, for its caller.
async fn told_of(wait: &mut Wait, patience: Duration, send_id: Uuid) -> Result<HandedOver, Error> {
    match timeout(patience + AFTERWARDS, wait.end()).await {
        Ok(HandOver::Done(handed_over)) => Ok(*handed_over),
        Ok(HandOver::Failed(failure)) => {
            let sentence = format!("the message was not sent: {}", failure.sentence);
            Err(Refusal::new(Code::NotOnWhatsapp, sentence).into())
        }
        Ok(HandOver::TooLate(reason)) => Err(too_late(reason)),
        Ok(HandOver::Canceled) => {
            let sentence = "somebody canceled the send before it was handed over";
            Err(Refusal::new(Code::SendIsOver, sentence).into())
        }
        Ok(HandOver::Stopping) => Err(Error::Unavailable { retry_after: RETRY_AFTER }),
        Ok(HandOver::Unknown) | Err(_) => {
            tracing::error!(send.id = %send_id, "it is unknown whether a message was handed over");
            Err(Error::Internal)
        }
    }
}

/// The request in the form for the channel's owner, if that is another node.
fn to_owner(request: WebRequest, guard: Option<&KeyGuard>, form: Form) -> SendWeb {
    let key = guard.and_then(KeyGuard::to_move);
    SendWeb { request, key, form: form.name.to_owned(), is_queued: false }
}

/// The error when the caller's patience ended before the message could be handed over.
fn too_late(reason: Reason) -> Error {
    let sentence = match reason {
        Reason::Disconnected | Reason::Blocked | Reason::ProviderPause => return reconnecting().into(),
        Reason::Retry | Reason::BackOff | Reason::NoSocket => {
            return Error::Unavailable { retry_after: RETRY_AFTER };
        }
        Reason::Paused => {
            let sentence = "somebody paused the send and did not resume it in time: it was not sent and never will \
                            be; repeat the request when it may go";
            return Refusal::new(Code::SendIsOver, sentence).into();
        }
        Reason::Pair => PAIR_SENTENCE,
        _ => {
            "other messages of the channel went first for longer than a caller may wait (option \
             web_session.patience): try again"
        }
    };
    Error::TooSoon {
        retry_after: RETRY_AFTER,
        sentence: sentence.to_owned(),
        spent: Spent::pause(RETRY_AFTER),
    }
}

/// The field `voice`, if it asks for a voice message that the file cannot be.
fn unheard_voice(content: &Content, file: Option<&Media>) -> Option<String> {
    let is_asked = matches!(content, Content::Audio { voice: Some(true), .. });
    (is_asked && file.is_some_and(|file| !file.is_voice_note)).then(|| "voice".to_owned())
}

/// The recipient's number, if it is a stranger's.
fn stranger(recipient: &WebRecipient, known: Option<&KnownNumber>) -> Option<PhoneNumber> {
    match recipient {
        WebRecipient::Number(number) => known.is_none_or(KnownNumber::is_cold).then_some(*number),
        WebRecipient::Group(_) => None,
    }
}

pub(crate) fn reconnecting() -> Refusal {
    let sentence = "the web session has no connection to WhatsApp just now: try again in a minute, and look at the \
                    channel's `status_reason` if that lasts";
    Refusal::new(Code::SessionDisconnected, sentence)
}
