//! Guesses at passwords: whom they make wait, on which node, and for how long.

use pombo::accounts::{Accept, Accounts, Error, NewSession, Origin, Role, SignIn, SignedIn};
use pombo::domain::secret::Secret;
use pombo::store::changes::Who;
use sea_orm::{ConnectionTrait as _, Database, Statement};

use super::{EMAIL, PASSWORD, World, create, origin, session};
use crate::database::{Universe, stores};

stores!(
    a_stranger_who_guesses_does_not_lock_out_a_device_that_signed_in_before,
    a_device_has_an_allowance_of_its_own,
    a_device_is_known_only_by_a_token_that_somebody_signed_in_with,
    a_reset_and_a_disabled_account_forget_the_devices,
    the_nodes_of_a_cluster_count_guesses_together,
    a_sign_in_continues_at_another_node,
    guesses_that_begin_at_once_have_no_advantage,
    guesses_count_for_an_hour,
    a_flood_of_names_makes_nothing_forgotten,
    what_succeeds_leaves_no_count,
);

const BEA: &str = "bea@example.com";
/// The guesses at an account before one has to wait.
const FREE: usize = 5;
/// The guesses of a network before one has to wait.
const OF_NETWORK: usize = 30;

fn stranger() -> Origin {
    Origin::new("203.0.113.5".parse().unwrap(), "curl")
}

fn at(device: Option<&Secret>) -> Origin {
    origin().on_device(device.map(Secret::expose))
}

async fn sign_in(
    accounts: &Accounts,
    email: &str,
    password: &str,
    origin: &Origin,
) -> Result<SignedIn, Error> {
    accounts.sign_in(SignIn { email, password, code: None, origin }).await
}

/// Whether the right password gets in from there.
async fn gets_in(accounts: &Accounts, email: &str, origin: &Origin) -> bool {
    match sign_in(accounts, email, PASSWORD, origin).await {
        Ok(_) => true,
        Err(Error::TooMany { .. }) => false,
        Err(other) => panic!("{other:?}"),
    }
}

/// Guesses until one has to wait; how many were heard.
async fn guess(accounts: &Accounts, email: &str, origin: &Origin) -> usize {
    for heard in 0..100 {
        match sign_in(accounts, email, "wrong password", origin).await {
            Err(Error::Refused) => {}
            Err(Error::TooMany { .. }) => return heard,
            other => panic!("{other:?}"),
        }
    }
    panic!("nobody had to wait")
}

/// Signs Ana in on a new device.
async fn on_new_device(world: &World<'_>) -> Secret {
    let NewSession { device, .. } =
        session(sign_in(&world.accounts, EMAIL, PASSWORD, &at(None)).await.unwrap());
    device.unwrap()
}

async fn counted(world: &World<'_>) -> i64 {
    let database = Database::connect(&world.universe.url).await.unwrap();
    let statement =
        Statement::from_string(database.get_database_backend(), "SELECT COUNT(*) FROM sign_in_guess");
    let row = database.query_one_raw(statement).await.unwrap().unwrap();
    database.close().await.unwrap();
    row.try_get_by_index(0).unwrap()
}

async fn a_stranger_who_guesses_does_not_lock_out_a_device_that_signed_in_before(universe: &Universe) {
    let world = World::new(universe).await;
    let accounts = &world.accounts;
    create(accounts, BEA, Some((world.acme, Role::Viewer))).await;
    let device = on_new_device(&world).await;
    assert_eq!(guess(accounts, EMAIL, &stranger()).await, FREE);
    assert!(!gets_in(accounts, EMAIL, &at(None)).await, "an unknown device waits with the stranger");
    assert!(gets_in(accounts, EMAIL, &at(Some(&device))).await);

    // Everybody has the address of one proxy, and somebody there guesses at many accounts.
    let mut guesses = 0;
    while !matches!(
        sign_in(accounts, &format!("{guesses}@x.example"), "wrong", &at(None)).await,
        Err(Error::TooMany { .. })
    ) {
        guesses += 1;
        assert!(guesses <= OF_NETWORK);
    }
    assert!(!gets_in(accounts, BEA, &at(None)).await);
    assert!(gets_in(accounts, EMAIL, &at(Some(&device))).await);
    // The device is Ana's: it is no way around the waits for other accounts.
    assert!(!gets_in(accounts, BEA, &at(Some(&device))).await);
    let kept = session(sign_in(accounts, EMAIL, PASSWORD, &at(Some(&device))).await.unwrap());
    assert_eq!(kept.device, None, "a known device keeps its token");
}

