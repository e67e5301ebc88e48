//! A channel's actor that hears of sends and of their release in any order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::Engine;
use crate::channel::{Explain, Release};
use crate::ledger::{AcceptedSend, Arrived, Order};
use config::Config;
use domain::channel::{Channel, Kind, Status};
use domain::content::Content;
use domain::phone::PhoneNumber;
use domain::send::{Label, Recipients, Schedule, State};
use domain::tier;
use store::changes::Who;
use store::channels::{NewChannel, Sealed};
use store::{Options, Store};
use telemetry::Origin;
use vault::Vault;

/// An engine with one channel that keeps what it is told and sends nothing, because it has no token.
async fn engine(directory: &std::path::Path) -> (Engine, Arc<Channel>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = Options {
        url: format!("sqlite://{}", directory.join("pombo.db").display()),
        connections: 4,
        acquire_timeout: Duration::from_secs(10),
        statement_timeout: Duration::ZERO,
        synchronous_full: false,
        migrate: true,
    };
    let store = Store::open(&options).await.unwrap();
    let tiers = tier::parse(tier::BUILT_IN).unwrap();
    let tiers: Vec<_> =
        tiers.iter().map(|tier| (tier.name.clone(), serde_json::to_string(tier).unwrap())).collect();
    store.tiers().apply(&Who::Pombo, &tiers).await.unwrap();
    let company_id = store.companies().add(&Who::Pombo, "Acme", "standard").await.unwrap().id;
    let new = NewChannel {
        id: Uuid::now_v7(),
        company_id,
        kind: Kind::BusinessAccount,
        name: "shop".to_owned(),
        phone_number: None,
        phone_number_id: Some("1".to_owned()),
        waba_id: Some("2".to_owned()),
        tier: "standard".to_owned(),
        secrets: Sealed { token: None, app_secret: None },
        status: Status::Connecting,
    };
    let channel = Arc::new(store.channels().add(&Who::Pombo, new).await.unwrap());
    let lease = store.lease().acquire(&options, "test").await.unwrap();
    let config = Config::default();
    let vault = Arc::new(Vault::open(&config.secrets, directory).unwrap().0);
    let engine = Engine::start(&config, store, vault, lease, None).await.unwrap();
    (engine, channel)
}

fn send(channel: &Channel, id: Uuid) -> AcceptedSend {
    let order = Order {
        company_id: channel.company_id,
        channel_id: channel.id,
        content: Content::Text { body: "hi".to_owned(), preview_url: None },
        group: None,
        quotes: None,
        sender: None,
        template: None,
        schedule: Schedule::default(),
        label: Label::default(),
        personal: None,
        sources: Vec::new(),
        claim: None,
        is_awaited: false,
        keeps_turn: false,
        confirms: false,
        origin: Origin::default(),
    };
    let number = PhoneNumber::from_u64(5_511_900_000_000).unwrap();
    AcceptedSend { id, order: Arc::new(order), recipients: Recipients::One(number) }
}

#[test]
fn a_send_that_its_release_overtook_or_that_comes_late_is_left_to_the_store() {
    actix::System::new().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let (engine, channel) = engine(directory.path()).await;
        engine.directory().actor(&channel);
        let listener = engine.directory().handle(channel.id).unwrap();
        let held = async || engine.directory().ask(channel.id, Explain).await.unwrap().active_sends;
        let arrive = async |id: Uuid, is_late: bool| {
            listener.send(Arrived { sends: vec![send(&channel, id)], is_late }).await.unwrap();
        };
        // The channel takes in a new send once it has read the store and found no others.
        let taken_in = async || {
            let (before, end) = (held().await, Instant::now() + Duration::from_secs(60));
            while held().await == before {
                assert!(Instant::now() < end, "no send is taken in");
                arrive(Uuid::now_v7(), false).await;
            }
            held().await
        };
        for over in [None, Some(State::Canceled)] {
            let before = taken_in().await;
            let overtaken = Uuid::now_v7();
            engine.directory().ask(channel.id, Release { send_id: overtaken, over }).await.unwrap();
            arrive(overtaken, false).await;
            assert_eq!(held().await, before, "{over:?}");
        }
        let before = taken_in().await;
        arrive(Uuid::now_v7(), true).await;
        assert_eq!(held().await, before);
        engine.stop().await;
    });
}

#[test]
fn an_actor_that_ends_with_the_service_is_not_restarted() {
    actix::System::new().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let (engine, channel) = engine(directory.path()).await;
        engine.directory().actor(&channel);
        assert!(engine.directory().handle(channel.id).is_some());
        engine.stop().await;
        let end = Instant::now() + Duration::from_secs(60);
        while engine.directory().handle(channel.id).is_some() {
            assert!(Instant::now() < end, "the actor does not end");
            tokio::task::yield_now().await;
        }
        assert_eq!(engine.directory().revive(), 0);
    });
}
