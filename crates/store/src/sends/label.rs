//! What is noted on a send, as its row keeps it.

use crate::{Error, Result};
use domain::fold::fold;
use domain::send::Label;

/// A [`Label`] in columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredLabel {
    /// The given name.
    pub name: Option<String>,
    /// The same as searches find it: without case and accents.
    pub name_folded: Option<String>,
    /// The reference.
    pub reference: Option<String>,
    /// The metadata, as JSON; `None` when there is none.
    pub metadata: Option<String>,
    /// Who made the send.
    pub made_by: Option<String>,
}

impl From<&Label> for StoredLabel {
    fn from(Label { name, reference, metadata, made_by }: &Label) -> Self {
        // Texts always become JSON.
        let metadata = (!metadata.is_empty()).then(|| serde_json::to_string(metadata).unwrap_or_default());
        Self {
            name: name.clone(),
            name_folded: name.as_deref().map(fold),
            reference: reference.clone(),
            metadata,
            made_by: made_by.clone(),
        }
    }
}

impl StoredLabel {
    /// The label.
    ///
    /// # Errors
    ///
    /// [`Error::Impossible`] for metadata that this program never wrote.
    pub(crate) fn read(self) -> Result<Label> {
        let Self { name, name_folded: _, reference, metadata, made_by } = self;
        let metadata = metadata.map(|metadata| serde_json::from_str(&metadata)).transpose();
        let metadata = metadata
            .map_err(|error| Error::Impossible(format!("the metadata of a send: {error}")))?
            .unwrap_or_default();
        Ok(Label { name, reference, metadata, made_by })
    }
}
