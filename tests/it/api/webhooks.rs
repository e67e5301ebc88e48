//! Webhook endpoints: what a company adds, changes and deletes, what is refused, and what it sees of deliveries.

mod sealed;

use futures_util::future::join_all;
use pombo::connector::webhook::SigningKey;
use pombo::domain::secret::Secret;
use reqwest::Method;
use serde_json::{Value, json};

use super::world::{NO_RECEIVER, World};
use crate::harness::Answer;
use crate::running::until;
use crate::webhooks::receiver::Receiver;

const PATH: &str = "/api/v1/webhooks";
/// Types of events that do not happen here.
const NEVER: [&str; 1] = ["message.read"];

/// Asks with the company's key; null is no body.
async fn ask(world: &World, method: Method, path: &str, body: Value) -> Answer {
    let request = world.service.request(method, path).bearer_auth(&world.acme.key);
    Answer::to(if body.is_null() { request } else { request.body(body.to_string()) }).await
}

/// The same, and it has to succeed.
async fn done(world: &World, method: Method, path: &str, body: Value) -> Value {
    let answer = ask(world, method.clone(), path, body).await;
    assert!((200..300).contains(&answer.status), "{method} {path}: {}", answer.body);
    answer.json()
}

/// Adds an endpoint: its path, and the key that signs its requests.
async fn add(world: &World, body: Value) -> (String, SigningKey) {
    let added = done(world, Method::POST, PATH, body).await;
    (format!("{PATH}/{}", added["id"].as_str().unwrap()), key(&added))
}

/// The record without what deliveries change: a channel of this world may have an event at any time.
fn settings(mut record: Value) -> Value {
    for field in ["failures", "failing_since", "retries", "waiting_since"] {
        record[field] = Value::Null;
    }
    record
}

fn key(answer: &Value) -> SigningKey {
    SigningKey::parse(&Secret::new(answer["secret"].as_str().unwrap().to_owned())).unwrap()
}

/// A send that was canceled before it began, which is an event; its id.
async fn canceled_send(world: &World) -> Value {
    let later = pombo::clock::Timestamp::now().plus(std::time::Duration::from_secs(3_600)).to_string();
    let body = json!({"type": "text", "message": "x", "phone_number": "5511988887777", "send_at": later});
    let sent = done(world, Method::POST, &World::send(world.connected), body).await["send_id"].clone();
    let path = format!("/api/v1/sends/{}/cancel", sent.as_str().unwrap());
    done(world, Method::POST, &path, Value::Null).await;
    sent
}

/// The sends whose events came, in their order.
fn sends(receiver: &Receiver) -> Vec<Value> {
    receiver.events().iter().map(|event| event["data"]["send_id"].clone()).collect()
}

