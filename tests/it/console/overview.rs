//! Waiting sends, the time since they wait, and the effect of another tier.

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};
use serde_json::json;

use super::browser::value_of;
use super::operator::with_tiers;
use super::world::World;

/// A send to some people through a channel of acme whose provider does not answer; its id.
async fn waiting_send(world: &World) -> String {
    let channel =
        world.service.channel(&world.acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let numbers: Vec<_> = (0..500).map(|number| format!("55119{:08}", number)).collect();
    let body = json!({ "type": "text", "message": "hello", "phone_number": numbers }).to_string();
    let sent = world.service.post(&format!("/api/v1/chat/{channel}/messages"), &world.acme.key, body).await;
    assert_eq!(sent.status, 202, "{}", sent.body);
    sent.json()["send_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_overview_shows_waiting_sends_to_their_company_alone() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    assert!(owner.page("/console").await.contains("this company needs a channel"));
    let send = waiting_send(&world).await;
    let other = world.outsider().await;
    assert!(other.page("/console").await.contains("this company needs a channel"));
    let fresh = world.member_of(world.acme.id, Role::Viewer, "zone@acme.example").await;
    // In a time zone of its own, so that a page that was just cached for others is not shown.
    fresh.post("/console/account/profile", &[("name", "Z"), ("time_zone", "Asia/Kathmandu")]).await;
    let page = fresh.page("/console").await;
    for shown in ["in 1 send", &format!("/console/sends/{send}"), ">500<", "connected"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let operator = world.operator().await.page("/console/operator").await;
    let slow = operator.split("id=\"slow\"").nth(1).unwrap();
    assert!(slow.contains("<bdi>shop</bdi>") && slow.contains("<bdi>acme</bdi>"), "{slow}");
}

#[tokio::test]
async fn a_tier_shows_the_end_of_running_sends_before_and_after() {
    let world = World::new().await;
    with_tiers(&world).await;
    let send = waiting_send(&world).await;
    let operator = world.operator().await;
    let place = "/console/operator/tiers/standard";
    let seen = value_of(&operator.page(place).await, "seen").unwrap();
    let fields =
        [("messages_per_second", "1/min"), ("step", "check"), ("seen", &seen), ("unknown_outcome", "resend")];
    let page = operator.post(place, &fields).await.body;
    let row =
        page.split(&send).nth(1).expect("the send that runs is not shown").split("</tr>").next().unwrap();
    let ends: Vec<_> = row.split("datetime=\"").skip(1).map(|end| end.split('"').next().unwrap()).collect();
    assert_eq!(ends.len(), 2, "{row}");
    assert!(ends[0] < ends[1], "500 messages at one a minute end later: {ends:?}");
    let other = world.service.store().tiers().find("standard").await.unwrap().unwrap().settings;
    assert!(other.contains("80/s"), "nothing is applied yet: {other}");
}
