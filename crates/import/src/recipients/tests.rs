//! Files of recipients: what spreadsheets and programs write, and what they break.

use domain::values::Lookup as _;

use super::*;
use crate::GUESSED;

fn file(bytes: &[u8]) -> (RecipientFile, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let mut file = RecipientFile::within(directory.path()).unwrap();
    bytes.chunks(7).for_each(|piece| file.write(piece).unwrap());
    (file, directory)
}

fn read(bytes: &[u8], settings: &RecipientSettings) -> ReadRecipients {
    let (file, _directory) = file(bytes);
    file.read(settings).unwrap()
}

fn refusal(bytes: &[u8], settings: &RecipientSettings) -> Refusal {
    let (file, _directory) = file(bytes);
    match file.read(settings).unwrap_err() {
        RecipientFault::Refused(refusal) => refusal,
        RecipientFault::Disk(error) => panic!("{error}"),
    }
}

/// A recipient's reference and value.
fn of(read: &ReadRecipients, number: &str, name: &str) -> Option<(String, Option<String>)> {
    let (number, mut memory) = (PhoneNumber::parse(number).unwrap(), Vec::new());
    let (_, row) = read.rows.find(number, &mut memory).unwrap()?;
    Some((row.reference.to_owned(), row.value(name).map(str::to_owned)))
}

fn problems(read: &ReadRecipients) -> Vec<(Option<u64>, Option<&str>, Option<&str>)> {
    let all = read.skipped.first.iter();
    all.map(|entry| (entry.index, entry.code.as_deref(), entry.field.as_deref())).collect()
}

fn some(reference: &str, value: &str) -> Option<(String, Option<String>)> {
    Some((reference.to_owned(), Some(value.to_owned())))
}

#[test]
fn a_table_is_read_by_the_names_of_its_columns() {
    let table = "Spring campaign\nTelefone;Nome;Order No.;reference;Endereço;\n\
                 5511988887777;Ana;\"A;1\";crm-1;Rua 7;\n\
                 5,51199E+12;Bia;A-2;;;\n\
                 ;;;;;\n\
                 5511988887778;Eva;A-3;;;;more\n\
                 5511988887779;\"Lia\"x;A-4;;;\n\
                 '+5511988887776;Zoe;A-5;crm-5;;\n";
    let read = read(table.as_bytes(), &RecipientSettings::default());
    assert_eq!(of(&read, "5511988887777", "order_no"), some("crm-1", "A;1"));
    assert_eq!(of(&read, "5511988887777", "endereco"), some("crm-1", "Rua 7"));
    assert_eq!(of(&read, "5511988887776", "nome"), some("crm-5", "Zoe"));
    assert_eq!(read.rows.names().collect::<Vec<_>>(), ["nome", "order_no", "endereco"]);
    let expected = [
        (Some(1), Some("invalid_number"), Some("phone_number")),
        (Some(2), Some("value_not_allowed"), Some("values")),
        (Some(3), Some("value_not_allowed"), Some("phone_number")),
    ];
    assert_eq!(problems(&read), expected);
    assert_eq!(read.rows.len(), 2);
}

#[test]
fn columns_are_given_by_name_or_place_and_numbers_by_the_rules_of_a_country() {
    let column = |name: &str, word: &str| (name.to_owned(), word.parse().unwrap());
    let settings = RecipientSettings {
        columns: Some(vec![
            column("#2", "value.name"),
            column("Code", "reference"),
            column("cel", "phone_number"),
        ]),
        country: Country::parse("BR"),
        ..RecipientSettings::default()
    };
    let read = read("Code,,Cel,Phone\nx-1,Ana,(11) 98888-7777,1\n".as_bytes(), &settings);
    assert_eq!(of(&read, "5511988887777", "name"), some("x-1", "Ana"));
    assert_eq!(read.rows.names().collect::<Vec<_>>(), ["name"]);
    let refused = refusal(b"Code,Name,Cel\n", &settings_of("Number", "phone_number"));
    assert_eq!((refused.code, refused.param.as_deref()), (Code::InvalidField, Some("columns")));
    for wrong in ["", "name", "value.", "value.Name", "values.name"] {
        assert_eq!(wrong.parse::<RecipientColumn>(), Err(UnknownColumn), "{wrong}");
    }
}

