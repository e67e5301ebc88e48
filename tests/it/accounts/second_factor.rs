//! Codes of a second factor, and recovery codes.

use std::sync::Arc;
use std::time::Duration;

use pombo::accounts::{Error, Proof, SignedIn};
use pombo::app::{App, sealing_keys};
use pombo::clock::Timestamp;
use pombo::config::Config;
use pombo::store::changes::{What, Who};
use pombo::vault::Vault;
use totp_rs::{Builder, Secret};

use super::{EMAIL, PASSWORD, World, origin, session};
use crate::database::{Universe, stores};

stores!(
    a_code_is_good_once_and_so_is_a_recovery_code,
    a_second_factor_counts_once_it_is_confirmed_and_until_it_is_removed,
    a_second_factor_opens_after_the_sealing_key_changed,
    guessing_codes_has_to_wait_whatever_passwords_fit_in_between,
    a_second_factor_is_set_up_with_the_password_and_replaced_or_removed_with_a_code_too,
    guesses_within_a_session_have_to_wait_and_nobody_else_does,
    a_setup_ends_when_another_one_is_confirmed,
);

const STEP: Duration = Duration::from_secs(30);

/// The code of the step that begins so many steps from now.
fn code(secret: &str, steps: u32) -> String {
    let totp = Builder::new().with_secret(Secret::try_from_base32(secret).unwrap()).build().unwrap();
    totp.generate(Timestamp::now().plus(STEP * steps).millis().unsigned_abs() / 1_000).to_string()
}

const fn proof<'a>(password: &'a str, code: Option<&'a str>) -> Proof<'a> {
    Proof { password, code }
}

/// Gives the person a second factor; its secret, the code that confirmed it, and the recovery codes.
pub(super) async fn set_up(world: &World<'_>) -> (String, String, Vec<String>) {
    let here = world.session(EMAIL).await;
    let setup = world.accounts.begin_totp(&here.session, proof(PASSWORD, None), &origin()).await.unwrap();
    let secret = setup.secret.expose().to_owned();
    let used = code(&secret, 0);
    let confirmed = world.accounts.confirm_totp(&here.session, &used, &origin()).await.unwrap();
    (secret, used, confirmed.codes.iter().map(|code| code.expose().to_owned()).collect())
}

/// Gives the person a second factor; the recovery codes.
pub(super) async fn recovery_codes(world: &World<'_>) -> Vec<String> {
    set_up(world).await.2
}

async fn a_code_is_good_once_and_so_is_a_recovery_code(universe: &Universe) {
    let world = World::new(universe).await;
    let (secret, used, recovery) = set_up(&world).await;
    assert_eq!(recovery.len(), 10);
    let asked = world.try_sign_in(EMAIL, PASSWORD, None).await.unwrap();
    let SignedIn::CodeNeeded { ticket } = asked else { panic!("{asked:?}") };
    let with_code =
        async |code: &str| world.accounts.sign_in_with_code(ticket.expose(), code, &origin()).await;
    assert!(matches!(with_code("000000x").await, Err(Error::Refused)));
    assert!(matches!(with_code(&used).await, Err(Error::Refused)), "this code confirmed the factor already");
    let next = code(&secret, 1);
    let spaced = format!(" {} {} ", &next[..3], &next[3..]);
    assert!(world.counts(&with_code(&spaced).await.unwrap()).await);
    assert!(matches!(with_code(&next).await, Err(Error::NotFound)), "the ticket is used");

    // In one step too: the same code is refused, a recovery code is good once.
    let one_step = async |code: &str| world.try_sign_in(EMAIL, PASSWORD, Some(code)).await;
    assert!(matches!(one_step(&next).await, Err(Error::Refused)));
    let typed = recovery[0].to_uppercase().replace('-', " ");
    session(one_step(&typed).await.unwrap());
    assert!(matches!(one_step(&recovery[0]).await, Err(Error::Refused)));
    let here = session(one_step(&recovery[1]).await.unwrap()).session;
    assert_eq!(world.accounts.recovery_codes_left(&here).await.unwrap(), 8);
    let wrong = world.try_sign_in(EMAIL, "wrong password", Some(&recovery[2])).await;
    assert!(matches!(wrong, Err(Error::Refused)));
    assert_eq!(world.accounts.recovery_codes_left(&here).await.unwrap(), 8, "no code without the password");
}

