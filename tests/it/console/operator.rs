//! The operators' pages: health, companies, tiers, the record of changes.

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};
use pombo::domain::tier;
use pombo::store::changes::Who;

use super::browser::value_of;
use super::world::World;

pub(crate) async fn with_tiers(world: &World) {
    let tiers = tier::parse(tier::BUILT_IN).unwrap();
    let documents: Vec<_> =
        tiers.iter().map(|tier| (tier.name.clone(), serde_json::to_string(tier).unwrap())).collect();
    world.service.store().tiers().apply(&Who::Pombo, &documents).await.unwrap();
}

#[tokio::test]
async fn operators_see_companies_and_channels_of_all_and_add_a_company() {
    let world = World::new().await;
    with_tiers(&world).await;
    world.service.channel(&world.globex, Kind::WebSession, "phone <i>", Status::Disconnected).await;
    let operator = world.operator().await;
    let page = operator.page("/console/operator").await;
    for shown in
        ["<h1>Operator</h1>", "acme", "globex", "phone &lt;i&gt;", "disconnected", "Database answers in"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let taken = operator.post("/console/operator", &[("name", "acme"), ("tier", "standard")]).await;
    assert_eq!((taken.status, value_of(&taken.body, "name").as_deref()), (422, Some("acme")));
    let wrong = operator.post("/console/operator", &[("name", "new"), ("tier", "none")]).await;
    assert_eq!(wrong.status, 422);
    let added = operator.submit("/console/operator", &[("name", "initech"), ("tier", "standard")]).await;
    assert!(added.contains("The company “initech” is added."), "{added}");
    let owner = world.signed_in(Role::Owner).await;
    assert!(!owner.page("/console").await.contains("/console/operator"), "others do not see the way");
}

#[tokio::test]
async fn a_channel_is_put_under_a_tier_with_options_of_its_own_for_a_while() {
    let world = World::new().await;
    with_tiers(&world).await;
    let channel =
        world.service.channel(&world.globex, Kind::BusinessAccount, "till", Status::Connected).await;
    let operator = world.operator().await;
    let place = format!("/console/operator/channels/{}", channel.id);
    assert!(operator.page("/console/operator").await.contains(&place));
    let page = operator.page(&place).await;
    assert!(page.contains("till") && page.contains("globex") && !page.contains("web-new"), "{page}");
    let usual = [
        ("tier", "high"),
        ("own", "messages_per_second"),
        ("messages_per_second", "20"),
        ("messages_per_second_span", "s"),
        ("own", "quiet_hours"),
        ("quiet_hours", "21:00"),
        ("quiet_hours_to", "08:00"),
        ("quiet_hours_zone", "Europe/Madrid"),
        // It is not ticked.
        ("burst", "7"),
        ("until", "2999-01-01T10:00"),
    ];
    for (name, value, sentence) in [
        ("tier", "none", "Choose one of these."),
        ("messages_per_second", "fast", "Write a whole number from 1 to 1,000,000"),
        ("messages_per_second_span", "year", "Write a whole number from 1 to 1,000,000"),
        ("quiet_hours_to", "21:00", "Give two different times and a city"),
        ("until", "2020-01-01T10:00", ""),
        ("until", "soon", ""),
    ] {
        let fields = usual.map(|field| if field.0 == name { (name, value) } else { field });
        let wrong = operator.post(&place, &fields).await;
        assert_eq!(wrong.status, 422, "{name}: {}", wrong.body);
        assert!(wrong.body.contains(sentence), "{name}: {}", wrong.body);
        let kept = fields.iter().find(|field| field.0 == "messages_per_second").map(|field| field.1);
        assert_eq!(value_of(&wrong.body, "messages_per_second").as_deref(), kept, "{name}");
    }
    let fields = usual;
    let own = ["Messages at most: 20 a second", "Quiet hours: 21:00-08:00 Europe/Madrid"];
    let checked = operator.post(&place, &fields).await;
    let seen = value_of(&checked.body, "seen").unwrap();
    let apply = [&fields[..], &[("step", "apply"), ("seen", seen.as_str())]].concat();
    let set = operator.submit(&place, &apply).await;
    assert!(set.contains("The channel “till” is under the tier high."), "{set}");
    for shown in own.iter().chain(&["2999", "standard again"]) {
        assert!(set.contains(shown), "{shown}: {set}");
    }
    assert_eq!(
        value_of(&operator.page(&place).await, "until").as_deref(),
        Some("2999-01-01T10:00:00"),
        "a change of an option keeps the end"
    );
    let all = operator.page("/console/operator").await;
    assert!(own.iter().all(|shown| all.contains(shown)), "{all}");
    let stored = world.service.store().channels().find(channel.id).await.unwrap().unwrap();
    let line = "messages_per_second=20/s quiet_hours=21:00-08:00 Europe/Madrid";
    assert_eq!((stored.tier.as_str(), stored.own_options.line().as_str()), ("high", line));
    let nobody = format!("/console/operator/channels/{}", uuid::Uuid::nil());
    assert_eq!(operator.get(&nobody).await.status, 404);
    let owner = world.signed_in(Role::Owner).await;
    assert_eq!(owner.get(&place).await.status, 403);
}

/// The form of a tier with this pace.
fn paced<'a>(pace: &'a str, step: &'a str, seen: &'a str) -> [(&'a str, &'a str); 5] {
    [
        ("messages_per_second", pace),
        ("messages_per_second_span", "s"),
        ("step", step),
        ("seen", seen),
        ("unknown_outcome", "resend"),
    ]
}

