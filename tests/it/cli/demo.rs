//! The demonstration: its first line, its second start, and the phone that it simulates.

use std::process::Command;

use serde_json::{Value, json};

use crate::child::OwnedChild;
use crate::program::Place;
use crate::running::until;

/// A demonstration that runs.
struct Demo {
    child: OwnedChild,
    /// Its first line.
    said: Value,
}

impl Demo {
    fn start(place: &Place, line: &str) -> Self {
        let mut child = OwnedChild::spawn(&mut place.command(&format!("{line} --end-with-input")));
        let first = child.first_line();
        let said = serde_json::from_str(&first).unwrap_or_else(|_| panic!("no first line: {first}"));
        Self { child, said }
    }

    /// Ends the demonstration as a service manager does.
    fn end(self) -> Value {
        let ended = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(ended.success());
        let output = self.child.wait_with_output();
        assert!(output.status.success(), "{}{}", self.said, String::from_utf8_lossy(&output.stderr));
        self.said
    }

    /// An answer to the key of the first company.
    async fn get(&self, path: &str) -> Value {
        let request = client().get(format!("{}{path}", self.base_url()));
        request.bearer_auth(self.key()).send().await.unwrap().json().await.unwrap()
    }

    /// The same for a request with a body.
    async fn post(&self, path: &str, body: &Value) -> Value {
        let request = client().post(format!("{}{path}", self.base_url())).json(body);
        request.bearer_auth(self.key()).send().await.unwrap().json().await.unwrap()
    }

    fn base_url(&self) -> &str {
        self.said["base_url"].as_str().unwrap()
    }

    fn key(&self) -> &str {
        self.said["companies"][0]["api_key"].as_str().unwrap()
    }

    /// The state of its channel's pairing.
    async fn pairing(&self) -> Value {
        let id = self.said["phone"]["channel_id"].as_str().unwrap();
        self.get(&format!("/api/v1/web-chat/{id}/pairing")).await
    }
}