#[tokio::test]
async fn an_endpoint_is_added_changed_and_deleted_and_its_secrets_are_not_shown_again() {
    let world = World::new().await;
    let added = ask(&world, Method::POST, PATH, json!({"url": NO_RECEIVER})).await;
    assert_eq!(added.status, 201, "{}", added.body);
    let mut added = added.json();
    assert!(added["secret"].as_str().unwrap().starts_with("whsec_"));
    added.as_object_mut().unwrap().remove("secret");
    let (id, created_at) = (added["id"].clone(), added["created_at"].clone());
    let expected = json!({
        "id": id, "url": NO_RECEIVER, "shape": "pombo", "profile": null, "set_for": null, "channel_ids": [], "header_names": [], "unsealable": [], "max_in_flight": 2, "batch": 1,
        "types": [
            "message.failed", "send.finished", "send.canceled", "send.expired", "channel.connecting",
            "channel.connected", "channel.disconnected", "channel.blocked", "channel.pairing", "message.received",
            "message.reaction", "message.edited", "message.deleted", "conversation.opened", "conversation.closed",
            "conversation.reopened", "conversation.assigned",
            "contact.opted_out", "contact.opted_in", "template.approved", "template.rejected", "template.paused",
            "template.disabled", "template.category_changed", "template.quality_changed", "quota.low",
            "quota.used_up", "key.expiring", "webhook.disabled", "webhook.recovered",
        ],
        "mask_numbers": false, "state": "enabled", "disabled_reason": null, "disabled_since": null, "failures": 0,
        "failing_since": null, "retries": 0, "given_up": 0, "lost": 0, "waiting_since": null, "replay": null, "created_at": created_at,
    });
    assert_eq!(added, expected);
    let path = format!("{PATH}/{}", id.as_str().unwrap());
    let shown = done(&world, Method::GET, &path, Value::Null).await;
    assert_eq!(settings(shown), settings(expected.clone()));
    let mut listed = done(&world, Method::GET, PATH, Value::Null).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(settings(listed["data"][0].take()), settings(expected.clone()));

    let change = json!({
        "url": "http://127.0.0.1:1/other?token=t", "types": ["message.*", "send.finished"], "channel_ids": [world.connected],
        "headers": {"X-Team": "sales", "Authorization": "Bearer hidden"}, "max_in_flight": 4, "batch": 100,
        "mask_numbers": true,
    });
    let changed = ask(&world, Method::PATCH, &path, change).await;
    assert!(changed.status == 200 && !changed.body.contains("hidden"), "{}", changed.body);
    let changed = changed.json();
    assert_eq!(changed["url"], "http://127.0.0.1:1/other?token=t");
    assert_eq!(changed["channel_ids"], json!([world.connected]));
    assert_eq!(changed["header_names"], json!(["authorization", "x-team"]));
    assert_eq!((&changed["max_in_flight"], &changed["batch"]), (&json!(4), &json!(100)));
    assert_eq!((&changed["types"].as_array().unwrap().len(), &changed["mask_numbers"]), (&14, &json!(true)));
    let kept = json!({"types": null, "headers": null, "batch": 7});
    let kept = done(&world, Method::PATCH, &path, kept).await;
    assert_eq!((&kept["types"], &kept["header_names"]), (&changed["types"], &changed["header_names"]));
    let emptied = json!({"types": [], "channel_ids": [], "headers": {}});
    let emptied = done(&world, Method::PATCH, &path, emptied).await;
    assert_eq!((&emptied["types"], &emptied["channel_ids"]), (&expected["types"], &json!([])));
    assert_eq!((&emptied["header_names"], &emptied["batch"]), (&json!([]), &json!(7)));

    assert_eq!(ask(&world, Method::DELETE, &path, Value::Null).await.status, 204);
    let gone = ask(&world, Method::DELETE, &path, Value::Null).await;
    assert_eq!((gone.status, gone.code().as_deref()), (404, Some("webhook_not_found")));
    assert_eq!(done(&world, Method::GET, PATH, Value::Null).await, json!({"data": []}));
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_at_once_and_change_nothing() {
    let world = World::new().await;
    let (path, _) = add(&world, json!({"url": NO_RECEIVER})).await;
    let before = settings(done(&world, Method::GET, &path, Value::Null).await);
    let network = "the address leads to a network that is not on the public internet: give a public address, or ask \
                   the operator of this service to add the network to `webhooks.allow_networks`";
    let credentials = "`url` must not contain a user name or a password: send them in a header";
    let unknown = format!(
        "`channel_ids` has {}, which is no channel of this company: GET /api/v1/chat and GET /api/v1/web-chat list its \
         channels",
        world.foreign
    );
    for (field, value, sentence) in [
        ("url", json!("https://10.0.0.7/hook"), network),
        ("url", json!("https://169.254.169.254/latest"), network),
        ("url", json!("https://[::1]/hook"), network),
        ("url", json!("https://ana:secret@127.0.0.1/hook"), credentials),
        ("url", json!("ftp://127.0.0.1/hook"), "`url` must begin with https://"),
        ("url", json!(7), "`url` must be text"),
        (
            "types",
            json!(["message.raed"]),
            "`types` has no type `message.raed`: did you mean `message.read`?",
        ),
        ("types", json!(["outbox.lost"]), "`types` has no type `outbox.lost`"),
        ("types", json!("send.*"), "`types` must be a list of types of events"),
        ("channel_ids", json!([world.connected, world.foreign]), unknown.as_str()),
        ("channel_ids", json!(["shop"]), "`channel_ids` must be a list of ids of channels (UUIDs)"),
        ("headers", json!({"Host": "x"}), "`headers` has `host`, which Pombo sets itself"),
        ("headers", json!({"x-a": ""}), "`headers` has no value for `x-a`"),
        (
            "headers",
            json!({"x-a": 7}),
            "`headers` must be an object that has the value of each header, a text, by its name",
        ),
        ("max_in_flight", json!(5), "`max_in_flight` must be a number from 1 to 4"),
        ("max_in_flight", json!(0), "`max_in_flight` must be a number from 1 to 4"),
        ("batch", json!(1_000), "`batch` must be a number from 1 to 100"),
        ("mask_numbers", json!("yes"), "`mask_numbers` must be true or false"),
    ] {
        let mut new = json!({"url": NO_RECEIVER});
        new[field] = value.clone();
        let added = ask(&world, Method::POST, PATH, new).await;
        let changed = ask(&world, Method::PATCH, &path, json!({(field): value})).await;
        for refused in [added, changed] {
            let told = refused.json();
            assert_eq!((refused.status, &told["code"]), (400, &json!("invalid_field")), "{told}");
            assert!(told["error"].as_str().unwrap().starts_with(sentence), "{told}");
            assert_eq!(told["param"], field, "{told}");
        }
    }
    let missing = ask(&world, Method::POST, PATH, json!({"types": ["send.*"]})).await.json();
    assert_eq!(missing["error"], "`url` is missing");
    let mut listed = done(&world, Method::GET, PATH, Value::Null).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(settings(listed["data"][0].take()), before);
}

#[tokio::test]
async fn a_test_says_what_the_receiver_answered_and_deliveries_are_listed() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let (path, key) =
        add(&world, json!({"url": receiver.url(), "types": NEVER, "headers": {"X-Team": "sales"}})).await;
    let test = format!("{path}/test");
    let delivered = done(&world, Method::POST, &test, Value::Null).await;
    assert_eq!(
        (&delivered["is_delivered"], &delivered["status"]),
        (&json!(true), &json!(200)),
        "{delivered}"
    );
    assert_eq!((&delivered["answer"], &delivered["fault"]), (&Value::Null, &Value::Null), "{delivered}");
    let got = receiver.got().remove(0);
    assert!(got.is_signed_with(&key), "{got:?}");
    assert_eq!((&got.json()["type"], got.header("x-team")), (&json!("message.sent"), "sales"));
    let request: Value = serde_json::from_str(delivered["request"].as_str().unwrap()).unwrap();
    assert_eq!((request, got.header("x-pombo-test")), (got.json(), "true"));

    receiver.answer_next([500]);
    let failed = done(&world, Method::POST, &test, json!({"type": "channel.blocked"})).await;
    assert_eq!((&failed["is_delivered"], &failed["status"]), (&json!(false), &json!(500)), "{failed}");
    assert_eq!(failed["fault"], "the receiver answered with status 500: look for the error in its log");
    let moved = ask(&world, Method::PATCH, &path, json!({"url": NO_RECEIVER})).await;
    assert_eq!(
        (moved.status, &moved.json()["param"]),
        (400, &json!("headers")),
        "another receiver would get them"
    );
    done(&world, Method::PATCH, &path, json!({"url": NO_RECEIVER, "headers": {}})).await;
    let silent = done(&world, Method::POST, &test, json!({"type": "send.finished"})).await;
    let fault = "the receiver refuses connections: check that it runs, and the port in the address";
    assert_eq!((&silent["status"], &silent["fault"]), (&Value::Null, &json!(fault)), "{silent}");
    let wrong = ask(&world, Method::POST, &test, json!({"type": "send.finish"})).await.json();
    let sentence = "`type` is `send.finish`, which is no type of an event: did you mean `send.finished`?";
    assert_eq!((&wrong["error"], &wrong["param"]), (&json!(sentence), &json!("type")));
    assert_eq!(done(&world, Method::GET, &path, Value::Null).await["failures"], 0, "tests do not count");

    let deliveries = format!("{path}/deliveries");
    until("the deliveries in their log", async || {
        done(&world, Method::GET, &deliveries, Value::Null).await["totalRecords"] == 3
    })
    .await;
    let all = done(&world, Method::GET, &deliveries, Value::Null).await["data"].clone();
    let shown: Vec<_> = all.as_array().unwrap().iter().map(|one| (&one["type"], &one["status"])).collect();
    let [sent, blocked, finished] =
        ["message.sent", "channel.blocked", "send.finished"].map(|word| json!(word));
    let (ok, error) = (json!(200), json!(500));
    assert_eq!(shown, [(&finished, &Value::Null), (&blocked, &error), (&sent, &ok)]);
    assert_eq!((&all[2]["event_id"], &all[2]["attempt"]), (&got.json()["id"], &json!(1)));
    assert_eq!(all[2]["sequence"], Value::Null, "an example cannot be sent once more");
    let headers = all[2]["headers"].as_array().unwrap();
    let names: Vec<_> = headers.iter().map(|header| header["name"].as_str().unwrap()).collect();
    let expected =
        ["content-type", "webhook-id", "webhook-timestamp", "webhook-signature", "x-pombo-test", "x-team"];
    assert_eq!(names, expected);
    for (name, header) in names.into_iter().zip(headers) {
        let expected = if name == "x-team" { Value::Null } else { json!(got.header(name)) };
        assert_eq!(header["value"], expected, "{name}");
    }
    let first = done(&world, Method::GET, &format!("{deliveries}?limit=2"), Value::Null).await;
    let rest = format!("{deliveries}?cursor={}", first["next_cursor"].as_str().unwrap());
    assert_eq!(done(&world, Method::GET, &rest, Value::Null).await["data"], json!([all[2]]));
}

