//! Files as people have them, imported by the command line, and by the console in its tests: which contacts they must make,
//! and which rows are rejected and why.

use std::path::{Path, PathBuf};

use pombo::domain::phone::PhoneNumber;

use crate::program::Place;

/// A file and its right outcome.
pub(crate) struct Case {
    pub(crate) file: &'static str,
    /// The country by whose rules a person lets its numbers be read.
    pub(crate) country: Option<&'static str>,
    /// The numbers of the contacts that it makes.
    pub(crate) numbers: &'static [u64],
    /// The codes of the rejected rows, in their order.
    pub(crate) rejected: &'static [&'static str],
}

const fn case(file: &'static str, numbers: &'static [u64], rejected: &'static [&'static str]) -> Case {
    Case { file, country: None, numbers, rejected }
}

pub(crate) const CASES: &[Case] = &[
    case("two-columns-of-one-name", &[5_511_900_000_101, 5_511_900_000_102], &[]),
    case("three-kinds-of-phone", &[5_511_900_000_203], &[]),
    case("remembered-first", &[5_511_900_000_211], &[]),
    case("remembered-then-whatsapp", &[5_511_900_000_212, 5_511_900_000_213, 5_511_900_000_214], &[]),
    case("short-rows", &[5_511_900_000_301, 5_511_900_000_302, 5_511_900_000_303, 5_511_900_000_304], &[]),
    case("shared-email", &[5_511_900_000_401, 5_511_900_000_402, 5_511_900_000_403], &[]),
    case("first-and-last-names", &[5_511_900_000_701], &[]),
    case(
        "scripts",
        &[
            5_511_900_000_801,
            5_511_900_000_802,
            5_511_900_000_803,
            5_511_900_000_804,
            5_511_900_000_805,
            5_511_900_000_806,
        ],
        &[],
    ),
    case(
        "decimals",
        &[
            5_511_900_000_901,
            5_511_900_000_902,
            5_511_900_000_903,
            5_511_900_000_904,
            5_511_900_000_905,
            5_511_900_000_906,
        ],
        &["number_rounded", "number_rounded", "number_rounded"],
    ),
    case(
        "extensions",
        &[442_079_460_104, 49_301_234_567],
        &["number_has_extension", "number_has_extension", "number_has_extension", "several_numbers"],
    ),
    case(
        "whatsapp-ids",
        &[5_511_900_001_101, 5_511_900_001_102],
        &["number_is_lid", "number_is_id", "number_is_id"],
    ),
    case("spaces-around-quotes", &[5_511_900_001_401, 5_511_900_001_402], &[]),
    case(
        "tags",
        &[
            5_511_900_001_601,
            5_511_900_001_602,
            5_511_900_001_603,
            5_511_900_001_604,
            5_511_900_001_605,
            5_511_900_001_606,
            5_511_900_001_607,
        ],
        &[],
    ),
    case("outlook", &[551_130_001_901, 5_511_900_001_902, 5_511_900_001_903], &[]),
    case("delimiters-in-the-header", &[5_511_900_002_301], &[]),
    case("national", &[], &["number_is_national", "number_begins_with_zero", "number_begins_with_zero"]),
    Case {
        file: "national",
        country: Some("BR"),
        numbers: &[5_511_900_002_701, 5_511_900_002_702, 5_511_900_002_703],
        rejected: &[],
    },
    case("rounded-id", &[], &["lid_rounded"]),
    case("title-and-bars", &[5_511_900_003_001, 5_511_900_003_002], &[]),
    Case {
        file: "own-columns-filled-in",
        country: Some("BR"),
        numbers: &[
            5_511_900_003_101,
            5_511_900_003_102,
            5_511_900_003_103,
            5_511_900_003_104,
            12_125_553_105,
        ],
        rejected: &["number_is_national"],
    },
    Case {
        file: "digits-without-plus",
        country: Some("DE"),
        numbers: &[491_701_234_567, 491_701_234_568, 5_511_900_003_203, 436_641_234_567, 442_079_460_105],
        rejected: &["number_is_national"],
    },
];

/// Where its file is.
pub(crate) fn path(case: &Case) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/contact_files/{}.csv", case.file))
}

/// 4,001 rows in UTF-8, one of which has a wrong byte, behind the first piece that is read.
pub(crate) fn one_wrong_byte() -> Vec<u8> {
    let mut file = b"Nome;Telefone\n".to_vec();
    for row in 0..=4_000 {
        match row {
            2_600 => file.extend_from_slice(b"Concei\xff;+55 11 900002600\n"),
            _ => file.extend_from_slice(format!("João {row};+55 11 9{row:08}\n").as_bytes()),
        }
    }
    file
}

