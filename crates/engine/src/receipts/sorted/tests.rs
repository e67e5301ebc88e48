use super::*;
use crate::receipts::notices::Numbers;
use crate::receipts::tests::{account_of, family, heard_by};
use store::suppressions::Word;

const NOW: Timestamp = Timestamp::from_millis(1_900_000_000_000);

fn number(value: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + value).unwrap()
}

fn key(ordinal: u64) -> Key {
    Key { send_id: Uuid::from_u128(7), ordinal }
}

fn heard(update: Update) -> Heard {
    heard_by(Some("1022"), Some("1065"), update, NOW)
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
        user: None,
        refusal: Some((disposition, failure(131_050))),
        billing: None,
    }))
}

fn preference(recipient: u64, stops: bool, hours_ago: i64) -> Heard {
    let at = Timestamp::from_millis(NOW.millis() - hours_ago * 3_600_000);
    heard(Update::Preference { recipient: Some(number(recipient)), user: None, stops, at })
}

fn sorted(heard: Vec<Heard>) -> Sorted {
    Sorted::new(&family(), &OptOutWords::default(), heard, NOW)
}

fn words_of(sorted: &Sorted, written_to: impl Fn(Key) -> Option<PhoneNumber>) -> Vec<Word> {
    sorted.parts.iter().flat_map(|part| part.words(Uuid::nil(), &written_to, |_| None)).collect()
}

fn trouble(disposition: Disposition, failure: Failure) -> Notice {
    Notice::Trouble { disposition, failure, at: NOW, of: Of::Number }
}

/// The statements: the recipient, how many milliseconds ago it was said, and what it says.
fn words(heard: Vec<Heard>) -> Vec<(PhoneNumber, i64, Says)> {
    words_of(&sorted(heard), |_| None)
        .into_iter()
        .map(|word| (word.recipient, NOW.millis() - word.said_at.millis(), word.says))
        .collect()
}

