//! What ends when a person's credentials change.

use std::time::Duration;

use pombo::accounts::{Accept, Error, NewLink, NewSession, Proof, Role, Session, SignedIn};
use pombo::clock::Timestamp;
use pombo::domain::secret::Secret;
use pombo::store::changes::{What, Who};
use totp_rs::{Builder, Secret as Raw};

use super::{EMAIL, PASSWORD, World, create, origin, session};
use crate::database::{Universe, stores};

stores!(
    links_end_with_the_credentials_that_they_were_made_for,
    a_ticket_ends_with_the_credentials_that_it_was_given_for,
    the_session_of_the_change_stays_with_other_tokens,
    of_two_changes_at_once_one_is_made,
    a_password_that_was_checked_before_a_change_opens_no_session_after_it,
);

const NEW: &str = "another password";

/// What a person or an operator does to the credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Password,
    Reset,
    TotpSetUp,
    TotpRemoved,
    TotpForgotten,
    SignedOutEverywhere,
    Disabled,
}

const CHANGES: [Change; 7] = [
    Change::Password,
    Change::Reset,
    Change::TotpSetUp,
    Change::TotpRemoved,
    Change::TotpForgotten,
    Change::SignedOutEverywhere,
    Change::Disabled,
];

fn code(secret: &Secret, steps: u32) -> String {
    let raw = Raw::try_from_base32(secret.expose()).unwrap();
    let at = Timestamp::now().plus(Duration::from_secs(30) * steps);
    Builder::new().with_secret(raw).build().unwrap().generate(at.millis().unsigned_abs() / 1_000).to_string()
}

/// Sets up a second factor in a session, with a code of the one that it replaces; its secret, a recovery code, and the
/// session's new token.
async fn set_up(world: &World<'_>, here: &Session, former: Option<&str>) -> (Secret, Secret, Secret) {
    let proof = Proof { password: PASSWORD, code: former };
    let setup = world.accounts.begin_totp(here, proof, &origin()).await.unwrap();
    let confirmed = world.accounts.confirm_totp(here, &code(&setup.secret, 0), &origin()).await.unwrap();
    (setup.secret, confirmed.codes[0].clone(), confirmed.token)
}

impl Change {
    /// Makes the change in a session, with a code of the second factor if there is one; the session's new token, if the
    /// person changes their own credentials.
    async fn make(self, world: &World<'_>, here: &Session, code: Option<&str>) -> Option<Secret> {
        let (accounts, from) = (&world.accounts, origin());
        match self {
            Self::Password => Some(accounts.change_password(here, PASSWORD, NEW, &from).await.unwrap()),
            Self::Reset => {
                let user = accounts.user(here.user.id).await.unwrap();
                let link = accounts.reset(&Who::Pombo, &user).await.unwrap();
                accounts.accept(accept(&link, &from)).await.unwrap();
                None
            }
            Self::TotpSetUp => Some(set_up(world, here, code).await.2),
            Self::TotpRemoved => {
                let proof = Proof { password: PASSWORD, code };
                Some(accounts.remove_totp(here, proof, &from).await.unwrap())
            }
            Self::TotpForgotten => {
                assert!(accounts.forget_totp(&Who::Pombo, &here.user).await.unwrap());
                None
            }
            Self::SignedOutEverywhere => Some(accounts.end_other_sessions(here, &from).await.unwrap()),
            Self::Disabled => {
                assert!(accounts.set_disabled(&Who::Pombo, &here.user, true).await.unwrap());
                assert!(accounts.set_disabled(&Who::Pombo, &here.user, false).await.unwrap());
                None
            }
        }
    }
}

fn accept<'a>(link: &'a NewLink, origin: &'a pombo::accounts::Origin) -> Accept<'a> {
    Accept { token: link.token.expose(), name: "", password: NEW, language: None, origin }
}

/// A new person, who is signed in.
async fn somebody(world: &World<'_>, change: Change) -> (String, NewSession) {
    let email = format!("{change:?}@example.com");
    create(&world.accounts, &email, Some((world.acme, Role::Viewer))).await;
    let here = world.session(&email).await;
    (email, here)
}

async fn links_end_with_the_credentials_that_they_were_made_for(universe: &Universe) {
    let world = World::new(universe).await;
    let (accounts, from) = (&world.accounts, origin());
    let mut here = world.session(EMAIL).await.session;
    for change in [Change::TotpSetUp, Change::SignedOutEverywhere, Change::TotpForgotten, Change::Password] {
        let user = accounts.user(here.user.id).await.unwrap();
        let reset = accounts.reset(&Who::Pombo, &user).await.unwrap();
        let sign_in = accounts.sign_in_link(&Who::Pombo, &user).await.unwrap();
        assert!(accounts.link(sign_in.token.expose()).await.unwrap().is_some());
        match change.make(&world, &here, None).await {
            Some(token) => here = world.opened(&token).await,
            None => {
                let again = accounts.sign_in_link(&Who::Pombo, &user).await.unwrap();
                let again = accounts.use_sign_in_link(again.token.expose(), &from).await.unwrap();
                here = session(again).session;
            }
        }
        for link in [&reset, &sign_in] {
            assert_eq!(accounts.link(link.token.expose()).await.unwrap(), None, "{change:?}");
        }
        let used = accounts.accept(accept(&reset, &from)).await;
        assert!(matches!(used, Err(Error::LinkGone)), "{change:?}: {used:?}");
        let used = accounts.use_sign_in_link(sign_in.token.expose(), &from).await;
        assert!(matches!(used, Err(Error::LinkGone)), "{change:?}: {used:?}");
    }
    // A link from before, as a restored backup brings it back, carries the version from before.
    let link = accounts.sign_in_link(&Who::Pombo, &here.user).await.unwrap();
    world.execute("UPDATE user_account SET credentials_version = credentials_version + 1").await;
    let used = accounts.use_sign_in_link(link.token.expose(), &from).await;
    assert!(matches!(used, Err(Error::LinkGone)), "{used:?}");
}

