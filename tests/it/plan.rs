//! `pombo plan`, compared with the result of the send that it plans.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::inbound::WindowRule;
use pombo::store::changes::Who;
use reqwest::Method;
use serde_json::{Value, json};

use crate::database::{Universe, stores};
use crate::program::Place;
use crate::receipts::teller::Teller;
use crate::running::{NUMBER, Running, WABA, until};
use crate::scenarios::stage::{
    FIRST, limit, limits, operate, plain_template, put_tier, run_under, send_to, show, template,
    until_it_waits_for,
};

stores!(
    a_plan_tells_the_count_and_the_time_of_the_send_that_follows,
    a_plan_counts_the_used_quota_and_the_messages_that_wait_for_it,
    a_plan_counts_the_people_who_get_a_template_because_their_window_is_closed,
    a_plan_without_a_service_says_what_stands_in_the_way,
    active_sends_are_planned_under_changed_tiers,
    a_tier_is_renamed_during_a_send_without_a_moment_under_another_one,
    a_channel_has_a_tier_until_a_time_and_then_its_own_again,
);

const RATE: u64 = 100;
const CONTACTS: u64 = 120;

/// The program beside the service, on the same database.
fn beside(universe: &Universe) -> Place {
    Place::new().with("POMBO__DATABASE__URL", &universe.url)
}

fn tier<'a>(plan: &'a Value, name: &str) -> &'a Value {
    plan["tiers"].as_array().unwrap().iter().find(|tier| tier["tier"] == name).unwrap()
}

