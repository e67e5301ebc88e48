//! Automatic answers: a confirmation to a person who writes an opt-out word, one to a person who takes it back, and a text
//! while nobody is there. Nothing else is answered by itself.
//!
//! No answer can begin an exchange of two services: each kind goes to a person once in [`ONCE_IN`] at most, and no text is a
//! word to which anybody answers.

mod hours;

use std::time::Duration;

pub use self::hours::{InvalidHours, OpeningHours, WEEKDAYS};
use crate::inbound::{Direction, InboundContent, InboundMessage};
use crate::opt_out::{self, OptOutWords, Said};
use crate::words::numbered;
use clock::Timestamp;

/// The most characters of a text.
pub const LONGEST_ANSWER: usize = 1_000;
/// A person gets an answer of each kind once in this time.
pub const ONCE_IN: Duration = Duration::from_secs(12 * 60 * 60);
/// An answer that could not be sent for this long is not sent any more: nobody expects it.
pub const LATEST: Duration = Duration::from_secs(60 * 60);
/// What comes so soon after a message of the company was written by a program, or is the end of an exchange that goes on.
pub const REFLEX: Duration = Duration::from_secs(5);

numbered! {
    /// The kinds of automatic answers. The numbers are stored in the database.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum AnswerKind {
        /// The person gets no more messages.
        Stop = 1, "stop";
        /// The person gets messages again.
        Start = 2, "start";
        /// Nobody is there.
        Away = 3, "away";
    }
}

/// What a company answers by itself. A text that it does not have is not sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AutomaticTexts {
    /// To a person who wrote an opt-out word.
    pub stop: Option<String>,
    /// To a person who took it back.
    pub start: Option<String>,
    /// To a person who writes while nobody is there.
    pub away: Option<String>,
    /// When somebody is there.
    pub hours: OpeningHours,
    /// Whether people are not told that an agent read their messages.
    pub hides_reading: bool,
}

/// A text that cannot be sent automatically; completes a sentence that begins with the field's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswer {
    /// Longer than [`LONGEST_ANSWER`].
    #[error("has more than 1,000 characters")]
    TooLong,
    /// Another service would take it for an opt-out word, and answer it.
    #[error("is a word that stops messages or starts them, which other services answer")]
    IsAWord,
}

impl AutomaticTexts {
    /// Checked texts: they are trimmed, and blank ones are none.
    ///
    /// # Errors
    ///
    /// The text that is wrong, and why.
    pub fn new(
        stop: Option<&str>,
        start: Option<&str>,
        away: Option<&str>,
        hours: OpeningHours,
    ) -> Result<Self, (AnswerKind, InvalidAnswer)> {
        let checked = |kind, text: Option<&str>| checked(text).map_err(|wrong| (kind, wrong));
        Ok(Self {
            stop: checked(AnswerKind::Stop, stop)?,
            start: checked(AnswerKind::Start, start)?,
            away: checked(AnswerKind::Away, away)?,
            hours,
            hides_reading: false,
        })
    }

    /// The same, with the choice whether people are told that their messages were read.
    #[must_use]
    pub fn hiding_reading(self, hides_reading: bool) -> Self {
        Self { hides_reading, ..self }
    }

    /// The text of this kind.
    pub fn of(&self, kind: AnswerKind) -> Option<&str> {
        let text = match kind {
            AnswerKind::Stop => &self.stop,
            AnswerKind::Start => &self.start,
            AnswerKind::Away => &self.away,
        };
        text.as_deref()
    }
}

fn checked(text: Option<&str>) -> Result<Option<String>, InvalidAnswer> {
    let text = text.unwrap_or_default().replace('\0', "").replace("\r\n", "\n");
    let text = text.trim();
    if text.chars().count() > LONGEST_ANSWER {
        Err(InvalidAnswer::TooLong)
    } else if OptOutWords::default().meaning(text).is_some() {
        Err(InvalidAnswer::IsAWord)
    } else {
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }
}

/// What a company does with what people write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerRules {
    /// What texts mean.
    pub words: OptOutWords,
    /// What is answered.
    pub texts: AutomaticTexts,
}

impl AnswerRules {
    /// What the message of a person says with an opt-out word.
    pub fn said(&self, message: &InboundMessage) -> Option<Said> {
        let text = message.text().filter(|text| text.len() <= opt_out::LONGEST_TEXT)?;
        self.words.meaning(text)
    }

    /// The kind of answer to a message that is taken in `now`. Nothing else answers a word than its confirmation. Groups,
    /// histories, old messages, and everything that a person did not write get no answer.
    pub fn answer_to(&self, message: &InboundMessage, now: Timestamp) -> Option<AnswerKind> {
        let is_news = message.direction == Direction::In && !message.is_past && message.peer.group.is_none();
        if !is_news || message.at.plus(LATEST) < now {
            return None;
        }
        let kind = match self.said(message) {
            Some(Said::Stop) => AnswerKind::Stop,
            Some(Said::Start) => AnswerKind::Start,
            None if is_written(&message.body.content) && !self.texts.hours.are_open(message.at) => {
                AnswerKind::Away
            }
            None => return None,
        };
        self.texts.of(kind).map(|_| kind)
    }
}

/// Whether a person wrote or chose it, in words or with a file.
const fn is_written(content: &InboundContent) -> bool {
    match content {
        InboundContent::Text { .. }
        | InboundContent::Image { .. }
        | InboundContent::Video { .. }
        | InboundContent::Audio { .. }
        | InboundContent::Document { .. }
        | InboundContent::Sticker { .. }
        | InboundContent::Location { .. }
        | InboundContent::Contacts { .. }
        | InboundContent::Answer { .. }
        | InboundContent::Flow { .. }
        | InboundContent::Order { .. } => true,
        InboundContent::Reaction { .. }
        | InboundContent::Edit { .. }
        | InboundContent::Deletion { .. }
        | InboundContent::Call { .. }
        | InboundContent::System { .. }
        | InboundContent::Unsupported { .. } => false,
    }
}

#[cfg(test)]
mod tests;
