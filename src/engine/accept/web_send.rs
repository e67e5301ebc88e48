//! Sending through a web session: a message that somebody waits for until it is handed over.
//!
//! Everything that can be refused is refused before anything is written: whether there is a session, the pace, the
//! file, the number. The pace is asked first, and the message has its place from there on: what would go too late is not
//! fetched, and no channel has more files fetched than it may send. Then the message goes the way of every other: ledger,
//! channel actor, connector. Its send expires when its caller has waited long enough, so that what was answered with an
//! error is not sent later. What a request under a client's key is answered when it is repeated decides [`repeat`]; what
//! a message would be that is only tried, [`rehearse`].

mod rehearse;
mod repeat;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use url::Url;
use uuid::Uuid;

pub use self::rehearse::{RehearsedFile, WebRehearsal};
use crate::clock::Timestamp;
use crate::connector::media::Media;
use crate::connector::web_session::{AskError, Jid, Session};
use crate::domain::channel::Channel;
use crate::domain::content::Content;
use crate::domain::limit::Spent;
use crate::domain::outlook::Reason;
use crate::domain::phone::PhoneNumber;
use crate::domain::request::{Skipped, WebRecipient, WebRequest};
use crate::domain::send::{Recipients, Schedule};
use crate::engine::channel::{Admit, PAIR_SENTENCE};
use crate::engine::ledger::{Accept, Order};
use crate::engine::web_session::{Admitted, HandOver, HandedOver, Render, Wait, link};
use crate::engine::{Engine, Error, Held, RETRY_AFTER};
use crate::error::{Code, Refusal};
use crate::store::web_session_contact::KnownNumber;
use crate::telemetry::{self, Origin};

/// How long it counts that a number is on WhatsApp, and that it is not.
const FOUND_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const MISSED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// How long WhatsApp is not asked after it was asked too often.
const ASKED_TOO_OFTEN: Duration = Duration::from_secs(60);
/// How much later than its send expires its caller is told at the latest.
const AFTERWARDS: Duration = Duration::from_secs(30);

/// A message whose send is written and that waits to be handed over.
struct Submitted {
    send_id: Uuid,
    wait: Wait,
    stranger: Option<PhoneNumber>,
    patience: Duration,
}

impl Engine {
    /// Sends a message through a web session, and returns what `render` makes of it when it is handed over. With a
    /// key that is `held`, that answer is kept under it.
    ///
    /// # Errors
    ///
    /// In this order: `session_disconnected`; [`Error::TooSoon`]; `link_not_allowed`, `media_unavailable`,
    /// `media_too_large`; `not_on_whatsapp`; `send_is_over` when somebody canceled the send, or paused it and did not
    /// resume it in time. [`Error::Unavailable`] when it cannot be written now, and [`Error::Internal`] when nobody
    /// knows whether it was handed over. After any other error it was not, and will not be.
    pub async fn send_web(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        held: Option<Held>,
        render: Render,
    ) -> Result<String, Error> {
        let (engine, channel) = (self.clone(), Arc::clone(channel));
        // The caller may go before the answer comes: what was begun is carried to its end, and the key held as long.
        held.iter().for_each(Held::until_handed_over);
        let sending = actix::spawn(telemetry::carried(async move {
            let submitted = engine.submit(&channel, request, held.as_ref(), render).await;
            engine.finish(&channel, submitted, held).await.map(render)
        }));
        sending.await.unwrap_or_else(|error| {
            tracing::error!(%error, "sending through a web session was cut short");
            Err(Error::Internal)
        })
    }

    /// Accepts a message to be sent through a web session, and returns its send once that is durable; the send's state
    /// tells the rest. What `render` makes of the message is kept under the key when it is handed over.
    ///
    /// # Errors
    ///
    /// As [`Engine::send_web`], but for what happens after the send is written.
    pub async fn begin_web(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        held: Option<Held>,
        render: Render,
    ) -> Result<Uuid, Error> {
        let (engine, channel) = (self.clone(), Arc::clone(channel));
        held.iter().for_each(Held::until_handed_over);
        let (tell, told) = oneshot::channel();
        actix::spawn(telemetry::carried(async move {
            let submitted = engine.submit(&channel, request, held.as_ref(), render).await;
            // The caller may have gone: what was begun is carried to its end.
            let _ = tell.send(submitted.as_ref().map(|submitted| submitted.send_id).map_err(Error::clone));
            // Its end is in the ledger.
            let _ = engine.finish(&channel, submitted, held).await;
        }));
        told.await.unwrap_or_else(|_| {
            tracing::error!("accepting a message of a web session was cut short");
            Err(Error::Internal)
        })
    }