/// Runs the program, though the service works in this very thread.
async fn plan(place: &Place, line: &str) -> Value {
    let mut command = place.command(&format!("plan {line} --json"));
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn a_plan_tells_the_count_and_the_time_of_the_send_that_follows(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    run_under(&running, "paced", json!({ "messages_per_second": format!("{RATE}/s") })).await;
    let (tag, channel) = (running.tag("everyone", FIRST, CONTACTS).await, running.channel);
    running.tag("some", FIRST + 100, 40).await;
    let place = beside(universe);
    let leaves = format!("suppression add +{FIRST} --company Acme --everything");
    place.json(&leaves);
    let body = json!({
        "type": "text", "message": "hi", "contact_tag_id": tag, "phone_number": [FIRST + 500, "nonsense"],
    });
    let path = format!("/api/v1/chat/{channel}/messages?dry_run=true");
    let mut dry_run = Value::Null;
    until("the suppression seen", async || {
        dry_run = running.ask(reqwest::Method::POST, &path, &body).await.json();
        dry_run["skipped_count"] == 2
    })
    .await;

    let line = format!("--channel {channel} --tag everyone --number {} --number nonsense", FIRST + 500);
    let planned = plan(&place, &line).await;
    assert_eq!((&planned["recipients_count"], &planned["skipped_count"]), (&json!(CONTACTS), &json!(2)));
    let reasons = json!([
        { "reason": "has no digits", "count": 1 },
        { "reason": "is on the company's suppression list", "count": 1 },
    ]);
    assert_eq!(planned["skipped"], reasons);
    let present = tier(&planned, "paced");
    assert_eq!((&present["is_present"], &present["binding"]), (&json!(true), &json!("messages_per_second")));
    // The dry run says the same of the present tier.
    for field in ["recipients_count", "skipped_count"] {
        assert_eq!(planned[field], dry_run[field], "{field}");
    }
    assert_eq!(present["estimated_seconds"], dry_run["estimated_seconds"]);
    assert_eq!(tier(&planned, "coexistence")["estimated_seconds"], CONTACTS.div_ceil(20));
    assert_eq!(tier(&planned, "unlimited")["estimated_seconds"], Value::Null);
    assert!(tier(&planned, "standard")["is_present"] == false && planned["queued"] == 0);
    assert!(planned["tiers"].as_array().unwrap().iter().all(|tier| tier["tier"] != "web-new"));
    let both = plan(&place, &format!("--channel {channel} --tag {tag} --tag some")).await;
    assert_eq!(both["recipients_count"], CONTACTS + 19, "a contact with both tags counts once");

    let (status, accepted) = running.send(&body).await;
    assert_eq!(status, 202, "{accepted}");
    for field in ["recipients_count", "skipped_count"] {
        assert_eq!(planned[field], accepted[field], "{field}");
    }
    running.settled(CONTACTS).await;
    let figures = running.simulator.number(NUMBER).unwrap();
    assert_eq!((figures.messages, figures.unique_recipients), (CONTACTS, CONTACTS));
    let (estimate, took) = (
        Duration::from_secs_f64(CONTACTS as f64 / RATE as f64),
        figures.last_at.unwrap().from_now(figures.first_at.unwrap()),
    );
    assert_eq!(present["estimated_seconds"], estimate.as_secs() + 1);
    // The send is not faster, because the channel keeps its pace. A busy machine may be late, but does not stand still.
    assert!(took + Duration::from_millis(100) >= estimate.mul_f64(0.9), "{took:?} for {estimate:?}");
    assert!(took <= 12 * estimate, "{took:?} for {estimate:?}");
    running.end().await;
}

async fn a_plan_counts_the_used_quota_and_the_messages_that_wait_for_it(universe: &Universe) {
    const QUOTA: u64 = 30;
    let options = |quota: u64| json!({ "messages_per_second": "unlimited", "pair_interval": "0s", "template_quota": quota });
    let running = Running::start(universe, |_| {}).await;
    run_under(&running, "sparing", options(QUOTA)).await;
    put_tier(&running, "generous", options(200)).await;
    let hello = template(&running, "hello_world").await;
    let (tag, channel, place) =
        (running.tag("everyone", FIRST, CONTACTS).await, running.channel, beside(universe));
    let line = format!("--channel {channel} --tag everyone --template {hello}");
    let before = plan(&place, &line).await;
    let day = 24 * 60 * 60;
    assert_eq!(tier(&before, "sparing")["binding"], "template_quota");
    assert_eq!(tier(&before, "sparing")["estimated_seconds"], (CONTACTS / QUOTA - 1) * day);
    assert_eq!(tier(&before, "generous")["estimated_seconds"], Value::Null);
    let path = format!("/api/v1/chat/{channel}/messages?dry_run=true");
    let mut body = plain_template(hello);
    body["contact_tag_id"] = json!(tag);
    let dry_run = running.ask(reqwest::Method::POST, &path, &body).await.json();
    assert_eq!(dry_run["estimated_seconds"], tier(&before, "sparing")["estimated_seconds"]);

    // The messages of the plan's first day go, and the others wait for about a day.
    let send = send_to(&running, channel, tag, plain_template(hello)).await;
    until("the quota used", async || running.delivered().0 == QUOTA).await;
    until_it_waits_for(&running, &send, "template_quota").await;
    until("the outcomes written", async || show(&running, &send).await["counts"]["sent"] == QUOTA).await;
    let written = async || {
        let now = Timestamp::now();
        let (span, mut people) = ((now.minus(Duration::from_secs(day)), now), 0);
        running.store.templates().recipients(WABA, span, |page| people += page.len() as u64).await.unwrap();
        people
    };
    until("the used quota written", async || written().await == QUOTA).await;
    assert_eq!(running.delivered().0, QUOTA);

    let after = plan(&place, &line).await;
    assert_eq!(after["template_recipients"], QUOTA);
    // The rest of the first send goes first, one quota a day from now on. A recipient of today's messages counts once.
    let seconds = tier(&after, "sparing")["estimated_seconds"].as_u64().unwrap();
    let rest = CONTACTS - QUOTA;
    let days = (rest + CONTACTS - QUOTA) / QUOTA;
    assert!(seconds > (days - 1) * day && seconds <= days * day, "{seconds} s are not {days} days");
    // The rest of the first send counts as if it went to other people: 90, 30 who count already, and 90 again.
    assert_eq!(tier(&after, "generous")["estimated_seconds"], day);
    // A text waits for neither the quota nor these messages.
    let text = plan(&place, &format!("--channel {channel} --tag everyone")).await;
    assert_eq!(tier(&text, "sparing")["estimated_seconds"], Value::Null, "{text}");
    running.end().await;
}

async fn a_plan_counts_the_people_who_get_a_template_because_their_window_is_closed(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    let options = json!({ "messages_per_second": "10/s", "pair_interval": "0s", "template_quota": 5 });
    run_under(&running, "sparing", options).await;
    let hello = template(&running, "hello_world").await;
    let (tag, channel, place) = (running.tag("everyone", FIRST, 11).await, running.channel, beside(universe));
    let at = (Timestamp::now().millis() / 1_000).to_string();
    let text = json!({
        "from": FIRST.to_string(), "id": "wamid.1", "timestamp": at, "type": "text", "text": { "body": "hi" },
    });
    let told = Teller::new(&running).tell(channel, NUMBER, &json!({ "messages": [text] })).await;
    assert_eq!(told.status, 200, "{}", told.body);
    let who = Who::CommandLine("ana".to_owned());
    running.conversations().set_window_rule(&who, channel, WindowRule::Enforce).await.unwrap();

    let line = format!("--channel {channel} --tag everyone");
    let plain = plan(&place, &line).await;
    assert_eq!((&plain["recipients_count"], &plain["skipped_count"]), (&json!(1), &json!(10)), "{plain}");
    assert_eq!(plain["template_instead"], Value::Null, "{plain}");
    let reason = "did not write in the last 24 hours (give --template-instead)";
    assert_eq!(plain["skipped"], json!([{ "reason": reason, "count": 10 }]), "{plain}");
    let both = plan(&place, &format!("{line} --template-instead {hello}")).await;
    assert_eq!((&both["recipients_count"], &both["skipped_count"]), (&json!(11), &json!(0)), "{both}");
    assert_eq!(both["template_instead"], json!({ "id": hello, "recipients_count": 10 }), "{both}");
    let path = format!("/api/v1/chat/{channel}/messages?dry_run=true");
    let body = json!({
        "type": "text", "message": "hi", "contact_tag_id": tag,
        "template_instead": { "template_id": hello, "components": [] },
    });
    let dry_run = running.ask(Method::POST, &path, &body).await.json();
    let sparing = tier(&both, "sparing");
    assert_eq!(sparing["binding"], "template_quota", "{both}");
    assert_eq!(sparing["estimated_seconds"], dry_run["estimated_seconds"], "{dry_run}");
    running.end().await;
}

async fn a_plan_without_a_service_says_what_stands_in_the_way(universe: &Universe) {
    let place = beside(universe);
    place.json("company create Acme");
    place.write("token", "EAAG");
    let add = "channel add-business --company Acme --name Shop --phone-number +5511988887777 \
               --phone-number-id 1 --waba-id 2 --token-file token";
    let channel = place.json(add)["id"].as_str().unwrap().to_owned();
    place.write("people.csv", "first_name,phone_number\nAna,+55 11 98888-0001\nBea,+55 11 98888-0002\n");
    place.json("contacts import people.csv --company Acme --tag newsletter");

    let shown = place.run(&format!("plan --channel {channel} --tag newsletter"));
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let lines: Vec<_> = shown.stdout.lines().collect();
    assert_eq!(lines[0], "channel Shop (connecting): 2 recipients, 0 skipped");
    let has =
        |start: &str, end: &str| lines.iter().any(|line| line.starts_with(start) && line.ends_with(end));
    assert!(
        has("TIER", "DECIDED BY") && has("standard (now)", "messages_per_second 80/s"),
        "{}",
        shown.stdout
    );
    assert!(has("unlimited", "nothing: as fast as the provider answers"), "{}", shown.stdout);

    let web = place.json("channel add-web --company Acme --name Phone")["id"].as_str().unwrap().to_owned();
    let nobody = uuid::Uuid::nil();
    for (line, code, words) in [
        (format!("plan --channel {channel}"), 2, "--tag <TAG>|--number <NUMBER>"),
        (format!("plan --channel {channel} --tag newsleter"), 1, "did you mean `newsletter`?"),
        (format!("plan --channel {channel} --tag zzz"), 1, "/api/v1/contacts/tags"),
        (format!("plan --channel {channel} --number 12"), 1, "1 skipped: has fewer than 7 digits"),
        (format!("plan --channel {channel} --tag newsletter --template 7"), 1, "pombo template sync"),
        (format!("plan --channel {channel} --tag newsletter --template-instead 7"), 1, "pombo template sync"),
        (format!("plan --channel {nobody} --tag newsletter"), 1, "pombo channel list"),
        (format!("plan --channel {web} --tag newsletter"), 1, "web session"),
    ] {
        let run = place.run(&line);
        assert_eq!((run.code, run.stdout.as_str()), (Some(code), ""), "{line}: {run:?}");
        assert!(run.stderr.contains(words), "{line}: {}", run.stderr);
    }

    let rows = sea_orm::Database::connect(&universe.url).await.unwrap();
    let refused = "UPDATE channel SET status = 'disconnected', status_sentence = 'the token expired', status_code = 'x'";
    sea_orm::ConnectionTrait::execute_unprepared(&rows, refused).await.unwrap();
    let shown = place.run(&format!("plan --channel {channel} --tag newsletter"));
    assert!(shown.stdout.contains("note: a send would be refused now (reconnect_waba)"), "{shown:?}");
}

async fn active_sends_are_planned_under_changed_tiers(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    run_under(&running, "slow", json!({ "messages_per_second": "4/min" })).await;
    let (tag, channel, place) =
        (running.tag("everyone", FIRST, CONTACTS).await, running.channel, beside(universe));
    let none = plan(&place, "--set messages_per_second=10/s").await;
    assert_eq!(none["sends"], json!([]));
    let send = send_to(&running, channel, tag, json!({ "type": "text", "message": "hi" })).await;
    until("the first message gone", async || show(&running, &send).await["counts"]["sent"] == 1).await;

    let planned = plan(&place, "--set messages_per_second=10/s --set burst=1 --tier slow").await;
    let effect = &planned["sends"][0];
    assert_eq!((&effect["send_id"], &effect["tier"]), (&json!(send), &json!("slow")), "{planned}");
    assert_eq!((&effect["remaining"], &effect["channel_id"]), (&json!(CONTACTS - 1), &json!(channel)));
    assert_eq!(effect["estimated_seconds"], (CONTACTS - 1) * 15);
    assert_eq!(effect["after_seconds"], (CONTACTS - 1).div_ceil(10));
    assert_eq!(
        (&effect["binding"], &effect["after_binding"]),
        (&json!("messages_per_second"), &json!("messages_per_second"))
    );
    // The service says the same.
    let told =
        operate(&running, Method::POST, "plan", &json!({ "messages_per_second": "10/s" })).await.json();
    assert_eq!(told["data"], planned["sends"], "{told}");
    let tried = operate(
        &running,
        Method::PATCH,
        "tiers/slow?dry_run=true",
        &json!({ "messages_per_second": "10/s" }),
    )
    .await;
    assert_eq!(tried.json()["sends"], planned["sends"], "{}", tried.body);

    // An option of one kind of channel leaves out the other kind.
    let quota = plan(&place, "--set template_quota=1000").await;
    assert!(quota["sends"].as_array().unwrap().len() == 1, "{quota}");
    assert!(quota["left_out"].as_array().unwrap().iter().any(|tier| tier["tier"] == "web-new"), "{quota}");
    for (line, code, words) in [
        ("plan --set burts=1", 2, "did you mean `burst`?"),
        ("plan --set burst", 2, "OPTION=VALUE"),
        ("plan --set burst=1 --tier slwo", 1, "did you mean `slow`?"),
        ("plan --set burst=1 --number 5511988887777", 2, "cannot be used with"),
        ("plan", 2, "--channel"),
    ] {
        let mut command = place.command(line);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && said.contains(words), "{line}: {said}");
    }

    // What was planned is set, by a command beside the service.
    let mut command = place.command("tier set slow messages_per_second=unlimited pair_interval=0s");
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{output:?}");
    running.settled(CONTACTS).await;
    running.end().await;
}