#[tokio::test]
async fn a_tier_is_applied_only_after_its_difference_was_shown() {
    let world = World::new().await;
    with_tiers(&world).await;
    let operator = world.operator().await;
    let place = "/console/operator/tiers/standard";
    assert!(operator.page("/console/operator/tiers").await.contains(place));
    let page = operator.page(place).await;
    assert!(!page.contains(">Apply<") && page.contains("value=\"80\""), "{page}");
    assert!(!page.contains(">messages_per_second<"), "people read words: {page}");
    let seen = value_of(&page, "seen").unwrap();
    let change =
        async |step: &str, seen: &str, pace: &str| operator.post(place, &paced(pace, step, seen)).await;
    let wrong = change("check", &seen, "fast").await;
    assert_eq!((wrong.status, value_of(&wrong.body, "messages_per_second").as_deref()), (422, Some("fast")));
    assert!(wrong.body.contains("Write a whole number from 1 to 1,000,000"), "{}", wrong.body);
    let checked = change("check", &seen, "40").await;
    assert_eq!(checked.status, 200);
    for shown in [">Apply</button>", ">Messages at most<", "80 a second", "40 a second"] {
        assert!(checked.body.contains(shown), "{shown}: {}", checked.body);
    }
    let stale = change("apply", "1", "40").await;
    assert!(
        stale.status == 200 && stale.body.contains(">Apply</button>"),
        "a tier that changed is shown again"
    );
    let applied = change("apply", &seen, "40").await;
    assert_eq!((applied.status, applied.header("location")), (303, place));
    let page = operator.page(place).await;
    assert!(
        page.contains("The tier standard is changed.") && page.contains("user:operator@pombo.example"),
        "{page}"
    );
    let stored = world.service.store().tiers().find("standard").await.unwrap().unwrap().settings;
    assert!(stored.contains("\"40/s\""), "{stored}");
    assert_eq!(operator.get("/console/operator/tiers/none").await.status, 404);
}

