//! Every documented code, one by one.

use super::documented::CODES;
use super::*;

const UNKNOWN: ErrorFacts = ErrorFacts {
    code: 999_999,
    subcode: None,
    is_transient: false,
    is_server_error: false,
    is_about_another: false,
};

fn of(code: i64) -> Disposition {
    disposition(&ErrorFacts { code, ..UNKNOWN })
}

const EVERY_CODE: &[(i64, Disposition)] = &[
    (0, Disconnect),
    (190, Disconnect),
    (104, Disconnect),
    (3, Disconnect),
    (10, Disconnect),
    (200, Disconnect),
    (230, Disconnect),
    (299, Disconnect),
    (131_005, Disconnect),
    (33, Disconnect),
    (803, Disconnect),
    (131_045, Disconnect),
    (133_010, Disconnect),
    (133_006, Disconnect),
    (133_000, Disconnect),
    (133_015, Disconnect),
    (133_016, Disconnect),
    (133_005, Disconnect),
    (133_008, Disconnect),
    (133_009, Disconnect),
    (368, Block),
    (131_031, Block),
    (131_042, Block),
    (134_011, Block),
    (131_037, Block),
    (131_064, Block),
    (131_048, Restrict),
    (4, SlowApp),
    (17, SlowApp),
    (32, SlowApp),
    (613, SlowApp),
    (80_007, SlowAccount),
    (80_008, SlowAccount),
    (130_429, SlowNumber),
    (131_056, Pair),
    (131_057, Maintenance),
    (2_494_100, Maintenance),
    (1, Retry),
    (131_000, Retry),
    (2, Wait),
    (131_016, Wait),
    (133_004, Wait),
    (100, Fail),
    (131_008, Fail),
    (131_009, Fail),
    (131_021, Fail),
    (131_030, Fail),
    (131_051, Fail),
    (131_062, Fail),
    (135_000, Fail),
    (130_501, Fail),
    (130_497, Fail),
    (131_026, Fail),
    (131_047, Fail),
    (131_049, HoldRecipient),
    (131_050, Suppress(Marketing)),
    (130_403, Suppress(Everything)),
    (130_472, Fail),
    (137_000, Fail),
    (131_052, Fail),
    (131_053, Fail),
    (132_000, Fail),
    (132_005, Fail),
    (132_012, Fail),
    (132_018, Fail),
    (132_001, HoldTemplate),
    (132_007, HoldTemplate),
    (132_015, HoldTemplate),
    (132_016, HoldTemplate),
    (132_068, HoldTemplate),
    (132_069, HoldTemplate),
    (131_063, HoldTemplate),
    (134_101, HoldTemplate),
    (134_102, HoldTemplate),
    (131_055, Fail),
    (134_100, Fail),
    (138_000, Fail),
    (138_018, Fail),
    (139_100, Fail),
    (139_103, Fail),
    (2_388_040, Fail),
];

#[test]
fn each_documented_code_has_its_meaning() {
    for (code, expected) in EVERY_CODE {
        assert_eq!(of(*code), *expected, "{code}");
    }
}

#[test]
fn each_code_of_the_table_is_in_this_test() {
    for code in TABLE.iter().flat_map(|group| group.codes) {
        assert!(EVERY_CODE.iter().any(|(tested, _)| tested == code), "{code}");
    }
}

#[test]
fn every_code_of_the_table_is_documented_and_no_other() {
    let mut listed: Vec<_> = TABLE
        .iter()
        .flat_map(|group| group.codes.iter().map(|code| *code..=*code).chain(group.ranges.iter().cloned()))
        .map(|codes| (*codes.start(), *codes.end()))
        .collect();
    listed.sort_unstable();
    assert_eq!(CODES.iter().map(|(first, last, _)| (*first, *last)).collect::<Vec<_>>(), listed);
}

#[test]
fn no_code_stands_twice() {
    let spans: Vec<_> = TABLE
        .iter()
        .flat_map(|group| group.codes.iter().map(|code| *code..=*code).chain(group.ranges.iter().cloned()))
        .collect();
    for (index, codes) in spans.iter().enumerate() {
        for others in &spans[index + 1..] {
            assert!(codes.end() < others.start() || others.end() < codes.start(), "{codes:?} {others:?}");
        }
    }
}

#[test]
fn the_http_status_does_not_change_the_meaning_of_a_known_code() {
    for (code, expected) in EVERY_CODE {
        let error = ErrorFacts { code: *code, is_server_error: true, is_transient: true, ..UNKNOWN };
        assert_eq!(disposition(&error), *expected, "{code} as 5xx");
    }
}

#[test]
fn an_unknown_code_is_retried_only_when_it_may_pass() {
    assert_eq!(disposition(&UNKNOWN), Fail);
    assert_eq!(disposition(&ErrorFacts { is_transient: true, ..UNKNOWN }), Retry);
    assert_eq!(disposition(&ErrorFacts { is_server_error: true, ..UNKNOWN }), Retry);
    assert_eq!(meaning(999_999), None);
}

#[test]
fn a_number_that_is_gone_disconnects_and_a_file_that_is_gone_does_not() {
    let gone = ErrorFacts { code: 100, subcode: Some(33), ..UNKNOWN };
    assert_eq!(disposition(&gone), Disconnect);
    assert_eq!(disposition(&ErrorFacts { is_about_another: true, ..gone }), Fail);
}