#[tokio::test]
async fn a_disabled_endpoint_catches_up_or_goes_on_from_now_and_an_event_is_sent_once_more() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let (path, _) =
        add(&world, json!({"url": receiver.url(), "types": ["send.*"], "max_in_flight": 1})).await;
    let first = canceled_send(&world).await;
    until("the first event", async || sends(&receiver).len() == 1).await;
    let event = receiver.events().remove(0);
    let resend = format!("{path}/deliveries/resend");
    let resent = done(&world, Method::POST, &resend, json!({"sequence": event["sequence"]})).await;
    assert_eq!((&resent["is_delivered"], resent.get("request")), (&json!(true), None), "{resent}");
    assert!(!receiver.got().iter().any(|got| got.has_header("x-pombo-test")), "all of it happened");
    assert_eq!((&receiver.events()[1], &event["type"]), (&event, &json!("send.canceled")));
    let deliveries = format!("{path}/deliveries");
    until("both deliveries in their log", async || {
        let log = done(&world, Method::GET, &deliveries, Value::Null).await;
        log["data"].as_array().unwrap().iter().filter(|one| one["sequence"] == event["sequence"]).count() == 2
    })
    .await;

    for (body, is_caught_up) in [(Value::Null, true), (json!({"from": "now"}), false)] {
        let before = sends(&receiver).len();
        let disabled = done(&world, Method::POST, &format!("{path}/disable"), Value::Null).await;
        assert_eq!(
            (&disabled["state"], &disabled["disabled_reason"]),
            (&json!("disabled"), &json!("person"))
        );
        assert!(disabled["disabled_since"].is_string(), "{disabled}");
        let missed = canceled_send(&world).await;
        until("the event waits", async || {
            done(&world, Method::GET, &path, Value::Null).await["waiting_since"].is_string()
        })
        .await;
        let enabled = done(&world, Method::POST, &format!("{path}/enable"), body).await;
        assert_eq!((&enabled["state"], &enabled["disabled_since"]), (&json!("enabled"), &Value::Null));
        let next = canceled_send(&world).await;
        until("the next event", async || sends(&receiver).contains(&next)).await;
        let expected = if is_caught_up { vec![missed, next] } else { vec![next] };
        assert_eq!(sends(&receiver)[before..], expected);
    }
    assert_eq!(sends(&receiver)[0], first);
    until("nothing waits", async || {
        let shown = done(&world, Method::GET, &path, Value::Null).await;
        shown["waiting_since"].is_null() && shown["retries"] == 0
    })
    .await;
}

