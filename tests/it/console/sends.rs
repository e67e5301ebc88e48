//! The pages of sends: the list, one send, its messages, and sending again.

use std::time::Duration;

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::contact::Person;
use pombo::domain::message::State as At;
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use super::browser::{Browser, value_of};
use super::world::World;
use crate::api::past_send::{BEGAN, FIRST, Past};
use crate::running::until;

const MESSAGES: [(At, Option<i64>); 5] = [
    (At::Sent, None),
    (At::Failed, Some(131_026)),
    (At::Delivered, None),
    (At::Failed, Some(131_049)),
    (At::Expired, None),
];

pub(super) async fn shop(world: &World) -> Uuid {
    world.service.channel(&world.acme, Kind::BusinessAccount, "Shop & Co", Status::Connected).await.id
}

pub(super) async fn past(world: &World, channel: Uuid) -> Uuid {
    Past::text(&world.service, &world.acme, channel).with(&MESSAGES).await
}

/// A send that the API accepted; its id.
pub(super) async fn accepted(world: &World, channel: Uuid, fields: serde_json::Value) -> String {
    let mut body = json!({"type": "text", "message": "hi", "phone_number": [FIRST, FIRST + 1]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let path = format!("/api/v1/chat/{channel}/messages");
    let answer = world.service.post(&path, &world.acme.key, body.to_string()).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.json()["send_id"].as_str().unwrap().to_owned()
}

pub(super) fn in_an_hour() -> String {
    Timestamp::now().plus(Duration::from_secs(3_600)).to_string()
}

#[tokio::test]
async fn sends_are_listed_and_narrowed_by_state_channel_tag_and_day() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let empty = viewer.page("/console/sends").await;
    assert!(empty.contains("<h1>Sends</h1>") && empty.contains("Nothing was sent yet"), "{empty}");
    let (shop, store) = (shop(&world).await, world.service.store());
    let tag = store.of(world.acme.id).tags().ensure("VIP & friends", None).await.unwrap();
    let person = Person { phone_number: FIRST.to_string(), ..Person::default() };
    store
        .of(world.acme.id)
        .contacts()
        .add(&[(Uuid::now_v7(), person)], &[tag], Timestamp::now())
        .await
        .unwrap();
    let tagged = accepted(&world, shop, json!({"contact_tag_id": tag, "send_at": in_an_hour()})).await;
    let old = past(&world, shop).await.to_string();
    let listed = async |query: &str| {
        let page = viewer.page(&format!("/console/sends{query}")).await;
        [&tagged, &old].map(|id| page.contains(&format!("href=\"/console/sends/{id}\"")))
    };
    let day = |at: Timestamp| at.to_string()[..10].to_owned();
    let (first, second) = (day(*BEGAN), day(BEGAN.plus(Duration::from_secs(86_400))));
    for (query, expected) in [
        ("", [true, true]),
        ("?state=scheduled", [true, false]),
        ("?state=finished", [false, true]),
        ("?tag=vip+%26+friends", [true, false]),
        ("?tag=nobody", [false, false]),
        (&format!("?channel={shop}"), [true, true]),
        (&format!("?channel={}", Uuid::nil()), [false, false]),
        (&format!("?to={first}"), [false, true]),
        (&format!("?from={second}"), [true, false]),
        (&format!("?from={first}&to={first}"), [false, true]),
        // Invalid values are no filter.
        ("?state=x&channel=y&from=z&page=0", [true, true]),
    ] {
        assert_eq!(listed(query).await, expected, "{query}");
    }
    let page = viewer.page("/console/sends?tag=VIP+%26+friends").await;
    assert!(page.contains("Shop &amp; Co") && page.contains("VIP &amp; friends"), "{page}");
}

#[tokio::test]
async fn a_send_is_shown_with_its_wait_and_controlled_by_permitted_people() {
    let world = World::new().await;
    let (member, viewer) = (world.signed_in(Role::Member).await, world.signed_in(Role::Viewer).await);
    let id = accepted(&world, shop(&world).await, json!({"send_at": in_an_hour()})).await;
    let address = format!("/console/sends/{id}");
    let page = member.page(&address).await;
    assert!(page.contains("0 of 2 messages sent") && page.contains("it is scheduled"), "{page}");
    assert!(page.contains("Scheduled") && page.contains(&format!("data-live=\"{address}/live\"")), "{page}");
    assert!(page.contains(">Pause</button>"), "{page}");
    let seen = viewer.page(&address).await;
    for button in ["Pause", "Resume", "Cancel"] {
        assert!(!seen.contains(&format!(">{button}<")), "{button}: {seen}");
    }
    for action in ["pause", "resume", "cancel"] {
        assert_eq!(viewer.post(&format!("{address}/{action}"), &[]).await.status, 403, "{action}");
    }

    let paused = member.submit(&format!("{address}/pause"), &[]).await;
    assert!(
        paused.contains("Paused: no message of this send goes out") && paused.contains(">Resume<"),
        "{paused}"
    );
    assert!(paused.contains("it is paused, and goes on when it is resumed"), "{paused}");
    let made = viewer.page(&address).await;
    assert!(made.contains("program “") && made.contains("<dt>Paused</dt>"), "{made}");
    let resumed = member.submit(&format!("{address}/resume"), &[]).await;
    assert!(resumed.contains("Resumed.") && resumed.contains(">Pause<"), "{resumed}");
    let canceled = member.submit(&format!("{address}/cancel"), &[]).await;
    assert!(canceled.contains("Canceled: messages that had not started will not go out."), "{canceled}");
    assert!(!canceled.contains(">Pause<") && !canceled.contains("data-live"), "{canceled}");
    let steps = ["<dt>Paused</dt>", "<dt>Resumed</dt>", "<dt>Canceled</dt>"];
    let places = steps.map(|step| canceled.find(step).unwrap_or_else(|| panic!("{step}: {canceled}")));
    assert!(places.is_sorted() && canceled.contains("member@acme.example"), "{canceled}");
    let again = member.post(&format!("{address}/pause"), &[]).await;
    assert_eq!(again.status, 409, "{}", again.body);
}

#[tokio::test]
async fn a_send_shows_its_figures_its_failures_and_its_messages() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let id = past(&world, shop(&world).await).await;
    let page = viewer.page(&format!("/console/sends/{id}")).await;
    for shown in [
        "2 of 5 messages sent",
        "<h1>hi to 5 people</h1>",
        "aria-label=\"Sent 2, Delivered 1, Failed 2, Not sent 1\"",
        "The recipient cannot be reached",
        "<code>131026</code>",
        "=words of 131049",
        "The send expired before the message started",
        "role=\"img\"",
        "+55 11 90000 0004",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(
        page.contains("highest 1 messages a second") && !page.contains("now 1"),
        "nothing goes now: {page}"
    );
    assert!(!page.contains("Send again"), "a viewer sends nothing: {page}");
    let rows = async |query: &str| {
        let page = viewer.page(&format!("/console/sends/{id}?{query}")).await;
        (0..5)
            .filter(|ordinal| page.contains(&format!("/console/sends/{id}/messages/{ordinal}\"")))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows("").await, [0, 1, 2, 3, 4]);
    assert_eq!(rows("state=failed").await, [1, 3]);
    assert_eq!(rows("code=131049").await, [3]);
    assert_eq!(rows("state=failed&from=2").await, [3]);
    assert_eq!(rows("state=read").await, [0_u64; 0]);
    assert_eq!(rows("state=x&code=y&from=z").await, [0, 1, 2, 3, 4]);

    let csv = viewer.get(&format!("/console/sends/{id}/messages.csv?state=failed&code=131026")).await;
    assert_eq!((csv.status, csv.header("content-type")), (200, "text/csv; charset=utf-8; header=present"));
    assert!(csv.header("content-disposition").starts_with("attachment"), "{:?}", csv.headers);
    assert_eq!(csv.body.lines().count(), 2);
    assert!(csv.body.contains("'=words of 131026"), "{}", csv.body);
    let head = "\u{feff}Recipient,Name,State,Reason,Provider's code,Its words,Last heard,Reference";
    assert_eq!(csv.body.lines().next(), Some(head));
    assert!(csv.body.contains(",Failed,") && csv.body.contains(",131026,"), "{}", csv.body);
}

#[tokio::test]
async fn a_message_is_shown_with_its_journey() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let id = past(&world, shop(&world).await).await;
    let delivered = viewer.page(&format!("/console/sends/{id}/messages/2")).await;
    let places: Vec<_> = [
        "<h1>Message</h1>",
        "Accepted",
        "Handed to the provider",
        "The provider has it",
        "<strong>Delivered",
    ]
    .map(|step| delivered.find(step).unwrap_or_else(|| panic!("{step}: {delivered}")))
    .to_vec();
    assert!(places.is_sorted(), "{places:?}");
    assert!(delivered.contains("wamid.2"), "{delivered}");
    let failed = viewer.page(&format!("/console/sends/{id}/messages/1")).await;
    assert!(
        failed.contains("The recipient cannot be reached") && failed.contains("<code>131026</code>"),
        "{failed}"
    );
    for nothing in ["5", "x", "-1"] {
        let answer = viewer.get(&format!("/console/sends/{id}/messages/{nothing}")).await;
        assert_eq!(answer.status, 404, "{nothing}");
    }
}