fn client() -> reqwest::Client {
    // Another test may have installed it first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

fn first_line(place: &Place, line: &str) -> Value {
    Demo::start(place, line).end()
}

/// What `pombo demo phone --json` prints, line by line.
fn phone(place: &Place) -> Vec<Value> {
    let run = place.run("demo phone --json");
    assert_eq!(run.code, Some(0), "{run:?}");
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[cfg(unix)]
#[test]
fn a_second_start_finds_the_companies_and_their_keys_again() {
    let place = Place::new().with("POMBO__DATA__DIR", "pombo-demo");
    let first = first_line(&place, "demo --port 0 --json --contacts 40");
    let acme = &first["companies"][0];
    let statuses: Vec<_> =
        acme["channels"].as_array().unwrap().iter().map(|channel| &channel["status"]).collect();
    assert_eq!(statuses, ["connected", "connected", "disconnected", "pairing", "pairing"]);
    let tags: Vec<_> = acme["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| (tag["name"].clone(), tag["contacts"].clone(), tag["valid_phones"].clone()))
        .collect();
    assert_eq!(
        tags,
        [
            (json!("everyone"), json!(40), json!(35)),
            (json!("vip"), json!(25), json!(25)),
            (json!("no-phones"), json!(5), json!(0))
        ]
    );
    let has = |status| acme["templates"].as_array().unwrap().iter().any(|one| one["status"] == status);
    assert!(has("APPROVED") && has("PENDING") && has("REJECTED"), "{acme}");
    assert_eq!(first["companies"][1]["name"], "Globex");

    let second = first_line(&place, "demo --port 0 --json --contacts 50");
    let again = &second["companies"][0];
    assert_eq!((&first["reused"], &second["reused"]), (&json!(false), &json!(true)));
    assert_eq!((&again["id"], &again["channels"]), (&acme["id"], &acme["channels"]));
    assert_eq!(again["templates"], acme["templates"]);
    assert_eq!(again["tags"][0]["contacts"], 50, "missing contacts are added");
    // What was printed before goes on working; a key that was revoked meanwhile is replaced.
    assert_eq!(again["api_key"], acme["api_key"]);
    let keys = place.json("key list --company Acme");
    assert_eq!((keys.as_array().unwrap().len(), &keys[0]["status"]), (1, &json!("valid")), "{keys}");
    place.json(&format!("key revoke {}", keys[0]["id"].as_str().unwrap()));
    let third = first_line(&place, "demo --port 0 --json --contacts 50");
    assert_ne!(third["companies"][0]["api_key"], acme["api_key"]);
    assert_eq!(third["companies"][1]["api_key"], second["companies"][1]["api_key"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_seen_to_arrive() {
    let place = Place::new();
    let demo = Demo::start(&place, "demo --port 0 --json --contacts 5");
    let path = format!("/api/v1/sends/{}", send(&demo).await.as_str().unwrap());
    until("the message delivered", async || {
        let shown = demo.get(&path).await;
        shown["counts"]["delivered"] == 1 || shown["counts"]["read"] == 1
    })
    .await;
    drop(demo);
}

/// Sends a text through the first channel; the id of the send.
async fn send(demo: &Demo) -> Value {
    let channel = demo.said["companies"][0]["channels"][0]["id"].as_str().unwrap();
    let text = json!({"phone_number": "+999 900 000 001", "type": "text", "message": "Hello"});
    demo.post(&format!("/api/v1/chat/{channel}/messages"), &text).await["send_id"].clone()
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn events_arrive_at_its_receiver_also_after_another_start_and_with_another_secret() {
    let place = Place::new();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let demo = Demo::start(&place, "demo --port 0 --json --contacts 5");
        let (url, id) = (demo.said["events"]["url"].as_str().unwrap(), &demo.said["events"]["webhook_id"]);
        let path = format!("/api/v1/webhooks/{}", id.as_str().unwrap());
        demo.post(&format!("{path}/rotate-secret"), &json!({"overlap": "0s"})).await;
        let sent = send(&demo).await;
        until("the events at the receiver", async || {
            let shown: Value = client().get(url).send().await.unwrap().json().await.unwrap();
            let came = |r#type: &str| {
                let mut events = shown["data"].as_array().unwrap().iter();
                events.any(|event| event["type"] == r#type && event["data"]["send_id"] == sent)
            };
            came("message.sent")
                && came("send.finished")
                && (came("message.delivered") || came("message.read"))
        })
        .await;
        let deliveries = format!("{path}/deliveries");
        until("the answer in the log of deliveries", async || {
            let listed = demo.get(&deliveries).await;
            let mut listed = listed["data"].as_array().unwrap().iter();
            listed.any(|one| {
                one["status"] == 200 && one["answer"].as_str().unwrap().starts_with("events taken")
            })
        })
        .await;
        let listed = demo.get("/api/v1/webhooks").await;
        let endpoints = listed["data"].as_array().unwrap();
        assert_eq!((endpoints.len(), &endpoints[0]["id"]), (1, id), "{listed}");
        assert!(endpoints[0]["url"].as_str().unwrap().starts_with(url), "{listed}");
        ids.push(id.clone());
        demo.end();
    }
    assert_eq!(ids[0], ids[1], "the endpoint got the new address");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_phone_is_linked_by_one_command_and_stays_linked() {
    let place = Place::new();
    let absent = place.run("demo phone");
    assert_eq!(absent.code, Some(1));
    assert!(absent.stderr.contains("start one with `pombo demo` and leave it running"), "{absent:?}");

    let demo = Demo::start(&place, "demo --port 0 --json --contacts 5");
    assert_eq!(demo.said["phone"]["pair_command"], "pombo demo phone");
    assert_eq!(demo.pairing().await["state"], "unlinked");
    let mut said = phone(&place);
    let last = said.pop().unwrap();
    assert!(said.iter().any(|one| one["qr"]["payload"].is_string()), "{said:?}");
    let expected = (&json!("linked"), &json!("connected"), &json!("+999700000001"), &json!(false));
    assert_eq!((&last["state"], &last["status"], &last["phone_number"], &last["was_linked"]), expected);
    assert_eq!(last["send_command"], demo.said["phone"]["send_command"]);
    let messages = client().get(last["messages_url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(messages.json::<Value>().await.unwrap(), json!({ "data": [] }));
    let again = place.run("demo --data ./pombo-demo phone").stdout;
    assert!(again.contains("is linked already") && again.contains("curl http"), "{again}");
    demo.end();
    assert!(place.run("demo phone").stderr.contains("no demonstration runs"));

    let mut demo = Demo::start(&place, "demo --port 0 --json --contacts 5");
    until("the connection", async || demo.pairing().await["status"] == "connected").await;
    let said = phone(&place);
    assert_eq!((said.len(), &said[0]["was_linked"]), (1, &json!(true)), "{said:?}");
    demo.child.crash();
    let killed = place.run("demo phone");
    assert!(killed.stderr.contains("no demonstration runs"), "{killed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_writes_to_a_channel_and_sees_the_conversation() {
    let place = Place::new();
    let absent = place.run("demo phone Hello");
    assert!(absent.code == Some(1) && absent.stderr.contains("leave it running"), "{absent:?}");
    let demo = Demo::start(&place, "demo --port 0 --json --contacts 8");
    let channel = demo.said["companies"][0]["channels"][0]["id"].as_str().unwrap();
    let inbound = async || {
        let shown: Value = client()
            .get(demo.said["events"]["url"].as_str().unwrap())
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        let events = shown["data"].as_array().unwrap().clone();
        let of = |event: &Value| event["type"] == "message.received" && event.to_string().contains(channel);
        events.into_iter().filter(of).collect::<Vec<_>>()
    };
    // The first of the strangers and the contacts with the tag `vip` write by themselves.
    until("the greetings", async || inbound().await.len() >= 4).await;
    let talk = |line: &str| -> Value {
        let run = place.run(&format!("demo phone --json --from +999900000055 {line}"));
        assert_eq!(run.code, Some(0), "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    };
    let wrote = talk("Olá");
    let text = json!({"phone_number": "+999 900 000 055", "type": "text", "message": "Hello"});
    demo.post(&format!("/api/v1/chat/{channel}/messages"), &text).await;
    until("the answer on the phone", async || {
        talk("--show")["conversation"].as_array().unwrap().iter().any(|line| line["by"] == "channel")
    })
    .await;
    let reacted = talk("--react 👍");
    let lines = reacted["conversation"].as_array().unwrap();
    let own = lines.iter().find(|line| line["by"] == "channel").unwrap();
    let reaction = lines.iter().find(|line| line["type"] == "reaction").unwrap();
    assert_eq!((&reaction["about"], &reaction["id"]), (&own["id"], &reacted["id"]));
    until("what the person wrote", async || {
        inbound().await.iter().any(|event| event.to_string().contains(wrote["id"].as_str().unwrap()))
    })
    .await;
    let shown = place.run("demo phone --show --from +999900000055").stdout;
    assert!(shown.contains("Olá") && shown.contains("Sales"), "{shown}");
    let refused = place.run("demo phone Hello --to Nowhere");
    assert!(refused.stderr.contains("--to takes `Sales`"), "{refused:?}");
}

#[test]
fn a_directory_with_something_real_in_it_is_refused() {
    let place = Place::new();
    place.json("company create Acme");
    let run = place.run("demo --port 0 --data data --end-with-input");
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("--data"), "{}", run.stderr);
}
