//! What a company sees of an endpoint whose sealing key is lost, and does about it.

use pombo::domain::webhook::Settings;

use super::*;
use crate::webhooks::sealed::add_sealed;

#[tokio::test]
async fn an_endpoint_whose_sealing_key_is_lost_says_so_until_its_parts_are_given_again() {
    let world = World::new().await;
    let settings = Settings::new(NO_RECEIVER);
    let id = add_sealed(world.service.store(), world.acme.id, settings, true).await;
    let path = format!("{PATH}/{id}");
    let shown = done(&world, Method::GET, &path, Value::Null).await;
    assert_eq!((&shown["unsealable"], &shown["header_names"]), (&json!(["secret", "headers"]), &Value::Null));
    assert_eq!((&shown["state"], &shown["failures"]), (&json!("enabled"), &json!(0)), "{shown}");
    let test = format!("{path}/test");
    let refused = ask(&world, Method::POST, &test, Value::Null).await;
    assert_eq!((refused.status, refused.code().as_deref()), (409, Some("webhook_unsealable")));
    assert!(refused.body.contains("rotate-secret") && refused.body.contains("PATCH"), "{}", refused.body);

    let given = json!({"headers": {"X-Team": "sales"}});
    let given = done(&world, Method::PATCH, &path, given).await;
    assert_eq!((&given["unsealable"], &given["header_names"]), (&json!(["secret"]), &json!(["x-team"])));
    done(&world, Method::POST, &format!("{path}/rotate-secret"), Value::Null).await;
    let whole = done(&world, Method::GET, &path, Value::Null).await;
    assert_eq!(whole["unsealable"], json!([]), "{whole}");
    let tested = done(&world, Method::POST, &test, Value::Null).await;
    assert_eq!(tested["is_delivered"], false, "nobody listens there: {tested}");
}
