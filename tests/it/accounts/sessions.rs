//! How long sessions are valid, and the tokens that they give to programs.

use std::time::Duration;

use pombo::accounts::{Error, Role};
use pombo::clock::Timestamp;
use pombo::store::changes::{What, Who};
use uuid::Uuid;

use super::{EMAIL, PASSWORD, World, create, origin};
use crate::database::{Universe, stores};
use crate::running::until_soon;

stores!(
    a_session_is_valid_until_it_is_idle_or_old_or_ended,
    a_new_password_ends_all_other_sessions,
    the_last_use_is_written_beside_the_request_to_the_minute,
    a_session_s_token_reads_one_company_while_the_session_is_valid,
);

const HOUR: Duration = Duration::from_secs(3_600);

fn ago(span: Duration) -> i64 {
    Timestamp::now().minus(span).millis()
}

async fn a_session_is_valid_until_it_is_idle_or_old_or_ended(universe: &Universe) {
    let world = World::new(universe).await;
    let begun = Timestamp::now();
    let one = world.session(EMAIL).await;
    let last = async || world.accounts.sessions(&world.ana).await.unwrap()[0].last_used_at;
    assert!(world.counts(&one).await);
    assert!(world.accounts.session("nobody").await.unwrap().is_none());
    for (column, counts, ends) in
        [("last_used_at", 11 * HOUR, 12 * HOUR), ("created_at", 719 * HOUR, 720 * HOUR)]
    {
        world.execute(&format!("UPDATE user_session SET {column} = {}", ago(counts))).await;
        assert!(world.counts(&one).await, "{column}");
        // The use is written beside the request, and must not come after what is written here.
        until_soon("the last use written", async || last().await >= begun).await;
        world.execute(&format!("UPDATE user_session SET {column} = {}", ago(ends))).await;
        assert!(!world.counts(&one).await, "{column}");
        assert_eq!(world.accounts.sessions(&world.ana).await.unwrap(), []);
        let now = ago(Duration::ZERO);
        world.execute(&format!("UPDATE user_session SET {column} = {now}")).await;
    }
    world.execute(&format!("UPDATE user_session SET last_used_at = {}", ago(13 * HOUR))).await;
    let (two, three) = (world.session(EMAIL).await, world.session(EMAIL).await);
    let left: Vec<_> =
        world.accounts.sessions(&world.ana).await.unwrap().iter().map(|left| left.id).collect();
    assert_eq!(left, [three.session.id, two.session.id]);
    assert!(!world.counts(&one).await);

    let other = create(&world.accounts, "bea@example.com", Some((world.acme, Role::Owner))).await;
    let theirs = world.accounts.end_session(&other, two.session.id, &origin()).await;
    assert!(matches!(theirs, Err(Error::NotFound)), "another person's");
    world.accounts.end_session(&world.ana, two.session.id, &origin()).await.unwrap();
    assert!(!world.counts(&two).await && world.counts(&three).await);
    world.accounts.sign_out(&three.session, &origin()).await.unwrap();
    assert!(!world.counts(&three).await);
    assert_eq!(world.changes(What::Session).await.len(), 2);
}

async fn a_new_password_ends_all_other_sessions(universe: &Universe) {
    let world = World::new(universe).await;
    let (here, elsewhere) = (world.session(EMAIL).await, world.session(EMAIL).await);
    let new = "another password";
    let change =
        async |current, new| world.accounts.change_password(&here.session, current, new, &origin()).await;
    assert!(matches!(change("wrong password", new).await, Err(Error::Refused)));
    assert!(matches!(change(PASSWORD, "short").await, Err(Error::Invalid { field: "password", .. })));
    assert!(world.counts(&elsewhere).await, "nothing was changed");
    assert!(matches!(change(PASSWORD, "AnaSouza1").await, Err(Error::CommonPassword)));
    let token = change(PASSWORD, new).await.unwrap();
    assert_eq!(world.opened(&token).await.id, here.session.id, "this session stays");
    assert!(!world.counts(&here).await && !world.counts(&elsewhere).await, "the old cookies open nothing");
    assert!(matches!(world.try_sign_in(EMAIL, PASSWORD, None).await, Err(Error::Refused)));
    assert!(world.try_sign_in(EMAIL, new, None).await.is_ok());
    let changes = world.changes(What::UserPassword).await;
    assert_eq!((changes.len(), changes[0].after.as_str()), (1, Some("replaced")));
}

async fn the_last_use_is_written_beside_the_request_to_the_minute(universe: &Universe) {
    let world = World::new(universe).await;
    let session = world.session(EMAIL).await;
    let last = async || world.accounts.sessions(&world.ana).await.unwrap()[0].last_used_at;
    let written = last().await;
    assert!(world.counts(&session).await);
    assert_eq!(last().await, written, "within the minute");
    let before = ago(2 * HOUR);
    world.execute(&format!("UPDATE user_session SET last_used_at = {before}")).await;
    assert!(world.counts(&session).await);
    until_soon("the last use written", async || last().await >= written).await;
}

async fn a_session_s_token_reads_one_company_while_the_session_is_valid(universe: &Universe) {
    let world = World::new(universe).await;
    let accounts = &world.accounts;
    let operator = create(accounts, "ops@example.com", None).await;
    let none = world.session("ops@example.com").await;
    assert_eq!(none.session.company, None, "an operator chooses among many");
    assert!(matches!(accounts.new_api_token(&none.session, &origin()).await, Err(Error::NotFound)));
    assert!(matches!(accounts.choose_company(&none.session, Uuid::nil()).await, Err(Error::NotFound)));
    accounts.choose_company(&none.session, world.globex).await.unwrap();
    let chosen = accounts.session(none.token.expose()).await.unwrap().unwrap();
    assert_eq!(chosen.company.as_ref().unwrap().role, Role::Owner);
    let again = world.session("ops@example.com").await;
    assert_eq!(again.session.company.map(|company| company.company_id), Some(world.globex), "as last time");

    let first = accounts.new_api_token(&chosen, &origin()).await.unwrap();
    assert!(first.expose().starts_with("pombos_"));
    let reads = async |token: &str| accounts.bearer(token).await.unwrap().map(|bearer| bearer.company_id);
    assert_eq!(reads(first.expose()).await, Some(world.globex));
    accounts.choose_company(&chosen, world.acme).await.unwrap();
    assert_eq!(reads(first.expose()).await, Some(world.globex), "the token stays with its company");
    let chosen = accounts.session(none.token.expose()).await.unwrap().unwrap();
    let second = accounts.new_api_token(&chosen, &origin()).await.unwrap();
    assert_eq!((reads(first.expose()).await, reads(second.expose()).await), (None, Some(world.acme)));
    assert_eq!(reads(none.token.expose()).await, None, "the cookie's token is for no program");
    assert!(accounts.session(second.expose()).await.unwrap().is_none(), "and the other way round");

    let ana = world.session(EMAIL).await;
    let token = accounts.new_api_token(&ana.session, &origin()).await.unwrap();
    create(accounts, "bea@example.com", Some((world.acme, Role::Owner))).await;
    accounts.remove_member(&Who::Pombo, world.acme, world.ana.id).await.unwrap();
    assert_eq!(reads(token.expose()).await, None, "no member any more");
    assert_eq!(accounts.session(ana.token.expose()).await.unwrap().unwrap().company, None);
    accounts.sign_out(&chosen, &origin()).await.unwrap();
    assert_eq!(reads(second.expose()).await, None);
    drop(operator);
}
