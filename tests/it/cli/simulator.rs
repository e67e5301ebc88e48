//! The simulated provider as a command: its options, and questions to one that runs.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::child::OwnedChild;
use crate::program::Place;

const ACCOUNTS: &str = r#"{"accounts": [{"waba_id": "1001", "tokens": ["T-1"], "numbers": [
    {"phone_number_id": "2001", "display_phone_number": "+1 555 000 2001", "written_by": ["999900000001"]}
]}]}"#;

/// A running simulator.
struct Running {
    #[expect(dead_code, reason = "ends with its value")]
    child: OwnedChild,
    url: String,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = OwnedChild::spawn(command.arg("--end-with-input").stderr(Stdio::null()));
        let first: Value = serde_json::from_str(&child.first_line()).unwrap();
        Self { child, url: first["base_url"].as_str().unwrap().to_owned() }
    }

    /// The code of the refusal of a text from the number `2001`; 0 is an acceptance.
    async fn send(&self, token: &str, number: &str, to: &str) -> u64 {
        let body =
            json!({ "messaging_product": "whatsapp", "to": to, "type": "text", "text": { "body": "hi" } });
        let post = reqwest::Client::new().post(format!("{}/v26.0/{number}/messages", self.url));
        let answer: Value = post.bearer_auth(token).json(&body).send().await.unwrap().json().await.unwrap();
        answer["error"]["code"].as_u64().unwrap_or_default()
    }
}

#[actix_web::test]
async fn accounts_scripts_and_limits_are_options() {
    let place = Place::new();
    place.write("accounts.json", ACCOUNTS);
    place.write(
        "script.json",
        r#"{"match": {"to": "999900000001"}, "times": 1, "outcome": {"error": {"code": 131000}}}"#,
    );
    let line = "simulator --port 0 --json --accounts accounts.json --only-accounts --script script.json --window --pair \
                --latency p50=1ms,p99=2ms";
    let running = Running::start(place.command(line));
    assert_eq!(running.send("nobody", "2001", "+999900000001").await, 190);
    assert_eq!(running.send("T-1", "2002", "+999900000001").await, 100);
    assert_eq!(running.send("T-1", "2001", "+999900000002").await, 131_047, "the person never wrote");
    assert_eq!(running.send("T-1", "2001", "+999900000001").await, 131_000, "the script refuses once");
    let mut codes = Vec::new();
    for _ in 0..45 {
        codes.push(running.send("T-1", "2001", "+999900000001").await);
    }
    assert!(codes.contains(&131_056) && codes[0] == 0, "the limit for one recipient: {codes:?}");

    for (wrong, words) in [
        ("simulator --only-accounts", "--accounts"),
        ("simulator --webhook http://127.0.0.1:1/", "--app-secret-file"),
        ("simulator --accounts none.json", "none.json"),
        ("simulator --port 0 --script accounts.json", "script"),
    ] {
        let run = place.run(wrong);
        assert!(run.code != Some(0) && run.stderr.contains(words), "{wrong}: {run:?}");
    }
}

#[actix_web::test]
async fn a_running_simulator_is_asked_and_told() {
    let place = Place::new();
    let running = Running::start(place.command("simulator --port 0 --json"));
    let at = &running.url;
    let empty = place.run(&format!("simulator messages --at {at}"));
    assert!(empty.stdout.contains("no message was accepted yet"), "{empty:?}");
    for to in ["+999900000001", "+999900000001", "+999900000002"] {
        assert_eq!(running.send("T-1", "2001", to).await, 0);
    }
    let numbers = place.json(&format!("simulator numbers --at {at}"));
    assert_eq!((&numbers[0]["messages"], &numbers[0]["unique_recipients"]), (&json!(3), &json!(2)));
    let table = place.run(&format!("simulator numbers --at {at}"));
    assert!(table.stdout.contains("MOST IN A SECOND") && table.stdout.contains("2001"), "{table:?}");
    let newest = place.json(&format!("simulator messages --limit 1 --at {at}"));
    assert_eq!(newest[0]["to"], "999900000002");
    let recipients = place.run(&format!("simulator recipients 2001 --above 1 --at {at}"));
    assert!(
        recipients.stdout.contains("999900000001") && recipients.stdout.contains("recipients in all: 1"),
        "{recipients:?}"
    );
    let timeline = place.run(&format!("simulator timeline 2001 --at {at}"));
    assert!(timeline.stdout.contains("BY TENTH"), "{timeline:?}");
    place.write("accounts.json", ACCOUNTS.replace("2001", "2009").as_str());
    place.json(&format!("simulator accounts accounts.json --at {at}"));
    place.write("script.json", r#"{"outcome": {"error": {"code": 131000}}}"#);
    place.json(&format!("simulator script script.json --at {at}"));
    assert_eq!(running.send("T-1", "2009", "+999900000001").await, 131_000);
    let webhooks = place.run(&format!("simulator webhooks --at {at}"));
    assert!(webhooks.stdout.contains("statuses delivered"), "{webhooks:?}");
    place.json(&format!("simulator reset --at {at}"));
    assert_eq!(place.json(&format!("simulator numbers --at {at}")), json!([]));

    place.write("script.json", r#"{"surprise": 1}"#);
    let refused = place.run(&format!("simulator script script.json --at {at}"));
    assert!(refused.code == Some(1) && refused.stderr.contains("surprise"), "{refused:?}");
    let nobody = place.run("simulator numbers --at http://127.0.0.1:1");
    assert!(nobody.code == Some(1) && nobody.stderr.contains("pombo simulator"), "{nobody:?}");
}