#[tokio::test]
async fn failed_messages_are_shown_before_they_are_sent_again_once() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let id = past(&world, shop(&world).await).await;
    let page = member.page(&format!("/console/sends/{id}")).await;
    assert!(page.contains("Send again to those that failed"), "{page}");
    let address = format!("/console/sends/{id}/again");
    let all = member.page(&address).await;
    assert!(all.contains("3 recipients") && all.contains(">Send</button>"), "{all}");
    let some = member.page(&format!("{address}?state=failed&code=131026")).await;
    assert!(
        some.contains("1 recipient") && some.contains("the channel&#39;s pace")
            || some.contains("channel's pace"),
        "{some}"
    );
    let none = member.page(&format!("{address}?state=unknown")).await;
    assert!(none.contains("Nothing would be sent") && !none.contains(">Send</button>"), "{none}");

    let once = value_of(&some, "once").unwrap();
    let fields = [("once", once.as_str()), ("state", "failed"), ("code", "131026")];
    let first = member.post(&address, &fields).await;
    let second = member.post(&address, &fields).await;
    assert_eq!((first.status, second.status), (303, 303), "{}", first.body);
    assert_eq!(first.header("location"), second.header("location"));
    let sent = member.page(first.header("location")).await;
    assert!(sent.contains("A new send to 1 recipient was accepted"), "{sent}");
    assert!(sent.contains("Retry of this send") && sent.contains(&id.to_string()), "{sent}");
    let origin = member.page(&format!("/console/sends/{id}")).await;
    assert_eq!(origin.matches("Retried by:").count(), 1, "{origin}");
    let refused = member.post(&address, &[("state", "unknown")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
}

#[tokio::test]
async fn sending_again_is_offered_to_those_whom_a_send_did_not_reach_and_only_then() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let channel = shop(&world).await;
    let offered = async |states: &[At]| {
        let messages: Vec<_> = states.iter().map(|state| (*state, None)).collect();
        let id = Past::text(&world.service, &world.acme, channel).with(&messages).await;
        let page = member.page(&format!("/console/sends/{id}")).await;
        let part = page.split("id=\"again\">").nth(1).expect("the part").split("</p>").next().unwrap();
        part.replace(&id.to_string(), "ID")
    };
    for none in [&[At::Sent, At::Delivered, At::Read][..], &[At::Delivered, At::Suppressed]] {
        assert_eq!(offered(none).await, "", "{none:?}");
    }
    for failed in [&[At::Failed][..], &[At::Delivered, At::Expired], &[At::Canceled, At::Failed]] {
        let link = offered(failed).await;
        assert!(
            link.contains("href=\"/console/sends/ID/again\">Send again to those that failed"),
            "{failed:?}: {link}"
        );
    }
    let link = offered(&[At::Delivered, At::Canceled, At::Unknown]).await;
    let address = "href=\"/console/sends/ID/again?state=canceled&amp;state=unknown\"";
    assert!(link.contains(address) && link.contains("Send to those that it did not reach"), "{link}");
}