/// The numbers in an export.
pub(crate) fn numbers(export: &str) -> Vec<u64> {
    let mut reader = csv::Reader::from_reader(export.trim_start_matches('\u{feff}').as_bytes());
    let rows = reader.records().map(Result::unwrap);
    rows.map(|row| PhoneNumber::parse(row[3].trim_start_matches('\'')).unwrap().as_u64()).collect()
}

#[test]
fn the_command_line_makes_the_right_contacts_of_every_file() {
    let place = Place::new();
    place.json("company create Acme");
    let mut all: Vec<u64> = Vec::new();
    for case in CASES {
        let file = place.path().join("people.csv");
        std::fs::copy(path(case), &file).unwrap();
        let country = case.country.map(|country| format!(" --country {country}")).unwrap_or_default();
        let summary = place.json(&format!("contacts import people.csv --company Acme{country}"));
        let found = ["created", "updated", "rejected"].map(|name| summary[name].as_u64().unwrap());
        let wanted = [case.numbers.len() as u64, 0, case.rejected.len() as u64];
        assert_eq!(found, wanted, "{}: {summary}", case.file);
        all.extend(case.numbers);
        std::fs::remove_file(file).unwrap();
    }
    assert_eq!(numbers(&place.run("contacts export --company Acme").stdout), all);
    let marked = place.run("contacts export --company Acme --for-spreadsheets").stdout;
    assert!(marked.starts_with("\u{feff}first_name,") && numbers(&marked) == all);
}

#[test]
fn the_command_line_names_the_line_of_a_wrong_byte_and_rejects_only_its_row_when_it_may_guess() {
    let place = Place::new();
    place.json("company create Acme");
    std::fs::write(place.path().join("people.csv"), one_wrong_byte()).unwrap();
    let refused = place.run("contacts import people.csv --company Acme");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("line 2602: byte 0xFF at position"), "{}", refused.stderr);
    assert_eq!(place.run("contacts export --company Acme").stdout.lines().count(), 1, "nothing was imported");
    let summary = place.json("contacts import people.csv --company Acme --encoding auto");
    assert_eq!((summary["created"].as_u64(), summary["rejected"].as_u64()), (Some(4_000), Some(1)));
    let rejects = std::fs::read_to_string(place.path().join("people.rejects.csv")).unwrap();
    assert!(
        rejects.starts_with("\u{feff}line,reason,Nome,Telefone\n2602,first_name holds a byte"),
        "{rejects}"
    );
    let export = place.run("contacts export --company Acme").stdout;
    assert!(export.contains("João 4000") && !export.contains("Ã"), "no other name changed");
}

#[test]
fn a_good_name_is_replaced_by_a_wrongly_decoded_one_only_on_a_persons_word() {
    let place = Place::new();
    place.json("company create Acme");
    let file = place.path().join("people.csv");
    std::fs::write(&file, "name,phone\nJoão,5511988880001\nAna,5511988880002\n").unwrap();
    place.json("contacts import people.csv --company Acme");
    let wrong = "contacts import people.csv --company Acme --encoding windows-1252";
    let summary = place.json(wrong);
    assert_eq!((&summary["names_kept"], &summary["unchanged"]), (&1.into(), &2.into()), "{summary}");
    assert!(place.run("contacts export --company Acme").stdout.contains("João"));
    assert!(place.run(wrong).stdout.contains("--replace-names"));
    let summary = place.json(&format!("{wrong} --replace-names"));
    assert_eq!((&summary["names_kept"], &summary["updated"]), (&0.into(), &1.into()), "{summary}");
    // A better name replaces a bad one without a word.
    let summary = place.json("contacts import people.csv --company Acme");
    assert_eq!((&summary["names_kept"], &summary["updated"]), (&0.into(), &1.into()), "{summary}");
}

#[test]
fn files_of_other_formats_are_refused_with_what_to_do() {
    let place = Place::new();
    place.json("company create Acme");
    for (content, said) in [
        ("BEGIN:VCARD\r\nVERSION:2.1\r\nTEL;CELL:+5511988880001\r\nEND:VCARD\r\n", "exports CSV"),
        ("PK\u{3}\u{4}xl/workbook.xml", "save it again as .xlsx"),
    ] {
        place.write("people.vcf", content);
        let refused = place.run("contacts import people.vcf --company Acme");
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}
