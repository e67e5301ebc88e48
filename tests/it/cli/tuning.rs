//! Operators' keys, tiers that are tried and applied, and the record of changes.

use serde_json::{Value, json};

use crate::program::Place;

const TIER: &str = "[standard]\nkind = \"business_account\"\nmessages_per_second = \"40/s\"\nburst = 2\n";

fn whos(changes: &Value) -> Vec<&str> {
    changes.as_array().unwrap().iter().map(|change| change["who"].as_str().unwrap()).collect()
}

#[test]
fn an_operator_gets_a_key_that_is_shown_once_and_a_name_that_is_given_once() {
    let place = Place::new();
    place.json("migrate up");
    let ana = place.json("operator create ana --expires-in 90d");
    let plain = ana["key"].as_str().unwrap();
    assert!(plain.starts_with("pombo_op_") && plain.len() > 40, "{plain}");
    let shown = place.run("operator create bob").stdout;
    assert!(shown.contains("shown only once") && shown.contains("pombo_op_"), "{shown}");
    let listed = place.run("operator list").stdout + &place.run("operator list --json").stdout;
    assert!(listed.contains("ana") && listed.contains("valid") && !listed.contains(plain), "{listed}");

    assert_eq!(place.json("operator revoke ana"), json!({"name": "ana", "status": "revoked"}));
    let operators = place.json("operator list");
    let statuses: Vec<_> = operators.as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["revoked", "valid"]);
    for (line, code, words) in [
        ("operator revoke ana", 1, "operator list"),
        ("operator revoke bobb", 1, "did you mean `bob`?"),
        ("operator create ana", 1, "choose another name"),
        ("operator create cli:ana", 2, "no colon"),
        ("operator create pombo", 2, "is not pombo"),
        ("operator create ~", 2, "blank"),
    ] {
        let run = place.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{line}: {run:?}");
        assert!(run.stderr.contains(words), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_dry_run_prints_the_difference_and_changes_nothing() {
    let place = Place::new();
    place.json("migrate up");
    place.write("tiers.toml", TIER);
    let before = place.json("tier history --limit 1000");
    let tried = place.run("tier apply tiers.toml --dry-run");
    assert!(tried.stdout.contains("standard: messages_per_second 80/s → 40/s"), "{tried:?}");
    assert!(tried.stdout.contains("nothing was changed"), "{tried:?}");
    let told = place.json("tier apply tiers.toml --dry-run");
    assert_eq!(told["dry_run"], true);
    let pace = json!({"tier": "standard", "option": "messages_per_second", "old": "80/s", "new": "40/s"});
    assert!(told["changed"].as_array().unwrap().contains(&pace), "{told}");
    assert_eq!(place.json("tier show standard")["messages_per_second"], "80/s");
    assert_eq!(place.json("tier history --limit 1000"), before);

    place.write("tiers.toml", "[a]\nkind = \"fax\"\n");
    let refused = place.run("tier apply tiers.toml --dry-run");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert_eq!(place.run("tier history --limit 0").code, Some(2));
}

#[test]
fn the_history_says_who_changed_which_tier_and_how() {
    let place = Place::new();
    place.json("migrate up");
    place.write("tiers.toml", TIER);
    assert_eq!(place.json("tier apply tiers.toml")["dry_run"], false);
    let history = place.json("tier history --tier standard");
    assert_eq!(history.as_array().unwrap().len(), 2);
    assert!(whos(&history)[0].starts_with("cli:") && whos(&history)[1] == "pombo", "{history}");
    assert_eq!(history[0]["before"]["messages_per_second"], "80/s");
    assert_eq!((&history[0]["after"]["burst"], &history[1]["before"]), (&json!(2), &Value::Null));

    let shown = place.run("tier history --tier standard").stdout;
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 3, "{shown}");
    assert!(lines[0].starts_with("AT") && lines[2].trim_end().ends_with("new"), "{shown}");
    let description = "messages_per_second 80/s → 40/s, burst (not set) → 2";
    assert!(lines[1].contains(description) && lines[1].contains("cli:"), "{shown}");
    assert_eq!(place.json("tier history --limit 3").as_array().unwrap().len(), 3);
    let unknown = place.run("tier history --tier standrd");
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("did you mean `standard`?"), "{}", unknown.stderr);
}

#[test]
fn a_channel_is_put_under_another_tier_of_its_kind() {
    let place = Place::new();
    place.json("company create Acme");
    let web = place.json("channel add-web --company Acme --name Phone");
    let id = web["id"].as_str().unwrap();
    let moved = place.run(&format!("channel set-tier {id} web-warm"));
    assert!(moved.stdout.contains("web-new → web-warm"), "{moved:?}");
    assert_eq!(place.json(&format!("channel set-tier {id} web-warm"))["tier"], "web-warm");
    assert!(place.run(&format!("channel set-tier {id} web-warm")).stdout.contains("already"));

    let history = place.json("tier history --limit 2");
    let (first, second) = (&history[0], &history[1]);
    assert_eq!((&first["what"], &first["subject"]), (&json!("channel.tier"), &json!(id)));
    assert_eq!((&first["before"], &first["after"]), (&json!("web-new"), &json!("web-warm")));
    assert_eq!(second["what"], "tier");
    assert!(place.run("tier history --limit 1").stdout.contains("web-new → web-warm"));
    for (line, words) in [
        (format!("channel set-tier {id} standard"), "web-warm"),
        (format!("channel set-tier {id} web-wram"), "did you mean `web-warm`?"),
        (format!("channel set-tier {} web-warm", uuid::Uuid::nil()), "pombo channel list"),
    ] {
        let run = place.run(&line);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{line}: {run:?}");
        assert!(run.stderr.contains(words), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_channel_is_named_by_its_name_and_by_its_company_where_two_share_one() {
    let place = Place::new();
    for company in ["Acme", "Globex"] {
        place.json(&format!("company create {company}"));
        place.json(&format!("channel add-web --company {company} --name Shop~phone"));
    }
    let unique = place.json("channel add-web --company Acme --name Counter");
    assert_eq!(place.json("channel show Counter")["id"], unique["id"]);
    assert_eq!(place.json("channel set-tier Counter web-warm")["tier"], "web-warm");
    let history = place.run("tier history --limit 1").stdout;
    assert!(history.contains("Acme/Counter"), "{history}");

    let both = place.run("channel show Shop~phone");
    assert_eq!(both.code, Some(1), "{both:?}");
    for owned in ["Acme/Shop phone", "Globex/Shop phone"] {
        assert!(both.stderr.contains(owned), "{}", both.stderr);
    }
    let globex = place.json("channel show Globex/Shop~phone");
    assert_ne!(globex["company_id"], unique["company_id"]);
    assert_eq!(place.json(&format!("channel show {}", globex["id"].as_str().unwrap())), globex);
    let unknown = place.run("channel show Countr");
    assert!(unknown.stderr.contains("did you mean `Counter`?"), "{}", unknown.stderr);
}
