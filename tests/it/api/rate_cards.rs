//! Rate cards that operators list, upload and remove.

use reqwest::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::Answer;

const PLACE: &str = "/operator/v1/rate-cards";
const CARD: &str = "# date: 2026-10-01\n# currency: EUR\n# source: a contract\n\
    Market,Countries,Marketing,Utility,Authentication\nBrazil,BR,0.05,0.0056,n/a\n";

async fn ask(world: &World, method: Method, path: &str, body: Value) -> Answer {
    let request = world.service.request(method, path).bearer_auth(&world.operator).body(body.to_string());
    Answer::to(request).await
}

async fn listed(world: &World) -> Value {
    world.service.get(PLACE, &world.operator).await.json()["data"].take()
}

#[tokio::test]
async fn a_rate_card_is_tried_uploaded_and_removed() {
    let world = World::new().await;
    let shipped = listed(&world).await;
    let [card] = &shipped.as_array().unwrap()[..] else { panic!("{shipped}") };
    assert_eq!(
        (&card["date"], &card["currency"], &card["markets"], &card["uploaded_at"]),
        (&json!("2026-10-01"), &json!("USD"), &json!(47), &Value::Null)
    );
    let tried = ask(&world, Method::POST, &format!("{PLACE}?dry_run=true"), json!({"csv": CARD})).await;
    assert_eq!(tried.status, 200, "{}", tried.body);
    let marketing = json!({"market": "Brazil", "category": "marketing", "old": "0.0625", "new": "0.05"});
    let difference = tried.json()["difference"].as_array().unwrap().clone();
    assert_eq!(difference[0], marketing, "{}", tried.body);
    assert!(difference.iter().any(|change| change["market"] == "India" && change["new"] == Value::Null));
    assert_eq!(listed(&world).await, shipped, "a dry run changes nothing");

    let wrong = json!({"csv": CARD.replace("0.05,", "five,").replace("BR", "XX")});
    let refused = ask(&world, Method::POST, PLACE, wrong).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("invalid_field")), "{}", refused.body);
    for fault in ["line 5: `five` is no price", "line 5: `XX` is no country"] {
        assert!(refused.body.contains(fault), "{}", refused.body);
    }

    let added = ask(&world, Method::POST, PLACE, json!({"csv": CARD})).await;
    assert_eq!((added.status, &added.json()["dry_run"]), (201, &json!(false)), "{}", added.body);
    let cards = listed(&world).await;
    let [card] = &cards.as_array().unwrap()[..] else { panic!("it is in the shipped one's place: {cards}") };
    assert_eq!((&card["currency"], &card["source"]), (&json!("EUR"), &json!("a contract")));
    assert!(card["uploaded_at"].is_string() && card["csv"].as_str().unwrap().contains("Brazil,BR,0.05,"));
    let path = "/operator/v1/changes?what=rate_card&subject=2026-10-01";
    let change = world.service.get(path, &world.operator).await.json()["data"][0].take();
    assert_eq!((&change["who"], &change["after"]["currency"]), (&json!("ana"), &json!("EUR")), "{change}");
    assert!(change["after"]["prices"].to_string().contains("Brazil, marketing: 0.0625 to 0.05"), "{change}");

    assert_eq!(ask(&world, Method::DELETE, &format!("{PLACE}/2026-10-01"), json!({})).await.status, 204);
    assert_eq!(listed(&world).await, shipped);
    for gone in ["2026-10-01", "yesterday"] {
        let refused = ask(&world, Method::DELETE, &format!("{PLACE}/{gone}"), json!({})).await;
        assert_eq!((refused.status, refused.code().as_deref()), (404, Some("rate_card_not_found")), "{gone}");
    }
}