async fn a_device_has_an_allowance_of_its_own(universe: &Universe) {
    let world = World::new(universe).await;
    let accounts = &world.accounts;
    let (one, other) = (on_new_device(&world).await, on_new_device(&world).await);
    assert_eq!(guess(accounts, EMAIL, &at(Some(&one))).await, FREE);
    assert!(!gets_in(accounts, EMAIL, &at(Some(&one))).await);
    assert!(gets_in(accounts, EMAIL, &at(Some(&other))).await && gets_in(accounts, EMAIL, &at(None)).await);
    // Signing in on a device clears the device's guesses and not a stranger's.
    assert_eq!(guess(accounts, EMAIL, &stranger()).await, FREE);
    assert!(gets_in(accounts, EMAIL, &at(Some(&other))).await);
    assert_eq!(guess(accounts, EMAIL, &stranger()).await, 0);
}

async fn a_device_is_known_only_by_a_token_that_somebody_signed_in_with(universe: &Universe) {
    let world = World::new(universe).await;
    let accounts = &world.accounts;
    let planted = Secret::new("planted".to_owned());
    let fresh = session(sign_in(accounts, EMAIL, PASSWORD, &at(Some(&planted))).await.unwrap()).device;
    let fresh = fresh.expect("another token");
    assert_ne!(fresh, planted);
    assert_eq!(guess(accounts, EMAIL, &at(Some(&planted))).await, FREE);
    assert!(!gets_in(accounts, EMAIL, &at(Some(&planted))).await);
    assert!(gets_in(accounts, EMAIL, &at(Some(&fresh))).await);
    // A second person on the same device shares its token.
    create(accounts, BEA, Some((world.acme, Role::Viewer))).await;
    let bea = session(sign_in(accounts, BEA, PASSWORD, &at(Some(&fresh))).await.unwrap());
    assert_eq!(bea.device, None);
    assert_eq!(guess(accounts, BEA, &stranger()).await, FREE);
    assert!(gets_in(accounts, BEA, &at(Some(&fresh))).await);
}

async fn a_reset_and_a_disabled_account_forget_the_devices(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, who) = (&world.accounts, Who::Pombo);
    let device = on_new_device(&world).await;
    accounts.set_disabled(&who, &world.ana, true).await.unwrap();
    accounts.set_disabled(&who, &world.ana, false).await.unwrap();
    assert_eq!(guess(accounts, EMAIL, &stranger()).await, FREE);
    assert!(!gets_in(accounts, EMAIL, &at(Some(&device))).await);

    let device = on_link(&world).await.device.unwrap();
    assert!(gets_in(accounts, EMAIL, &at(Some(&device))).await);
    let link = accounts.reset(&who, &world.ana).await.unwrap();
    let accept = Accept {
        token: link.token.expose(),
        name: "",
        password: PASSWORD,
        language: None,
        origin: &origin(),
    };
    let fresh = session(accounts.accept(accept).await.unwrap()).device.unwrap();
    assert!(!gets_in(accounts, EMAIL, &at(Some(&device))).await);
    assert!(gets_in(accounts, EMAIL, &at(Some(&fresh))).await);
}

