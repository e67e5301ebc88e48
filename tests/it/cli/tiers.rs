//! Tiers that are changed option by option, in an editor, by name, and back to an earlier state.

use serde_json::{Value, json};

use crate::program::Place;

fn acme() -> Place {
    let place = Place::new();
    place.json("company create Acme");
    place
}

fn refused(place: &Place, line: &str, code: i32, words: &str) {
    let run = place.run(line);
    assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{line}: {run:?}");
    assert!(run.stderr.contains(words), "{line}: {}", run.stderr);
}

#[test]
fn options_of_a_tier_are_set_and_the_others_stay() {
    let place = acme();
    let before = place.json("tier show standard-2k");
    let told = place.run("tier set standard-2k messages_per_second=40/s burst=2 description=For~tests");
    assert!(told.stdout.contains("standard-2k: messages_per_second 80/s → 40/s"), "{told:?}");
    assert!(told.stdout.contains("burst (not set) → 2"), "{told:?}");
    let mut expected = before.clone();
    expected["messages_per_second"] = json!("40/s");
    expected["burst"] = json!(2);
    expected["description"] = json!("For tests");
    assert_eq!(place.json("tier show standard-2k"), expected);
    assert_eq!(before["template_quota"], 2000);

    let tried = place.json("tier set standard-2k burst= template_quota=unlimited --dry-run");
    assert_eq!((&tried["dry_run"], &tried["sends"]), (&json!(true), &json!([])));
    assert_eq!(tried["changed"].as_array().unwrap().len(), 2);
    assert_eq!(place.json("tier show standard-2k"), expected);
    place.json("tier set web-new warm_up=5,10,20 daily_cap=40");
    assert_eq!(place.json("tier show web-new")["warm_up"], json!([5, 10, 20]));

    refused(&place, "tier set standrd burst=2", 1, "did you mean `standard`?");
    refused(&place, "tier set standard", 2, "OPTION=VALUE");
    refused(&place, "tier set standard burst", 2, "OPTION=VALUE");
    let faults = "tier set standard burts=2 messages_per_second=fast daily_cap=0";
    for words in ["`burts`; did you mean `burst`?", "write it like `messages_per_second=80/s`", "daily_cap"] {
        refused(&place, faults, 2, words);
    }
    refused(&place, "tier set standard kind=web_session", 2, "add another tier");
    assert_eq!(place.json("tier show standard-2k"), expected);
}

#[test]
fn a_tier_is_shown_as_a_file_that_changes_nothing_when_it_is_applied() {
    let place = acme();
    for tier in place.json("tier list").as_array().unwrap() {
        let name = tier["name"].as_str().unwrap();
        let file = place.run(&format!("tier show {name} --toml"));
        assert!(file.stdout.starts_with(&format!("[{name}]\nkind = ")), "{file:?}");
        place.write("one.toml", &file.stdout);
        assert_eq!(place.json("tier apply one.toml")["unchanged"], json!([name]));
    }
}