    /// Does everything up to the writing of the send.
    async fn submit(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
        held: Option<&Held>,
        render: Render,
    ) -> Result<Submitted, Error> {
        self.check_running()?;
        self.own(channel).await?;
        let WebRequest { recipient, content } = request;
        let session = self.session(channel)?;
        let known = self.known(channel, &recipient).await?;
        let (stranger, patience) = (stranger(&recipient, known.as_ref()), self.0.web_sessions.patience());
        let admitted = self.admit_web(channel, Admit { stranger, patience, tried: None }).await?;
        let file = self.file(channel, &content).await?;
        let to = self.address(channel, &session, &recipient, known.as_ref()).await?;
        let errands = &self.0.shared.errands;
        let (errand, wait) = errands.begin(channel.id, to, file, admitted, render);
        let (recipients, group) = match recipient {
            WebRecipient::Number(number) => (Recipients::One(number), None),
            WebRecipient::Group(id) => (Recipients::Group, Some(id)),
        };
        let order = Order {
            company_id: channel.company_id,
            channel_id: channel.id,
            content,
            group,
            template: None,
            schedule: Schedule { send_at: None, expires_at: Some(Timestamp::now().plus(patience)) },
            sources: Vec::new(),
            claim: held.map(|held| held.claim().clone()),
            is_awaited: true,
            origin: Origin::current(),
        };
        let accept = Accept::new(Arc::new(order), recipients, Skipped::default());
        let accept = Accept { errand: Some(errand), ..accept };
        let send_id = self.0.shared.ledger.send(accept).await??;
        metrics::counter!("pombo_sends_accepted_total").increment(1);
        metrics::counter!("pombo_recipients_accepted_total").increment(1);
        Ok(Submitted { send_id, wait, stranger, patience })
    }

    /// Waits until the message is handed over. The key of a message that was not is given back.
    async fn finish(
        &self,
        channel: &Channel,
        submitted: Result<Submitted, Error>,
        held: Option<Held>,
    ) -> Result<HandedOver, Error> {
        let handed_over = match submitted {
            Ok(submitted) => self.until_handed_over(channel, submitted).await,
            Err(error) => Err(error),
        };
        if let (Some(held), Err(error)) = (&held, &handed_over) {
            self.give_key_back(channel.company_id, &held.claim().key, error).await;
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

    /// The channel's session, if that can send. It knows first that it is connected; while it connects again, the
    /// channel's state counts.
    fn session(&self, channel: &Arc<Channel>) -> Result<Arc<dyn Session>, Refusal> {
        let gate = self.directory().actor(channel);
        let session = self.0.web_sessions.session(channel.id);
        if !session.as_ref().is_some_and(|session| session.figures().is_logged_in) {
            gate.admit_to_session()?;
        }
        session.ok_or_else(reconnecting)
    }

    /// Lets a message in, or says when it may be retried.
    async fn admit_web(&self, channel: &Channel, admit: Admit) -> Result<Admitted, Error> {
        let later = Error::Unavailable { retry_after: RETRY_AFTER };
        let admitted = self.directory().ask(channel.id, admit).await.ok_or(later)?;
        admitted.map_err(|too_soon| Error::TooSoon {
            retry_after: too_soon.retry_after,
            sentence: too_soon.sentence,
            spent: too_soon.spent,
        })
    }

    /// The file behind the link, if there is one.
    async fn file(&self, channel: &Channel, content: &Content) -> Result<Option<Media>, Error> {
        let Some((link, kind)) = link(content) else { return Ok(None) };
        let link = Url::parse(link).map_err(|_| {
            Refusal::new(Code::InvalidLink, "`link` is not an absolute http or https address")
        })?;
        Ok(Some(self.0.shared.fetcher.fetch(channel.company_id, &link, kind).await?))
    }

    /// What the store knows of the number that is written to.
    async fn known(&self, channel: &Channel, recipient: &WebRecipient) -> Result<Option<KnownNumber>, Error> {
        match recipient {
            WebRecipient::Number(number) => Ok(self.store().known_number(channel.id, *number).await?),
            WebRecipient::Group(_) => Ok(None),
        }
    }

    /// Where to send to: as the store knows, or as the session finds out.
    async fn address(
        &self,
        channel: &Channel,
        session: &Arc<dyn Session>,
        recipient: &WebRecipient,
        known: Option<&KnownNumber>,
    ) -> Result<Jid, Error> {
        let number = match recipient {
            WebRecipient::Number(number) => *number,
            WebRecipient::Group(id) => {
                return Ok(Jid::group(id).map_err(|invalid| {
                    Refusal::new(Code::InvalidPhoneNumber, format!("`phone_number` {invalid}"))
                })?);
            }
        };
        if let Some(jid) = known.and_then(still_good) {
            return Ok(jid.ok_or_else(|| not_on_whatsapp(number))?);
        }
        let found = session.find(number).await.map_err(|error| unanswered(&error))?;
        let (jid, lid) = found.map(|found| (found.jid, found.lid)).unzip();
        let lid = lid.flatten();
        let (as_text, lid) = (jid.as_ref().map(Jid::as_str), lid.as_ref().map(Jid::as_str));
        self.store().note_number_check(channel.id, number, as_text, lid, Timestamp::now()).await?;
        if let Some(lid) = lid {
            self.learn_lid(channel, number, lid).await;
        }
        Ok(jid.ok_or_else(|| not_on_whatsapp(number))?)
    }

    /// Where a person's profile picture is, which the company's contacts with this number show from here on.
    ///
    /// # Errors
    ///
    /// `session_disconnected`, `not_on_whatsapp`; [`Error::TooSoon`] when WhatsApp is asked too often,
    /// [`Error::Unavailable`] when it does not answer or the database is away.
    pub async fn profile_picture(
        &self,
        channel: &Arc<Channel>,
        number: PhoneNumber,
    ) -> Result<Option<String>, Error> {
        self.check_running()?;
        let session = self.session(channel)?;
        let person = WebRecipient::Number(number);
        let known = self.known(channel, &person).await?;
        let jid = self.address(channel, &session, &person, known.as_ref()).await?;
        let picture = session.picture(&jid).await.map_err(|error| unanswered(&error))?;
        if let Some(picture) = &picture {
            self.store().set_profile_picture(channel.company_id, number, &picture.url).await?;
        }
        Ok(picture.map(|picture| picture.url))
    }

    /// A contact's address that hides its number; that it could not be written is no reason not to send.
    async fn learn_lid(&self, channel: &Channel, number: PhoneNumber, lid: &str) {
        if let Err(error) = self.store().learn_lid(channel.company_id, number, lid).await {
            tracing::warn!(channel.id = %channel.id, %error, "a contact's LID was not written");
        }
    }

    /// From here on the budget of strangers does not count them.
    async fn no_stranger_any_more(&self, channel: &Channel, number: PhoneNumber, at: Timestamp) {
        if let Err(error) = self.store().note_first_sent(channel.id, number, at).await {
            tracing::warn!(channel.id = %channel.id, %error, "a first message to somebody was not noted");
        }
    }

    /// A request that came to nothing may be repeated under its key. The key of one whose message may have been handed
    /// over stays with its send.
    async fn give_key_back(&self, company: Uuid, key: &str, error: &Error) {
        if *error == Error::Internal {
            return;
        }
        if let Err(error) = self.store().forget_answer(company, key).await {
            // The ledger says that nothing was sent, which counts when the request is repeated.
            tracing::warn!(%error, "the key of a request that came to nothing was not given back");
        }
    }
}

/// How a message ended, for its caller.
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
            tracing::error!(send.id = %send_id, "nobody knows whether a message was handed over");
            Err(Error::Internal)
        }
    }
}

