//! Suppressions: messages that a person may no longer be sent.

use std::str::FromStr;
use std::time::Duration;

use crate::words::numbered;

/// How long marketing messages to a recipient are held when the provider holds them back; a recipient who gets one
/// sooner is blocked for longer (<https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes>,
/// 131049).
pub const HOLD: Duration = Duration::from_secs(24 * 60 * 60);

numbered! {
    /// The extent of a suppression, the mildest first. The numbers are stored in the database.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Suppression {
        /// Marketing messages: the person opted out of them.
        Marketing = 1, "marketing";
        /// All messages.
        Everything = 2, "everything";
    }
}

numbered! {
    /// Where a suppression comes from. The numbers are stored in the database.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Source {
        /// The provider refused a message, with a code.
        Provider = 1, "provider";
        /// The person stopped the business's marketing in WhatsApp.
        Preference = 2, "preference";
        /// The person wrote an opt-out word to the business.
        Message = 3, "message";
        /// An operator, or a user of the company.
        Operator = 4, "operator";
    }
}

impl FromStr for Suppression {
    type Err = NotASuppression;

    fn from_str(word: &str) -> Result<Self, NotASuppression> {
        Self::ALL.into_iter().find(|suppression| suppression.as_str() == word).ok_or(NotASuppression)
    }
}

/// A word that names no suppression; completes a sentence that begins with the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is neither \"marketing\" nor \"everything\"")]
pub struct NotASuppression;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_read_back_and_never_change() {
        for (suppression, number, word) in
            [(Suppression::Marketing, 1, "marketing"), (Suppression::Everything, 2, "everything")]
        {
            assert_eq!((suppression.as_i16(), suppression.to_string().as_str()), (number, word));
            assert_eq!(Suppression::from_i16(number), Some(suppression));
            assert_eq!(word.parse(), Ok(suppression));
        }
        assert_eq!(Suppression::from_i16(0), None);
        assert_eq!("all".parse::<Suppression>(), Err(NotASuppression));
    }

    #[test]
    fn the_numbers_of_sources_never_change() {
        for (source, number, word) in [
            (Source::Provider, 1, "provider"),
            (Source::Preference, 2, "preference"),
            (Source::Message, 3, "message"),
            (Source::Operator, 4, "operator"),
        ] {
            assert_eq!((source.as_i16(), source.as_str()), (number, word));
            assert_eq!(Source::from_i16(number), Some(source));
        }
        assert_eq!(Source::from_i16(0), None);
    }

    #[test]
    fn everything_is_more_than_marketing() {
        assert!(Suppression::Everything > Suppression::Marketing);
    }
}
