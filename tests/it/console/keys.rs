//! API keys: created in the page, shown only once, used by a program, and revoked.

use pombo::accounts::Role;
use pombo::domain::channel::{Kind, Status};
use uuid::Uuid;

use super::browser::{Browser, value_of};
use super::world::World;

/// A key with all scopes: the boxes as the page shows them, all ticked.
const ALL: [(&str, &str); 7] = [
    ("scope", "send"),
    ("scope", "read"),
    ("scope", "contacts"),
    ("scope", "control"),
    ("scope", "events"),
    ("scope", "inbox"),
    ("scope", "graph"),
];

/// The form of a new key.
fn form<'a>(fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    ALL.iter().chain(fields).copied().collect()
}

/// The key that a page shows only once.
fn shown(page: &str) -> Option<&str> {
    let start = page.find("aria-label=\"New key\"><code>")? + "aria-label=\"New key\"><code>".len();
    page[start..].split('<').next()
}

#[tokio::test]
async fn a_key_is_shown_once_and_opens_the_api_until_it_is_revoked() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let page =
        owner.submit("/console/keys", &form(&[("name", "shop <b>&\"\u{202e}🕊"), ("expires", "30")])).await;
    let key = shown(&page).unwrap().to_owned();
    assert!(page.contains("shop &lt;b&gt;&amp;&quot;\u{202e}🕊") && !page.contains("<b>"), "{page}");
    assert_eq!(world.service.get("/api/v1/contacts", &key).await.status, 200);
    let again = owner.page("/console/keys").await;
    assert!(shown(&again).is_none() && !again.contains(&key), "{again}");
    let revoke = again.split('"').find(|word| word.ends_with("/revoke")).unwrap();
    let outsider = world.outsider().await;
    assert_eq!(outsider.post(revoke, &[]).await.status, 404, "the key is another company's");
    assert!(owner.submit(revoke, &[]).await.contains("is revoked."));
    assert_eq!(world.service.get("/api/v1/contacts", &key).await.status, 401, "it is refused at once");
}

#[tokio::test]
async fn the_shown_command_is_one_that_this_service_answers() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let command = |page: &str, name: &str| {
        let start = page.find(&format!("aria-label=\"{name}\"><code>")).expect(name);
        let command = page[start..].split("<code>").nth(1).unwrap().split("</code>").next().unwrap();
        command.replace("&quot;", "\"").replace("&amp;", "&")
    };
    let page = owner.submit("/console/keys", &form(&[("name", "reader")])).await;
    let read = command(&page, "Command that reads");
    let (key, url) = (shown(&page).unwrap(), world.service.url());
    assert_eq!(read, format!("curl '{url}/api/v1/contacts?limit=1' \\\n  -H 'Authorization: Bearer {key}'"));
    let channel =
        world.service.channel(&world.acme, Kind::BusinessAccount, "shop", Status::Connected).await.id;
    let page = owner.submit("/console/keys", &form(&[("name", "sender")])).await;
    let send = command(&page, "Command that sends a message");
    let path = format!("/api/v1/chat/{channel}/messages");
    assert!(send.contains(&format!("curl '{url}{path}'")), "{send}");
    let body = send.split("-d '").nth(1).unwrap().trim_end_matches('\'').to_owned();
    let sent = world.service.post(&path, shown(&page).unwrap(), body).await;
    assert_eq!(sent.status, 202, "{}", sent.body);
}

#[tokio::test]
async fn a_form_with_faults_keeps_its_input_and_one_that_is_sent_twice_acts_once() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let page = owner.page("/console/keys").await;
    let once = value_of(&page, "once").unwrap();
    let faulty = owner.post("/console/keys", &[("name", " "), ("expires", "7"), ("once", &once)]).await;
    assert_eq!((faulty.status, value_of(&faulty.body, "once").as_deref()), (422, Some(once.as_str())));
    for fault in [
        "field-name-fault\">Fill this in.",
        "field-expires-fault\">Choose one of these.",
        "field-scope-fault\">Allow at least one thing.",
    ] {
        assert!(faulty.body.contains(fault), "{}", faulty.body);
    }
    let long = "x".repeat(101);
    let faulty = owner.post("/console/keys", &form(&[("name", &long), ("once", &once)])).await;
    assert_eq!((faulty.status, value_of(&faulty.body, "name")), (422, Some(long)));
    let form = form(&[("name", "shop"), ("once", once.as_str())]);
    let (first, second) =
        tokio::join!(owner.post("/console/keys", &form), owner.post("/console/keys", &form));
    assert_eq!((first.status, first.header("location")), (303, second.header("location")));
    assert_eq!(owner.post("/console/keys", &form).await.status, 303);
    let keys = world.service.store().of(world.acme.id).keys().all().await.unwrap();
    assert_eq!(keys.iter().filter(|key| key.name == "shop").count(), 1);
}

#[tokio::test]
async fn only_owners_see_the_keys() {
    let world = World::new().await;
    for role in [Role::Viewer, Role::Member] {
        let browser: Browser<'_> = world.signed_in(role).await;
        let answer = browser.get("/console/keys").await;
        assert_eq!(answer.status, 403, "{role}");
        assert!(answer.body.contains("Your role does not allow this"), "{}", answer.body);
        assert!(!browser.page("/console").await.contains("href=\"/console/keys\""), "{role}");
    }
}

#[tokio::test]
async fn a_key_for_one_thing_is_refused_everything_else() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let page = owner.submit("/console/keys", &[("name", "crm"), ("scope", "contacts")]).await;
    let key = shown(&page).unwrap();
    assert_eq!(world.service.get("/api/v1/contacts", key).await.status, 200);
    let refused = world.service.get("/api/v1/sends", key).await;
    assert_eq!((refused.status, refused.code().as_deref()), (403, Some("insufficient_scope")));
    let listed = owner.page("/console/keys").await;
    assert!(listed.contains("data-name=\"Allows\">contacts<"), "{listed}");
}

#[tokio::test]
async fn a_channel_that_is_gone_or_another_company_s_makes_no_key_for_all_channels() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let kind = Kind::BusinessAccount;
    let own = world.service.channel(&world.acme, kind, "shop", Status::Connected).await.id.to_string();
    let foreign = world.service.channel(&world.globex, kind, "other", Status::Connected).await.id.to_string();
    let gone = Uuid::from_u128(7).to_string();
    for channels in [vec![&foreign], vec![&gone], vec![&own, &gone]] {
        let channels = channels.into_iter().map(|channel| ("channel", channel.as_str()));
        let fields: Vec<_> = [("name", "chat"), ("scope", "graph")].into_iter().chain(channels).collect();
        let refused = owner.post("/console/keys", &fields).await;
        assert_eq!(refused.status, 422, "{fields:?}");
        assert!(refused.body.contains("A chosen channel is not there any more."), "{}", refused.body);
    }
    let bound = [("name", "chat"), ("scope", "graph"), ("channel", own.as_str())];
    assert!(owner.submit("/console/keys", &bound).await.contains("(one channel)"));
}