/// The caller's time was over before the message could be handed over.
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

/// The number that is written to, if its owner and the session never wrote to each other.
fn stranger(recipient: &WebRecipient, known: Option<&KnownNumber>) -> Option<PhoneNumber> {
    match recipient {
        WebRecipient::Number(number) => known.is_none_or(KnownNumber::is_cold).then_some(*number),
        WebRecipient::Group(_) => None,
    }
}

/// What is known of a number, as long as that counts: its address, or that it has none.
#[expect(clippy::option_option, reason = "nothing is known, nobody is there, or somebody is")]
fn still_good(known: &KnownNumber) -> Option<Option<Jid>> {
    let checked_at = known.checked_at?;
    let counts_for = if known.jid.is_some() { FOUND_FOR } else { MISSED_FOR };
    if checked_at.plus(counts_for) <= Timestamp::now() {
        return None;
    }
    match &known.jid {
        None => Some(None),
        Some(jid) => Jid::parse(jid).ok().map(Some),
    }
}

fn not_on_whatsapp(number: PhoneNumber) -> Refusal {
    let sentence = format!("the number {number} is not on WhatsApp: check it, country code included");
    Refusal::new(Code::NotOnWhatsapp, sentence)
}

fn reconnecting() -> Refusal {
    let sentence = "the web session has no connection to WhatsApp just now: try again in a minute, and look at the \
                    channel's `status_reason` if that lasts";
    Refusal::new(Code::SessionDisconnected, sentence)
}

fn unanswered(error: &AskError) -> Error {
    match error {
        AskError::NotConnected => reconnecting().into(),
        AskError::Refused { code: 429, .. } => Error::TooSoon {
            retry_after: ASKED_TOO_OFTEN,
            sentence: "WhatsApp is asked about too many numbers: try again later".to_owned(),
            spent: Spent::pause(ASKED_TOO_OFTEN),
        },
        AskError::Refused { .. } | AskError::NoAnswer(_) => {
            tracing::warn!(%error, "WhatsApp did not say whether a number is there");
            Error::Unavailable { retry_after: RETRY_AFTER }
        }
    }
}