#[tokio::test]
async fn events_are_sent_once_more_and_a_replay_is_ended() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let (path, _) = add(&world, json!({"url": receiver.url(), "types": ["send.*"]})).await;
    let first = canceled_send(&world).await;
    until("the first event", async || sends(&receiver).len() == 1).await;
    until("nothing waits", async || {
        done(&world, Method::GET, &path, Value::Null).await["waiting_since"].is_null()
    })
    .await;
    let replay = format!("{path}/replay");
    let begun = ask(&world, Method::POST, &replay, Value::Null).await;
    assert_eq!(begun.status, 202, "{}", begun.body);
    assert_eq!(begun.json()["replay"]["state"], "all");
    until("the event once more", async || sends(&receiver) == [first.clone(), first.clone()]).await;
    until("the end of the replay", async || {
        done(&world, Method::GET, &path, Value::Null).await["replay"]["finished_at"].is_string()
    })
    .await;

    // A disabled endpoint keeps its replay, of which there is one.
    done(&world, Method::POST, &format!("{path}/disable"), Value::Null).await;
    let failed = json!({"state": "failed", "types": ["send.canceled"], "since": "2020-01-01T00:00:00Z"});
    let begun = done(&world, Method::POST, &replay, failed.clone()).await["replay"].clone();
    assert_eq!((&begun["types"], &begun["finished_at"]), (&json!(["send.canceled"]), &Value::Null));
    let second = ask(&world, Method::POST, &replay, failed).await;
    assert_eq!((second.status, &second.json()["code"]), (409, &json!("replay_running")));
    assert_eq!(done(&world, Method::DELETE, &replay, Value::Null).await["replay"], Value::Null);
    assert_eq!(done(&world, Method::DELETE, &replay, Value::Null).await["replay"], Value::Null);
}

