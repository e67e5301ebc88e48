//! How the provider bills messages: each counts once, in whatever order its receipts come and however often.

use pombo::clock::Timestamp;
use pombo::domain::message::State;
use pombo::domain::price::{Billing, ByCountry, Month, PriceCategory, RateCard, SHIPPED, day_of, shipped};
use pombo::store::changes::Who;
use pombo::store::ledger::{Charge, OutcomeOf, PendingWrites, Receipt};
use pombo::store::prices::MOST_CARDS;
use uuid::Uuid;

use super::{Ledger, RECIPIENTS, number, outcome};
use crate::database::{Universe, stores};

stores!(a_message_counts_once_when_it_arrives, an_uploaded_card_applies_from_its_date_until_it_is_removed,);

const CHANNEL: Uuid = Uuid::from_u128(0xc);
/// After all times of rows that are written now.
const ARRIVED: &str = "2100-01-15T12:00:00Z";

fn utility(is_charged: bool) -> Billing {
    Billing { category: PriceCategory::Utility, is_charged }
}

/// A receipt that says how the message is billed: those with an even ordinal are charged.
fn billed(ledger: &Ledger<'_>, send_id: Uuid, ordinal: u64, state: State) -> Receipt {
    let charge = Some(Charge { channel_id: CHANNEL, billing: utility(ordinal.is_multiple_of(2)) });
    Receipt { charge, ..plain(ledger, send_id, ordinal, state) }
}

fn plain(ledger: &Ledger<'_>, send_id: Uuid, ordinal: u64, state: State) -> Receipt {
    Receipt { at: Timestamp::parse(ARRIVED).unwrap(), ..ledger.receipt(send_id, ordinal, state) }
}

async fn a_message_counts_once_when_it_arrives(universe: &Universe) {
    let ledger = Ledger::new(universe).await;
    let send_id = ledger.send(RECIPIENTS).await;
    let sent = (0..4).map(|ordinal| OutcomeOf {
        send_id,
        company_id: ledger.company,
        outcome: outcome(ordinal, State::Sent, 1),
    });
    ledger.commit(&PendingWrites { outcomes: sent.collect(), ..PendingWrites::default() }).await;
    let store = &universe.store;
    let hear = async |receipts: Vec<Receipt>| {
        // A commit in doubt is written again, and the provider repeats itself.
        for _ in 0..2 {
            ledger.commit(&PendingWrites { receipts: receipts.clone(), ..PendingWrites::default() }).await;
        }
        let month = "2100-01".parse::<Month>().unwrap();
        let counts = store.of(ledger.company).costs().month(month).await.unwrap();
        assert!(counts.iter().all(|count| count.channel_id == Some(CHANNEL)), "{counts:?}");
        assert!(counts.iter().all(|count| count.country.map(|country| country.code()) == Some("BR")));
        let of = |billing| {
            let counts = counts.iter().filter(|count| count.billing == billing);
            counts.map(|count| count.messages).sum::<u64>()
        };
        (of(utility(true)), of(utility(false)))
    };
    let of = |ordinal, state| billed(&ledger, send_id, ordinal, state);
    let without = |ordinal, state| plain(&ledger, send_id, ordinal, state);
    // 4 has no row yet, and 1 is read before the provider says how it is billed.
    let first = vec![of(0, State::Delivered), without(1, State::Read), of(4, State::Delivered)];
    assert_eq!(hear(first).await, (2, 0));
    assert_eq!(hear(vec![of(1, State::Delivered)]).await, (2, 1), "the statement that comes late counts");
    assert_eq!(hear(vec![of(0, State::Read), of(4, State::Read)]).await, (2, 1), "read again costs nothing");
    assert_eq!(hear(vec![without(2, State::Read), of(2, State::Delivered)]).await, (3, 1));
    let foreign = Receipt { company_id: Uuid::now_v7(), ..of(3, State::Delivered) };
    assert_eq!(hear(vec![foreign]).await, (3, 1), "a message of another company");
    // An outcome that comes after its receipt takes nothing back.
    let late = OutcomeOf { send_id, company_id: ledger.company, outcome: outcome(4, State::Sent, 1) };
    ledger.commit(&PendingWrites { outcomes: vec![late], ..PendingWrites::default() }).await;
    assert_eq!(hear(vec![of(4, State::Read)]).await, (3, 1));

    let mut parts = store.sends().billed_part(send_id, 0, RECIPIENTS).await.unwrap();
    parts.sort_by_key(|part| part.billing.is_charged);
    let parts: Vec<_> = parts.iter().map(|part| (part.first_digits, part.billing, part.messages)).collect();
    assert_eq!(parts, [(5511, utility(false), 1), (5511, utility(true), 3)]);
    let (mut counted, mut expected, mut next) = (ByCountry::default(), ByCountry::default(), 0);
    assert!(!store.sends().count_one(send_id, &mut counted).await.unwrap());
    while next < RECIPIENTS {
        next = store.sends().count_block(send_id, next, &mut counted).await.unwrap();
    }
    expected.count(&(0..RECIPIENTS).map(number).collect::<Vec<_>>());
    assert_eq!((counted.countries(), next), (expected.countries(), RECIPIENTS));
    ledger.end().await;
}

async fn an_uploaded_card_applies_from_its_date_until_it_is_removed(universe: &Universe) {
    let (cards, who) = (universe.store.rate_cards(), Who::Operator("ana".to_owned()));
    let own = shipped().unwrap();
    let dated = |date: &str| RateCard::parse(&SHIPPED.replace("2026-10-01", date), None).unwrap();
    let on = async |day: &str| {
        let day = day_of(Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap());
        cards.on(day).await.unwrap().map(|card| card.date.to_string())
    };
    assert_eq!((on("2026-09-30").await, on("2026-10-01").await), (None, Some("2026-10-01".to_owned())));
    let changed = SHIPPED.replace("Brazil,BR,0.0625,", "Brazil,BR,0.0600,");
    let replacing = RateCard::parse(&changed, None).unwrap();
    assert_eq!(cards.compare(&replacing).await.unwrap().len(), 1);
    assert!(
        cards.put(&who, &replacing).await.unwrap() && cards.put(&who, &dated("2027-01-01")).await.unwrap()
    );
    let known = cards.all().await.unwrap();
    let dates: Vec<_> = known.iter().map(|known| known.card.date.to_string()).collect();
    assert_eq!(dates, ["2027-01-01", "2026-10-01"], "it is in the place of the shipped one");
    assert!(known.iter().all(|known| known.uploaded_at.is_some()));
    assert_eq!(on("2026-12-31").await.as_deref(), Some("2026-10-01"));
    assert_eq!(on("2027-01-01").await.as_deref(), Some("2027-01-01"));
    assert_eq!(cards.on(own.date).await.unwrap(), Some(replacing));
    assert!(cards.remove(&who, "2026-10-01").await.unwrap());
    assert!(!cards.remove(&who, "2026-10-01").await.unwrap());
    assert_eq!(cards.on(own.date).await.unwrap().as_ref(), Some(own), "the shipped one is back");
    for day in 2..=MOST_CARDS {
        assert!(
            cards.put(&who, &dated(&format!("2028-{:02}-{:02}", 1 + day / 28, 1 + day % 28))).await.unwrap()
        );
    }
    assert!(!cards.put(&who, &dated("2029-01-01")).await.unwrap(), "there are enough");
    assert!(cards.put(&who, &dated("2027-01-01")).await.unwrap(), "one that is there can be replaced");
}