async fn a_tier_is_renamed_during_a_send_without_a_moment_under_another_one(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    run_under(&running, "slow", json!({ "messages_per_second": "1/h", "burst": 1 })).await;
    let (tag, channel) = (running.tag("everyone", FIRST, CONTACTS).await, running.channel);
    let send = send_to(&running, channel, tag, json!({ "type": "text", "message": "hi" })).await;
    // A bucket begins empty: the first message would go in an hour.
    until_it_waits_for(&running, &send, "rate").await;

    let renamed = operate(&running, Method::POST, "tiers/slow/rename", &json!({ "name": "slower" })).await;
    assert_eq!((renamed.status, &renamed.json()["name"]), (200, &json!("slower")), "{}", renamed.body);
    until("the channel under the new name", async || {
        let limits = limits(&running, channel).await;
        limit(&limits, "messages_per_second")["set_by"].as_str().is_some_and(|by| by.contains("`slower`"))
    })
    .await;
    // A change of the tier by its new name arrives, and so the old one was forgotten before.
    let put =
        operate(&running, Method::PATCH, "tiers/slower", &json!({ "messages_per_second": "2/h" })).await;
    assert_eq!(put.status, 200, "{}", put.body);
    until("the new pace", async || {
        let limits = limits(&running, channel).await;
        limit(&limits, "messages_per_second")["value"].as_str().is_some_and(|value| value.starts_with("2/h"))
    })
    .await;
    assert_eq!(running.delivered().0, 0, "a message went at the pace of another tier");
    assert_eq!(operate(&running, Method::DELETE, "tiers/slower", &Value::Null).await.status, 409);
    running.end().await;
}

