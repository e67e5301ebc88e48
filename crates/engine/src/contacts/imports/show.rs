//! The preview of an import: the first rows of the file, and what they would change.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{names, refused, settings};
use crate::Error;
use crate::contacts::imports::ContactImports;
use crate::records::country::OwnCountry;
use domain::contact::tag_identity;
use domain::error::Code;
use domain::phone::{Country, PhoneNumber};
use import::{Preview, RejectCode, Settings};
use store::Upserted;
use store::imports::Counts;

/// Rows that are looked up among the contacts.
pub(super) const LOOKED_UP: usize = 500;

/// The beginning of a file, and what its rows would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The columns and the first rows.
    pub preview: Preview,
    /// What the examined rows would do.
    pub counts: Counts,
    /// The rows whose numbers would be others inside the company's country; none when numbers are read by its rules.
    pub national: u64,
    /// The company's country.
    pub country: OwnCountry,
    /// What each draft of the preview would do.
    pub results: Vec<Upserted>,
    /// The tags that the examined rows and the whole import give, those of most contacts first.
    pub tags: Vec<ShownTag>,
}

/// A tag that an import gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownTag {
    /// Its name, as the file has it first.
    pub name: String,
    /// The examined rows that get it.
    pub count: u64,
    /// Whether the company has no such tag yet.
    pub is_new: bool,
}

impl ContactImports<'_> {
    /// Shows how the beginning of an uploaded file would be imported now.
    ///
    /// # Errors
    ///
    /// `import_not_found`, and `invalid_file` or `too_many_columns` when its header cannot be read.
    pub async fn show(&self, company: Uuid, id: Uuid) -> Result<Shown, Error> {
        let settings = settings(&self.find(company, id).await?);
        let (beginning, is_all) = self.beginning(company, id, &settings).await?;
        let preview = import::preview(&beginning, is_all, &settings, LOOKED_UP)
            .map_err(|error| refused(&error, Code::InvalidFile))?;
        let records = self.engine.records_of(company).await?;
        let (results, names_kept) =
            records.of(company).contacts().compare_drafts(&preview.step.drafts, names(&settings)).await?;
        let country = records.of(company).country().await?;
        let counted = counted_tags(&preview, &settings);
        let names: BTreeSet<&str> = counted.iter().map(|(name, _)| name.as_str()).collect();
        let known = records.of(company).tags().known(&names).await?;
        let tag = |(name, count): (String, u64)| ShownTag { is_new: !known.contains(&name), name, count };
        let tags = counted.into_iter().map(tag).collect();
        let rows = &preview.step;
        let (rejected, emails_left_out) = (rows.rejected.len() as u64, rows.emails_left_out);
        let without_number = rows.drafts.iter().filter(|draft| draft.person.phone().is_none()).count() as u64;
        let mut counts =
            Counts { rejected, emails_left_out, without_number, names_kept, ..Counts::default() };
        results.iter().for_each(|result| counts.add(*result));
        Ok(Shown {
            counts,
            national: country.likely().map_or(0, |country| national(&preview, &settings, country)),
            country,
            results,
            tags,
            preview,
        })
    }

    /// The first piece of an uploaded file, and whether it is the whole file.
    pub(super) async fn beginning(
        &self,
        company: Uuid,
        id: Uuid,
        settings: &Settings,
    ) -> Result<(Vec<u8>, bool), Error> {
        let (records, place) = (self.engine.records_of(company).await?, settings.first_piece);
        let first = records.imports().chunk(id, place).await?.unwrap_or_default();
        let is_all =
            first.len() < super::upload::PIECE || records.imports().chunk(id, place + 1).await?.is_none();
        Ok((first, is_all))
    }
}

/// The tags of the rows, and of the whole import, each with the number of rows that get it. Names that differ in case only
/// are one tag.
fn counted_tags(preview: &Preview, settings: &Settings) -> Vec<(String, u64)> {
    let mut tags: BTreeMap<String, (String, u64)> = BTreeMap::new();
    let mut count = |name: &str, rows: u64| {
        let (_, counted) = tags.entry(tag_identity(name)).or_insert_with(|| (name.to_owned(), 0));
        *counted += rows;
    };
    settings.tags.iter().for_each(|name| count(name, preview.step.drafts.len() as u64));
    preview.step.drafts.iter().flat_map(|draft| &draft.tags).for_each(|name| count(name, 1));
    let mut tags: Vec<(String, u64)> = tags.into_values().collect();
    tags.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    tags
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
