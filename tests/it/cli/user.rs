//! Users on the command line: added, invited, disabled, reset.

use serde_json::{Value, json};

use crate::program::Place;

#[test]
fn a_user_gets_a_password_from_standard_input_or_a_link() {
    let place = Place::new();
    place.json("company create Acme");
    let made = place.json_with(
        "correct horse battery\n",
        "user create Ana@Example.com --name Ana~Souza --operator --password-file -",
    );
    assert_eq!(
        (&made["email"], &made["status"], &made["is_operator"]),
        (&json!("ana@example.com"), &json!("active"), &json!(true))
    );
    assert_eq!(made.get("link"), None);

    let linked = place.json("user create bea@example.com --company Acme --role owner");
    assert_eq!((&linked["name"], &linked["status"]), (&json!("bea@example.com"), &json!("pending")));
    let link = linked["link"].as_str().unwrap();
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("/console/link/"), "{link}");

    let listed = place.json("user list");
    let emails: Vec<_> = listed.as_array().unwrap().iter().map(|user| &user["email"]).collect();
    assert_eq!(emails, ["ana@example.com", "bea@example.com"]);
    let table = place.run("user list").stdout;
    assert!(table.contains("Ana Souza") && !table.contains("horse") && !table.contains("argon2"), "{table}");

    for (line, input, code, says) in [
        ("user create ANA@example.com --operator", "", 1, "there is a user ana@example.com already"),
        ("user create carl@example.com", "", 2, "--company"),
        ("user create carl --operator", "", 2, "e-mail address"),
        ("user create carl@example.com --company Acme --role admin", "", 2, "owner, member, viewer, agent"),
        ("user create carl@example.com --company Amce", "", 1, "did you mean `Acme`"),
        ("user create carl@example.com --operator --password-file -", "short\n", 2, "at least 8 characters"),
        ("user create carl@example.com --operator --password-file -", "password1\n", 2, "easy to guess"),
        ("user create carl@example.com --company Acme --password-file -", "acme2024\n", 2, "easy to guess"),
    ] {
        let run = place.run_with(input, line);
        assert_eq!(run.code, Some(code), "{line}: {run:?}");
        assert!(run.stderr.contains(says), "{line}: {}", run.stderr);
    }
}

#[test]
fn a_user_is_invited_disabled_and_reset() {
    let place = Place::new();
    place.json("company create Acme");
    let invited = place.json("user invite bea@example.com --company Acme --role viewer");
    let said = place.run("user invite bea@example.com --company Acme");
    assert!(said.stdout.contains("/console/link/") && said.stdout.contains("valid once"), "{said:?}");
    assert!(invited["link"].is_string() && invited["expires_at"].is_string(), "{invited}");
    assert_eq!(place.json("user list"), json!([]), "nobody is there before the link is used");
    assert!(place.run("user list").stdout.contains("there are no users"));

    let public = Place::new().with("POMBO__SERVER__PUBLIC_URL", "https://pombo.example");
    public.json("migrate up");
    let link = public.json("user invite ana@example.com --operator")["link"].clone();
    assert!(link.as_str().unwrap().starts_with("https://pombo.example/console/link/"), "{link}");

    place.json_with("correct horse battery", "user create ana@example.com --operator --password-file -");
    let status = |line: &str| place.json(line)["status"].clone();
    assert_eq!(status("user disable ana@example.com"), "disabled");
    assert!(place.run("user disable ANA@example.com").stdout.contains("disabled before"));
    assert_eq!(status("user disable ana@example.com --undo"), "active");
    let reset = place.json("user reset ana@example.com --totp");
    assert_eq!((reset["totp"].clone(), reset["link"].is_string()), (json!(false), true));
    assert!(place.json("user reset ana@example.com")["link"].is_string());
    let unknown = place.run("user reset anna@example.com");
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("did you mean ana@example.com?"), "{unknown:?}");
}

#[test]
fn a_key_is_made_for_some_things_only() {
    let place = Place::new();
    place.json("company create Acme");
    let scopes = |line: &str| place.json(line)["scopes"].clone();
    let all = json!(["send", "read", "contacts", "control", "events", "inbox", "graph"]);
    assert_eq!(scopes("key create --company Acme"), all);
    assert_eq!(scopes("key create --company Acme --scope read,send"), json!(["send", "read"]));
    assert_eq!(
        scopes("key create --company Acme --scope read --scope contacts"),
        json!(["read", "contacts"])
    );
    let listed = place.json("key list");
    assert_eq!((&listed[1]["scopes"], &listed[1]["last_used_at"]), (&json!(["send", "read"]), &Value::Null));
    let refused = place.run("key create --company Acme --scope write");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("send, read, contacts, control, events"), "{}", refused.stderr);
}
