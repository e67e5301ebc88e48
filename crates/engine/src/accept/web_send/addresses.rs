//! Addresses of messages through a web session: from the store, or from the session.

use std::sync::Arc;
use std::time::Duration;

use super::AskPicture;
use super::reconnecting;
use crate::accept::web_send::WebSends;
use crate::{Error, RETRY_AFTER};
use clock::Timestamp;
use domain::channel::Channel;
use domain::contact::is_picture;
use domain::error::{Code, Refusal};
use domain::limit::Spent;
use domain::phone::PhoneNumber;
use domain::request::WebRecipient;
use driver::{AskError, Jid, Session};
use store::web_sessions::contacts::KnownNumber;

/// How long the answers are valid that a number is on WhatsApp, and that it is not.
const FOUND_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const MISSED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// How long WhatsApp is not asked after it answered that it is asked too often.
const ASKED_TOO_OFTEN: Duration = Duration::from_secs(60);

impl WebSends<'_> {
    /// The store's knowledge of the recipient's number.
    pub(super) async fn known(
        &self,
        channel: &Channel,
        recipient: &WebRecipient,
    ) -> Result<Option<KnownNumber>, Error> {
        match recipient {
            WebRecipient::Number(number) => {
                Ok(self.engine.store().web_sessions().known_number(channel.id, *number).await?)
            }
            WebRecipient::Group(_) => Ok(None),
        }
    }

    /// The recipient's address, from the store or from the session.
    pub(super) async fn address(
        &self,
        channel: &Channel,
        session: &Arc<dyn Session>,
        recipient: &WebRecipient,
        known: Option<&KnownNumber>,
    ) -> Result<Jid, Error> {
        let number = match recipient {
            WebRecipient::Number(number) => *number,
            WebRecipient::Group(id) => {
                return Ok(Jid::group(id)
                    .map_err(|invalid| Refusal::of("phone_number", Code::InvalidPhoneNumber, invalid))?);
            }
        };
        if let Some(jid) = known.and_then(still_good) {
            return Ok(jid.ok_or_else(|| not_on_whatsapp(number))?);
        }
        let jid = self.find(channel, session, number).await?;
        Ok(jid.ok_or_else(|| not_on_whatsapp(number))?)
    }

    /// Asks WhatsApp for the address of a number, and stores the answer; `None` when it is not there.
    pub(super) async fn find(
        &self,
        channel: &Channel,
        session: &Arc<dyn Session>,
        number: PhoneNumber,
    ) -> Result<Option<Jid>, Error> {
        let found = session.find(number).await.map_err(|error| unanswered(&error))?;
        let (jid, lid) = found.map(|found| (found.jid, found.lid)).unzip();
        let lid = lid.flatten();
        let (as_text, lid) = (jid.as_ref().map(Jid::as_str), lid.as_ref().map(Jid::as_str));
        self.engine
            .store()
            .web_sessions()
            .note_number_check(channel.id, number, as_text, lid, Timestamp::now())
            .await?;
        if let Some(lid) = lid {
            self.learn_lid(channel, number, lid).await;
        }
        Ok(jid)
    }

    /// The link to a person's profile picture, which the company's contacts with this number show from here on.
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
        self.engine.check_running()?;
        if let Some(picture) = self.engine.owners().ask(channel, &AskPicture { number }).await? {
            return Ok(picture);
        }
        let session = self.session(channel)?;
        let person = WebRecipient::Number(number);
        let known = self.known(channel, &person).await?;
        let jid = self.address(channel, &session, &person, known.as_ref()).await?;
        let picture = session.picture(&jid).await.map_err(|error| unanswered(&error))?;
        let url = picture.map(|picture| picture.url).filter(|url| is_picture(url));
        if let Some(url) = &url {
            self.engine.store().of(channel.company_id).contacts().set_profile_picture(number, url).await?;
        }
        Ok(url)
    }

    /// Writes a contact's LID, an address that hides its number. A failed write is no reason not to send.
    async fn learn_lid(&self, channel: &Channel, number: PhoneNumber, lid: &str) {
        if let Err(error) = self.engine.store().of(channel.company_id).contacts().learn_lid(number, lid).await
        {
            tracing::warn!(channel.id = %channel.id, channel.name = %channel.name, %error, "cannot write a contact's LID");
        }
    }
}

/// The answer for a number while it is valid: its address, or that it has none.
#[expect(clippy::option_option, reason = "nothing is known, nobody is there, or somebody is")]
pub(super) fn still_good(known: &KnownNumber) -> Option<Option<Jid>> {
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
    Refusal::new(Code::NotOnWhatsapp, sentence).about("phone_number")
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
            tracing::warn!(%error, "WhatsApp did not say whether a number is registered");
            Error::Unavailable { retry_after: RETRY_AFTER }
        }
    }
}
