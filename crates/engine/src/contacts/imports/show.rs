//! The preview of an import: the first rows of the file, and what they would change.

use uuid::Uuid;

use super::{names, refused, settings};
use crate::Error;
use crate::contacts::imports::ContactImports;
use crate::records::country::OwnCountry;
use domain::error::Code;
use domain::phone::{Country, PhoneNumber};
use import::{Preview, RejectCode, Settings};
use store::Upserted;

/// Rows that are looked up among the contacts.
const LOOKED_UP: usize = 500;

/// The beginning of a file, and what its rows would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The columns and the first rows.
    pub preview: Preview,
    /// The examined rows that would create a contact.
    pub created: u64,
    /// The rows that would change a contact.
    pub updated: u64,
    /// The rows that would change nothing.
    pub unchanged: u64,
    /// The rows whose names look wrongly decoded, so that contacts would keep theirs.
    pub names_kept: u64,
    /// The rows whose numbers would be others inside the company's country; none when numbers are read by its rules.
    pub national: u64,
    /// The company's country.
    pub country: OwnCountry,
}

impl ContactImports<'_> {
    /// Shows how the beginning of an uploaded file would be imported now.
    ///
    /// # Errors
    ///
    /// `import_not_found`, and `invalid_file` or `too_many_columns` when its header cannot be read.
    pub async fn show(&self, company: Uuid, id: Uuid) -> Result<Shown, Error> {
        let settings = settings(&self.find(company, id).await?);
        let (beginning, is_all) = self.beginning(company, id).await?;
        let preview = import::preview(&beginning, is_all, &settings, LOOKED_UP)
            .map_err(|error| refused(&error, Code::InvalidFile))?;
        let records = self.engine.records_of(company).await?;
        let (results, names_kept) =
            records.of(company).contacts().compare_drafts(&preview.step.drafts, names(&settings)).await?;
        let country = records.of(company).country().await?;
        let count = |result| results.iter().filter(|found| **found == result).count() as u64;
        Ok(Shown {
            created: count(Upserted::Created),
            updated: count(Upserted::Updated),
            unchanged: count(Upserted::Unchanged),
            names_kept,
            national: country.likely().map_or(0, |country| national(&preview, &settings, country)),
            country,
            preview,
        })
    }

    /// The first piece of an uploaded file, and whether it is the whole file.
    pub(super) async fn beginning(&self, company: Uuid, id: Uuid) -> Result<(Vec<u8>, bool), Error> {
        let records = self.engine.records_of(company).await?;
        let first = records.imports().chunk(id, 0).await?.unwrap_or_default();
        let is_all = first.len() < super::upload::PIECE || records.imports().chunk(id, 1).await?.is_none();
        Ok((first, is_all))
    }
}

/// The rows of a preview whose numbers would be others in this country, or are refused because they look national.
fn national(preview: &Preview, settings: &Settings, country: Country) -> u64 {
    if settings.country.is_some() {
        return 0;
    }
    let is_national = |text: &str| PhoneNumber::national(text, country).is_some();
    let drafts = preview.step.drafts.iter().filter(|draft| is_national(&draft.person.phone_number));
    let codes = [RejectCode::NumberIsNational, RejectCode::NumberBeginsWithZero].map(RejectCode::as_str);
    let rejected = preview.step.rejected.iter();
    let rejected = rejected.filter(|row| row.code.as_deref().is_some_and(|code| codes.contains(&code)));
    (drafts.count() + rejected.count()) as u64
}
