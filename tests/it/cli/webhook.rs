//! Operators see and change the webhook endpoints of companies.

use serde_json::{Value, json};

use crate::program::{Place, Run};

/// Where endpoints may be on this machine. No test sends anything to them.
fn place() -> Place {
    let place = Place::new()
        .with("POMBO__WEBHOOKS__ALLOW_NETWORKS", "127.0.0.0/8")
        .with("POMBO__WEBHOOKS__ALLOW_HTTP", "true");
    for company in ["Acme", "Globex"] {
        place.json(&format!("company create {company}"));
    }
    place
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// A command that has to be refused with this exit code, and with a sentence that has these words.
fn refused(place: &Place, line: &str, code: i32, words: &str) {
    let Run { code: exited, stdout, stderr } = place.run(line);
    assert_eq!((exited, stdout.as_str()), (Some(code), ""), "{line}: {stderr}");
    assert!(stderr.contains(words), "{line}: {stderr}");
}

#[test]
fn an_endpoint_is_added_changed_and_deleted_and_its_secret_is_shown_once() {
    let place = place();
    let empty = place.run("webhook list");
    assert!(empty.code == Some(0) && empty.stdout.contains("pombo webhook add --help"), "{empty:?}");
    let phone = text(&place.json("channel add-web --company Acme --name Phone")["id"]);

    let line = "webhook add http://127.0.0.1:9000/hook?token=t --company Acme --types send.*,message.failed \
                --channels Phone --headers-file - --batch 100 --mask-numbers";
    let mut added = place.json_with("Authorization: Bearer hidden\nX-Team: sales\n", line);
    let (id, secret) = (text(&added["id"]), text(&added["secret"]));
    assert!(secret.starts_with("whsec_"), "{added}");
    added.as_object_mut().unwrap().remove("secret");
    let expected = json!({
        "id": id, "url": "http://127.0.0.1:9000/hook?token=t", "channel_ids": [phone], "max_in_flight": 2, "batch": 100,
        "types": ["message.failed", "send.finished", "send.canceled", "send.expired"], "mask_numbers": true,
        "header_names": ["authorization", "x-team"], "unsealable": [], "state": "enabled", "disabled_reason": null, "disabled_since": null,
        "failures": 0, "failing_since": null, "retries": 0, "given_up": 0, "lost": 0, "waiting_since": null, "replay": null,
        "shape": "pombo", "profile": null, "set_for": null, "created_at": added["created_at"], "company_id": added["company_id"],
    });
    assert_eq!(added, expected);
    assert_eq!(place.json("webhook list"), json!([expected]));
    assert_eq!(place.json("webhook list --company Globex"), json!([]));
    assert_eq!(place.json(&format!("webhook show {id}")), expected);
    for line in ["webhook list".to_owned(), format!("webhook show {id}")] {
        let shown = place.run(&line).stdout;
        assert!(shown.contains(&id) && shown.contains("enabled") && !shown.contains("whsec_"), "{shown}");
        assert!(!shown.contains("hidden"), "{shown}");
    }
    assert_eq!(place.json(&format!("webhook deliveries {id}")), json!([]));

    let change =
        "--url http://127.0.0.1:9001/ --types message.* --max-in-flight 4 --mask-numbers=false --no-headers";
    let changed = place.json(&format!("webhook change {id} {change}"));
    assert_eq!((&changed["url"], &changed["batch"]), (&json!("http://127.0.0.1:9001/"), &json!(100)));
    assert_eq!((&changed["types"].as_array().unwrap().len(), &changed["max_in_flight"]), (&13, &json!(4)));
    assert_eq!((&changed["header_names"], &changed["mask_numbers"]), (&json!([]), &json!(false)));
    let reset = place.json(&format!("webhook change {id} --default-types --all-channels"));
    assert_eq!((&reset["channel_ids"], &reset["url"]), (&json!([]), &changed["url"]));
    assert!(reset["types"].as_array().unwrap().contains(&json!("webhook.disabled")), "{reset}");

    let rotated = place.json(&format!("webhook rotate-secret {id} --overlap 1h"));
    assert!(rotated["former_until"].is_string() && text(&rotated["secret"]) != secret, "{rotated}");
    let alone = place.json(&format!("webhook rotate-secret {id} --overlap 0s"));
    assert_eq!(alone["former_until"], Value::Null);

    assert_eq!(place.json(&format!("webhook delete {id}"))["status"], "deleted");
    refused(&place, &format!("webhook delete {id}"), 1, "`pombo webhook list`");
    assert_eq!(place.json("webhook list"), json!([]));
}

#[test]
fn an_endpoint_is_disabled_and_enabled_and_a_repetition_says_so() {
    let place = place();
    let added = place.json("webhook add http://127.0.0.1:9000/hook --company Acme");
    let id = text(&added["id"]);
    let disabled = place.json(&format!("webhook disable {id}"));
    assert_eq!((&disabled["state"], &disabled["disabled_reason"]), (&json!("disabled"), &json!("person")));
    let again = place.run(&format!("webhook disable {id}"));
    assert!(again.code == Some(0) && again.stdout.contains("is disabled already"), "{again:?}");
    for flag in ["", "--from-now"] {
        place.json(&format!("webhook disable {id}"));
        let enabled = place.json(&format!("webhook enable {id} {flag}"));
        assert_eq!((&enabled["state"], &enabled["disabled_since"]), (&json!("enabled"), &Value::Null));
    }
    assert!(place.run(&format!("webhook enable {id}")).stdout.contains("is enabled already"));
}

#[test]
fn events_are_sent_again_until_somebody_ends_it() {
    let place = place();
    let id = text(&place.json("webhook add http://127.0.0.1:9000/hook --company Acme")["id"]);
    let line = format!("webhook send-again {id} --failed --types send.* --since 2026-01-01T00:00:00Z");
    let replay = place.json(&line)["replay"].clone();
    assert_eq!((&replay["state"], &replay["finished_at"]), (&json!("failed"), &Value::Null));
    assert_eq!(replay["types"], json!(["send.finished", "send.canceled", "send.expired"]));
    refused(&place, &line, 1, &format!("pombo webhook send-again {id} --end"));
    assert!(place.run(&format!("webhook show {id}")).stdout.contains("sent again since"));
    for _ in 0..2 {
        assert_eq!(place.json(&format!("webhook send-again {id} --end"))["replay"], Value::Null);
    }
    refused(&place, &format!("webhook send-again {id} --since yesterday"), 2, "is not a time");
    let backwards =
        format!("webhook send-again {id} --since 2026-01-02T00:00:00Z --until 2026-01-01T00:00:00Z");
    refused(&place, &backwards, 2, "must be after since");
}

#[test]
fn settings_that_cannot_work_are_refused_with_a_remedy() {
    let place = place();
    let theirs = text(&place.json("channel add-web --company Globex --name Theirs")["id"]);
    let add = "webhook add http://127.0.0.1:9000/hook --company Acme";
    for (line, code, words) in [
        ("webhook add ftp://127.0.0.1/ --company Acme", 2, "must begin with https://"),
        ("webhook add https://10.0.0.7/ --company Acme", 2, "webhooks.allow_networks"),
        ("webhook add https://ana:secret@127.0.0.1/ --company Acme", 2, "must not contain a user name"),
        (&format!("{add} --types message.raed"), 2, "did you mean `message.read`?"),
        (&format!("{add} --types outbox.lost"), 2, "no type `outbox.lost`"),
        (&format!("{add} --batch 101"), 2, "from 1 to 100"),
        (&format!("{add} --headers-file gone"), 1, "cannot read gone"),
        (&format!("{add} --channels {theirs}"), 1, "is not one of Acme"),
        (&format!("{add} --channels Phoen"), 1, "there is no channel `Phoen`"),
        ("webhook add http://127.0.0.1:9000/hook --company Acmee", 1, "did you mean `Acme`?"),
        (&format!("webhook show {theirs}"), 1, "`pombo webhook list`"),
        (&format!("webhook enable {theirs}"), 1, "`pombo webhook list`"),
    ] {
        refused(&place, line, code, words);
    }
    assert_eq!(place.json("webhook list"), json!([]));
    let id = text(&place.json(add)["id"]);
    for (line, words) in [
        (format!("webhook change {id}"), "nothing to change"),
        (format!("webhook change {id} --types send.* --default-types"), "cannot be used with"),
        (format!("webhook rotate-secret {id} --overlap 8d"), "longer than 7 days"),
    ] {
        refused(&place, &line, 2, words);
    }
    for file in ["Host: x", "no colon", "x-a:"] {
        place.write("headers", file);
        refused(&place, &format!("{add} --headers-file headers"), 2, "header");
    }
}

#[test]
fn an_endpoint_whose_sealing_key_is_lost_says_what_to_do() {
    let key = |number: u8| format!("{number:02x}").repeat(32);
    let place = Place::new()
        .with("POMBO__WEBHOOKS__ALLOW_NETWORKS", "127.0.0.0/8")
        .with("POMBO__WEBHOOKS__ALLOW_HTTP", "true")
        .with("POMBO__SECRETS__KEY", key(1));
    place.json("company create Acme");
    let add = "webhook add http://127.0.0.1:9000/hook --company Acme --headers-file -";
    let id = text(&place.json_with("X-Team: sales\n", add)["id"]);
    // What a command prints that has another key.
    let other = |line: &str| {
        let output = place.command(line).env("POMBO__SECRETS__KEY", key(2)).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let show = || -> Value { serde_json::from_str(&other(&format!("webhook show {id} --json"))).unwrap() };
    let lost = show();
    assert_eq!((&lost["unsealable"], &lost["state"]), (&json!(["secret", "headers"]), &json!("enabled")));
    assert_eq!(lost["header_names"], Value::Null);
    let (listed, shown) = (other("webhook list"), other(&format!("webhook show {id}")));
    assert!(listed.contains("cannot unseal its secret, headers"), "{listed}");
    for words in ["set the sealing key back", &format!("pombo webhook rotate-secret {id}"), "--no-headers"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }

    let keys: Value = serde_json::from_str(&other("secrets list --json")).unwrap();
    let missing = keys.as_array().unwrap().iter().find(|key| key["state"] == "missing").unwrap();
    let forgotten = other(&format!("secrets forget {}", text(&missing["id"])));
    assert!(forgotten.contains("pombo webhook list"), "{forgotten}");
    other(&format!("webhook rotate-secret {id}"));
    assert_eq!(show()["unsealable"], json!(["headers"]));
    other(&format!("webhook change {id} --no-headers"));
    let whole = show();
    assert_eq!((&whole["unsealable"], &whole["header_names"]), (&json!([]), &json!([])));
}