#[cfg(unix)]
#[test]
fn a_tier_is_changed_in_an_editor_and_nothing_that_was_written_is_lost() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = acme();
    let temporary = place.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let editor = |name: &str, script: &str| {
        place.write(name, &format!("#!/bin/sh\n{script}\n"));
        let path = place.path().join(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let left = || std::fs::read_dir(&temporary).unwrap().count();
    let edit = |editor: &str| {
        let mut command = place.command("tier edit standard");
        let output =
            command.env("TMPDIR", &temporary).env("EDITOR", editor).env_remove("VISUAL").output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
        )
    };
    // The second word is an argument of the editor, and the file comes after it.
    let slower = editor("slower", "sed -i \"s|80/s|$1/s|\" \"$2\"");
    let (code, said) = edit(&format!("{slower} 33"));
    assert!(code == Some(0) && said.contains("messages_per_second 80/s → 33/s"), "{said}");
    assert_eq!((place.json("tier show standard")["messages_per_second"].clone(), left()), (json!("33/s"), 0));

    let (code, said) = edit("true");
    assert!(code == Some(1) && said.contains("nothing was changed"), "{said}");
    let (code, said) = edit("false");
    assert!(code == Some(1) && said.contains("`false` failed"), "{said}");
    let (code, said) = edit("no-such-editor");
    assert!(code == Some(1) && said.contains("set EDITOR"), "{said}");
    assert_eq!(left(), 0);
    let wrong = editor("wrong", "echo 'burts = 2' >> \"$1\"");
    let (code, said) = edit(&wrong);
    assert!(
        code == Some(2) && said.contains("did you mean `burst`?") && said.contains("pombo tier apply"),
        "{said}"
    );
    assert_eq!(left(), 1, "the text of the person stays");
    let other = editor("other", "sed -i 's/^\\[standard\\]/[another]/' \"$1\"");
    let (code, said) = edit(&other);
    assert!(code == Some(2) && said.contains("pombo tier rename"), "{said}");
    // Somebody else is faster.
    let program = env!("CARGO_BIN_EXE_pombo");
    let late = editor("late", &format!("{program} tier set standard burst=7\nsed -i 's|33/s|1/s|' \"$1\""));
    let (code, said) = edit(&late);
    assert!(code == Some(2) && said.contains("meanwhile"), "{said}");
    let now = place.json("tier show standard");
    assert_eq!((&now["messages_per_second"], &now["burst"]), (&json!("33/s"), &json!(7)));
}

#[test]
fn a_tier_is_deleted_only_when_nobody_uses_it_and_comes_back() {
    let place = acme();
    place.json("company set-tier Acme web-warm");
    let channel =
        place.json("channel add-web --company Acme --name Phone")["id"].as_str().unwrap().to_owned();
    refused(
        &place,
        "tier delete web-warm",
        1,
        "is used by 1 channel (Phone) and 1 company (Acme); nothing was changed",
    );
    refused(&place, "tier delete web-wram", 1, "did you mean `web-warm`?");
    place.json("company set-tier Acme standard");
    refused(&place, "tier delete web-warm", 1, "is used by 1 channel (Phone); nothing");
    place.json(&format!("channel set-tier {channel} web-new"));
    let before = place.json("tier show web-warm");
    assert_eq!(place.json("tier delete web-warm"), json!({ "name": "web-warm", "deleted": true }));
    refused(&place, "tier show web-warm", 1, "there is no tier `web-warm`");
    let history = place.run("tier history --tier web-warm").stdout;
    assert!(history.contains("removed"), "{history}");

    let newest = place.json("tier history --tier web-warm")[0]["id"].as_str().unwrap().to_owned();
    refused(&place, &format!("tier rollback web-warm {newest}"), 1, "there was no tier `web-warm` then");
    assert_eq!(place.json("tier rollback web-warm")["added"], json!(["web-warm"]));
    assert_eq!(place.json("tier show web-warm"), before);
}

#[test]
fn a_renamed_tier_keeps_its_channels_and_companies() {
    let place = acme();
    let channel =
        place.json("channel add-web --company Acme --name Phone")["id"].as_str().unwrap().to_owned();
    place.json("company set-tier Acme web-new");
    let mut before = place.json("tier show web-new");
    let told = place.run("tier rename web-new fresh");
    assert!(told.stdout.contains("1 channel (Phone) and 1 company (Acme) with it"), "{told:?}");
    before["name"] = json!("fresh");
    assert_eq!(place.json("tier show fresh"), before);
    assert_eq!(place.json(&format!("channel show {channel}"))["tier"], "fresh");
    assert_eq!(place.json("company list")[0]["tier"], "fresh");
    for name in ["web-new", "fresh"] {
        let shown = place.run(&format!("tier history --tier {name}")).stdout;
        assert!(shown.contains("name web-new → fresh"), "{shown}");
    }
    refused(&place, "tier show web-new", 1, "no tier `web-new`");
    refused(&place, "tier rename fresh standard", 1, "choose another name");
    refused(&place, "tier rename fresh Fresh", 2, "small letters");
    refused(&place, "tier rename frsh other", 1, "did you mean `fresh`?");
}

