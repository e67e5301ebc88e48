//! Opt-out words: what a person writes to get no more messages, and what takes it back.
//!
//! The whole message is the word: "please stop by tomorrow" is none. Case, accents and spaces around it do not matter.

use std::collections::BTreeSet;

use super::fold::fold;
use super::suppression::Suppression;

/// The words that stop messages, folded: those that carriers and authorities in North America define, and the usual
/// ones in Portuguese, Spanish and French.
pub const STOP: &[&str] = &[
    "arret",
    "baja",
    "cancel",
    "descadastrar",
    "end",
    "opt out",
    "optout",
    "parar",
    "quit",
    "revoke",
    "sair",
    "stop",
    "stopall",
    "unsubscribe",
];
/// The words that take it back.
pub const START: &[&str] = &["start", "unstop"];
/// The longest text that may be a word, in bytes; a longer one is not compared.
pub const LONGEST_TEXT: usize = 160;
/// The longest word of a company, in characters.
pub const LONGEST_WORD: usize = 40;
/// The most words of each kind that a company may have.
pub const MOST_WORDS: usize = 50;

/// What a person's text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// The person wants no more messages.
    Stop,
    /// The person wants messages again.
    Start,
}

/// What a company does with opt-out words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptOutWords {
    /// What a stop word stops; `None` when words have no effect.
    pub scope: Option<Suppression>,
    /// The company's own words that stop messages, as a person wrote them.
    pub stop_words: Vec<String>,
    /// The company's own words that take it back.
    pub start_words: Vec<String>,
}

/// One of a company's two lists of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// The words that stop messages.
    Stop,
    /// The words that take it back.
    Start,
}

/// Words that a company cannot have; completes a sentence that begins with the field's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWords {
    /// More than [`MOST_WORDS`].
    #[error("has more than 50 words")]
    TooMany,
    /// Longer than [`LONGEST_WORD`].
    #[error("has a word with more than 40 characters: {0}")]
    TooLong(String),
    /// The same word stops messages and takes that back.
    #[error("has a word that would both stop messages and start them: {0}")]
    Both(String),
}

impl Default for OptOutWords {
    /// A person who writes a word that everybody knows gets nothing any more.
    fn default() -> Self {
        Self { scope: Some(Suppression::Everything), stop_words: Vec::new(), start_words: Vec::new() }
    }
}

impl OptOutWords {
    /// Checked settings: words are trimmed, empty and repeated ones are dropped.
    ///
    /// # Errors
    ///
    /// The list that is wrong, and what is wrong in it.
    pub fn new(
        scope: Option<Suppression>,
        stop_words: impl IntoIterator<Item = String>,
        start_words: impl IntoIterator<Item = String>,
    ) -> Result<Self, (List, InvalidWords)> {
        let stop_words = words(stop_words).map_err(|wrong| (List::Stop, wrong))?;
        let start_words = words(start_words).map_err(|wrong| (List::Start, wrong))?;
        let stops: BTreeSet<_> = stop_words.iter().map(|word| plain(word)).collect();
        if let Some(word) = stop_words.iter().find(|word| START.contains(&plain(word).as_str())) {
            return Err((List::Stop, InvalidWords::Both(word.clone())));
        }
        let is_stop = |word: &&String| {
            let word = plain(word);
            stops.contains(&word) || STOP.contains(&word.as_str())
        };
        match start_words.iter().find(is_stop) {
            Some(word) => Err((List::Start, InvalidWords::Both(word.clone()))),
            None => Ok(Self { scope, stop_words, start_words }),
        }
    }

    /// What this text of a person means; `None` for every text that is not exactly a word.
    pub fn meaning(&self, text: &str) -> Option<Said> {
        self.scope?;
        let text = plain(text);
        let is_among = |all: &[&str], own: &[String]| {
            all.contains(&text.as_str()) || own.iter().any(|word| plain(word) == text)
        };
        if text.is_empty() {
            None
        } else if is_among(STOP, &self.stop_words) {
            Some(Said::Stop)
        } else if is_among(START, &self.start_words) {
            Some(Said::Start)
        } else {
            None
        }
    }
}

/// The words of a list.
fn words(words: impl IntoIterator<Item = String>) -> Result<Vec<String>, InvalidWords> {
    let (mut kept, mut known) = (Vec::new(), BTreeSet::new());
    for word in words {
        let word = word.split_whitespace().collect::<Vec<_>>().join(" ");
        if word.chars().count() > LONGEST_WORD {
            return Err(InvalidWords::TooLong(word.chars().take(LONGEST_WORD).collect()));
        }
        let folded = plain(&word);
        if !folded.is_empty() && known.insert(folded) {
            kept.push(word);
        }
    }
    if kept.len() > MOST_WORDS { Err(InvalidWords::TooMany) } else { Ok(kept) }
}

/// The text as it is compared: without case and accents, with one space between its words and none around it.
fn plain(text: &str) -> String {
    let is_visible = |char: &char| !matches!(char, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    let text: String = text.chars().filter(is_visible).collect();
    fold(&text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(stop: &[&str], start: &[&str]) -> Result<OptOutWords, (List, InvalidWords)> {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        OptOutWords::new(Some(Suppression::Everything), list(stop), list(start))
    }

    #[test]
    fn the_whole_text_is_the_word_in_any_case_and_accent() {
        let words = OptOutWords::default();
        for stop in
            ["STOP", " stop\n", "Arrêt", "ARRET", "Opt  Out", "optout", "Sair", "\u{200e}stop", "ＳＴＯＰ"]
        {
            assert_eq!(words.meaning(stop), Some(Said::Stop), "{stop}");
        }
        for start in ["start", "UnStop "] {
            assert_eq!(words.meaning(start), Some(Said::Start), "{start}");
        }
        for none in ["", " ", "please stop by tomorrow", "stop it", "stopped", "no"] {
            assert_eq!(words.meaning(none), None, "{none}");
        }
        let off = OptOutWords { scope: None, ..OptOutWords::default() };
        assert_eq!(off.meaning("stop"), None);
    }

    #[test]
    fn a_company_has_words_of_its_own() {
        let words = own(&[" Chega  já ", "chega ja", ""], &["Voltar"]).unwrap();
        assert_eq!((words.stop_words.len(), &*words.stop_words[0]), (1, "Chega já"));
        assert_eq!(words.meaning("CHEGA JA"), Some(Said::Stop));
        assert_eq!(words.meaning("voltar"), Some(Said::Start));
        assert_eq!(words.meaning("stop"), Some(Said::Stop));
        let both = |list, word: &str| Err((list, InvalidWords::Both(word.to_owned())));
        assert_eq!(own(&["Start"], &[]), both(List::Stop, "Start"));
        assert_eq!(own(&["x"], &["X"]), both(List::Start, "X"));
        assert_eq!(own(&[], &["stop"]), both(List::Start, "stop"));
        let long = InvalidWords::TooLong("x".repeat(40));
        assert_eq!(own(&[&"x".repeat(41)], &[]), Err((List::Stop, long)));
        let many: Vec<_> = (0..51).map(|number| number.to_string()).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert_eq!(own(&[], &many), Err((List::Start, InvalidWords::TooMany)));
    }
}