async fn a_channel_has_a_tier_until_a_time_and_then_its_own_again(universe: &Universe) {
    let running = Running::start(universe, |_| {}).await;
    run_under(&running, "slow", json!({ "messages_per_second": "1/h", "burst": 1 })).await;
    put_tier(&running, "fast", json!({ "messages_per_second": "1000/s" })).await;
    let (tag, path) =
        (running.tag("everyone", FIRST, CONTACTS).await, format!("channels/{}/tier", running.channel));
    let far = pombo::clock::Timestamp::now().plus(Duration::from_secs(3600)).to_string();
    let fast = operate(&running, Method::PUT, &path, &json!({ "tier": "fast", "until": far })).await.json();
    assert_eq!(
        (&fast["tier"], &fast["tier_end"]),
        (&json!("fast"), &json!({ "tier": "slow", "own_options": {}, "at": far }))
    );
    // The send goes at the pace of the tier that the channel has for a while.
    send_to(&running, running.channel, tag, json!({ "type": "text", "message": "hi" })).await;
    running.settled(CONTACTS).await;

    let soon = pombo::clock::Timestamp::now().plus(Duration::from_millis(200)).to_string();
    let ending =
        operate(&running, Method::PUT, &path, &json!({ "tier": "fast", "until": soon })).await.json();
    assert_eq!(ending["tier_end"]["tier"], "slow");
    until("its own tier again", async || {
        let limits = limits(&running, running.channel).await;
        limit(&limits, "messages_per_second")["set_by"].as_str().is_some_and(|by| by.contains("`slow`"))
    })
    .await;
    let listed = operate(&running, Method::GET, "channels", &Value::Null).await.json();
    assert_eq!((&listed["data"][0]["tier"], &listed["data"][0]["tier_end"]), (&json!("slow"), &Value::Null));
    let subject = running.channel;
    let changes =
        operate(&running, Method::GET, &format!("changes?subject={subject}"), &Value::Null).await.json();
    let newest = &changes["data"][0];
    assert_eq!(
        (&newest["who"], &newest["before"], &newest["after"]),
        (&json!("pombo"), &json!("fast"), &json!("slow"))
    );
    let over = operate(&running, Method::PUT, &path, &json!({ "tier": "fast", "until": soon })).await;
    assert_eq!((over.status, over.code().as_deref()), (400, Some("invalid_field")));
    running.end().await;
}