#[test]
fn a_tier_goes_back_to_an_entry_of_its_history() {
    let place = acme();
    let first = place.json("tier show standard");
    for pace in ["70/s", "60/s", "50/s"] {
        place.json(&format!("tier set standard messages_per_second={pace}"));
    }
    let history = place.json("tier history --tier standard");
    let entry = |at: usize| history[at]["id"].as_str().unwrap().to_owned();
    let pace = || place.json("tier show standard")["messages_per_second"].clone();
    let tried = place.run(&format!("tier rollback standard {} --dry-run", entry(2)));
    assert!(tried.stdout.contains("messages_per_second 50/s → 70/s"), "{tried:?}");
    assert_eq!(pace(), "50/s");
    place.json(&format!("tier rollback standard {}", entry(2)));
    assert_eq!(pace(), "70/s");
    // Without an entry, the newest change is undone: here the rollback.
    place.json("tier rollback standard");
    assert_eq!(pace(), "50/s");
    place.json(&format!("tier rollback standard {}", entry(3)));
    assert_eq!(place.json("tier show standard"), first);
    let table = place.run("tier history --tier standard").stdout;
    assert!(table.contains(&entry(0)), "the table shows the ids that rollback takes: {table}");

    refused(&place, "tier rollback high", 1, "there was no tier `high` then");
    let foreign = format!("tier rollback high {}", entry(0));
    refused(&place, &foreign, 1, "has no such entry");
    refused(&place, "tier rollback none", 1, "there is no tier `none`");
    refused(&place, "tier rollback high nonsense", 2, "nonsense");
}

#[test]
fn a_company_s_tier_is_not_that_of_its_channels() {
    let place = acme();
    let channel =
        place.json("channel add-web --company Acme --name Phone")["id"].as_str().unwrap().to_owned();
    let set = place.run("company set-tier Acme web-warm");
    assert!(
        set.stdout.contains("company tier standard → web-warm") && set.stdout.contains("keep theirs"),
        "{set:?}"
    );
    assert_eq!(place.json(&format!("channel show {channel}"))["tier"], "web-new");
    let next = place.json("channel add-web --company Acme --name Next");
    assert_eq!(
        (&next["tier"], &place.json("company list")[0]["tier"]),
        (&json!("web-warm"), &json!("web-warm"))
    );
    assert!(place.run("company set-tier Acme web-warm").stdout.contains("already"));
    assert!(place.run("company list").stdout.starts_with("NAME"));
    assert_eq!(place.json("company create Beta --tier high")["tier"], "high");
    refused(&place, "company set-tier Acme hihg", 1, "did you mean `high`?");
    refused(&place, "company set-tier Acmee high", 1, "did you mean `Acme`?");
    let changes: Value = place.json("tier history --limit 100");
    assert!(changes.as_array().unwrap().iter().all(|change| change["what"] != "company"), "{changes}");
}

