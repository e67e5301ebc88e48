//! Live parts: the events of a stream, and that no stream stays open.

use std::time::Duration;

use pombo::accounts::{Origin, Role, User};
use pombo::store::changes::Who;
use reqwest::{Method, Response};

use super::browser::Browser;
use super::channels::{RISK, Stage};
use super::world::World;
use crate::running::until;

/// The address of the overview's live parts.
const LIVE: &str = "/console/live";
/// The streams that one session may have.
const OF_A_SESSION: usize = 20;
/// The timeout of a stream's next part. It is long, because it decides only how long a failing test takes.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) async fn stream(browser: &Browser<'_>, path: &str) -> Response {
    let stream = browser.request(Method::GET, path).send().await.unwrap();
    assert_eq!(stream.status(), 200, "{path}");
    stream
}

/// Reads a stream until it has shown these words.
pub(super) async fn shows(stream: &mut Response, words: &str) {
    let mut told = String::new();
    while !told.contains(words) {
        let piece = tokio::time::timeout(PATIENCE, stream.chunk()).await.unwrap().unwrap();
        told.push_str(std::str::from_utf8(&piece.expect("the stream goes on")).unwrap());
    }
}

/// What a stream shows until it ends.
async fn rest(stream: &mut Response) -> String {
    let mut told = String::new();
    while let Some(piece) = tokio::time::timeout(PATIENCE, stream.chunk()).await.expect("it ends").unwrap() {
        told.push_str(std::str::from_utf8(&piece).unwrap());
    }
    told
}

#[tokio::test]
async fn a_stream_begins_with_a_snapshot_and_gives_its_place_back() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    assert!(owner.page("/console").await.contains(&format!("data-live=\"{LIVE}\"")));
    let mut stream = owner.request(Method::GET, LIVE).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    assert_eq!(stream.headers()["cache-control"], "no-store");
    let first =
        tokio::time::timeout(Duration::from_secs(30), stream.chunk()).await.unwrap().unwrap().unwrap();
    let first = String::from_utf8(first.to_vec()).unwrap();
    assert!(first.starts_with("retry: ") && first.contains("event: fragment\ndata: <"), "{first}");
    assert_eq!(world.service.open_streams(), 1);
    drop(stream);
    until("the place of a reader that left", async || world.service.open_streams() == 0).await;
}

#[tokio::test]
async fn streams_end_when_the_service_stops() {
    let mut world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(owner.request(Method::GET, LIVE).send().await.unwrap());
    }
    assert_eq!(world.service.open_streams(), 3);
    drop(owner);
    tokio::time::timeout(Duration::from_secs(20), world.service.stop())
        .await
        .expect("streams held up the stop");
    assert_eq!(world.service.open_streams(), 0);
}

#[tokio::test]
async fn a_session_with_as_many_streams_as_it_may_have_loses_its_oldest_for_a_new_one() {
    let world = World::new().await;
    let (greedy, other) = (world.signed_in(Role::Viewer).await, world.signed_in(Role::Member).await);
    let mut others = stream(&other, LIVE).await;
    let mut first = stream(&greedy, LIVE).await;
    let mut streams = Vec::new();
    for _ in 1..OF_A_SESSION {
        streams.push(stream(&greedy, LIVE).await);
    }
    assert_eq!(world.service.open_streams(), OF_A_SESSION + 1);
    let mut next = stream(&greedy, LIVE).await;
    let told = rest(&mut first).await;
    assert!(told.ends_with("retry: 60000\n\n"), "the page does not take the place back at once: {told}");
    assert_eq!(world.service.open_streams(), OF_A_SESSION + 1);
    shows(&mut next, "event: fragment").await;
    shows(&mut others, "event: fragment").await;
}

/// Somebody who follows the page of a channel.
struct Follower<'a> {
    browser: Browser<'a>,
    user: User,
    stream: Response,
}

#[tokio::test]
async fn a_stream_ends_before_it_shows_what_its_person_may_not_see_any_more() {
    let stage = Stage::set().await;
    let (world, accounts) = (&stage.world, stage.world.service.accounts());
    let (acme, place) = (world.acme.id, format!("/console/channels/{}", stage.web_session().await));
    let mut followers = Vec::new();
    for name in ["stays", "demoted", "removed", "disabled", "away", "ended"] {
        let email = format!("{name}@acme.example");
        let browser = world.member_of(acme, Role::Member, &email).await;
        let user = accounts.user_by_email(&email).await.unwrap();
        let mut stream = stream(&browser, &format!("{place}/live")).await;
        shows(&mut stream, "id=\"channel-pairing-actions\"").await;
        followers.push(Follower { browser, user, stream });
    }
    let operator = world.operator().await;
    let mut operators = stream(&operator, "/console/operator/nodes/live").await;
    shows(&mut operators, "retry: ").await;

    let [stays, demoted, removed, disabled, away, ended] = &mut followers[..] else { panic!("six follow") };
    // The database tells each process, so these changes may come from any of them.
    let (who, origin) = (Who::Pombo, Origin::new([127, 0, 0, 1].into(), "test"));
    accounts.set_role(&who, acme, demoted.user.id, Role::Viewer).await.unwrap();
    accounts.remove_member(&who, acme, removed.user.id).await.unwrap();
    assert!(accounts.set_disabled(&who, &disabled.user, true).await.unwrap());
    assert_eq!(away.browser.post("/console/sign-out", &[]).await.status, 303);
    let session = accounts.sessions(&ended.user).await.unwrap()[0].id;
    accounts.end_session(&ended.user, session, &origin).await.unwrap();
    let user = accounts.user_by_email("operator@pombo.example").await.unwrap();
    assert!(accounts.set_disabled(&who, &user, true).await.unwrap());

    stays.browser.submit(&format!("{place}/pair"), &[RISK]).await;
    shows(&mut stays.stream, "data-payload=").await;
    for follower in [demoted, removed, disabled, away, ended] {
        let told = rest(&mut follower.stream).await;
        assert!(!told.contains("data-payload="), "{}: {told}", follower.user.email);
    }
    assert!(!rest(&mut operators).await.contains("event:"));
}