#[tokio::test]
async fn a_replaced_secret_signs_for_a_while_unless_it_must_not() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let (path, first) = add(&world, json!({"url": receiver.url(), "types": NEVER})).await;
    let rotate = format!("{path}/rotate-secret");
    let second = done(&world, Method::POST, &rotate, Value::Null).await;
    assert!(second["former_until"].is_string(), "{second}");
    let second = key(&second);
    done(&world, Method::POST, &format!("{path}/test"), Value::Null).await;
    assert!(receiver.got()[0].is_signed_with_all(&[second.clone(), first]));

    let third = done(&world, Method::POST, &rotate, json!({"overlap": "0s"})).await;
    assert_eq!(third["former_until"], Value::Null);
    done(&world, Method::POST, &format!("{path}/test"), Value::Null).await;
    assert!(receiver.got()[1].is_signed_with(&key(&third)) && !receiver.got()[1].is_signed_with(&second));
    let own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let fourth = done(&world, Method::POST, &rotate, json!({"secret": own})).await;
    assert_eq!(fourth["secret"], own);
    let fifth = key(&done(&world, Method::POST, &rotate, Value::Null).await);
    done(&world, Method::POST, &format!("{path}/test"), Value::Null).await;
    // A receiver that has either of those before is not cut off by the second replacement.
    assert!(receiver.got()[2].is_signed_with_all(&[fifth, key(&fourth), key(&third)]));
    let long = ask(&world, Method::POST, &rotate, json!({"overlap": "8d"})).await.json();
    assert_eq!(long["error"], "`overlap` is longer than 7 days, the most for which a former secret signs");
}

#[tokio::test]
async fn secrets_that_are_replaced_at_the_same_time_are_replaced_or_refused_for_the_moment() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let (path, _) = add(&world, json!({"url": receiver.url(), "types": NEVER})).await;
    let (rotate, body) = (format!("{path}/rotate-secret"), json!({"overlap": "0s"}));
    let answers = join_all((0..16).map(|_| ask(&world, Method::POST, &rotate, body.clone()))).await;
    let mut keys = Vec::new();
    for answer in answers {
        match answer.status {
            200 => keys.push(key(&answer.json())),
            status => assert_eq!((status, answer.code().as_deref()), (503, Some("service_unavailable"))),
        }
    }
    done(&world, Method::POST, &format!("{path}/test"), Value::Null).await;
    assert!(keys.iter().any(|key| receiver.got()[0].is_signed_with(key)), "{} were replaced", keys.len());
}
