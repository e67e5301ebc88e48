//! An operator's work, step by step.

use std::process::Stdio;

use serde_json::{Value, json};
use simulator::{Account, Number, Options, Seed, default_templates};

use crate::program::Place;

const BUSINESS: &str = "--company Acme --name Sales --phone-number +999~100 --waba-id 20 --token-file -";

#[test]
fn a_company_gets_keys_that_are_shown_once() {
    let place = Place::new();
    let company = place.json("company create Acme");
    assert_eq!(company["name"], "Acme");
    let id = company["id"].as_str().unwrap();
    assert_eq!(place.json("company list")[0]["id"], id);

    let key = place.json(&format!("key create --company {id} --name website --expires-in 90d"));
    let plain = key["key"].as_str().unwrap();
    assert!(plain.starts_with("pombo_") && plain.len() > 40, "{plain}");
    let listed = place.run("key list --company Acme");
    assert!(listed.stdout.contains("website") && !listed.stdout.contains(plain), "{}", listed.stdout);
    assert!(place.run("key create --company Acme").stdout.contains("shown only once"));

    let revoke = format!("key revoke {}", key["id"].as_str().unwrap());
    assert_eq!(place.run(&revoke).code, Some(0));
    let keys = place.json("key list");
    let statuses: Vec<_> = keys.as_array().unwrap().iter().map(|key| &key["status"]).collect();
    assert_eq!(statuses, ["valid", "revoked"]);
    assert_eq!(place.run(&revoke).code, Some(1), "a revoked key cannot be revoked again");
}

#[test]
fn a_company_s_country_is_set_and_left_to_the_guess_again() {
    let place = Place::new();
    assert_eq!(place.json("company create Acme")["country"], Value::Null);
    assert_eq!(place.json("company set-country Acme br")["country"], "BR");
    assert_eq!(place.json("company list")[0]["country"], "BR");
    let unknown = place.run("company set-country Acme Brazil");
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("two letters"), "{}", unknown.stderr);
    assert_eq!(place.run("company set-country Acme").code, Some(0));
    assert_eq!(place.json("company list")[0]["country"], Value::Null);
}