async fn a_second_factor_counts_once_it_is_confirmed_and_until_it_is_removed(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, here) = (&world.accounts, world.session(EMAIL).await.session);
    assert!(matches!(accounts.confirm_totp(&here, "123456", &origin()).await, Err(Error::NotFound)));
    let setup = accounts.begin_totp(&here, proof(PASSWORD, None), &origin()).await.unwrap();
    assert_eq!(accounts.begun_totp(&here).await.unwrap().as_ref(), Some(&setup));
    assert!(matches!(accounts.confirm_totp(&here, "", &origin()).await, Err(Error::Refused)));
    session(world.try_sign_in(EMAIL, PASSWORD, None).await.unwrap());
    let confirmed = accounts.confirm_totp(&here, &code(setup.secret.expose(), 0), &origin()).await.unwrap();
    let here = world.opened(&confirmed.token).await;
    assert_eq!(accounts.begun_totp(&here).await.unwrap(), None);
    assert!(matches!(world.try_sign_in(EMAIL, PASSWORD, None).await, Ok(SignedIn::CodeNeeded { .. })));
    let wrong = proof("wrong password", Some(confirmed.codes[0].expose()));
    assert!(matches!(accounts.remove_totp(&here, wrong, &origin()).await, Err(Error::Refused)));
    let with = proof(PASSWORD, Some(confirmed.codes[0].expose()));
    let here = world.opened(&accounts.remove_totp(&here, with, &origin()).await.unwrap()).await;
    assert!(matches!(accounts.remove_totp(&here, with, &origin()).await, Err(Error::NotFound)));
    session(world.try_sign_in(EMAIL, PASSWORD, None).await.unwrap());
    let words: Vec<_> = world.changes(What::UserTotp).await.into_iter().map(|change| change.after).collect();
    assert_eq!(words, ["off", "on"]);
}

async fn guessing_codes_has_to_wait_whatever_passwords_fit_in_between(universe: &Universe) {
    let world = World::new(universe).await;
    let (_, used, _) = set_up(&world).await;
    for guess in 0..5 {
        let asked = world.try_sign_in(EMAIL, PASSWORD, None).await.unwrap();
        let SignedIn::CodeNeeded { ticket } = asked else { panic!("{asked:?}") };
        let refused = world.accounts.sign_in_with_code(ticket.expose(), &used, &origin()).await;
        assert!(matches!(refused, Err(Error::Refused)), "{guess}: {refused:?}");
    }
    let waits = world.try_sign_in(EMAIL, PASSWORD, None).await;
    assert!(matches!(waits, Err(Error::TooMany { .. })), "{waits:?}");
}

async fn a_second_factor_opens_after_the_sealing_key_changed(universe: &Universe) {
    let world = World::new(universe).await;
    let (secret, ..) = set_up(&world).await;
    let config = Config::default();
    let vault = Arc::new(Vault::open(&config.secrets, world.directory.path()).unwrap().0);
    let app = App { config, store: universe.store.clone(), vault };
    let rotated = sealing_keys::rotate(&app, &Who::Pombo).await.unwrap();
    assert_eq!((rotated.resealed.totp_secrets, rotated.unopened), (1, 0), "{rotated:?}");
    session(world.try_sign_in(EMAIL, PASSWORD, Some(&code(&secret, 1))).await.unwrap());
}

