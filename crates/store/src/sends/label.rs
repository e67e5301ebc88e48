//! The caller's own words on a send, as its row keeps them.

use crate::{Error, Result};
use domain::send::Label;

/// A [`Label`] in two columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredLabel {
    /// The reference.
    pub reference: Option<String>,
    /// The metadata, as JSON; `None` when there is none.
    pub metadata: Option<String>,
}

impl From<&Label> for StoredLabel {
    fn from(Label { reference, metadata }: &Label) -> Self {
        // Texts always become JSON.
        let metadata = (!metadata.is_empty()).then(|| serde_json::to_string(metadata).unwrap_or_default());
        Self { reference: reference.clone(), metadata }
    }
}

impl StoredLabel {
    /// The label.
    ///
    /// # Errors
    ///
    /// [`Error::Impossible`] for metadata that this program never wrote.
    pub(crate) fn read(self) -> Result<Label> {
        let Self { reference, metadata } = self;
        let metadata = metadata.map(|metadata| serde_json::from_str(&metadata)).transpose();
        let metadata = metadata
            .map_err(|error| Error::Impossible(format!("the metadata of a send: {error}")))?
            .unwrap_or_default();
        Ok(Label { reference, metadata })
    }
}