fn settings_of(name: &str, word: &str) -> RecipientSettings {
    let columns = Some(vec![(name.to_owned(), word.parse().unwrap())]);
    RecipientSettings { columns, ..RecipientSettings::default() }
}

#[test]
fn encodings_are_recognised_and_a_wrong_byte_costs_its_row() {
    let table = "phone_number\tname\n5511988887777\tJoão\n";
    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain(table.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let guessed = RecipientSettings { encoding: Some(GUESSED.to_owned()), ..RecipientSettings::default() };
    let windows = b"phone_number;name\n5511988887777;Jo\xe3o\n";
    for (bytes, settings) in [(&utf16[..], &RecipientSettings::default()), (&windows[..], &guessed)] {
        assert_eq!(of(&read(bytes, settings), "5511988887777", "name"), some("", "João"));
    }
    let refused = refusal(windows, &RecipientSettings::default());
    assert_eq!((refused.code, refused.param.as_deref()), (Code::InvalidField, Some("recipients")));
    assert!(refused.sentence.contains("line 2"), "{}", refused.sentence);
    let mixed = "phone_number,name\n5511988887777,João é ótimo\n5511988887778,".as_bytes();
    let read = read(&[mixed, b"\xe3\n"].concat(), &guessed);
    assert_eq!(problems(&read), [(Some(1), Some("value_not_allowed"), Some("values.name"))]);
    assert_eq!(read.rows.len(), 1);
}

#[test]
fn an_object_on_each_line_is_read_as_an_entry_of_a_request() {
    let lines = "{\"phone_number\": \"+55 11 98888-7777\", \"values\": {\"order\": 7}, \"reference\": \"crm-1\"}\r\n\n\
                 {\"phone_number\": \"12\"}\n{\"phone_number\": 5511988887778}";
    let read = read(lines.as_bytes(), &RecipientSettings::default());
    assert_eq!(of(&read, "5511988887777", "order"), some("crm-1", "7"));
    assert_eq!(problems(&read), [(Some(1), Some("invalid_number"), Some("phone_number"))]);
    assert_eq!((read.rows.len(), read.rows.given()), (2, 3));
    for (second, code, param) in [
        (
            "{\"phone_number\": \"1\", \"values\": {\"Order\": 7}}",
            Code::InvalidValues,
            "recipients[1].values.Order",
        ),
        ("{\"phone\": \"1\"}", Code::UnknownField, "recipients[1].phone"),
        ("5511988887777;x", Code::InvalidField, "recipients[1]"),
        ("{\"phone_number\": \"1\"", Code::InvalidField, "recipients[1]"),
    ] {
        let file = format!("{{\"phone_number\": \"5511988887777\"}}\n{second}\n");
        let refused = refusal(file.as_bytes(), &RecipientSettings::default());
        assert_eq!((refused.code, refused.param.as_deref()), (code, Some(param)), "{second}");
    }
}

#[test]
fn what_is_no_file_of_recipients_is_refused() {
    for wrong in [
        &b""[..],
        b"PK\x03\x04 a workbook",
        b"BEGIN:VCARD\nVERSION:3.0\nTEL:5511988887777\nEND:VCARD\nBEGIN:VCARD\nVERSION:3.0\nEND:VCARD\n",
        b"[{\"phone_number\": \"5511988887777\"}]",
        b"name,order\nAna,7\n",
        b"phone_number,a,A\n5511988887777,1,2\n",
        b"phone_number,\x00\n",
    ] {
        let refused = refusal(wrong, &RecipientSettings::default());
        let found = (refused.code, refused.param.as_deref());
        assert_eq!(found, (Code::InvalidField, Some("recipients")), "{}", refused.sentence);
    }
}
