use super::*;

fn number(value: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + value).unwrap()
}

fn record(recipient: u64, scope: Suppression, until: Option<i64>) -> Record {
    Record {
        company_id: Uuid::from_u128(1),
        recipient: number(recipient),
        scope,
        until: until.map(Timestamp::from_millis),
        provider_code: None,
    }
}

fn left(suppressions: &Suppressions, company: u128, is_marketing: bool) -> (Vec<PhoneNumber>, u64) {
    let (mut numbers, mut skipped) = ((0..4).map(number).collect(), Skipped::default());
    suppressions.skip_suppressed(Uuid::from_u128(company), is_marketing, &mut numbers, &mut skipped);
    (numbers, skipped.count)
}

#[test]
fn an_opt_out_of_marketing_skips_no_other_messages_and_none_of_other_companies() {
    let suppressions = Suppressions::default();
    suppressions.add(record(1, Suppression::Marketing, None));
    suppressions.add(record(2, Suppression::Everything, None));
    assert_eq!(left(&suppressions, 1, true), (vec![number(0), number(3)], 2));
    assert_eq!(left(&suppressions, 1, false), (vec![number(0), number(1), number(3)], 1));
    assert_eq!(left(&suppressions, 2, true).1, 0);
    suppressions.replace(&[(Uuid::from_u128(1), number(1), Suppression::Marketing)], Vec::new());
    assert_eq!(left(&suppressions, 1, true), (vec![number(0), number(1), number(3)], 1));
}

#[tokio::test]
async fn a_hold_ends_by_itself_and_skips_nobody() {
    let suppressions = Suppressions::default();
    assert!(suppressions.load().await.finish([record(1, Suppression::Marketing, Some(1_000))], []));
    let held = |now| suppressions.held_until(Uuid::from_u128(1), number(1), Timestamp::from_millis(now));
    assert_eq!(held(999), Some(Timestamp::from_millis(1_000)));
    assert_eq!(held(1_000), None);
    assert_eq!(left(&suppressions, 1, true).1, 0);
}

#[tokio::test]
async fn a_read_drops_lifted_suppressions_and_keeps_updates_that_came_during_the_read() {
    let (suppressions, company) = (Suppressions::default(), Uuid::from_u128(1));
    for recipient in 0..3 {
        suppressions.add(record(recipient, Suppression::Everything, None));
    }
    let loading = suppressions.load().await;
    let read = [0, 1].map(|recipient| record(recipient, Suppression::Everything, None));
    suppressions.add(record(3, Suppression::Everything, None));
    suppressions.replace(&[(company, number(1), Suppression::Everything)], Vec::new());
    assert!(!loading.finish(read, []), "the store may say something else by now");
    assert_eq!(left(&suppressions, 1, false).0, [number(1), number(2)]);

    assert!(suppressions.load().await.finish([record(2, Suppression::Everything, None)], []));
    assert_eq!(left(&suppressions, 1, false).0, [number(0), number(1), number(3)]);
}

#[tokio::test]
async fn a_failed_read_changes_nothing_and_collects_no_further_updates() {
    let suppressions = Suppressions::default();
    let loading = suppressions.load().await;
    suppressions.add(record(1, Suppression::Everything, None));
    drop(loading);
    suppressions.add(record(2, Suppression::Everything, None));
    assert_eq!(left(&suppressions, 1, false).0, [number(0), number(3)]);
    assert!(suppressions.known.read().meanwhile.is_none());
}

#[test]
fn only_messages_to_suppressed_recipients_meet_a_barrier() {
    let (suppressions, company, now) =
        (Suppressions::default(), Uuid::from_u128(1), Timestamp::from_millis(5));
    let barrier =
        |recipient, is_marketing| suppressions.barrier(company, number(recipient), is_marketing, now);
    suppressions.add(record(1, Suppression::Marketing, None));
    suppressions.add(record(2, Suppression::Everything, None));
    suppressions.add(record(3, Suppression::Marketing, Some(9)));
    assert_eq!(barrier(1, true), Some(Barrier::OptedOut(SUPPRESSED_OF_MARKETING)));
    assert_eq!((barrier(1, false), barrier(0, true)), (None, None));
    assert_eq!(
        [true, false].map(|marketing| barrier(2, marketing)),
        [Some(Barrier::OptedOut(SUPPRESSED_OF_EVERYTHING)); 2]
    );
    assert_eq!((barrier(3, true), barrier(3, false)), (Some(Barrier::Held(Timestamp::from_millis(9))), None));
    let subjects = [1, 3].map(|recipient| (company, number(recipient), Suppression::Marketing));
    suppressions.replace(&subjects, vec![record(3, Suppression::Marketing, None)]);
    assert_eq!(
        (barrier(1, true), barrier(3, true)),
        (None, Some(Barrier::OptedOut(SUPPRESSED_OF_MARKETING)))
    );
}

#[tokio::test]
async fn reads_take_turns_and_an_update_during_one_counts_for_the_person_that_it_shows() {
    let (suppressions, company) = (Suppressions::default(), Uuid::from_u128(1));
    let of = |value| PhoneNumber::from_u64(value).unwrap();
    let (long, short) = (of(2_290_161_234_567), of(22_961_234_567));
    let first = suppressions.load().await;
    assert!(suppressions.loads.try_lock().is_err(), "a second read would begin beside this one");
    // A person opts out under a number of which the read shows another one.
    suppressions.add(Record { recipient: long, ..record(0, Suppression::Everything, None) });
    assert!(!first.finish([], [OtherNumber { company_id: company, number: long, person: short }]));
    let is_out = |number| suppressions.barrier(company, number, false, Timestamp::from_millis(5)).is_some();
    assert!(is_out(long) && is_out(short));
    assert!(suppressions.loads.try_lock().is_ok());
}

#[test]
fn a_person_is_suppressed_under_every_form_of_the_number() {
    let (people, company) = (Arc::<People>::default(), Uuid::from_u128(1));
    let suppressions = Suppressions::of(Arc::clone(&people));
    let of = |value| PhoneNumber::from_u64(value).unwrap();
    let (long, short) = (of(2_290_161_234_567), of(22_961_234_567));
    let everything = |recipient| Record { recipient, ..record(0, Suppression::Everything, None) };
    suppressions.add(everything(of(556_488_887_777)));
    suppressions.add(everything(short));
    let is_out = |number| suppressions.barrier(company, number, false, Timestamp::from_millis(5)).is_some();
    assert!(is_out(of(5_564_988_887_777)) && is_out(of(556_488_887_777)) && !is_out(long));
    people.replace(Pairs::of([OtherNumber { company_id: company, number: long, person: short }]));
    assert!(is_out(long));
    let (mut numbers, mut skipped) = (vec![long, of(5_564_988_887_777), number(1)], Skipped::default());
    suppressions.skip_suppressed(company, false, &mut numbers, &mut skipped);
    assert_eq!((numbers, skipped.count), (vec![number(1)], 2));
    suppressions.replace(&[(company, long, Suppression::Everything)], Vec::new());
    assert!(!is_out(short));
}
