//! Files with people's data that only their owner may read, and keys that go only to the service.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::child::OwnedChild;
use crate::media::host::Host;
use crate::program::Place;
use crate::running::until;

const ROWS: &str = "first_name,phone_number\nAna,+5511988887777\nBob,12\n";

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn files_with_people_s_data_are_their_owner_s_alone_in_a_shared_directory() {
    let place = Place::new();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let created = place.run("company create Acme");
    assert!(created.stderr.contains(&format!("run `chmod 700 {}`", "data")), "{created:?}");
    place.write("people.csv", ROWS);
    // A file of an earlier version, readable by everybody.
    place.write("people.rejects.csv", "");
    fs::set_permissions(place.path().join("people.rejects.csv"), Permissions::from_mode(0o644)).unwrap();
    place.json("contacts import people.csv --company Acme");
    place.json("contacts export --company Acme --output out.csv");
    for file in ["data/pombo.db", "data/secret.key", "people.rejects.csv", "out.csv"] {
        assert_eq!(mode(&place.path().join(file)), 0o600, "{file}");
    }
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
    let listed = place.run("company list");
    assert!(!listed.stderr.contains("chmod"), "{listed:?}");
}

/// A proxy that does not answer, and keeps the beginning of each request.
struct Proxy {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&asked);
        // The thread ends with the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut first = String::new();
                let _ = BufReader::new(stream).read_line(&mut first);
                kept.lock().unwrap().push(first);
            }
        });
        Self { address, asked }
    }

    /// The place's environment names it for everything, as an operator's shell may do.
    fn before(&self, place: Place) -> Place {
        let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
        names.into_iter().fold(place, |place, name| place.with(name, &self.address))
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[test]
fn a_key_is_not_handed_to_a_proxy_of_the_environment() {
    let proxy = Proxy::start();
    let place = proxy.before(Place::new());
    place.json("company create Acme");
    let channel = place.json("channel add-web --company Acme --name Phone");
    // Nothing listens there: without the proxy there is no answer, and with the proxy the key would have gone
    // to it.
    let url = "http://127.0.0.1:1";
    let pairing = place.run(&format!("channel pair {} --url {url}", channel["id"].as_str().unwrap()));
    assert_eq!(proxy.asked(), [""; 0]);
    assert_ne!(pairing.code, Some(0), "{pairing:?}");
    assert!(pairing.stderr.contains("no service answers"), "{pairing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_a_service_nor_its_simulator_phone_or_load_test_asks_a_proxy_of_the_environment() {
    let proxy = Proxy::start();
    let place = proxy.before(Place::new());
    let mut demo =
        OwnedChild::spawn(&mut place.command("demo --port 0 --json --contacts 20 --end-with-input"));
    let first = demo.first_line();
    assert_eq!(proxy.asked(), [""; 0], "by the service");
    let said: Value = serde_json::from_str(&first).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (url, simulator) = (text(&said["base_url"]), text(&said["simulator_url"]));
    let key = text(&said["companies"][0]["api_key"]);

    let phone = place.run("demo phone --json");
    assert_eq!(proxy.asked(), [""; 0], "by the phone");
    assert_eq!(phone.code, Some(0), "{phone:?}");

    let service = format!("loadtest --url {url} --key {key} --simulator {simulator} --channel Sales");
    let loaded = place.run(&format!("{service} --tag everyone --duration 1s --single-rate 5/s --json"));
    assert_eq!(proxy.asked(), [""; 0], "by the load test");
    let report: Value = serde_json::from_str(&loaded.stdout).unwrap_or_else(|_| panic!("{loaded:?}"));
    assert_eq!(report["balance"]["lost"], 0, "{report}");

    let receiver = Host::body("", b"").await;
    // Another test may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    let channels = said["companies"][0]["channels"].as_array().unwrap();
    let sales = channels.iter().find(|channel| channel["name"] == "Sales").unwrap();
    let webhook = json!({
        "phone_number_id": sales["phone_number_id"],
        "url": receiver.link("/"),
        "app_secret": "secret",
        "sent_after": "0s",
    });
    let aimed = client.post(format!("{simulator}/_sim/webhook")).json(&webhook).send().await.unwrap();
    assert_eq!(aimed.status(), 200);
    let sales = text(&sales["id"]);
    let message = json!({"type": "text", "phone_number": "+999 900 000 004", "message": "x"});
    let send = client.post(format!("{url}/api/v1/chat/{sales}/messages")).bearer_auth(&key).json(&message);
    assert!(send.send().await.unwrap().status().is_success());
    until("a receipt", async || receiver.connections() > 0 || !proxy.asked().is_empty()).await;
    assert_eq!(proxy.asked(), [""; 0], "by the simulator");
}

#[test]
fn the_provider_is_asked_through_the_proxy_of_the_configuration_and_no_other() {
    let (named, other) = (Proxy::start(), Proxy::start());
    // Nothing listens at the provider's address.
    let place = other.before(Place::new()).with("POMBO__CLOUD_API__BASE_URL", "http://127.0.0.1:1");
    place.json("company create Acme");
    let channel = "channel add-business --company Acme --name Sales --phone-number +999~100~000 --waba-id 20 \
                   --phone-number-id 30 --token-file -";
    let channel = place.json_with("a-token", channel);
    let sync = format!("template sync --channel {}", channel["id"].as_str().unwrap());
    assert_eq!(place.run(&sync).code, Some(1));
    assert_eq!(other.asked(), [""; 0]);

    let place = place.with("POMBO__NETWORK__PROXY", &named.address);
    assert_eq!(place.run(&sync).code, Some(1));
    let asked = named.asked();
    assert!(asked.iter().any(|first| first.starts_with("GET http://127.0.0.1:1/")), "{asked:?}");
    assert_eq!(other.asked(), [""; 0]);
}
