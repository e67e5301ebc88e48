use super::*;
use connectors::update::Update;
use domain::channel::{Connection, Kind, Status};

const NOW: Timestamp = Timestamp::from_millis(1_900_000_000_000);

fn channel(nth: u128, number: &str, account: &str) -> Arc<Channel> {
    Arc::new(Channel {
        id: Uuid::from_u128(nth),
        company_id: Uuid::from_u128(100),
        kind: Kind::BusinessAccount,
        name: "shop".to_owned(),
        phone_number: None,
        phone_number_id: Some(number.to_owned()),
        waba_id: Some(account.to_owned()),
        tier: "standard".to_owned(),
        own_options: Default::default(),
        connection: Connection { status: Status::Connected, reason: None, since: NOW },
        trial: None,
        quality_rating: None,
        level: None,
        messaging_limit: None,
        linked_at: None,
        revision: 1,
        created_at: NOW,
        updated_at: NOW,
    })
}

/// The webhook came to the first of three numbers of two accounts.
pub(super) fn family() -> Family {
    let others = [channel(2, "1066", "1023"), channel(3, "1067", "1022")];
    Family::new(channel(1, "1065", "1022"), others)
}

pub(super) fn account_of(id: Option<&str>) -> Option<String> {
    id.map(str::to_owned)
}

pub(super) fn heard_by(account: Option<&str>, number: Option<&str>, update: Update, at: Timestamp) -> Heard {
    Heard { account: account_of(account), number: account_of(number), at, update }
}

#[test]
fn an_account_means_all_its_channels_and_a_number_its_own_channel() {
    let family = family();
    let meant = |account, number| {
        let whom = family.whom(account, number)?;
        Some(family.channels(whom).iter().map(|channel| channel.id.as_u128()).collect::<Vec<_>>())
    };
    assert_eq!(meant(Some("1022"), None), Some(vec![1, 3]));
    assert_eq!(meant(Some("1023"), None), Some(vec![2]));
    assert_eq!(meant(Some("1022"), Some("1067")), Some(vec![3]));
    assert_eq!(meant(None, None), Some(vec![1]));
    assert_eq!((meant(Some("7"), None), meant(Some("1022"), Some("7"))), (None, None));
}

#[test]
fn other_channels_are_needed_when_a_webhook_is_about_more_than_its_own_number() {
    let own = channel(1, "1065", "1022");
    let about = |account, number, update| Family::is_needed(&own, &[heard_by(account, number, update, NOW)]);
    let other = || Update::Other { field: "flows".to_owned() };
    let limit = || Update::Limit { messaging_limit: None };
    assert!(!about(Some("1022"), Some("1065"), limit()) && !about(None, None, limit()));
    assert!(about(Some("1022"), Some("1066"), limit()) && about(Some("1022"), None, limit()));
    assert!(!about(Some("1022"), Some("1066"), other()));
}

#[actix_web::test]
async fn a_large_webhook_is_sorted_where_it_holds_up_no_other_request() {
    let news = |count: usize| -> Vec<_> {
        let field = || Update::Unreadable { field: "messages".to_owned() };
        (0..count).map(|_| heard_by(None, None, field(), NOW)).collect()
    };
    let family = Arc::new(family());
    let small =
        futures_util::poll!(std::pin::pin!(sort(&family, OptOutWords::default(), news(SORTED_IN_PLACE))));
    assert!(small.is_ready());
    let mut large = std::pin::pin!(sort(&family, OptOutWords::default(), news(100 * SORTED_IN_PLACE)));
    assert!(futures_util::poll!(&mut large).is_pending(), "this thread is free meanwhile");
    let sorted = large.await.unwrap();
    assert_eq!(sorted.counts.unreadable, 100 * SORTED_IN_PLACE as u64);
}
