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
    Decoded::new(bytes, named(label).unwrap()).read_to_string(&mut whole)?;
    let mut dripped = String::new();
    Decoded::new(Dripping(bytes), named(label).unwrap()).read_to_string(&mut dripped)?;
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
        let error = check(&path, UTF_8).unwrap_err();
        let Error::Encoding { line, offset, byte, encoding } = error else { panic!("{error}") };
        assert_eq!((line, byte, encoding), (3, 0xE3, "UTF-8"));
        assert_eq!(offset, 17 + padding as u64 + 2);
        assert!(error.to_string().contains("--encoding windows-1252"));
    }
    std::fs::write(&path, "João,ok\n").unwrap();
    assert_eq!(check(&path, UTF_8).unwrap(), 9);
}

#[test]
fn a_file_that_ends_inside_a_character_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cut.csv");
    std::fs::write(&path, b"Jo\xC3").unwrap();
    assert!(matches!(check(&path, UTF_8), Err(Error::Encoding { line: 1, offset: 2, byte: 0xC3, .. })));
}