#[test]
fn a_preference_is_dated_to_the_end_of_its_second_and_never_to_the_future() {
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
fn the_number_that_was_written_to_is_suppressed_if_it_is_known() {
    let everything = Disposition::Suppress(Suppression::Everything);
    let sorted = sorted(vec![failed(1, everything, 0), failed(2, everything, 0)]);
    let words = words_of(&sorted, |named| (named == key(1)).then(|| number(77)));
    let whom: Vec<_> = words.into_iter().map(|word| (word.recipient, word.scope)).collect();
    assert_eq!(whom, [(number(77), Suppression::Everything), (number(2), Suppression::Everything)]);
}

#[test]
fn a_thousand_messages_that_met_one_trouble_make_one_notice() {
    let mut heard: Vec<_> = (0..1_000).map(|ordinal| failed(ordinal, Disposition::SlowNumber, 0)).collect();
    heard.extend((0..1_000).map(|ordinal| failed(ordinal, Disposition::HoldTemplate, 0)));
    heard.extend(
        [Disposition::Fail, Disposition::Pair, Disposition::Retry].map(|of_one| failed(1, of_one, 0)),
    );
    let sorted = sorted(heard);
    let (disposition, failure) = (Disposition::SlowNumber, failure(131_050));
    let Some((_, Notice::Trouble { of: Of::Message(Some(key)), .. })) = sorted.notices.first().cloned()
    else {
        panic!("{:?}", sorted.notices);
    };
    let trouble = Notice::Trouble { disposition, failure, at: NOW, of: Of::Message(Some(key)) };
    assert_eq!(sorted.notices, [(Whom::Channel(0), trouble)]);
    assert_eq!(sorted.held_templates.len(), 1);
    // One of each message, and not more of them in one commit than in one webhook of the provider.
    let receipts: Vec<_> = sorted.parts.iter().map(|part| part.receipts.len()).collect();
    assert_eq!((receipts, sorted.counts.states[&State::Failed]), (vec![1_000], 2_003));
    assert!(words_of(&sorted, |_| None).is_empty());
}

#[test]
fn a_receipt_without_a_message_is_counted_and_a_future_time_becomes_now() {
    let receipt = |key| {
        heard(Update::Receipt(update::Receipt {
            key,
            provider_message_id: "wamid.1".to_owned(),
            state: State::Delivered,
            at: Timestamp::from_millis(NOW.millis() + 60_000),
            recipient: None,
            user: None,
            refusal: None,
            billing: None,
        }))
    };
    let unreadable = heard(Update::Unreadable { field: "messages.statuses".to_owned() });
    let sorted = sorted(vec![receipt(None), receipt(Some(key(3))), unreadable]);
    assert_eq!((sorted.counts.nameless, sorted.counts.unreadable), (1, 1));
    let [part] = sorted.parts.as_slice() else { panic!("{sorted:?}") };
    let [receipt] = part.receipts.as_slice() else { panic!("{sorted:?}") };
    assert_eq!((receipt.key, receipt.at), (key(3), NOW));
}

#[test]
fn a_change_of_an_account_is_a_notice_to_its_numbers() {
    let account = |change| Heard { number: None, ..heard(Update::Account(change)) };
    let sorted = sorted(vec![
        account(AccountChange::Disconnected(failure(0))),
        account(AccountChange::Blocked(failure(1))),
        account(AccountChange::Restored),
        account(AccountChange::Other("VERIFIED".to_owned())),
    ]);
    let expected = [
        trouble(Disposition::Disconnect, failure(0)),
        trouble(Disposition::Block, failure(1)),
        Notice::Recheck(Numbers::All),
    ];
    assert_eq!(sorted.notices, expected.map(|notice| (Whom::Account(0), notice)));
}

#[test]
fn updates_about_no_channel_of_the_company_are_dropped_and_counted() {
    let stop = |account, number, recipient| {
        let update =
            Update::Preference { recipient: Some(self::number(recipient)), user: None, stops: true, at: NOW };
        heard_by(account, number, update, NOW)
    };
    let (own, other) = (Some("1022"), Some("9999"));
    let of_message = |account, number| Heard {
        account: account_of(account),
        number: account_of(number),
        ..failed(7, Disposition::Suppress(Suppression::Marketing), 0)
    };
    let restored = |account| heard_by(account, None, Update::Account(AccountChange::Restored), NOW);
    let sorted = sorted(vec![
        stop(own, Some("1065"), 1),
        // Another number of the company, of another account than the webhook says: the number counts.
        stop(other, Some("1066"), 2),
        stop(own, Some("2065"), 3),
        stop(other, None, 4),
        stop(own, None, 5),
        stop(None, None, 6),
        of_message(own, Some("2065")),
        restored(other),
        restored(own),
    ]);
    let whom: Vec<_> = words_of(&sorted, |_| None).into_iter().map(|word| word.recipient).collect();
    assert_eq!(whom, [1, 2, 5, 6].map(number));
    assert_eq!((sorted.counts.foreign, sorted.notices.len(), sorted.told.len()), (4, 1, 0));
}

#[test]
fn changes_of_any_number_of_numbers_make_one_notice_of_bounded_size() {
    let news = |nth: u64| {
        let update = Update::Number { phone_number: Some(number(nth)), event: format!("event {nth}") };
        heard_by(Some("1022"), None, update, NOW)
    };
    let some = sorted((0..10).map(news).collect());
    let [(Whom::Account(0), Notice::Recheck(numbers))] = some.notices.as_slice() else { panic!("{some:?}") };
    let concerned: Vec<_> = (0..20).filter(|nth| numbers.may_be(Some(number(*nth)))).collect();
    assert_eq!((concerned, numbers.may_be(None)), ((0..10).collect(), true));
    let many = sorted((0..50_000).map(news).collect());
    assert!(many.notices == [(Whom::Account(0), Notice::Recheck(Numbers::All))]);
}

#[test]
fn too_many_changes_of_templates_lead_to_a_new_listing() {
    let change = |nth: usize, said: &str, seconds_ago: i64| {
        let change = TemplateChange::Quality(said.to_owned());
        let (name, language) = (format!("template {nth}"), "en_US".to_owned());
        let update = Update::Template { provider_id: String::new(), name, language, change };
        let at = Timestamp::from_millis(NOW.millis() - 1_000 * seconds_ago);
        heard_by(Some("1022"), None, update, at)
    };
    let twice = sorted(vec![change(1, "RED", 5), change(1, "GREEN", 60)]);
    let [(_, TemplateChange::Quality(last), _)] = twice.templates.as_slice() else { panic!("{twice:?}") };
    assert_eq!((last.as_str(), twice.relisted.len()), ("RED", 0));
    let many = sorted((0..50_000).map(|nth| change(nth, "RED", 5)).collect());
    assert_eq!((many.templates.len(), many.relisted), (MOST_TEMPLATES, HashSet::from([Whom::Account(0)])));
}