async fn the_nodes_of_a_cluster_count_guesses_together(universe: &Universe) {
    let world = World::new(universe).await;
    let nodes = [world.other_node(), world.other_node(), world.other_node()];
    for email in [EMAIL, "nobody@example.com"] {
        let mut heard = 0;
        for node in nodes.iter().cycle().take(3 * FREE) {
            match sign_in(node, email, "wrong password", &stranger()).await {
                Err(Error::Refused) => heard += 1,
                Err(Error::TooMany { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(heard, FREE, "{email}");
        for node in &nodes {
            let waits = sign_in(node, email, PASSWORD, &stranger()).await;
            assert!(matches!(waits, Err(Error::TooMany { .. })), "{waits:?}");
        }
    }
    let device = on_link(&world).await.device;
    assert!(gets_in(&nodes[2], EMAIL, &at(device.as_ref())).await, "a device is known at every node");
}

/// Signs Ana in by a link, which guesses do not delay.
async fn on_link(world: &World<'_>) -> NewSession {
    let link = world.accounts.sign_in_link(&Who::Pombo, &world.ana).await.unwrap();
    session(world.accounts.use_sign_in_link(link.token.expose(), &at(None)).await.unwrap())
}

async fn a_sign_in_continues_at_another_node(universe: &Universe) {
    let world = World::new(universe).await;
    let codes = super::second_factor::recovery_codes(&world).await;
    let (one, two) = (world.other_node(), world.other_node());
    let SignedIn::CodeNeeded { ticket } = sign_in(&one, EMAIL, PASSWORD, &at(None)).await.unwrap() else {
        panic!("no code was asked for")
    };
    let with =
        async |node: &Accounts, code: &str| node.sign_in_with_code(ticket.expose(), code, &at(None)).await;
    assert!(matches!(with(&two, "000000").await, Err(Error::Refused)));
    let entered = with(&two, &codes[0]).await.unwrap();
    assert!(world.counts(&entered).await);
    assert!(matches!(with(&one, &codes[1]).await, Err(Error::NotFound)), "the ticket is used, at every node");
    let SignedIn::CodeNeeded { ticket } = sign_in(&one, EMAIL, PASSWORD, &at(None)).await.unwrap() else {
        panic!("no code was asked for")
    };
    world.execute("UPDATE sign_in_ticket SET made_at = made_at - 600000").await;
    let late = two.sign_in_with_code(ticket.expose(), &codes[1], &at(None)).await;
    assert!(matches!(late, Err(Error::NotFound)), "{late:?}");
}

async fn guesses_that_begin_at_once_have_no_advantage(universe: &Universe) {
    let world = World::new(universe).await;
    let nodes = [world.other_node(), world.other_node(), world.other_node()];
    let stranger = stranger();
    let guesses = nodes.iter().cycle().take(18).map(|node| sign_in(node, EMAIL, "wrong password", &stranger));
    let results = futures_util::future::join_all(guesses).await;
    let heard = results.iter().filter(|result| matches!(result, Err(Error::Refused))).count();
    assert!((1..=FREE).contains(&heard), "{heard}: {results:?}");
}

async fn guesses_count_for_an_hour(universe: &Universe) {
    let world = World::new(universe).await;
    assert_eq!(guess(&world.accounts, EMAIL, &stranger()).await, FREE);
    let passes = async |millis: u32| {
        world.execute(&format!("UPDATE sign_in_guess SET last_at = last_at - {millis}")).await;
    };
    passes(1_000).await;
    assert_eq!(guess(&world.accounts, EMAIL, &stranger()).await, 1, "after a second there is one");
    passes(3_500_000).await;
    assert_eq!(guess(&world.accounts, EMAIL, &stranger()).await, 1, "its guesses count");
    passes(3_600_000).await;
    assert_eq!(guess(&world.accounts, EMAIL, &stranger()).await, FREE, "they do not count any more");
}

async fn a_flood_of_names_makes_nothing_forgotten(universe: &Universe) {
    let world = World::new(universe).await;
    assert_eq!(guess(&world.accounts, EMAIL, &stranger()).await, FREE);
    // As many names as there is room for, from as many networks.
    let is_sqlite = universe.url.starts_with("sqlite");
    let (numbers, bytes, now) = if is_sqlite {
        (
            "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 50000)",
            "CAST(printf('%032d', n) AS BLOB)",
            "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
        )
    } else {
        (
            "WITH numbers (n) AS (SELECT * FROM generate_series(1, 50000))",
            "decode(lpad(to_hex(n), 64, '0'), 'hex')",
            "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT",
        )
    };
    let flood = format!(
        "{numbers} INSERT INTO sign_in_guess (subject, attempts, last_at) SELECT {bytes}, 9, {now} FROM numbers"
    );
    world.execute(&flood).await;
    let elsewhere = Origin::new("198.51.100.7".parse().unwrap(), "");
    let node = world.other_node();
    assert_eq!(guess(&node, EMAIL, &elsewhere).await, 0, "the account's guesses count on");
    let before = counted(&world).await;
    for name in 0..3 {
        assert_eq!(guess(&node, &format!("{name}@x.example"), &elsewhere).await, FREE, "others share counts");
    }
    assert!(counted(&world).await <= before + 4, "there are no more counts than before, and the shared ones");
    world.execute("UPDATE sign_in_guess SET last_at = last_at - 3600000").await;
    assert!(gets_in(&world.other_node(), EMAIL, &elsewhere).await);
    assert!(counted(&world).await < before, "what counts no more is removed");
}

async fn what_succeeds_leaves_no_count(universe: &Universe) {
    let world = World::new(universe).await;
    let device = on_new_device(&world).await;
    assert!(gets_in(&world.accounts, EMAIL, &at(Some(&device))).await);
    assert!(gets_in(&world.accounts, EMAIL, &Origin::new("2001:db8::1".parse().unwrap(), "")).await);
    assert_eq!(counted(&world).await, 0);
    assert_eq!(guess(&world.accounts, EMAIL, &at(Some(&device))).await, FREE);
    world.execute("UPDATE sign_in_guess SET last_at = last_at - 60000").await;
    assert!(gets_in(&world.accounts, EMAIL, &at(Some(&device))).await);
    assert_eq!(counted(&world).await, 0);
}
