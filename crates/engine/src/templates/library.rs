//! The provider's library of templates: searched with a channel's token, and copied into the channel's account.

use serde_json::value::RawValue;

use super::{Declined, TemplateDesk};
use crate::Who;
use domain::error::{Code, Refusal};
use domain::template::{
    LIBRARY_NAME, LibraryDraft, LibraryFields, LibraryPage, LibraryQuery, ListedTemplate, ParameterFormat,
    Status,
};
use store::templates::Record;

impl TemplateDesk<'_> {
    /// A part of the provider's library. The provider is asked each time.
    ///
    /// # Errors
    ///
    /// `invalid_template` for a web session; `provider_refused`, `provider_unavailable`.
    pub async fn library(&self, query: &LibraryQuery<'_>) -> Result<LibraryPage, Declined> {
        self.check_library()?;
        let (connector, _) = self.connector().await?;
        Ok(connector.library(query).await?)
    }

    /// Asks the provider for a template of its library, which the account then has under a name of its own.
    ///
    /// # Errors
    ///
    /// `invalid_template`, with the field at fault, and for a web session; `provider_refused`, `provider_unavailable`.
    pub async fn create_from_library(&self, who: &Who, asked: LibraryFields<'_>) -> Result<Record, Declined> {
        self.check_library()?;
        let draft = LibraryDraft::new(asked)?;
        let fields = draft.fields();
        let (connector, _) = self.connector().await?;
        let unread = ListedTemplate {
            provider_id: String::new(),
            name: draft.name,
            language: draft.language,
            category: draft.category,
            status: Status::Pending,
            parameter_format: ParameterFormat::Positional,
            // The provider has the words: the next list brings them.
            components: RawValue::NULL.to_owned(),
            rejected_reason: None,
            quality_score: None,
        };
        self.submit(who, &connector, &fields, unread).await
    }

    fn check_library(&self) -> Result<(), Refusal> {
        if self.is_local() {
            let sentence = "the library of templates is the provider's, for business accounts: a web session has texts of \
                            its own, which are created with `components`";
            return Err(Refusal::new(Code::InvalidTemplate, sentence).about(LIBRARY_NAME));
        }
        Ok(())
    }
}