#[test]
fn a_channel_s_token_comes_from_standard_input_and_is_seen_nowhere() {
    let place = Place::new();
    place.json("company create Acme");
    let line = BUSINESS.replace("+999~100", "+55~11~98888-7777");
    let line = format!("channel add-business {line} --phone-number-id 30");
    let channel = place.json_with("EAAG-very-secret\n", &line);
    assert_eq!(channel["kind"], "business_account");
    assert_eq!((&channel["status"], &channel["tier"]), (&json!("connecting"), &json!("standard")));
    assert_eq!(channel["phone_number"], "+55 11 98888-7777");

    let again = place.run_with("EAAG-other", &line);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("channel with the phone number id 30 already"), "{}", again.stderr);

    let web = place.json("channel add-web --company Acme --name Phone");
    assert_eq!((&web["status"], &web["tier"]), (&json!("pairing"), &json!("web-new")));

    let id = channel["id"].as_str().unwrap();
    let run = place.run_with("EAAG-new-secret", &format!("channel reconnect {id} --token-file -"));
    assert!(run.stdout.contains("within a second"), "{run:?}");
    let shown = place.run(&format!("channel show {id}")).stdout + &place.run("channel list --json").stdout;
    assert!(shown.contains(id) && !shown.contains("secret"), "{shown}");
    for entry in std::fs::read_dir(place.path().join("data")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(4).any(|window| window == b"EAAG"), "the token is stored as it is");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_come_from_the_provider_and_its_refusal_says_what_to_do() {
    let account = Account {
        waba_id: "20".to_owned(),
        tokens: vec!["good-token".to_owned()],
        numbers: vec![Number::new("30", "+999 100")],
        templates: default_templates(),
    };
    let seed = Seed { accounts: vec![account] };
    let simulator = simulator::start(Options::default(), seed).await.unwrap();
    let place = Place::new().with("POMBO__CLOUD_API__BASE_URL", simulator.base_url());
    place.json("company create Acme");
    let line = BUSINESS.replace("+999~100", "+999~100~000");
    let channel = place.json_with("bad-token", &format!("channel add-business {line} --phone-number-id 30"));
    let id = channel["id"].as_str().unwrap();

    let refused = place.run(&format!("template sync --channel {id}"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains(&format!("pombo channel reconnect {id}")), "{}", refused.stderr);
    assert!(!refused.stderr.contains("bad-token"), "{}", refused.stderr);

    place.json_with("good-token", &format!("channel reconnect {id} --token-file -"));
    let synced = place.json(&format!("template sync --channel {id}"));
    let statuses = |templates: &Value| {
        let mut statuses: Vec<_> = templates
            .as_array()
            .unwrap()
            .iter()
            .map(|template| template["status"].as_str().unwrap().to_owned())
            .collect();
        statuses.sort_unstable();
        statuses
    };
    assert_eq!(statuses(&synced), ["APPROVED", "APPROVED", "APPROVED", "PAUSED", "PENDING", "REJECTED"]);
    assert_eq!(place.json("template list --company Acme"), synced);
    simulator.stop().await;
    let away = place.run(&format!("template sync --channel {id}"));
    assert!(away.stderr.contains("cloud_api.base_url"), "{}", away.stderr);
}

#[test]
fn contacts_come_in_with_tags_and_go_out_again() {
    let place = Place::new();
    place.json("company create Acme");
    place.write("people.csv", "Vorname,phone_number,Shoe size\nAna,+999 100 0001,38\nBea,,39\n");
    let import = "contacts import people.csv --company Acme --tag vip --tag new --map Vorname=first_name";
    let summary = place.json(import);
    assert_eq!(summary["ignored_columns"], json!(["Shoe size"]), "{summary}");
    let told = place.run(import).stdout;
    assert!(told.contains("1 column is not known and ignored: `Shoe size`"), "{told}");
    assert_eq!((&summary["created"], &summary["rejected"]), (&json!(1), &json!(1)));
    assert!(place.path().join(summary["rejects_file"].as_str().unwrap()).exists());
    assert_eq!(place.json(import)["updated"], 0);

    let export = place.run("contacts export --company Acme");
    assert!(export.stdout.contains("Ana") && export.stdout.contains("new;vip"), "{}", export.stdout);
    assert_eq!(place.json("contacts export --company Acme --output all.csv")["contacts"], 1);
    assert_eq!(std::fs::read_to_string(place.path().join("all.csv")).unwrap(), export.stdout);
}

#[test]
fn tiers_applied_from_a_file_show_what_changes() {
    let place = Place::new();
    place.json("migrate up");
    let tiers = place.json("tier list");
    assert!(tiers.as_array().unwrap().iter().any(|tier| tier["name"] == "standard"), "{tiers}");
    let tier = "[standard]\nkind = \"business_account\"\nmessages_per_second = \"40/s\"\n";
    place.write("tiers.toml", tier);
    let applied = place.run("tier apply tiers.toml");
    assert!(applied.stdout.contains("standard: messages_per_second 80/s → 40/s"), "{applied:?}");
    assert_eq!(place.json("tier show standard")["messages_per_second"], "40/s");
    assert_eq!(place.json("tier apply tiers.toml")["unchanged"], json!(["standard"]));

    place.write(
        "tiers.toml",
        "[a]\nkind = \"business_account\"\nmessages_per_second = \"fast\"\n[b]\nburst = 0",
    );
    let refused = place.run("tier apply tiers.toml");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("tier `a`") && refused.stderr.contains("tier `b`"), "{}", refused.stderr);
    assert_eq!(place.json("tier list").as_array().unwrap().len(), tiers.as_array().unwrap().len());
}

#[test]
fn the_schema_goes_back_only_when_told_how_far() {
    let place = Place::new().with("POMBO__DATABASE__MIGRATE", "false");
    let behind = place.run("company list");
    assert_eq!(behind.code, Some(1));
    assert!(behind.stderr.contains("pombo migrate up"), "{}", behind.stderr);

    let names = place.json("migrate up")["applied"].clone();
    let count = names.as_array().unwrap().len();
    assert!(count >= 4, "{names}");
    let newest = &names[count - 1];
    let unsure = place.run("migrate down");
    assert_eq!((unsure.code, unsure.stdout.as_str()), (Some(2), ""));
    let (steps, first) = (unsure.stderr.find("--steps N"), unsure.stderr.find(newest.as_str().unwrap()));
    assert!(steps.is_some() && steps < first, "{}", unsure.stderr);
    assert_eq!(place.json("migrate down --steps 1")["undone"], json!([newest]));
    let status = place.json("migrate status");
    assert_eq!((&status[0]["applied"], &status[count - 1]["applied"]), (&json!(true), &json!(false)));
    assert_eq!(place.json("migrate up")["applied"], json!([newest]));
    assert_eq!(place.json("company list"), json!([]));
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let place = Place::new();
    place.json("company create Acme");
    let mut child = place.command("tier list").stdin(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}
