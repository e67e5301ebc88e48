use super::*;
use crate::domain::message::State;

const NOW: Timestamp = Timestamp::from_millis(1_900_000_000_000);

fn number(value: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + value).unwrap()
}

fn key(ordinal: u64) -> Key {
    Key { send_id: Uuid::from_u128(7), ordinal }
}

fn heard(update: Update) -> Heard {
    Heard { account: Some("1022".to_owned()), number: Some("1065".to_owned()), update }
}

fn failure(code: i64) -> Failure {
    Failure { code: Some(code), sentence: "refused".to_owned() }
}

/// A failed message whose status came this long ago.
fn failed(ordinal: u64, disposition: Disposition, hours_ago: i64) -> Heard {
    heard(Update::Receipt(update::Receipt {
        key: Some(key(ordinal)),
        provider_message_id: format!("wamid.{ordinal}"),
        state: State::Failed,
        at: Timestamp::from_millis(NOW.millis() - hours_ago * 3_600_000),
        recipient: Some(number(ordinal)),
        refusal: Some((disposition, failure(131_050))),
    }))
}

fn preference(recipient: u64, stops: bool, hours_ago: i64) -> Heard {
    let at = Timestamp::from_millis(NOW.millis() - hours_ago * 3_600_000);
    heard(Update::Preference { recipient: number(recipient), stops, at })
}

fn verdicts(heard: Vec<Heard>) -> Vec<((PhoneNumber, Suppression), Verdict)> {
    Sorted::new(heard, NOW).verdicts(|_| None).into_iter().collect()
}

const FOR_EVER: Verdict = Verdict::Suppressed(None, None);

#[test]
fn the_last_word_of_a_person_counts_in_whatever_order_it_comes() {
    let marketing = (number(1), Suppression::Marketing);
    let (stop, resume) = (preference(1, true, 2), preference(1, false, 1));
    assert_eq!(verdicts(vec![resume.clone(), stop.clone()]), [(marketing, Verdict::Lifted)]);
    assert_eq!(verdicts(vec![stop, resume, preference(1, true, 0)]), [(marketing, FOR_EVER)]);
}

#[test]
fn a_hold_is_counted_from_the_refusal_and_neither_ends_an_opt_out_nor_takes_back_a_return() {
    let held = |hours_ago| failed(1, Disposition::HoldRecipient, hours_ago);
    let until = |hours: i64| Timestamp::from_millis(NOW.millis() + hours * 3_600_000);
    let marketing = (number(1), Suppression::Marketing);
    let verdict = |hours| Verdict::Suppressed(Some(until(hours)), Some(131_050));
    assert_eq!(verdicts(vec![held(4), held(20)]), [(marketing, verdict(20))]);
    assert_eq!(verdicts(vec![held(24)]), [], "it is over");
    assert_eq!(verdicts(vec![preference(1, true, 5), held(4)]), [(marketing, FOR_EVER)]);
    assert_eq!(verdicts(vec![preference(1, false, 5), held(4)]), [(marketing, Verdict::Lifted)]);
    assert_eq!(verdicts(vec![held(6), preference(1, false, 5)]), [(marketing, Verdict::Lifted)]);
}

#[test]
fn who_is_suppressed_is_the_number_that_was_written_to_if_it_is_known() {
    let everything = Disposition::Suppress(Suppression::Everything);
    let mut sorted = Sorted::new(vec![failed(1, everything, 0), failed(2, everything, 0)], NOW);
    let verdicts = sorted.verdicts(|named| (named == key(1)).then(|| number(77)));
    let whom: Vec<_> = verdicts.into_keys().collect();
    assert_eq!(whom, [(number(2), Suppression::Everything), (number(77), Suppression::Everything)]);
}

#[test]
fn a_thousand_messages_that_met_one_trouble_tell_of_it_once() {
    let mut heard: Vec<_> = (0..1_000).map(|ordinal| failed(ordinal, Disposition::SlowNumber, 0)).collect();
    heard.extend((0..1_000).map(|ordinal| failed(ordinal, Disposition::HoldTemplate, 0)));
    heard.extend(
        [Disposition::Fail, Disposition::Pair, Disposition::Retry].map(|of_one| failed(1, of_one, 0)),
    );
    let sorted = Sorted::new(heard, NOW);
    let place = Place { account: Some("1022".to_owned()), number: Some("1065".to_owned()) };
    let trouble = Notice::Trouble(Disposition::SlowNumber, failure(131_050), Some(NOW));
    assert_eq!(sorted.notices, [(place, trouble)]);
    assert_eq!(sorted.held_templates.len(), 1);
    assert_eq!((sorted.receipts.len(), sorted.refused.len()), (2_003, 0));
}

#[test]
fn what_names_no_message_is_counted_and_a_time_to_come_is_now() {
    let receipt = |key| {
        heard(Update::Receipt(update::Receipt {
            key,
            provider_message_id: "wamid.1".to_owned(),
            state: State::Delivered,
            at: Timestamp::from_millis(NOW.millis() + 60_000),
            recipient: None,
            refusal: None,
        }))
    };
    let unreadable = heard(Update::Unreadable { field: "messages.statuses".to_owned() });
    let sorted = Sorted::new(vec![receipt(None), receipt(Some(key(3))), unreadable], NOW);
    assert_eq!((sorted.nameless, sorted.unreadable), (1, 1));
    let [(_, named, receipt)] = sorted.receipts.as_slice() else { panic!("{sorted:?}") };
    assert_eq!((*named, receipt.at), (key(3), NOW));
}

#[test]
fn an_account_that_is_lost_or_found_concerns_its_numbers() {
    let account = |change| Heard { number: None, ..heard(Update::Account(change)) };
    let sorted = Sorted::new(
        vec![
            account(AccountChange::Disconnected(failure(0))),
            account(AccountChange::Blocked(failure(1))),
            account(AccountChange::Restored),
            account(AccountChange::Other("VERIFIED".to_owned())),
        ],
        NOW,
    );
    let place = Place { account: Some("1022".to_owned()), number: None };
    let expected = [
        Notice::Trouble(Disposition::Disconnect, failure(0), None),
        Notice::Trouble(Disposition::Block, failure(1), None),
        Notice::Recheck(None),
    ];
    assert_eq!(sorted.notices, expected.map(|notice| (place.clone(), notice)));
}
