//! The kind of a fetched file: by its content, never by its host's content type.

use std::io::Cursor;

use image::{ImageFormat, RgbImage};
use pombo::connector::media::{Dimensions, Kind};
use pombo::error::Code;

use super::host::{Host, Step, ok, to};
use super::{code, fetch};

fn picture(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(300, 150, image::Rgb([200, 30, 30])).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// The beginning of an Ogg file with Opus in it.
const OPUS: &[u8] =
    b"OggS\0\x02\0\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead\x01\x01\x38\x01\x80\xbb\0\0\0\0\0";

#[tokio::test]
async fn an_image_comes_with_its_type_its_size_and_a_thumbnail() {
    for (format, mime_type) in [(ImageFormat::Jpeg, "image/jpeg"), (ImageFormat::Png, "image/png")] {
        let bytes = picture(format);
        let host = Host::body("Content-Type: text/html\r\n", &bytes).await;
        let media = fetch(&host.link("/page.html"), Kind::Image).await.unwrap();
        assert_eq!((media.details.mime_type, &media.bytes), (mime_type, &bytes));
        assert_eq!(media.details.dimensions, Some(Dimensions { width: 300, height: 150 }));
        let thumbnail =
            image::load_from_memory_with_format(&media.details.thumbnail.unwrap(), ImageFormat::Jpeg)
                .unwrap();
        assert_eq!((thumbnail.width(), thumbnail.height()), (96, 48));
        assert_eq!((media.file_name, media.details.duration, media.is_voice_note), (None, None, false));
    }
}

#[tokio::test]
async fn a_file_of_the_wrong_kind_is_refused_with_a_remedy() {
    let page = b"<!DOCTYPE html><html><body>No such file, secret</body></html>".as_slice();
    let jpeg = picture(ImageFormat::Jpeg);
    for (body, wanted, sentence) in [
        (
            page,
            Kind::Image,
            "the link answers with a web page and not with an image: give the file's own address",
        ),
        (
            b"%PDF-1.7\n",
            Kind::Image,
            "the file behind the link is of the type application/pdf, which cannot be sent as an image: give a JPEG, \
             PNG or WebP file, or send it as a document",
        ),
        (
            &jpeg,
            Kind::Video,
            "the file behind the link is of the type image/jpeg, which cannot be sent as a video: give an MP4 or 3GP \
             file, or send it as a document",
        ),
        (
            &jpeg[..30],
            Kind::Image,
            "the file behind the link cannot be read as an image: check that it opens",
        ),
    ] {
        let host = Host::body("Content-Type: image/jpeg\r\n", body).await;
        let refusal = fetch(&host.link("/photo.jpg"), wanted).await.unwrap_err();
        assert_eq!((refusal.code, refusal.sentence.as_str()), (Code::MediaUnavailable, sentence));
    }
}

#[tokio::test]
async fn an_ogg_file_with_opus_is_a_voice_note() {
    let host = Host::body("Content-Type: application/octet-stream\r\n", OPUS).await;
    let media = fetch(&host.link("/"), Kind::Audio).await.unwrap();
    assert_eq!((media.details.mime_type, media.is_voice_note), ("audio/ogg; codecs=opus", true));
    assert!(!fetch(&host.link("/"), Kind::Document).await.unwrap().is_voice_note);
    assert_eq!(code(fetch(&host.link("/"), Kind::Video).await), Code::MediaUnavailable);
}

#[tokio::test]
async fn a_document_may_be_anything_and_keeps_its_name() {
    let named = "Content-Disposition: attachment; filename=\"../Nota fiscal.pdf\"\r\n";
    for (headers, path, body, name, mime_type) in [
        (named, "/download?id=7", b"%PDF-1.7\n".as_slice(), "Nota fiscal.pdf", "application/pdf"),
        ("", "/a/Nota%20fiscal.pdf?x=1", b"%PDF-1.7\n", "Nota fiscal.pdf", "application/pdf"),
        ("", "/download", b"%PDF-1.7\n", "document.pdf", "application/pdf"),
        ("", "/", b"\x01\x02", "document", "application/octet-stream"),
        ("", "/lista.csv", b"nome;numero\n", "lista.csv", "text/plain"),
        ("", "/x", b"<!DOCTYPE html><html></html>", "document.html", "text/html"),
    ] {
        let host = Host::body(headers, body).await;
        let media = fetch(&host.link(path), Kind::Document).await.unwrap();
        assert_eq!((media.file_name.as_deref(), media.details.mime_type), (Some(name), mime_type), "{path}");
        assert_eq!(media.bytes, body);
    }
}

#[tokio::test]
async fn a_document_behind_a_redirect_is_called_as_its_link_or_else_as_its_end() {
    let host = Host::new(|path| match path {
        "/file.pdf" => vec![Step::Send(ok("", b"%PDF-1.7\n"))],
        _ => to("/file.pdf"),
    })
    .await;
    for (path, name) in [("/short", "file.pdf"), ("/report.pdf", "report.pdf")] {
        let media = fetch(&host.link(path), Kind::Document).await.unwrap();
        assert_eq!(media.file_name.as_deref(), Some(name));
    }
}