#[tokio::test]
async fn the_record_is_filtered_by_kind_subject_person_and_time() {
    let world = World::new().await;
    with_tiers(&world).await;
    let operator = world.operator().await;
    world.signed_in(Role::Owner).await.post("/console/account/profile", &[("name", "Z")]).await;
    let all = operator.page("/console/operator/changes").await;
    assert!(all.contains("title=\"tier\">Tier<") && all.contains("title=\"company\">Company<"), "{all}");
    let tiers = operator.page("/console/operator/changes?what=tier&subject=high").await;
    assert!(
        tiers.contains("title=\"tier\">Tier<") && !tiers.contains("title=\"company\">Company<"),
        "{tiers}"
    );
    let shows = async |query: &str| {
        let page = operator.page(&format!("/console/operator/changes?{query}")).await;
        let rows = page.split("<tbody>").nth(1).unwrap_or_default().to_owned();
        ["pombo", "user:owner@acme.example"].map(|who| rows.contains(&format!(" title=\"{who}\"")))
    };
    assert_eq!(shows("who=pombo").await, [true, false]);
    for owner in ["Owner%40acme.example", "user%3Aowner%40acme.example"] {
        assert_eq!(shows(&format!("who={owner}")).await, [false, true], "{owner}");
        assert_eq!(shows(&format!("who={owner}&to=2020-01-01T00:00")).await, [false, false]);
        assert_eq!(
            shows(&format!("who={owner}&from=2020-01-01T00:00&to=2999-01-01T00:00")).await,
            [false, true]
        );
    }
    let who = Who::CommandLine("root".to_owned());
    let added = world.service.store().companies().add(&who, "Initech", "standard").await.unwrap().id;
    let page = operator.page("/console/operator/changes?who=cli%3Aroot").await;
    assert!(page.contains("<bdi>command line (root)</bdi>"), "{page}");
    assert!(page.contains(&format!("<bdi>Initech</bdi> <span class=\"soft\">{added}</span>")), "{page}");
    assert!(operator.page("/console/operator/changes?subject=nobody").await.contains("No matching change"));
    for odd in [
        "?what=%ff&page=x",
        "?from=yesterday&to=%00&who=%ff",
        "?from=9999-12-31T23:59&to=0001-01-01T00:00",
        "?page=99999999999999999999999999",
        "?subject=%00",
    ] {
        operator.page(&format!("/console/operator/changes{odd}")).await;
    }
}

#[tokio::test]
async fn a_tier_is_renamed_set_back_and_deleted_and_all_tiers_are_tried() {
    let world = World::new().await;
    with_tiers(&world).await;
    let operator = world.operator().await;
    let place = "/console/operator/tiers/high";
    let page = operator.page(place).await;
    for shown in [
        "0 channels and 0 companies use it.",
        "[high]\nkind = &quot;business_account&quot;",
        "Delete the tier",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!operator.page("/console/operator/tiers/standard").await.contains("Delete the tier"));
    let refused = operator.post("/console/operator/tiers/standard/delete", &[]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("use it."), "{}", refused.body);

    for (name, fault) in [("High", "small letters"), ("standard", "Another tier has this name")] {
        let refused = operator.post(&format!("{place}/rename"), &[("name", name)]).await;
        assert!(refused.status == 422 && refused.body.contains(fault), "{}", refused.body);
    }
    let renamed = operator.post(&format!("{place}/rename"), &[("name", "higher")]).await;
    let place = "/console/operator/tiers/higher";
    assert_eq!((renamed.status, renamed.header("location")), (303, place));
    let page = operator.page(place).await;
    assert!(page.contains("The tier is now called higher."), "{page}");

    // Going back shows what would change, and applies nothing by itself.
    let seen = value_of(&page, "seen").unwrap();
    assert_eq!(operator.post(place, &paced("5", "apply", &seen)).await.status, 303);
    let page = operator.page(place).await;
    let entries: Vec<_> = page.split("?entry=").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(entries.len(), 2, "{page}");
    let back = operator.page(&format!("{place}?entry={}", entries[1])).await;
    assert!(back.contains(">Apply</button>") && back.contains("value=\"1000\""), "{back}");
    let seen = value_of(&back, "seen").unwrap();
    assert_eq!(operator.post(place, &paced("1000", "apply", &seen)).await.status, 303);
    let stored = world.service.store().tiers().find("higher").await.unwrap().unwrap().settings;
    assert!(stored.contains("\"1000/s\""), "{stored}");
    let of_another = operator.get(&format!("/console/operator/tiers/standard?entry={}", entries[1])).await;
    assert_eq!(of_another.status, 404);

    for (asked, sentence) in [
        (
            "own=messages_per_second&messages_per_second=60&messages_per_second_span=s",
            "No bulk send runs under this tier now.",
        ),
        ("own=burst&burst=0", "Write a whole number from 1 to 1,000,000."),
        ("own=burst", "Fill this in."),
        ("own=warm_up&warm_up=40,20", "No tier can have these values together."),
    ] {
        let list = operator.page(&format!("/console/operator/tiers?{asked}")).await;
        assert!(list.contains(sentence), "{asked}: {list}");
    }
    let deleted = operator.post(&format!("{place}/delete"), &[]).await;
    assert_eq!((deleted.status, deleted.header("location")), (303, "/console/operator/tiers"));
    assert!(operator.page("/console/operator/tiers").await.contains("The tier higher is deleted."));
    assert_eq!(operator.get(place).await.status, 404);
}
