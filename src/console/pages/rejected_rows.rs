//! The rows that an import rejected: the reasons in the person's language, and all rows as a file.

use std::io;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::{Bytes, Data};
use futures_util::stream::try_unfold;

use super::import::{find, words};
use crate::console::State;
use crate::console::error::Result;
use crate::console::query::Id;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::engine::import_settings;
use crate::engine::records::imports::Rejected;
use crate::import::{Field, FileFormat, RejectCode, rejected_csv};

/// Rejected rows in each read and write.
const STRETCH: u32 = 500;

/// Downloads the rejected rows as a file in the format of the uploaded one.
pub(crate) async fn rejected(viewer: Viewer, state: Data<State>, id: Id) -> Result<HttpResponse> {
    let import = find(&viewer, &state, id).await?;
    let text = viewer.text;
    let settings = import_settings(&import);
    let format = FileFormat::of(&settings);
    let (engine, company, header) = (state.engine.clone(), viewer.company.id, settings.header);
    let rows = try_unfold(Some(0_u64), move |from| {
        let (engine, header) = (engine.clone(), header.clone());
        async move {
            let Some(from) = from else { return Ok(None) };
            let broken = |error: &dyn std::fmt::Display| {
                tracing::error!(%error, "a list of rejected rows broke off");
                io::Error::other("the list broke off")
            };
            let records = engine.company(company).await.map_err(|error| broken(&error))?;
            let rows =
                records.imports().rejected(id.0, from, STRETCH).await.map_err(|error| broken(&error))?;
            let written = rejected_csv(
                format.delimiter(),
                [text.get("imports-csv-line"), text.get("imports-csv-reason")],
                (from == 0).then_some(header.as_slice()),
                &rows,
                |row| [row.line.to_string(), reason(text, row)],
            );
            let mark = if from == 0 { format.mark() } else { "" };
            let written = format!("{mark}{}", String::from_utf8_lossy(&written));
            let next = (rows.len() == STRETCH as usize).then_some(from + rows.len() as u64);
            Ok::<_, io::Error>(Some((Bytes::from(format.encoded(&written)), next)))
        }
    });
    Ok(HttpResponse::Ok()
        .content_type(format!("text/csv; charset={}", format.encoding()))
        .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"rejected.csv\""))
        .streaming(Box::pin(rows)))
}

/// Why a row was rejected; in English for rows from before reasons had codes.
pub(super) fn reason(text: Text, row: &Rejected) -> String {
    let code = row.code.as_deref();
    let known = RejectCode::ALL.iter().find(|known| Some(known.as_str()) == code);
    let Some(known) = known else { return row.reason.clone() };
    let detail = |index: usize| row.details.get(index).map_or("", String::as_str);
    let number = |index: usize| detail(index).parse::<u64>().unwrap_or_default();
    let field = || Field::parse(detail(0)).map_or_else(|| detail(0).to_owned(), |field| words(text, field));
    match known {
        RejectCode::FieldCount => text
            .with("imports-reject-field-count", [("found", number(0).into()), ("wanted", number(1).into())]),
        RejectCode::Nul => text.with("imports-reject-nul", [("field", field().into())]),
        RejectCode::WrongByte => text.with("imports-reject-wrong-byte", [("field", field().into())]),
        RejectCode::TooLong => {
            text.with("imports-reject-too-long", [("field", field().into()), ("most", number(1).into())])
        }
        RejectCode::TooManyTags => text.get("imports-reject-too-many-tags"),
        RejectCode::PictureAddress => text.get("imports-reject-picture"),
        RejectCode::Nobody => text.get("imports-reject-nobody"),
        RejectCode::WrongAddress => {
            text.with("imports-reject-wrong-address", [("address", detail(0).into())])
        }
        RejectCode::NumberWithoutDigits => text.get("imports-reject-no-digits"),
        RejectCode::NumberTooShort => text.get("imports-reject-number-short"),
        RejectCode::NumberTooLong => text.get("imports-reject-number-long"),
        RejectCode::NumberBeginsWithZero => text.get("imports-reject-zero"),
        RejectCode::NumberIsNational => text.get("imports-reject-national"),
        RejectCode::NumberIsLid => text.get("imports-reject-lid"),
        RejectCode::NumberIsId => text.get("imports-reject-id"),
        RejectCode::NumberIsAddress => text.get("imports-reject-address"),
        RejectCode::NumberHasExtension => text.get("imports-reject-extension"),
        RejectCode::SeveralNumbers => text.get("imports-reject-several"),
        RejectCode::NumberIsDate => text.get("imports-reject-date"),
        RejectCode::NumberHasLetters => text.get("imports-reject-letters"),
        RejectCode::NumberIsUnclear => text.get("imports-reject-unclear"),
        RejectCode::NumberRounded => text.with("imports-reject-rounded", [("number", detail(0).into())]),
        RejectCode::LidRounded => text.with("imports-reject-lid-rounded", [("lid", detail(0).into())]),
        RejectCode::FieldNotNumber
        | RejectCode::FieldNumberUnclear
        | RejectCode::FieldNotDate
        | RejectCode::FieldDateUnclear => {
            let key = match known {
                RejectCode::FieldNotNumber => "imports-reject-field-number",
                RejectCode::FieldNumberUnclear => "imports-reject-field-thousand",
                RejectCode::FieldNotDate => "imports-reject-field-date",
                _ => "imports-reject-field-day",
            };
            text.with(key, [("field", detail(0).into()), ("cell", detail(1).into())])
        }
        RejectCode::StrayQuote => text.get("imports-reject-stray-quote"),
        RejectCode::UnclosedQuote => text.get("imports-reject-unclosed-quote"),
        RejectCode::LineTooLong => text.get("imports-reject-line"),
    }
}

/// What to do about a rejected row; `None` where the reason says it.
pub(super) fn remedy(text: Text, row: &Rejected) -> Option<String> {
    let known = RejectCode::ALL.iter().find(|known| Some(known.as_str()) == row.code.as_deref())?;
    let key = match known {
        RejectCode::FieldCount
        | RejectCode::StrayQuote
        | RejectCode::UnclosedQuote
        | RejectCode::LineTooLong => "imports-do-save-again",
        RejectCode::Nul | RejectCode::WrongByte => "imports-do-write-again",
        RejectCode::TooLong => "imports-do-shorten",
        RejectCode::TooManyTags => "imports-do-remove-tags",
        RejectCode::PictureAddress => "imports-do-picture",
        RejectCode::Nobody => "imports-do-identify",
        RejectCode::WrongAddress => "imports-do-address",
        RejectCode::NumberIsNational | RejectCode::NumberBeginsWithZero => "imports-do-national",
        RejectCode::SeveralNumbers => "imports-do-one-number",
        RejectCode::FieldNotNumber | RejectCode::FieldNumberUnclear => "imports-do-field-number",
        RejectCode::FieldNotDate | RejectCode::FieldDateUnclear => "imports-do-field-date",
        RejectCode::NumberRounded | RejectCode::LidRounded => return None,
        RejectCode::NumberWithoutDigits
        | RejectCode::NumberTooShort
        | RejectCode::NumberTooLong
        | RejectCode::NumberIsLid
        | RejectCode::NumberIsId
        | RejectCode::NumberIsAddress
        | RejectCode::NumberHasExtension
        | RejectCode::NumberIsDate
        | RejectCode::NumberHasLetters
        | RejectCode::NumberIsUnclear => "imports-do-number",
    };
    Some(text.get(key))
}