async fn a_second_factor_is_set_up_with_the_password_and_replaced_or_removed_with_a_code_too(
    universe: &Universe,
) {
    let world = World::new(universe).await;
    let (accounts, here) = (&world.accounts, world.session(EMAIL).await.session);
    let begin = async |proof| accounts.begin_totp(&here, proof, &origin()).await;
    let remove = async |proof| accounts.remove_totp(&here, proof, &origin()).await;
    assert!(matches!(begin(proof("", None)).await, Err(Error::Refused)));
    assert!(matches!(begin(proof("wrong password", None)).await, Err(Error::Refused)));
    assert_eq!(accounts.begun_totp(&here).await.unwrap(), None);
    let first = begin(proof(PASSWORD, None)).await.unwrap().secret;
    let confirmed = accounts.confirm_totp(&here, &code(first.expose(), 0), &origin()).await.unwrap();
    let codes = confirmed.codes;

    // The session still says that there is none, as a page that was loaded before does.
    assert!(matches!(begin(proof(PASSWORD, None)).await, Err(Error::Refused)));
    assert!(matches!(remove(proof(PASSWORD, None)).await, Err(Error::Refused)));
    assert!(matches!(remove(proof(PASSWORD, Some("000000"))).await, Err(Error::Refused)));
    let wrong = remove(proof("wrong password", Some(codes[0].expose()))).await;
    assert!(matches!(wrong, Err(Error::Refused)), "{wrong:?}");
    let second = begin(proof(PASSWORD, Some(codes[0].expose()))).await.unwrap().secret;
    assert_ne!(first, second);
    let asked = world.try_sign_in(EMAIL, PASSWORD, Some(&code(first.expose(), 1))).await;
    assert!(asked.is_ok(), "the first one is good until the second one is confirmed: {asked:?}");
    let here = world.opened(&confirmed.token).await;
    let confirmed = accounts.confirm_totp(&here, &code(second.expose(), 0), &origin()).await.unwrap();
    let former = world.try_sign_in(EMAIL, PASSWORD, Some(codes[1].expose())).await;
    assert!(
        matches!(former, Err(Error::Refused)),
        "the recovery codes of the first one are gone: {former:?}"
    );
    let here = world.opened(&confirmed.token).await;
    let last = code(second.expose(), 1);
    accounts.remove_totp(&here, proof(PASSWORD, Some(&last)), &origin()).await.unwrap();
    session(world.try_sign_in(EMAIL, PASSWORD, None).await.unwrap());
}

async fn guesses_within_a_session_have_to_wait_and_nobody_else_does(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, here) = (&world.accounts, world.session(EMAIL).await.session);
    let other = world.session(EMAIL).await.session;
    accounts.begin_totp(&here, proof(PASSWORD, None), &origin()).await.unwrap();
    let wrong = proof("wrong password", None);
    let guesses = [
        accounts.begin_totp(&here, wrong, &origin()).await.map(drop),
        accounts.remove_totp(&here, wrong, &origin()).await.map(drop),
        accounts.change_password(&here, wrong.password, "another horse", &origin()).await.map(drop),
        accounts.confirm_totp(&here, "000000", &origin()).await.map(drop),
        accounts.confirm_totp(&here, "000001", &origin()).await.map(drop),
    ];
    assert!(guesses.iter().all(|guess| matches!(guess, Err(Error::Refused))), "{guesses:?}");
    for waits in [
        accounts.begin_totp(&here, proof(PASSWORD, None), &origin()).await.map(drop),
        accounts.remove_totp(&here, proof(PASSWORD, None), &origin()).await.map(drop),
        accounts.change_password(&here, PASSWORD, "another horse", &origin()).await.map(drop),
        accounts.confirm_totp(&here, "000000", &origin()).await.map(drop),
    ] {
        assert!(matches!(waits, Err(Error::TooMany { .. })), "{waits:?}");
    }
    accounts.begin_totp(&other, proof(PASSWORD, None), &origin()).await.unwrap();
    world.session(EMAIL).await;
}

async fn a_setup_ends_when_another_one_is_confirmed(universe: &Universe) {
    let world = World::new(universe).await;
    let accounts = &world.accounts;
    let (here, there) = (world.session(EMAIL).await.session, world.session(EMAIL).await.session);
    let [mine, other] = [
        accounts.begin_totp(&here, proof(PASSWORD, None), &origin()).await.unwrap(),
        accounts.begin_totp(&there, proof(PASSWORD, None), &origin()).await.unwrap(),
    ];
    // Another node shows it, and confirms it.
    let node = world.other_node();
    assert_eq!(node.begun_totp(&here).await.unwrap().as_ref(), Some(&mine));
    node.confirm_totp(&here, &code(mine.secret.expose(), 0), &origin()).await.unwrap();
    let late = accounts.confirm_totp(&there, &code(other.secret.expose(), 0), &origin()).await;
    assert!(
        matches!(late, Err(Error::NotFound)),
        "it would replace the first one without its code: {late:?}"
    );
}
