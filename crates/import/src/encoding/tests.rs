use super::*;

/// Hands out one byte at a time, so that every sequence is split between chunks.
struct Dripping<'a>(&'a [u8]);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.len().min(1);
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

fn text(bytes: &[u8], label: Option<&str>) -> io::Result<String> {
    let mut whole = String::new();
    Decoded::new(bytes, named(label).unwrap(), Invalid::Failure).read_to_string(&mut whole)?;
    let mut dripped = String::new();
    Decoded::new(Dripping(bytes), named(label).unwrap(), Invalid::Failure).read_to_string(&mut dripped)?;
    assert_eq!(whole, dripped);
    Ok(whole)
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(unit).collect()
}

#[test]
fn a_byte_order_mark_decides_and_is_removed() {
    assert_eq!(text("\u{FEFF}João\n".as_bytes(), None).unwrap(), "João\n");
    assert_eq!(text(&utf16("João 😀\n", u16::to_le_bytes), None).unwrap(), "João 😀\n");
    assert_eq!(text(&utf16("João 😀\n", u16::to_be_bytes), None).unwrap(), "João 😀\n");
    assert_eq!(text("João".as_bytes(), None).unwrap(), "João");
    assert_eq!(text(b"", None).unwrap(), "");
}

#[test]
fn another_encoding_is_read_when_it_is_named() {
    assert_eq!(text(b"Jo\xE3o \x80", Some("windows-1252")).unwrap(), "João €");
    assert!(matches!(named(Some("klingon")), Err(Error::UnknownEncoding(_))));
}

#[test]
fn a_wrong_byte_is_named_with_its_line_and_position() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("latin.csv");
    for padding in [0, CHUNK - 9, CHUNK - 8, 3 * CHUNK] {
        let mut bytes = b"first,phone\nok,1\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', padding));
        bytes.extend(b"Jo\xE3o,2\n");
        std::fs::write(&path, &bytes).unwrap();
        let error = check(&path, UTF_8, Invalid::Failure).unwrap_err();
        let Error::Encoding { line, offset, byte, encoding } = error else { panic!("{error}") };
        assert_eq!((line, byte, encoding), (3, 0xE3, "UTF-8"));
        assert_eq!(offset, 17 + padding as u64 + 2);
        assert!(error.to_string().contains("--encoding windows-1252"));
    }
    std::fs::write(&path, "João,ok\n").unwrap();
    assert_eq!(check(&path, UTF_8, Invalid::Failure).unwrap(), 9);
}

#[test]
fn a_file_that_ends_inside_a_character_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cut.csv");
    std::fs::write(&path, b"Jo\xC3").unwrap();
    assert!(matches!(
        check(&path, UTF_8, Invalid::Failure),
        Err(Error::Encoding { line: 1, offset: 2, byte: 0xC3, .. })
    ));
}

#[test]
fn the_text_before_a_wrong_byte_is_handed_out_and_nothing_behind_it() {
    let bytes = b"first,phone\nAna,1\nJo\xE3o,2\nBob,3\n";
    let mut text = Decoded::new(&bytes[..], UTF_8, Invalid::Failure);
    let mut before = Vec::new();
    assert!(text.read_to_end(&mut before).is_err());
    assert_eq!(before, b"first,phone\nAna,1\nJo");
    for _ in 0..3 {
        let error = text.read(&mut [0; 8]).unwrap_err();
        assert_eq!(malformed(&error), Some((3, 20, "UTF-8")));
    }
}

#[test]
fn a_wrong_byte_can_become_a_mark_in_its_place() {
    let bytes = b"Jo\xE3o\n\xff\xfe,\xc3\xa3,\xc3";
    let marked = "Jo\u{fdd0}o\n\u{fdd0}\u{fdd0},\u{e3},\u{fdd0}";
    let mut text = String::new();
    Decoded::new(&bytes[..], UTF_8, Invalid::Mark).read_to_string(&mut text).unwrap();
    assert_eq!(text, marked);
    text.clear();
    Decoded::new(Dripping(bytes), UTF_8, Invalid::Mark).read_to_string(&mut text).unwrap();
    assert_eq!(text, marked);
    assert_eq!(shown("Jo\u{fdd0}o"), "Jo\u{fffd}o");
}

/// Fails in one of its reads, and would go on behind it.
struct Failing<'a>(&'a [u8], usize);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1.wrapping_sub(1);
        if self.1 == usize::MAX {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let length = self.0.len().min(4);
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

#[test]
fn a_read_that_failed_once_is_never_followed_by_the_text_behind_it() {
    let bytes = "Jo\u{e3}o,1\nAna,2\n".as_bytes();
    for failing in 0..5 {
        let mut text = Decoded::new(Failing(bytes, failing), UTF_8, Invalid::Mark);
        let mut before = Vec::new();
        assert!(text.read_to_end(&mut before).is_err(), "read {failing}");
        let whole = String::from_utf8_lossy(bytes).into_owned();
        assert!(whole.as_bytes().starts_with(&before), "read {failing}");
        assert_eq!(text.read(&mut [0; 8]).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    }
}