#[tokio::test]
async fn the_dry_run_of_a_large_retry_comes_to_its_page() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let past = Past::text(&world.service, &world.acme, shop(&world).await);
    let address = format!("/console/sends/{}/again", past.with_failures(20_000).await);
    let mut stream =
        member.request(Method::GET, &format!("{address}/live?state=failed")).send().await.unwrap();
    let mut told = String::new();
    until("the dry run's result", async || {
        told.push_str(&String::from_utf8_lossy(&stream.chunk().await.unwrap().unwrap_or_default()));
        told.contains("2,000 recipients") && told.contains(">Send</button>")
    })
    .await;
    drop(stream);
    // Without script, the page shows the change after a reload.
    let shown = async || {
        let page = member.page(&format!("{address}?state=failed")).await;
        let is_there = page.contains("2,000 recipients") && page.contains(">Send</button>");
        assert_ne!(is_there, page.contains("The messages are being checked."), "{page}");
        assert_ne!(is_there, page.contains("/again/live?state=failed\""), "{page}");
        is_there
    };
    until("the dry run on the page", shown).await;
}

#[tokio::test]
async fn another_company_s_send_is_not_there() {
    let world = World::new().await;
    let id = past(&world, shop(&world).await).await;
    let outsider = world.outsider().await;
    for path in ["", "/live", "/messages.csv", "/messages/1", "/again", "/again/live"] {
        let answer = outsider.get(&format!("/console/sends/{id}{path}")).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
    }
    for path in ["/pause", "/resume", "/cancel", "/again"] {
        let answer = outsider.post(&format!("/console/sends/{id}{path}"), &[]).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
    }
    assert!(!outsider.page("/console/sends").await.contains(&id.to_string()));
    let own = world.signed_in(Role::Viewer).await;
    assert_eq!(own.get(&format!("/console/sends/{id}")).await.status, 200);
}

#[tokio::test]
async fn the_pages_are_read_in_three_languages() {
    let world = World::new().await;
    let id = past(&world, shop(&world).await).await;
    let member = world.signed_in(Role::Member).await;
    let session = member.cookie("pombo_session").unwrap();
    let read = async |language: &'static str| {
        let browser = Browser::with_session(&world.service, &session).reading(language);
        let send = browser.page(&format!("/console/sends/{id}")).await;
        let list = browser.page("/console/sends").await;
        let message = browser.page(&format!("/console/sends/{id}/messages/1")).await;
        let compose = browser.page("/console/sends/new").await;
        [send, list, message, compose]
    };
    for (language, titles) in [
        ("en", ["hi to 5 people", "Sends", "Message", "New send"]),
        ("pt-BR", ["hi para 5 pessoas", "Envios", "Mensagem", "Novo envio"]),
        ("es", ["hi para 5 personas", "Envíos", "Mensaje", "Nuevo envío"]),
    ] {
        for (page, title) in read(language).await.iter().zip(titles) {
            assert!(page.contains(&format!("<h1>{title}</h1>")), "{language}: {page}");
            assert!(page.contains(&format!("lang=\"{language}\"")), "{language}: {page}");
        }
    }
}
