//! First steps, alerts, the figures of the day and the week, waiting sends, and the effect of another tier.

use std::time::Duration;

use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::message::State as At;
use serde_json::json;

use super::browser::value_of;
use super::channels::becomes;
use super::operator::with_tiers;
use super::world::World;
use crate::api::past_send::Past;

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
    assert!(owner.page("/console").await.contains("Connect a number"));
    let send = waiting_send(&world).await;
    let other = world.outsider().await;
    assert!(!other.page("/console").await.contains(&send));
    let fresh = world.member_of(world.acme.id, Role::Viewer, "zone@acme.example").await;
    // In a time zone of its own, so that a page that was just cached for others is not shown.
    fresh.post("/console/account/profile", &[("name", "Z"), ("time_zone", "Asia/Kathmandu")]).await;
    let page = fresh.page("/console").await;
    for shown in ["in 1 send", &format!("/console/sends/{send}"), "to 500 recipients", "connected"] {
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
    let fields = [
        ("messages_per_second", "1"),
        ("messages_per_second_span", "min"),
        ("step", "check"),
        ("seen", &seen),
        ("unknown_outcome", "resend"),
    ];
    let page = operator.post(place, &fields).await.body;
    let row = page.split("<tr").find(|row| row.contains(&send)).expect("the send that runs is not shown");
    assert!(row.contains("<bdi>hello to 500 people</bdi>"), "people know it by its name: {row}");
    let ends: Vec<_> = row.split("datetime=\"").skip(1).map(|end| end.split('"').next().unwrap()).collect();
    assert_eq!(ends.len(), 2, "{row}");
    assert!(ends[0] < ends[1], "500 messages at one a minute end later: {ends:?}");
    let other = world.service.store().tiers().find("standard").await.unwrap().unwrap().settings;
    assert!(other.contains("80/s"), "nothing is applied yet: {other}");
}

#[tokio::test]
async fn a_new_company_is_told_its_first_steps_and_each_is_ticked_off_once_it_is_done() {
    let world = World::new().await;
    let (owner, viewer) = (world.signed_in(Role::Owner).await, world.signed_in(Role::Viewer).await);
    let page = owner.page("/console").await;
    for step in ["Connect a number", "Import your contacts", "Send a test"] {
        assert!(page.contains(step), "{step}: {page}");
    }
    assert!(
        page.contains("class=\"button\" href=\"/console/channels/new\"") && !page.contains(">done<"),
        "{page}"
    );
    let seen = viewer.page("/console").await;
    assert!(seen.contains("An owner of the company can add it"), "{seen}");
    assert!(
        !seen.contains("href=\"/console/channels/new\"") && !seen.contains("/console/sends/new"),
        "{seen}"
    );

    waiting_send(&world).await;
    let page = becomes(&owner, "/console", ">done<").await;
    assert_eq!(page.matches(">done<").count(), 2, "{page}");
    assert!(page.contains("class=\"button\" href=\"/console/contacts/import\""), "{page}");
    let ana = json!({ "contacts": [{ "phone_number": "+5511988887777", "first_name": "Ana" }] }).to_string();
    let added = world.service.post("/api/v1/contacts/batch", &world.acme.key, ana).await;
    assert_eq!(added.status, 200, "{}", added.body);
    let page = becomes(&owner, "/console", "id=\"first\"></div>").await;
    assert!(page.contains("class=\"button\" href=\"/console/sends/new\""), "{page}");
}

#[tokio::test]
async fn the_overview_counts_what_happened_today_and_in_the_last_week() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let shop = world.service.channel(&world.acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let states = [At::Read, At::Read, At::Delivered, At::Sent, At::Failed, At::Suppressed];
    let messages: Vec<_> = states.into_iter().map(|state| (state, None)).collect();
    let send = Past::text(&world.service, &world.acme, shop).with(&messages).await;
    let page = becomes(&viewer, "/console", "<dd>75%</dd>").await;
    let (today, week) = page.split_once("Last 7 days").unwrap();
    assert!(today.contains("<dt>Sent</dt><dd>0</dd>") && today.contains("<dd>—</dd>"), "{page}");
    let figures = "<dt>Sent</dt><dd>4</dd></div><div><dt>Delivered</dt><dd>75%</dd></div><div><dt>Read</dt><dd>50%</dd>\
                   </div><div><dt>Answered <a class=\"mark-help\" href=\"/console/help#message-answered\"";
    assert!(
        week.contains(figures) && week.contains("</dt><dd>0%</dd></div><div><dt>Failed</dt><dd>1</dd>"),
        "{week}"
    );
    let latest = page.split("id=\"latest\"").nth(1).unwrap();
    for shown in ["class=\"o-read\"", ">Read 2<", ">Failed 1<", &send.to_string()] {
        assert!(latest.contains(shown), "{shown}: {latest}");
    }
    let other = world.outsider().await.page("/console").await;
    assert!(!other.contains("75%") && !other.contains("Last 7 days"), "{other}");
}

