//! The assertions for any bytes, besides the absence of panics: one function for each fuzz target.
//!
//! `tests/it/fuzz_corpus.rs` calls them too, with the seeds of the corpus.

use std::collections::BTreeSet;
use std::convert::Infallible;

use pombo::connector::cloud_api::webhook;
use pombo::connector::media;
use pombo::domain::block;
use pombo::domain::content::Content;
use pombo::domain::phone::PhoneNumber;
use pombo::domain::request::{
    BusinessRequest, Limits, QuickSend, RequestedContent, RetryRequest, WebRequest,
};
use pombo::error::{Class, Refusal};
use pombo::import::{Inspection, Settings, preview};

/// Rows of a file that a preview reads.
const PREVIEW_ROWS: usize = 50;

/// A request is refused as invalid or as too large, whichever way it is read, and accepted content can be stored and read again.
pub(crate) fn request_bodies(bytes: &[u8]) {
    let limits = Limits { phone_numbers: 100, tags: 10, ..Limits::default() };
    let found = BusinessRequest::parse(bytes, &limits);
    let read = |send: QuickSend<'_>| send.read(&limits, |_| Ok::<_, Infallible>(())).ok().flatten();
    if let Some(quickly) = QuickSend::of(bytes).and_then(read) {
        assert_eq!(found.as_ref(), Ok(&quickly), "a body that is read in one pass is the same request");
    }
    match found {
        Ok(BusinessRequest { content: RequestedContent::Ready(content), .. }) => is_stored(&content),
        Ok(_) => {}
        Err(refusal) => is_the_callers_fault(&refusal),
    }
    match WebRequest::parse(bytes, &limits) {
        Ok(request) => is_stored(&request.content),
        Err(refusal) => is_the_callers_fault(&refusal),
    }
    if let Err(refusal) = RetryRequest::parse(bytes) {
        is_the_callers_fault(&refusal);
    }
}

fn is_stored(content: &Content) {
    let stored = serde_json::to_string(content).expect("content is written as JSON");
    let head: String = stored.chars().take(Content::KIND_CHARS).collect();
    assert_eq!(Content::kind_of(&head), Some(content.kind()), "{stored}");
    serde_json::from_str::<Content>(&stored).expect("stored content is read again");
}

fn is_the_callers_fault(refusal: &Refusal) {
    let class = refusal.code.class();
    assert!(matches!(class, Class::Invalid | Class::TooLarge), "{refusal:?}");
}

/// Every update of a webhook comes from some of its bytes.
pub(crate) fn webhooks(bytes: &[u8]) {
    if let Ok(heard) = webhook::parse(bytes) {
        assert!(heard.len() <= bytes.len(), "{} updates in {} bytes", heard.len(), bytes.len());
    }
}

/// The result of an upload does not depend on the division of its bytes, and an accepted upload has a preview
/// with a limited number of rows.
pub(crate) fn csv(bytes: &[u8]) {
    let Some((&cut, file)) = bytes.split_first() else { return };
    for label in [None, Some("auto"), Some("utf-16le"), Some("windows-1252")] {
        let whole = inspect(label, &[file]);
        let (before, after) = file.split_at(usize::from(cut).min(file.len()));
        assert_eq!(inspect(label, &[before, after]), whole, "{label:?}, cut at {cut}");
        let Ok(encoding) = whole else { continue };
        let settings = Settings { encoding: encoding.to_owned(), ..Settings::default() };
        for is_all in [true, false] {
            if let Ok(preview) = preview(file, is_all, &settings, PREVIEW_ROWS) {
                assert!(preview.rows.len() <= PREVIEW_ROWS);
                assert!(preview.columns.iter().all(|(name, _)| name.len() <= 3 * file.len()));
            }
        }
    }
}

fn inspect(label: Option<&str>, pieces: &[&[u8]]) -> Result<&'static str, String> {
    let mut inspection = Inspection::new(label, None).map_err(|error| error.to_string())?;
    for piece in pieces {
        inspection.feed(piece).map_err(|error| error.to_string())?;
    }
    inspection.finish().map(|found| found.encoding).map_err(|error| error.to_string())
}

/// Numbers that were read from any bytes are packed into bytes that give the same numbers.
pub(crate) fn blocks(bytes: &[u8]) {
    let Ok(numbers) = block::unpack(bytes) else { return };
    assert!(numbers.is_sorted());
    assert_eq!(block::unpack(&block::pack(&numbers)), Ok(numbers.clone()));
    let unique: Vec<_> = numbers.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    assert_eq!(block::unpack(&block::pack(&unique)), Ok(unique));
}

/// A number is shown as digits of the text, without a gap but for a dropped trunk zero, and read again from these.
pub(crate) fn phone_numbers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(number) = PhoneNumber::parse(&text) {
        let digits = number.to_string();
        assert_eq!(PhoneNumber::parse(&digits), Ok(number));
        assert_eq!(PhoneNumber::from_i64(number.as_i64()), Some(number));
        let given: String = text.chars().filter(char::is_ascii_digit).collect();
        let trunk = (1..=3).any(|country| {
            digits
                .get(..country)
                .is_some_and(|front| given.starts_with(&format!("{front}0{}", &digits[country..])))
        });
        assert!(!text.is_ascii() || given.starts_with(&digits) || trunk, "{text:?}");
    }
}

/// A file is read as the wanted kind or refused, and no side of it has zero pixels.
pub(crate) fn media_headers(bytes: &[u8]) {
    let kinds = [
        media::Kind::Image,
        media::Kind::Video,
        media::Kind::Audio,
        media::Kind::Document,
        media::Kind::Sticker,
    ];
    for wanted in kinds {
        match media::details(bytes, wanted, false) {
            Ok(details) => {
                assert!(!details.mime_type.is_empty());
                let is_shown = |media::Dimensions { width, height }| width > 0 && height > 0;
                assert!(details.dimensions.is_none_or(is_shown), "{:?}", details.dimensions);
            }
            Err(refusal) => is_the_callers_fault(&refusal),
        }
    }
}
