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
    Heard { account: Some("1022".to_owned()), number: Some("1065".to_owned()), at: NOW, update }
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

/// What was said of whom, and how many milliseconds ago.
fn words(heard: Vec<Heard>) -> Vec<(PhoneNumber, i64, Says)> {
    let words = Sorted::new(heard, NOW).words(Uuid::nil(), |_| None);
    words.into_iter().map(|word| (word.recipient, NOW.millis() - word.said_at.millis(), word.says)).collect()
}

#[test]
fn what_a_person_wants_is_said_at_the_end_of_its_second_and_never_in_the_future() {
    const HOUR: i64 = 3_600_000;
    let stop = Says::Stop { provider_code: None };
    let heard = vec![
        preference(1, true, 2),
        preference(1, false, 1),
        preference(2, true, 0),
        preference(2, false, -5),
    ];
    let expected = [
        (number(1), 2 * HOUR - 999, stop),
        (number(1), HOUR - 999, Says::Resume),
        (number(2), 0, stop),
        (number(2), 0, Says::Resume),
    ];
    assert_eq!(words(heard), expected);
}

#[test]
fn a_hold_is_counted_from_the_refusal() {
    let held = |hours_ago| failed(1, Disposition::HoldRecipient, hours_ago);
    let until = Timestamp::from_millis(NOW.millis() + 4 * 3_600_000);
    let hold = Says::Hold { until, provider_code: Some(131_050) };
    assert_eq!(words(vec![held(20)]).into_iter().map(|word| word.2).collect::<Vec<_>>(), [hold]);
    assert_eq!(words(vec![held(24)]), [], "it is over");
}

#[test]
fn who_is_suppressed_is_the_number_that_was_written_to_if_it_is_known() {
    let everything = Disposition::Suppress(Suppression::Everything);
    let sorted = Sorted::new(vec![failed(1, everything, 0), failed(2, everything, 0)], NOW);
    let words = sorted.words(Uuid::nil(), |named| (named == key(1)).then(|| number(77)));
    let whom: Vec<_> = words.into_iter().map(|word| (word.recipient, word.scope)).collect();
    assert_eq!(whom, [(number(77), Suppression::Everything), (number(2), Suppression::Everything)]);
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
    let (disposition, failure) = (Disposition::SlowNumber, failure(131_050));
    let trouble = Notice::Trouble { disposition, failure, at: NOW, is_of_message: true };
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
        trouble(Disposition::Disconnect, failure(0), NOW),
        trouble(Disposition::Block, failure(1), NOW),
        Notice::Recheck(None),
    ];
    assert_eq!(sorted.notices, expected.map(|notice| (place.clone(), notice)));
}
