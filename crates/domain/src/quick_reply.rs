//! Quick replies: texts that people answer with often, each found by a word after a slash. A text may have contact fields,
//! and a file of the library with it.

use uuid::Uuid;

use crate::contact::Person;
use crate::fold::fold;
use crate::own_field::OwnField;
use crate::template::contact_field;

/// The longest word, in characters.
pub const LONGEST_WORD: usize = 32;
/// The most characters of a text, with and without a file: what WhatsApp takes below a file and as a message.
pub const LONGEST_CAPTION: usize = 1_024;
/// The most characters of a text without a file.
pub const LONGEST_TEXT: usize = 4_096;
/// The most quick replies of a company.
pub const MOST_QUICK_REPLIES: usize = 200;

/// What a quick reply says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyDraft {
    /// What people type after the slash: lower case, without accents. Unique in the company.
    pub word: String,
    /// The text, with contact fields; may be empty beside a file.
    pub text: String,
    /// A file of the library.
    pub file_id: Option<Uuid>,
}

/// A quick reply that cannot be; completes a sentence that begins with the field's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidReply {
    /// The word is none.
    #[error("must have 1 to 32 letters, digits, hyphens and underscores")]
    Word,
    /// Neither text nor file.
    #[error("is needed without a file")]
    Empty,
    /// Longer than a message may be.
    #[error("has more than {0} characters")]
    TooLong(usize),
    /// A `{{` that begins no field of the company.
    #[error("has `{0}`, which is no contact field: write {{{{contact.NAME}}}} or {{{{contact.NAME|TEXT}}}}")]
    Field(String),
}

impl InvalidReply {
    /// The name of the field at fault.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Empty | Self::TooLong(_) | Self::Field(_) => "text",
        }
    }
}

impl ReplyDraft {
    /// A checked quick reply of a company with these own fields. The word may begin with its slash.
    ///
    /// # Errors
    ///
    /// What is wrong first.
    pub fn new(
        word: &str,
        text: &str,
        file_id: Option<Uuid>,
        own: &[OwnField],
    ) -> Result<Self, InvalidReply> {
        let word = plain(word).ok_or(InvalidReply::Word)?;
        let text = text.replace('\0', "").replace("\r\n", "\n");
        let text = text.trim();
        let most = if file_id.is_some() { LONGEST_CAPTION } else { LONGEST_TEXT };
        if text.is_empty() && file_id.is_none() {
            return Err(InvalidReply::Empty);
        }
        if text.chars().count() > most {
            return Err(InvalidReply::TooLong(most));
        }
        match contact_field::first_unknown(text, own) {
            Some(unknown) => Err(InvalidReply::Field(unknown)),
            None => Ok(Self { word, text: text.to_owned(), file_id }),
        }
    }

    /// The text for a person, with numbers and dates in this language; `None` for a person who is no contact. A field without
    /// a value and without a text in its place stays as it is written, so that the sender sees it, and is named in the second part.
    pub fn text_for(&self, person: Option<&Person>, language: &str) -> (String, Vec<String>) {
        contact_field::filled_as_known(&self.text, person, language)
    }
}

/// A word as quick replies are found by it; `None` for what is none.
pub fn plain(word: &str) -> Option<String> {
    let word = fold(word.trim().trim_start_matches('/'));
    let is_fit = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let length = word.chars().count();
    (word.chars().all(is_fit) && (1..=LONGEST_WORD).contains(&length)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(word: &str, text: &str, file: Option<Uuid>) -> Result<ReplyDraft, InvalidReply> {
        ReplyDraft::new(word, text, file, &[])
    }

    #[test]
    fn a_word_is_typed_in_any_case_and_accent_with_or_without_its_slash() {
        for word in ["/Preço", "preco", " PREÇO "] {
            assert_eq!(reply(word, "x", None).map(|reply| reply.word), Ok("preco".to_owned()), "{word}");
        }
        for wrong in ["", "/", "two words", "a/b", &"x".repeat(33)] {
            assert_eq!(reply(wrong, "x", None), Err(InvalidReply::Word), "{wrong}");
        }
    }

    #[test]
    fn a_text_fits_a_message_and_has_fields_that_there_are() {
        let file = Some(Uuid::from_u128(1));
        assert_eq!(reply("a", " ", None), Err(InvalidReply::Empty));
        assert!(reply("a", " ", file).is_ok());
        assert_eq!(reply("a", &"x".repeat(1_025), file), Err(InvalidReply::TooLong(1_024)));
        assert!(reply("a", &"x".repeat(4_096), None).is_ok());
        let misspelt = reply("a", "Hi {{contact.fist_name}}", None);
        assert_eq!(misspelt, Err(InvalidReply::Field("{{contact.fist_name}}".to_owned())));
        assert_eq!(reply("a", "Hi {{name", None), Err(InvalidReply::Field("{{name".to_owned())));
    }

    #[test]
    fn fields_without_a_value_stay_for_the_writer_to_see() {
        let text = "Hi {{contact.first_name|friend}}, {{contact.email}} {{contact.email}}";
        let reply = reply("a", text, None).unwrap();
        let (text, missing) = reply.text_for(None, "en");
        assert_eq!(text, "Hi friend, {{contact.email}} {{contact.email}}");
        assert_eq!(missing, ["email"]);
        let ana =
            Person { first_name: "Ana".to_owned(), email: "ana@example.com".to_owned(), ..Person::default() };
        let (text, missing) = reply.text_for(Some(&ana), "en");
        assert_eq!((text.as_str(), missing.len()), ("Hi Ana, ana@example.com ana@example.com", 0));
    }
}
