//! The program itself, killed and starved in the middle of its work: nothing accepted is lost.

use std::io::{BufRead as _, BufReader};
use std::process::Child;

use pombo::simulator::{self, Simulator};
use serde_json::{Value, json};

use crate::database::{Universe, stores};
use crate::program::Place;
use crate::running::{NUMBER, until};

const CONTACTS: u64 = 6_000;
/// The bound on what a crash may repeat, as configured below.
const IN_FLIGHT: u64 = 48;
/// Times that the service is killed.
const KILLS: u64 = 3;

stores!(
    a_service_killed_in_mid_send_loses_nothing_and_repeats_at_most_what_was_in_flight,
    a_second_service_on_the_same_database_is_refused,
);

/// A service in a process of its own, set up by the command line.
struct Serving {
    place: Place,
    simulator: Simulator,
    key: String,
    channel: String,
    tag: String,
}

impl Serving {
    async fn new(universe: &Universe) -> Self {
        let account = simulator::Account {
            waba_id: "102290129340398".to_owned(),
            tokens: vec!["EAAG-good".to_owned()],
            numbers: vec![simulator::Number::new(NUMBER, "+1 555 078 3881")],
            templates: simulator::default_templates(),
        };
        let seed = simulator::Seed { accounts: vec![account] };
        let simulator = simulator::start(simulator::Options::default(), seed).await.unwrap();
        let place = Place::new()
            .with("POMBO__DATABASE__URL", &universe.url)
            .with("POMBO__SERVER__BIND", "127.0.0.1:0")
            .with("POMBO__CLOUD_API__BASE_URL", simulator.base_url())
            .with("POMBO__ENGINE__CONCURRENCY", "24")
            .with("POMBO__ENGINE__IN_FLIGHT", IN_FLIGHT.to_string())
            .with("POMBO__ENGINE__BLOCK_SIZE", "1000")
            .with("POMBO__RETRY__FIRST", "20ms");
        place.json("company create Acme");
        let key = place.json("key create --company Acme")["key"].as_str().unwrap().to_owned();
        let add = format!(
            "channel add-business --company Acme --name Sales --phone-number 15550783881 \
             --phone-number-id {NUMBER} --waba-id 102290129340398 --tier unlimited --token-file -"
        );
        let channel = place.json_with("EAAG-good", &add)["id"].as_str().unwrap().to_owned();
        let rows: String = (0..CONTACTS).map(|row| format!("Ana {row},+55 11 9{:08}\n", row * 7)).collect();
        place.write("contacts.csv", &format!("first_name,phone_number\n{rows}"));
        let imported = place.json("contacts import contacts.csv --company Acme --tag everyone");
        assert_eq!(imported["created"], CONTACTS);
        Self { place, simulator, key, channel, tag: String::new() }
    }

    /// Starts the program and waits for its address.
    async fn serve(&mut self) -> (Child, String) {
        let mut child = self.place.command("serve --json").spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let started: Value = serde_json::from_str(&first).unwrap_or_default();
        let url = started["base_url"].as_str().unwrap_or_else(|| panic!("no address: {first}")).to_owned();
        if self.tag.is_empty() {
            let tags: Value = self.client(&url, "/api/v1/contacts/tags").await;
            self.tag = tags["data"][0]["id"].as_str().unwrap().to_owned();
        }
        (child, url)
    }

    async fn client(&self, url: &str, path: &str) -> Value {
        let request = reqwest::Client::new().get(format!("{url}{path}")).bearer_auth(&self.key);
        request.send().await.unwrap().json().await.unwrap()
    }

    async fn send(&self, url: &str) -> (u16, Value) {
        let answer = reqwest::Client::new()
            .post(format!("{url}/api/v1/chat/{}/messages", self.channel))
            .bearer_auth(&self.key)
            .json(&json!({ "type": "text", "message": "hi", "contact_tag_id": self.tag }))
            .send()
            .await
            .unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    fn figures(&self) -> (u64, u64) {
        let figures = self.simulator.number(NUMBER).unwrap();
        (figures.messages, figures.unique_recipients)
    }
}

async fn a_service_killed_in_mid_send_loses_nothing_and_repeats_at_most_what_was_in_flight(
    universe: &Universe,
) {
    let mut serving = Serving::new(universe).await;
    let (mut child, url) = serving.serve().await;
    let (status, answer) = serving.send(&url).await;
    assert_eq!((status, &answer["recipients_count"]), (202, &json!(CONTACTS)));
    for kill in 1..=KILLS {
        let enough = kill * CONTACTS / (KILLS + 2);
        until("messages before the kill", async || serving.figures().1 >= enough).await;
        child.kill().unwrap();
        child.wait().unwrap();
        (child, _) = serving.serve().await;
    }
    until("every recipient reached", async || serving.figures().1 == CONTACTS).await;
    until("the send finished", async || universe.store.channels_with_work().await.unwrap().is_empty()).await;
    let (messages, recipients) = serving.figures();
    assert_eq!(recipients, CONTACTS);
    assert!(messages - recipients <= KILLS * IN_FLIGHT, "{messages} messages to {recipients} recipients");
    child.kill().unwrap();
    child.wait().unwrap();
    serving.simulator.stop().await;
}

async fn a_second_service_on_the_same_database_is_refused(universe: &Universe) {
    let mut serving = Serving::new(universe).await;
    let (mut child, _) = serving.serve().await;
    let second = serving.place.run("serve --json");
    assert_eq!(second.code, Some(1));
    assert!(second.stderr.contains("another `pombo serve`"), "{}", second.stderr);
    child.kill().unwrap();
    child.wait().unwrap();
    serving.simulator.stop().await;
}
