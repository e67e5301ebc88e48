//! Serves files of libraries at signed addresses: to providers that fetch them, and to people who look at them.

use std::io;
use std::ops::Range;

use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::Stream;
use futures_util::stream::try_unfold;

use crate::api::State;
use crate::api::error::{Apology, Error, ErrorBody};
use crate::api::path_id::Id;
use crate::api::query;
use crate::api::uploaded::AnyFile;
use crate::domain::media::Kind;
use crate::engine::OpenedFile;
use crate::error::Code;

/// A browser runs nothing of a file, whatever it is.
const POLICY: &str =
    "default-src 'none'; media-src 'self'; img-src 'self'; style-src 'unsafe-inline'; sandbox";
/// Addresses are valid for a week, and their files never change.
const CACHED: &str = "private, max-age=604800, immutable";

/// The part of a file that a request asks for.
#[derive(Debug, PartialEq, Eq)]
enum AskedPart {
    Whole,
    Of(Range<u64>),
    /// The file has no such part.
    Beyond,
}

/// Read a file
///
/// The provider fetches the files of messages at these addresses. Anybody with the address can read the file until it expires. A
/// part of the file can be asked for (`Range`).
#[utoipa::path(
    get,
    path = "/media/{id}",
    operation_id = "readMedia",
    params(
        ("id" = Uuid, Path, description = "The file"),
        ("until" = i64, Query, description = "When the address expires, in seconds since 1970"),
        ("signature" = String, Query, description = "The signature of the address"),
        ("Range" = Option<String>, Header, description = "One range of bytes, such as `bytes=0-1023`"),
    ),
    responses(
        (status = 200, description = "The file, with its own type", body = inline(AnyFile), content_type = "application/octet-stream"),
        (status = 206, description = "The part", body = inline(AnyFile), content_type = "application/octet-stream"),
        (status = 404, description = "`media_not_found`: the address is not signed or has expired, or the file is gone", body = ErrorBody),
        (status = 416, description = "The file has no such part"),
        (status = 500, description = "An internal failure; the body has no details", body = Apology),
        (status = 503, description = "`service_unavailable`", body = ErrorBody),
    ),
)]
pub(crate) async fn serve(id: Id, state: Data<State>, request: HttpRequest) -> Result<HttpResponse, Error> {
    let parameter = |name| query::value(request.query_string(), name).ok().flatten();
    let until = parameter("until").and_then(|until| until.parse().ok()).unwrap_or_default();
    let signature = parameter("signature").and_then(|signature| hex::decode(&*signature).ok());
    let opened = state.engine.media().open(id.or_nil(), until, &signature.unwrap_or_default()).await?;
    let opened = opened.ok_or_else(|| {
        Error::refused(Code::MediaNotFound, "there is no file at this address, or the address has expired")
    })?;
    let (file, length) = (&opened.file, opened.file.bytes);
    let asked = request.headers().get(RANGE).and_then(|range| range.to_str().ok());
    let mut answer = HttpResponse::Ok();
    answer
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((CACHE_CONTROL, CACHED))
        .insert_header((ACCEPT_RANGES, "bytes"))
        .insert_header((ETAG, format!("\"{}\"", hex::encode(file.digest))))
        .insert_header((CONTENT_DISPOSITION, disposition(file.kind, &file.name)))
        .insert_header((CONTENT_TYPE, file.mime_type.as_str()));
    let range = match part(asked, length) {
        AskedPart::Whole => 0..length,
        AskedPart::Of(range) => {
            answer
                .status(StatusCode::PARTIAL_CONTENT)
                .insert_header((CONTENT_RANGE, format!("bytes {}-{}/{length}", range.start, range.end - 1)));
            range
        }
        AskedPart::Beyond => {
            let mut answer = HttpResponse::RangeNotSatisfiable();
            return Ok(answer.insert_header((CONTENT_RANGE, format!("bytes */{length}"))).finish());
        }
    };
    Ok(answer.body(SizedStream::new(range.end - range.start, content(opened, range))))
}

/// The part that the header `Range` asks for. Several parts, and other units than bytes, are answered with the whole file, as
/// the standard allows.
fn part(asked: Option<&str>, length: u64) -> AskedPart {
    let Some((first, last)) = asked.and_then(|asked| asked.strip_prefix("bytes=")?.trim().split_once('-'))
    else {
        return AskedPart::Whole;
    };
    let range = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => first..last.saturating_add(1).min(length),
        (Ok(first), Err(_)) if last.is_empty() => first..length,
        (Err(_), Ok(last)) if first.is_empty() => length.saturating_sub(last)..length,
        _ => return AskedPart::Whole,
    };
    if range.is_empty() { AskedPart::Beyond } else { AskedPart::Of(range) }
}

/// Pictures, films and sounds are shown, anything else is saved.
fn disposition(kind: Kind, name: &str) -> String {
    let how = if kind == Kind::Document { "attachment" } else { "inline" };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let encoded: String = name
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    format!("{how}; filename*=UTF-8''{encoded}")
}

/// Streams a part of a file; each piece is read once the client has received the one before.
fn content(opened: OpenedFile, range: Range<u64>) -> impl Stream<Item = Result<Bytes, io::Error>> {
    try_unfold((opened, range), |(opened, range)| async move {
        let piece = opened.read(range.clone()).await;
        let piece = piece.map_err(|refusal| io::Error::other(refusal.sentence))?;
        Ok(piece.map(|piece| {
            let rest = range.start + piece.len() as u64..range.end;
            (piece, (opened, rest))
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_one_span_of_bytes_and_anything_else_is_the_whole_file() {
        for (asked, found) in [
            (None, AskedPart::Whole),
            (Some("bytes=0-3"), AskedPart::Of(0..4)),
            (Some("bytes=4-"), AskedPart::Of(4..10)),
            (Some("bytes=-3"), AskedPart::Of(7..10)),
            (Some("bytes=-30"), AskedPart::Of(0..10)),
            (Some("bytes=8-99"), AskedPart::Of(8..10)),
            (Some("bytes=10-"), AskedPart::Beyond),
            (Some("bytes=-0"), AskedPart::Beyond),
            (Some("bytes=3-1"), AskedPart::Whole),
            (Some("bytes=0-1,3-4"), AskedPart::Whole),
            (Some("lines=0-1"), AskedPart::Whole),
            (Some("bytes="), AskedPart::Whole),
            (Some("bytes=x-y"), AskedPart::Whole),
        ] {
            assert_eq!(part(asked, 10), found, "{asked:?}");
        }
    }

    #[test]
    fn a_document_is_saved_under_its_name_in_any_language() {
        assert_eq!(
            disposition(Kind::Document, "Card\u{e1}pio 1.pdf"),
            "attachment; filename*=UTF-8''Card%C3%A1pio%201.pdf"
        );
        assert_eq!(disposition(Kind::Image, "a.png"), "inline; filename*=UTF-8''a.png");
    }
}
