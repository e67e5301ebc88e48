//! Whether numbers are on WhatsApp, for a client that asks before it sends.
//!
//! What the session knows already is answered from the store. WhatsApp is asked about the others, one after the other,
//! each after the channel's actor admitted the lookup. A request waits no longer for these turns than a message's caller
//! does; what is left then stays unanswered, and a repeated request goes on there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::AskNumbers;
use super::addresses::still_good;
use crate::accept::web_send::WebSends;
use crate::channel::AdmitLookup;
use crate::{Error, RETRY_AFTER};
use clock::Timestamp;
use domain::channel::Channel;
use domain::phone::PhoneNumber;

/// The most numbers about which one request asks WhatsApp.
pub(super) const MOST_ASKED: usize = 100;

/// Which numbers are on WhatsApp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumbersChecked {
    /// The numbers that are known to be there, or not.
    pub answers: HashMap<PhoneNumber, bool>,
    /// How many numbers WhatsApp was asked about for this request.
    pub asked: usize,
    /// Why the others have no answer yet: when to repeat the request, and a sentence. `None` when all have one.
    pub later: Option<(Duration, String)>,
}

/// WhatsApp's answers, in the order of the numbers, as far as they came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NumbersAsked {
    pub(crate) answers: Vec<bool>,
    /// Why no more came.
    pub(crate) later: Option<(Duration, String)>,
}

impl WebSends<'_> {
    /// Finds out which of these numbers are on WhatsApp, as far as the channel's bounds allow it now.
    ///
    /// # Errors
    ///
    /// `session_disconnected` when WhatsApp has to be asked and the session cannot; [`Error::Unavailable`] when the
    /// database is away.
    pub async fn check_numbers(
        &self,
        channel: &Arc<Channel>,
        numbers: &[PhoneNumber],
    ) -> Result<NumbersChecked, Error> {
        self.engine.check_running()?;
        let mut left = numbers.to_vec();
        left.sort_unstable();
        left.dedup();
        let mut answers = HashMap::new();
        let records = self.engine.records_of(channel.company_id).await?;
        for (number, known) in records.web_sessions().known_numbers(channel.id, &left).await? {
            if let Some(jid) = still_good(&known) {
                answers.insert(number, jid.is_some());
            }
        }
        drop(records);
        left.retain(|number| !answers.contains_key(number));
        if left.is_empty() {
            return Ok(NumbersChecked { answers, asked: 0, later: None });
        }
        let next = AskNumbers { numbers: left.iter().take(MOST_ASKED).copied().collect() };
        let asked = self.engine.owners().ask(channel, &next).await?;
        let NumbersAsked { answers: told, later } = match asked {
            Some(asked) => asked,
            None => self.ask_numbers(channel, next.numbers).await?,
        };
        let (asked, is_over) = (told.len(), told.len() == left.len());
        answers.extend(left.into_iter().zip(told));
        let more = || {
            let sentence = format!("one request asks WhatsApp about at most {MOST_ASKED} numbers: repeat it");
            (RETRY_AFTER, sentence)
        };
        let later = if is_over { None } else { Some(later.unwrap_or_else(more)) };
        Ok(NumbersChecked { answers, asked, later })
    }

    /// Asks WhatsApp about numbers until one has to wait for too long.
    pub(crate) async fn ask_numbers(
        &self,
        channel: &Arc<Channel>,
        numbers: Vec<PhoneNumber>,
    ) -> Result<NumbersAsked, Error> {
        let session = self.session(channel)?;
        let (began, patience) = (Instant::now(), self.engine.0.web_sessions.patience());
        let mut answers = Vec::new();
        for number in numbers {
            let left = patience.saturating_sub(began.elapsed());
            match self.ask_number(channel, &session, number, left).await {
                Ok(is_there) => answers.push(is_there),
                Err(Error::TooSoon { retry_after, sentence, spent: _ }) => {
                    return Ok(NumbersAsked { answers, later: Some((retry_after, sentence)) });
                }
                Err(Error::Unavailable { retry_after }) => {
                    let sentence = "WhatsApp or the database did not answer: repeat the request".to_owned();
                    return Ok(NumbersAsked { answers, later: Some((retry_after, sentence)) });
                }
                // The session was lost on the way: what is known is told.
                Err(Error::Refused(refusal)) if !answers.is_empty() => {
                    return Ok(NumbersAsked { answers, later: Some((RETRY_AFTER, refusal.sentence)) });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(NumbersAsked { answers, later: None })
    }

    async fn ask_number(
        &self,
        channel: &Channel,
        session: &Arc<dyn driver::Session>,
        number: PhoneNumber,
        patience: Duration,
    ) -> Result<bool, Error> {
        let known = self.engine.store().web_sessions().known_number(channel.id, number).await?;
        // Another request may have asked meanwhile.
        if let Some(jid) = known.as_ref().and_then(still_good) {
            return Ok(jid.is_some());
        }
        let is_stranger = known.is_none_or(|known| known.is_cold());
        let lookup = AdmitLookup { number, is_stranger, patience };
        let later = Error::Unavailable { retry_after: RETRY_AFTER };
        let admitted = self.engine.directory().ask(channel.id, lookup).await.ok_or(later)?;
        let lookup = admitted.map_err(Error::from)?;
        tokio::time::sleep(lookup.wait).await;
        lookup.slot.keep(Timestamp::now());
        Ok(self.find(channel, session, number).await?.is_some())
    }
}
