use super::*;

fn inspected(label: Option<&str>, pieces: &[&[u8]]) -> std::result::Result<Inspected, String> {
    let country = Country::parse("BR");
    let mut inspection = Inspection::new(label, country).map_err(|error| error.to_string())?;
    for piece in pieces {
        inspection.feed(piece).map_err(|error| error.to_string())?;
    }
    inspection.finish().map_err(|error| error.to_string())
}

fn inspect(label: Option<&str>, pieces: &[&[u8]]) -> std::result::Result<&'static str, String> {
    inspected(label, pieces).map(|inspected| inspected.encoding)
}

#[test]
fn the_encoding_of_a_file_is_marked_given_or_guessed() {
    assert_eq!(inspect(None, &[b"name,ph", b"one\nJo\xc3", b"\xa3o,1\n"]), Ok("UTF-8"));
    assert_eq!(inspect(None, &[b"\xff\xfea\0\n\0"]), Ok("UTF-16LE"));
    assert_eq!(inspect(Some("latin1"), &[b"Jo\xe3o\n"]), Ok("windows-1252"));
    assert_eq!(inspect(Some("auto"), &[b"Jo\xe3", b"o\n"]), Ok("windows-1252"));
    assert_eq!(inspect(Some("auto"), &[b"Jo\xc3\xa3o\n"]), Ok("UTF-8"));
    let refused = inspect(None, &[b"name\nJo", b"\xe3o\n"]).unwrap_err();
    assert!(refused.starts_with("line 2: the byte at position 7 is not valid UTF-8"), "{refused}");
    assert!(inspect(Some("klingon"), &[]).is_err());
    assert!(inspect(None, &[]).unwrap_err().starts_with("the file is empty"));
}

#[test]
fn one_wrong_byte_does_not_change_the_encoding_of_a_file_and_its_line_is_known() {
    let mut file = "name,phone\n".to_owned();
    file.extend((0..50).map(|row| format!("João {row},1\n")));
    let mut bytes = file.into_bytes();
    let place = bytes.len() as u64 + 6;
    bytes.extend_from_slice(b"Concei\xff,1\nJo\xe3o,2\n");
    for length in [1, 7, 1_000] {
        let pieces: Vec<&[u8]> = bytes.chunks(length).collect();
        let found = inspected(Some("auto"), &pieces).unwrap();
        let wrong = WrongBytes { count: 2, line: 52, offset: place };
        assert_eq!(found, Inspected { encoding: "UTF-8", wrong: Some(wrong) }, "{length}");
    }
}

#[test]
fn other_encodings_are_guessed_from_the_whole_file() {
    let names = "nome,telefone\nJoão Conceição,1\nÂngela Muñoz,2\nJosé Araújo,3\nÉlide Gonçalves,4\nMônica Falcão,5\n";
    let mac: Vec<u8> = names
        .chars()
        .map(|char| match char {
            'ã' => 0x8b,
            'ç' => 0x8d,
            'Â' => 0xe5,
            'ñ' => 0x96,
            'é' => 0x8e,
            'ú' => 0x9c,
            'É' => 0x83,
            'ô' => 0x99,
            other => u8::try_from(u32::from(other)).unwrap(),
        })
        .collect();
    assert_eq!(inspect(Some("auto"), &[&mac]), Ok("macintosh"));
    let latin: Vec<u8> = names.chars().map(|char| u8::try_from(u32::from(char)).unwrap()).collect();
    assert_eq!(inspect(Some("auto"), &[&latin]), Ok("windows-1252"));
    let (cyrillic, ..) =
        encoding_rs::WINDOWS_1251.encode("имя,телефон\nМария Иванова,1\nПётр Соколов,2\nЕкатерина,3\n");
    assert_eq!(inspect(Some("auto"), &[&cyrillic]), Ok("windows-1251"));
    let (japanese, ..) = encoding_rs::SHIFT_JIS.encode("名前,電話\n山田太郎,1\n佐藤花子,2\nすずき,3\n");
    assert_eq!(inspect(Some("auto"), &[&japanese]), Ok("Shift_JIS"));
}

#[test]
fn zeros_and_endless_lines_are_refused_at_their_beginning() {
    let zeros = vec![0; 64 * 1024];
    assert!(inspect(None, &[&zeros]).unwrap_err().contains("no text"));
    assert!(inspect(None, &[b"a,b\n1,2\n", &zeros]).unwrap_err().starts_with("line 3"));
    let long = vec![b'a'; LONGEST_LINE / 2 + 1];
    assert!(inspect(None, &[b"a\n", &long, &long]).unwrap_err().starts_with("line 2 is longer"));
    assert!(inspect(None, &[&long, b"\n", &long]).is_ok());
    let wrong = vec![0xff; LONGEST_LINE + 1];
    assert!(inspect(Some("auto"), &[&wrong, b"x"]).unwrap_err().starts_with("line 1 is longer"));
}

#[test]
fn a_file_of_another_format_is_refused_with_what_to_do() {
    for (pieces, said) in [
        (&[&b"BEGIN:VCARD\r\nVERSION:3.0\r\n"[..]][..], "vCard"),
        (&[b"\xef\xbb\xbf\nbegin:", b"vcard\n"], "vCard"),
        (&[b"PK\x03\x04rest"], "unpack it"),
        (&[b"\xd0\xcf\x11\xe0\xa1"], "old Excel"),
    ] {
        for label in [None, Some("auto")] {
            let refused = inspect(label, pieces).unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
    }
}