#[test]
fn a_channel_has_values_of_its_own_for_options_of_its_tier() {
    let place = acme();
    let channel =
        place.json("channel add-web --company Acme --name Phone")["id"].as_str().unwrap().to_owned();
    let show = || place.json(&format!("channel show {channel}"));
    assert_eq!(show()["own_options"], json!({}));
    let set = place.run(&format!(
        "channel set-tier {channel} web-new messages_per_second=2/min warm_up=5,10 --until 2999-01-01T00:00:00Z"
    ));
    let own = "messages_per_second=2/min warm_up=5,10";
    assert!(set.stdout.contains(&format!("web-new → web-new with {own} until 2999")), "{set:?}");
    assert_eq!(show()["own_options"], json!({ "messages_per_second": "2/min", "warm_up": [5, 10] }));
    assert_eq!(
        (&show()["tier_end"]["tier"], &show()["tier_end"]["own_options"]),
        (&json!("web-new"), &json!({}))
    );
    assert!(place.run(&format!("channel show {channel}")).stdout.contains(own));
    assert!(place.run("channel list").stdout.contains(&format!("web-new ({own})")));
    let newest = &place.json("tier history --limit 1")[0];
    assert!(newest["after"].as_str().unwrap().starts_with(&format!("web-new with {own} until ")), "{newest}");

    // For good, and then for a while: what was for good counts again.
    place.json(&format!("channel set-tier {channel} web-warm jitter=9s"));
    assert_eq!((&show()["own_options"], &show()["tier_end"]), (&json!({ "jitter": "9s" }), &Value::Null));
    place.json(&format!("channel set-tier {channel} web-new --for 1h"));
    assert_eq!(show()["tier_end"]["own_options"], json!({ "jitter": "9s" }));
    place.json(&format!("channel set-tier {channel} web-warm jitter=9s"));
    assert_eq!((&show()["own_options"], &show()["tier_end"]), (&json!({ "jitter": "9s" }), &Value::Null));

    for (options, fault) in [
        ("jiter=9s", "did you mean `jitter`?"),
        ("api_requests=5/s", "belongs to the tier"),
        ("template_quota=5", "is for business accounts"),
        ("warm_up=5,2", "must rise from day to day"),
        ("quiet_hours=21:00-08:00", "write it like `quiet_hours=21:00-08:00 Europe/Madrid`"),
        ("quiet_hours", "OPTION=VALUE"),
    ] {
        refused(&place, &format!("channel set-tier {channel} web-new {options}"), 2, fault);
    }
    assert_eq!(show()["own_options"], json!({ "jitter": "9s" }), "nothing was changed");
}

#[test]
fn a_channel_has_a_tier_for_a_while() {
    let place = acme();
    let channel =
        place.json("channel add-web --company Acme --name Phone")["id"].as_str().unwrap().to_owned();
    let show = || place.json(&format!("channel show {channel}"));
    assert_eq!((&show()["tier"], &show()["tier_end"]), (&json!("web-new"), &Value::Null));
    let set = place.run(&format!("channel set-tier {channel} web-warm --for 2h"));
    assert!(
        set.stdout.contains("web-new → web-warm until ") && set.stdout.contains(", then web-new"),
        "{set:?}"
    );
    assert_eq!((&show()["tier"], &show()["tier_end"]["tier"]), (&json!("web-warm"), &json!("web-new")));
    let history = place.run("tier history --limit 1").stdout;
    assert!(history.contains("web-new → web-warm until"), "{history}");

    // A later end, and the channel's own tier is the same.
    let until = "2999-01-01T00:00:00.000Z";
    place.json(&format!("channel set-tier {channel} web-warm --until {until}"));
    assert_eq!(show()["tier_end"], json!({ "tier": "web-new", "own_options": {}, "at": until }));
    assert!(
        place.run(&format!("channel set-tier {channel} web-warm --until {until}")).stdout.contains("already")
    );
    let shown = place.run(&format!("channel show {channel}")).stdout;
    assert!(shown.contains(&format!("{until}, then web-new")), "{shown}");
    assert_eq!(place.json("channel list")[0]["tier_end"]["tier"], "web-new");
    refused(&place, "tier delete web-new", 1, "is used by 1 channel (Phone)");
    place.json("tier rename web-new young");
    assert_eq!(show()["tier_end"]["tier"], "young");

    // For good.
    place.json(&format!("channel set-tier {channel} web-warm"));
    assert_eq!((&show()["tier"], &show()["tier_end"]), (&json!("web-warm"), &Value::Null));
    refused(&place, &format!("channel set-tier {channel} young --until 2020-01-01T00:00:00Z"), 2, "is over");
    refused(&place, &format!("channel set-tier {channel} young --for 2"), 2, "\"7d\"");
    refused(
        &place,
        &format!("channel set-tier {channel} young --for 2h --until {until}"),
        2,
        "cannot be used with",
    );
}