async fn a_ticket_ends_with_the_credentials_that_it_was_given_for(universe: &Universe) {
    let world = World::new(universe).await;
    for change in CHANGES {
        let (email, here) = somebody(&world, change).await;
        let (secret, recovery, token) = set_up(&world, &here.session, None).await;
        let here = world.opened(&token).await;
        // The person signs in up to the code, and then the change is made elsewhere.
        let asked = world.try_sign_in(&email, PASSWORD, None).await.unwrap();
        let SignedIn::CodeNeeded { ticket } = asked else { panic!("{asked:?}") };
        change.make(&world, &here, Some(recovery.expose())).await;
        let late = world.accounts.sign_in_with_code(ticket.expose(), &code(&secret, 1), &origin()).await;
        assert!(matches!(late, Err(Error::NotFound)), "{change:?}: {late:?}");
        let any = world.accounts.sign_in_with_code(ticket.expose(), "no code", &origin()).await;
        assert!(matches!(any, Err(Error::NotFound)), "{change:?}: {any:?}");
    }
}

async fn the_session_of_the_change_stays_with_other_tokens(universe: &Universe) {
    let world = World::new(universe).await;
    for change in CHANGES {
        let (_, mut here) = somebody(&world, change).await;
        let mut recovery = None;
        if matches!(change, Change::TotpRemoved | Change::TotpForgotten) {
            let (_, code, token) = set_up(&world, &here.session, None).await;
            recovery = Some(code);
            here = NewSession { session: world.opened(&token).await, token, device: None };
        }
        let link = world.accounts.sign_in_link(&Who::Pombo, &here.session.user).await.unwrap();
        let other = world.accounts.use_sign_in_link(link.token.expose(), &origin()).await.unwrap();
        let program = world.accounts.new_api_token(&here.session, &origin()).await.unwrap();
        assert!(world.accounts.bearer(program.expose()).await.unwrap().is_some());
        let code = recovery.as_ref().map(Secret::expose);
        let token = change.make(&world, &here.session, code).await;
        assert!(!world.counts(&here).await, "{change:?}: the cookie from before");
        assert_eq!(world.accounts.bearer(program.expose()).await.unwrap(), None, "{change:?}");
        if let SignedIn::Session(other) = other {
            assert!(!world.counts(&other).await, "{change:?}: the other session");
        }
        if let Some(token) = token {
            let kept = world.opened(&token).await;
            assert_eq!((kept.id, kept.token_company_id), (here.session.id, None), "{change:?}");
            assert_eq!(kept.company, here.session.company, "{change:?}: the chosen company stays");
            assert_eq!(world.accounts.sessions(&kept.user).await.unwrap().len(), 1, "{change:?}");
        }
    }
}

async fn of_two_changes_at_once_one_is_made(universe: &Universe) {
    let world = World::new(universe).await;
    let (one, other) = (world.session(EMAIL).await, world.session(EMAIL).await);
    let from = origin();
    let (first, second) = futures_util::future::join(
        world.accounts.change_password(&one.session, PASSWORD, NEW, &from),
        world.accounts.change_password(&other.session, PASSWORD, "a third password", &from),
    )
    .await;
    assert_eq!(
        [first.is_ok(), second.is_ok()].into_iter().filter(|is| *is).count(),
        1,
        "{first:?} {second:?}"
    );
    assert_eq!(world.accounts.sessions(&world.ana).await.unwrap().len(), 1);
    assert_eq!(world.changes(What::UserPassword).await.len(), 1);
}

async fn a_password_that_was_checked_before_a_change_opens_no_session_after_it(universe: &Universe) {
    let world = World::new(universe).await;
    let user = world.accounts.user(world.ana.id).await.unwrap();
    let new = |hash| pombo::store::users::sessions::NewSession {
        hash,
        address: "192.0.2.7",
        browser: "Firefox",
        proof: "password",
    };
    let who = origin().who(EMAIL);
    let opened = universe.store.sessions().add(&who, &user, new([1; 32])).await.unwrap();
    assert!(opened.is_some());
    let here = world.session(EMAIL).await;
    Change::Password.make(&world, &here.session, None).await;
    let opened = universe.store.sessions().add(&who, &user, new([2; 32])).await.unwrap();
    assert_eq!(opened, None, "the person was authenticated by the old password");
}
