//! The address and the secrets that an operator reads and sets for the provider's webhooks.

use serde_json::json;

use crate::program::Place;

#[tokio::test(flavor = "multi_thread")]
async fn the_address_the_verify_token_and_the_app_secret_of_a_webhook_are_one_command() {
    let place = Place::new();
    place.json("company create Acme");
    let line = "channel add-business --company Acme --name Shop --phone-number +5511988887777 --waba-id 20 \
                --phone-number-id 30 --token-file -";
    let channel = place.json_with("EAAG-token", line);
    let id = channel["id"].as_str().unwrap();

    let first = place.json(&format!("channel webhook {id}"));
    assert_eq!(first["path"], format!("/hooks/meta/{id}"));
    assert_eq!(first["verify_token"].as_str().unwrap().len(), 64);
    assert_eq!(first["has_app_secret"], json!(false));
    let advice = place.run(&format!("channel webhook {id}")).stdout;
    assert!(advice.contains("--app-secret-file FILE"), "{advice}");
    // Without the public address, the command says that it is missing.
    assert!(first["callback_url"].is_null() && advice.contains("set server.public_url"), "{advice}");
    let place = place.with("POMBO__SERVER__PUBLIC_URL", "https://pombo.example/");
    let whole = format!("https://pombo.example/hooks/meta/{id}");
    // A channel is named by its name, too.
    assert_eq!(place.json("channel webhook Shop")["callback_url"], whole);
    assert!(place.run(&format!("channel webhook {id}")).stdout.contains(&whole));

    let given = place.json_with("very-secret", &format!("channel webhook {id} --app-secret-file -"));
    assert_eq!((&given["verify_token"], &given["has_app_secret"]), (&first["verify_token"], &json!(true)));
    let shown = place.run(&format!("channel webhook {id}"));
    assert!(shown.stdout.contains("webhooks that it does not sign are refused"), "{shown:?}");
    assert!(!shown.stdout.contains("very-secret"));

    let web = place.json("channel add-web --company Acme --name Phone");
    let refused = place.run(&format!("channel webhook {}", web["id"].as_str().unwrap()));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("is a web session"), "{}", refused.stderr);
}