#[tokio::test]
async fn failures_of_today_are_counted_by_cause_whatever_the_process_has_seen() {
    let world = World::new().await;
    let viewer = world.signed_in(Role::Viewer).await;
    let shop = world.service.channel(&world.acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let past = || Past::text(&world.service, &world.acme, shop);
    // Of these sends the process has nothing in memory, like one that just started.
    past().with(&[(At::Failed, Some(131_049))]).await;
    let now = Timestamp::now();
    past().that_began(now).with_failures(20_000).await;
    let few = [
        (At::Read, None),
        (At::Failed, Some(131_047)),
        (At::Failed, Some(131_026)),
        (At::Failed, None),
        (At::Suppressed, Some(131_050)),
    ];
    past().that_began(now).with(&few).await;
    let page = becomes(&viewer, "/console", "id=\"failures-heading\"").await;
    assert!(page.contains("<dt>Failed</dt><dd>2,003</dd>"), "{page}");
    let failures = page.split("id=\"failures-heading\"").nth(1).unwrap();
    let row = |words: &str| {
        let row = failures.split("<tr").find(|row| row.contains(words));
        row.unwrap_or_else(|| panic!("{words}: {failures}")).to_owned()
    };
    for (code, count) in [("131026", ">2,001<"), ("131047", ">1<"), ("No answer with a reason", ">1<")] {
        assert!(row(code).contains(count), "{code}: {failures}");
    }
    assert!(!failures.contains("131049") && !failures.contains("131050"), "{failures}");
    let other = world.outsider().await.page("/console").await;
    assert!(!other.contains("failures-heading"), "{other}");
}

#[tokio::test]
async fn what_needs_attention_is_told_first_and_keys_to_owners_alone() {
    let world = World::new().await;
    let (service, acme) = (&world.service, &world.acme);
    let kind = Kind::BusinessAccount;
    let lost = service.channel(acme, kind, "Shop 2", Status::Disconnected).await.id;
    service.channel(acme, kind, "Shop 1", Status::Connected).await;
    service
        .templates(
            acme,
            &[("sale", "en", "PAUSED"), ("offer", "en", "REJECTED"), ("welcome", "en", "APPROVED")],
        )
        .await;
    let day = Duration::from_secs(24 * 3_600);
    service.add_key(acme.id, "website", Some(Timestamp::now().plus(3 * day))).await;
    service.add_key(acme.id, "laptop", Some(Timestamp::now().plus(30 * day))).await;
    let owner = world.signed_in(Role::Owner).await;
    let page = owner.page("/console").await;
    let (alerts, rest) = page.split_once("id=\"alerts\"").unwrap().1.split_once("id=\"first\"").unwrap();
    for shown in [
        "Shop 2 is disconnected",
        &format!("/console/channels/{lost}"),
        "has paused the template sale (en)",
        "has rejected the template offer (en)",
        "The API key website expires soon",
    ] {
        assert!(alerts.contains(shown), "{shown}: {alerts}");
    }
    for quiet in ["Shop 1", "welcome", "laptop"] {
        assert!(!alerts.contains(quiet), "{quiet}: {alerts}");
    }
    assert!(!rest.contains("Shop 2 is disconnected"), "it is told once");
    let viewer = world.signed_in(Role::Viewer).await.page("/console").await;
    assert!(viewer.contains("Shop 2 is disconnected") && !viewer.contains("API key website"), "{viewer}");
    assert!(!world.outsider().await.page("/console").await.contains("Shop 2"));
}
