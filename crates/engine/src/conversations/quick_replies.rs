//! Quick replies: texts that a company's people answer with often, found by a word, and filled in for the person whom they
//! answer.

use uuid::Uuid;

use super::Conversations;
use crate::{Engine, Error, Who};
use clock::Timestamp;
use domain::content::Content;
use domain::error::{Code, Refusal};
use domain::link::file_link;
use domain::media::Kind;
use domain::phone::PhoneNumber;
use domain::quick_reply::{MOST_QUICK_REPLIES, ReplyDraft, plain};
use store::media::LibraryFile;
use store::quick_replies::{QuickReply, SavedReply};

/// The quick replies of a company.
#[derive(Clone, Copy)]
pub struct QuickReplies<'e> {
    engine: &'e Engine,
    company: Uuid,
}

/// A quick reply, filled in for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedReply {
    /// The text; may be empty beside a file.
    pub text: String,
    /// The names of the fields that the person has no value for, and that have no text in their place: the text has them as they
    /// are written.
    pub missing: Vec<String>,
    /// The file.
    pub file: Option<LibraryFile>,
    /// Whether its file was removed from the library.
    pub is_file_gone: bool,
}

impl RenderedReply {
    /// The messages that it becomes: one, or two where the file has no room for a text below it.
    pub fn contents(&self) -> Vec<Content> {
        let text = (!self.text.is_empty()).then(|| self.text.clone());
        let message = |body: String| Content::Text { body, preview_url: None };
        let Some(file) = &self.file else { return text.map(message).into_iter().collect() };
        let link = file_link(file.id);
        match file.kind {
            Kind::Image => vec![Content::Image { link, caption: text }],
            Kind::Video => vec![Content::Video { link, caption: text }],
            Kind::Document => {
                vec![Content::Document { link, caption: text, filename: Some(file.name.clone()) }]
            }
            Kind::Audio => {
                let sound = Content::Audio { link, voice: None };
                std::iter::once(sound).chain(text.map(message)).collect()
            }
            Kind::Sticker => {
                let sticker = Content::Sticker { link };
                std::iter::once(sticker).chain(text.map(message)).collect()
            }
        }
    }
}

impl<'e> Conversations<'e> {
    /// The company's quick replies.
    pub const fn quick_replies(&self) -> QuickReplies<'e> {
        QuickReplies { engine: self.engine, company: self.company }
    }
}

impl QuickReplies<'_> {
    /// All quick replies, by their words: 200 at most.
    pub async fn all(&self) -> Result<Vec<QuickReply>, Error> {
        let records = self.engine.records_of(self.company).await?;
        Ok(records.of(self.company).quick_replies().all().await?)
    }

    /// Those whose words begin with what a person typed after the slash, by their words.
    pub async fn beginning_with(&self, typed: &str) -> Result<Vec<QuickReply>, Error> {
        let mut found = self.all().await?;
        let typed = typed.trim().trim_start_matches('/');
        if !typed.is_empty() {
            let word = plain(typed);
            found.retain(|reply| word.as_ref().is_some_and(|word| reply.draft.word.starts_with(word)));
        }
        Ok(found)
    }

    /// The quick reply of this id.
    ///
    /// # Errors
    ///
    /// `quick_reply_not_found`.
    pub async fn one(&self, id: Uuid) -> Result<QuickReply, Error> {
        let found = self.all().await?.into_iter().find(|reply| reply.id == id);
        Ok(found.ok_or_else(no_such_reply)?)
    }

    /// Adds a quick reply, or replaces the one of this id.
    ///
    /// # Errors
    ///
    /// `invalid_field` with the field at fault; `media_not_found` for a file that the library does not have;
    /// `quick_reply_not_found`, `quick_reply_word_taken`, `too_many_quick_replies`.
    pub async fn save(
        &self,
        who: &Who,
        id: Option<Uuid>,
        (word, text, file_id): (&str, &str, Option<Uuid>),
    ) -> Result<QuickReply, Error> {
        if let Some(file) = file_id {
            self.engine.media().find(self.company, file).await?;
        }
        let records = self.engine.records_of(self.company).await?;
        let own = records.of(self.company).fields().all().await?;
        let draft = ReplyDraft::new(word, text, file_id, &own)
            .map_err(|wrong| Refusal::of(wrong.field(), Code::InvalidField, &wrong))?;
        let saved = records.of(self.company).quick_replies().save(who, id, draft, Timestamp::now()).await?;
        match saved {
            SavedReply::Saved(reply) => Ok(reply),
            SavedReply::Missing => Err(no_such_reply().into()),
            SavedReply::Taken => {
                let sentence = "another quick reply of this company has this word: choose another one";
                Err(Refusal::new(Code::QuickReplyWordTaken, sentence).about("word").into())
            }
            SavedReply::Full => {
                let sentence =
                    format!("this company has {MOST_QUICK_REPLIES} quick replies, and none more: delete one");
                Err(Refusal::new(Code::TooManyQuickReplies, sentence).into())
            }
        }
    }

    /// Deletes a quick reply.
    ///
    /// # Errors
    ///
    /// `quick_reply_not_found`.
    pub async fn delete(&self, who: &Who, id: Uuid) -> Result<(), Error> {
        let records = self.engine.records_of(self.company).await?;
        let deleted = records.of(self.company).quick_replies().delete(who, id).await?;
        if deleted { Ok(()) } else { Err(no_such_reply().into()) }
    }

    /// A quick reply for the person with this number, with numbers and dates in this language, such as `pt-BR`. Its values are
    /// those of the person's contact.
    ///
    /// # Errors
    ///
    /// `quick_reply_not_found`.
    pub async fn rendered(
        &self,
        id: Uuid,
        number: Option<PhoneNumber>,
        language: &str,
    ) -> Result<RenderedReply, Error> {
        let QuickReply { draft, .. } = self.one(id).await?;
        let mut person = None;
        if let Some(number) = number {
            let forms = self.engine.0.shared.people.forms(self.company, number);
            let records = self.engine.records_of(self.company).await?;
            let mut found = records.of(self.company).contacts().people(&forms).await?;
            person = forms.iter().find_map(|form| found.remove(form));
        }
        let (text, missing) = draft.text_for(person.as_ref(), language);
        let file = match draft.file_id {
            Some(id) => match self.engine.media().find(self.company, id).await {
                Ok(file) => Some(file),
                Err(Error::Refused(_)) => None,
                Err(error) => return Err(error),
            },
            None => None,
        };
        Ok(RenderedReply { text, missing, is_file_gone: file.is_none() && draft.file_id.is_some(), file })
    }
}

fn no_such_reply() -> Refusal {
    let sentence = "this company has no such quick reply: GET /api/v1/quick-replies lists them";
    Refusal::new(Code::QuickReplyNotFound, sentence)
}
