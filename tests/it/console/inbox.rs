//! The inbox, without script: what people write is read, answered, assigned, closed and noted, by those who may.

use hmac::{Hmac, KeyInit as _, Mac as _};
use image::ImageFormat;
use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use pombo::domain::inbound::{ConversationState, WindowRule};
use pombo::domain::phone::PhoneNumber;
use pombo::engine::conversations::ListedConversation;
use pombo::engine::conversations::types::ConversationFilter;
use pombo::store::changes::Who;
use serde_json::json;
use sha2::Sha256;
use uuid::Uuid;

use super::browser::{Browser, value_of};
use super::channels::SECRET;
use super::live::{shows, stream};
use super::media::upload_to;
use super::sends::shop;
use super::world::World;
use crate::api::media::picture;
use crate::harness::WABA;

const PLACE: &str = "/console/inbox";
/// Who writes.
const ANA: &str = "5511900000007";
const BEA: &str = "5511900000008";
const DAY: i64 = 24 * 60 * 60;

/// A shop to which people write.
pub(super) struct Desk {
    pub(super) world: World,
    pub(super) shop: Uuid,
}

impl Desk {
    pub(super) async fn new() -> Self {
        let world = World::new().await;
        let shop = shop(&world).await;
        let owner = world.member_of(world.acme.id, Role::Owner, "first@acme.example").await;
        owner.submit(&format!("/console/channels/{shop}/app-secret"), &[("app_secret", SECRET)]).await;
        drop(owner);
        Self { world, shop }
    }

    /// A text that somebody wrote so many seconds ago, as the provider tells it.
    pub(super) async fn writes(&self, from: &str, id: &str, body: &str, ago: i64) {
        let at = Timestamp::now().millis() / 1_000 - ago;
        let text = json!({
            "from": from, "id": id, "timestamp": at.to_string(), "type": "text", "text": { "body": body },
        });
        let value = json!({
            "messaging_product": "whatsapp",
            "metadata": { "display_phone_number": "15550783881", "phone_number_id": self.shop.simple().to_string() },
            "contacts": [{ "profile": { "name": format!("Profile {from}") }, "wa_id": from }],
            "messages": [text],
        });
        let entry = json!({ "id": WABA, "changes": [{ "field": "messages", "value": value }] });
        let body = json!({ "object": "whatsapp_business_account", "entry": [entry] }).to_string();
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(body.as_bytes());
        let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
        let request =
            self.world.service.request(reqwest::Method::POST, &format!("/hooks/meta/{}", self.shop));
        let told = request.header("x-hub-signature-256", signature).body(body).send().await.unwrap();
        assert_eq!(told.status().as_u16(), 200);
    }

    /// The conversation with somebody.
    async fn with(&self, number: &str) -> ListedConversation {
        let conversations = self.world.service.engine().conversations(self.world.acme.id);
        let found = conversations.list(ConversationFilter::default(), None, 100).await.unwrap().conversations;
        let number = PhoneNumber::parse(number).unwrap();
        found.into_iter().find(|listed| listed.conversation.peer.number() == Some(number)).unwrap()
    }

    /// The address of the conversation with somebody.
    pub(super) async fn place(&self, number: &str) -> String {
        format!("{PLACE}/{}", self.with(number).await.conversation.id)
    }
}

/// The list of a page.
fn list(page: &str) -> &str {
    let (_, rest) = page.split_once("id=\"conversations\"").unwrap();
    rest.split("</ul>").next().unwrap()
}

#[tokio::test]
async fn an_agent_sees_the_inbox_and_nothing_else_and_a_viewer_answers_nobody() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "hello", 60).await;
    let place = desk.place(ANA).await;
    let agent = desk.world.signed_in(Role::Agent).await;
    assert_eq!(agent.get("/console").await.header("location"), PLACE);
    let page = agent.page(&place).await;
    let (_, navigation) = page.split_once("<nav class=\"side\"").unwrap();
    let (navigation, _) = navigation.split_once("</nav>").unwrap();
    assert!(
        navigation.contains("href=\"/console/inbox\"") && !navigation.contains("/console/sends"),
        "{navigation}"
    );
    for path in ["/console/contacts", "/console/company", "/console/sends", "/console/keys"] {
        assert_eq!(agent.get(path).await.status, 403, "{path}");
    }
    assert!(!page.contains("/console/contacts/") && page.contains("name=\"message\""), "{page}");
    assert_eq!(agent.post("/console/company/token", &[]).await.status, 403);
    let viewer = desk.world.signed_in(Role::Viewer).await;
    let page = viewer.page(&place).await;
    assert!(page.contains(">hello<") && !page.contains("name=\"message\""), "{page}");
    let refused = viewer.post(&format!("{place}/answer"), &[("message", "no")]).await;
    assert_eq!(refused.status, 403);
    let outsider = desk.world.outsider().await;
    assert_eq!(outsider.get(&place).await.status, 404);
    assert_eq!(outsider.post(&format!("{place}/answer"), &[("message", "no")]).await.status, 404);
    assert_eq!(outsider.get(&format!("{PLACE}/live?open={}", &place[PLACE.len() + 1..])).await.status, 404);
    assert!(!outsider.page(PLACE).await.contains("Profile"));
}

#[tokio::test]
async fn an_agent_who_was_a_member_gets_no_alerts_and_the_token_ends() {
    let world = World::new().await;
    let owner = world.signed_in(Role::Owner).await;
    let member = world.signed_in(Role::Member).await;
    let page = member.submit("/console/company/token", &[]).await;
    let token = page.split("aria-label=\"Session token\"><code>").nth(1).unwrap().split('<').next().unwrap();
    assert_eq!(world.service.get("/api/v1/contacts", token).await.status, 200);
    let id = world.service.accounts().user_by_email("member@acme.example").await.unwrap().id;
    owner.submit(&format!("/console/company/members/{id}/role"), &[("role", "agent")]).await;
    assert_eq!(world.service.get("/api/v1/contacts", token).await.status, 401);
    let company = world.acme.id.to_string();
    let refused = member.post("/console/account/alerts", &[("company", &company), ("kind", "channel")]).await;
    assert_eq!(refused.status, 404, "{}", refused.body);
}

#[tokio::test]
async fn what_a_person_writes_is_listed_read_and_answered() {
    let desk = Desk::new().await;
    let agent = desk.world.signed_in(Role::Agent).await;
    assert!(agent.page(PLACE).await.contains("No conversations here"));
    desk.writes(ANA, "wamid.1", "do you have <b>cake</b>?", 60).await;
    let page = agent.page(PLACE).await;
    let shown = list(&page);
    assert!(shown.contains("do you have &lt;b&gt;cake&lt;/b&gt;?"), "{shown}");
    assert!(shown.contains(&format!("Profile {ANA}")) && shown.contains("You can write freely"), "{shown}");
    let place = desk.place(ANA).await;
    let page = agent.page(&place).await;
    assert!(page.contains("<h2><bdi>Profile") && list(&page).contains("aria-current=\"true\""), "{page}");
    assert!(page.contains("data-unread=\"1\""), "reading a page changes nothing: {page}");
    // An answer quotes, stands in the thread, and reads what came before. The same form sends once.
    let page = agent.page(&format!("{place}?reply=wamid.1")).await;
    assert_eq!(value_of(&page, "reply").as_deref(), Some("wamid.1"));
    let once = value_of(&page, "once").unwrap();
    let fields = [("message", "yes, *lemon*"), ("reply", "wamid.1"), ("once", once.as_str())];
    for _ in 0..2 {
        let page = agent.submit(&format!("{place}/answer"), &fields).await;
        assert_eq!(page.matches("lemon").count(), 2, "in the thread and in the list: {page}");
        assert!(page.contains("data-unread=\"0\"") && page.contains("You:"), "{page}");
    }
    // Without words there is nothing to send, and a note may have some.
    let refused = agent.post(&format!("{place}/answer"), &[("message", "  ")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    for (path, fields, says) in [
        ("/notes", [("note", "likes cake"), ("x", "")], "likes cake"),
        ("/read", [("read", "unread"), ("x", "")], "unread"),
        ("/state", [("state", "closed"), ("x", "")], "The conversation is closed"),
    ] {
        let page = agent.submit(&format!("{place}{path}"), &fields).await;
        assert!(page.contains(says), "{path}: {page}");
    }
    assert!(!list(&agent.page(PLACE).await).contains("Profile"), "it is closed");
    assert!(list(&agent.page(&format!("{PLACE}?view=closed")).await).contains("Profile"));
    desk.writes(ANA, "wamid.2", "thank you", 0).await;
    assert_eq!(desk.with(ANA).await.conversation.state, ConversationState::Open);
}

#[tokio::test]
async fn a_closed_window_offers_templates_and_keeps_the_text() {
    let desk = Desk::new().await;
    let who = Who::CommandLine("ana".to_owned());
    let conversations = desk.world.service.engine().conversations(desk.world.acme.id);
    conversations.set_window_rule(&who, desk.shop, WindowRule::Enforce).await.unwrap();
    desk.world
        .service
        .templates(&desk.world.acme, &[("greeting", "en", "APPROVED"), ("no", "en", "PENDING")])
        .await;
    desk.writes(ANA, "wamid.1", "long ago", 2 * DAY).await;
    let (agent, place) = (desk.world.signed_in(Role::Agent).await, desk.place(ANA).await);
    let page = agent.page(&place).await;
    assert!(
        page.contains("only a template can be sent") && !page.contains("<textarea id=\"field-message\""),
        "{page}"
    );
    assert!(page.contains("greeting (en)") && !page.contains("no (en)"), "{page}");
    // A page that was opened before the window closed.
    let refused = agent.post(&format!("{place}/answer"), &[("message", "late words")]).await;
    assert!(refused.status == 422 && refused.body.contains("your text is kept"), "{}", refused.body);
    let template = desk.world.service.template_id(&desk.world.acme, "greeting", "en").await.to_string();
    let page = agent.page(&format!("{place}?template={template}")).await;
    assert_eq!(value_of(&page, "template"), Some(template.clone()));
    let page = agent
        .submit(
            &format!("{place}/answer"),
            &[("template", &template), ("body_1", "{{contact.first_name|friend}}"), ("body_2", "seven")],
        )
        .await;
    // She is no contact.
    let shown = page.contains("<bdi>greeting</bdi>") && page.contains(">Hello friend, order seven left.<");
    assert!(shown, "{page}");
    // A person who writes again can be answered, with the words that were kept meanwhile.
    desk.writes(ANA, "wamid.2", "here I am", 0).await;
    let page = agent.page(&place).await;
    assert!(
        page.contains("<textarea id=\"field-message\"") && page.contains("late words</textarea>"),
        "{page}"
    );
}

#[tokio::test]
async fn begun_answers_are_kept_for_their_author_and_shown_to_others_as_writing() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "hello", 60).await;
    let place = desk.place(ANA).await;
    let (agent, member) = (desk.world.signed_in(Role::Agent).await, desk.world.signed_in(Role::Member).await);
    let mut open = stream(&member, &format!("{PLACE}/live?open={}", &place[PLACE.len() + 1..])).await;
    shows(&mut open, "id=\"thread\"").await;
    let kept = agent.post(&format!("{place}/draft"), &[("message", "we are <open>")]).await;
    assert_eq!(kept.status, 204, "{}", kept.body);
    assert!(agent.page(&place).await.contains("we are &lt;open&gt;</textarea>"));
    assert!(!member.page(&place).await.contains("we are"), "it is the author's own");
    shows(&mut open, "writing an answer").await;
    // What arrives is shown in the open conversation and in the list.
    desk.writes(ANA, "wamid.2", "anybody there?", 0).await;
    shows(&mut open, ">anybody there?<").await;
    agent.submit(&format!("{place}/answer"), &[("message", "yes")]).await;
    assert!(!agent.page(&place).await.contains("we are"), "an answer ends what was begun");
}

#[tokio::test]
async fn conversations_are_assigned_searched_tagged_and_opted_out() {
    let desk = Desk::new().await;
    for (number, id) in [(ANA, "wamid.1"), (BEA, "wamid.2")] {
        desk.writes(number, id, "hello", 60).await;
    }
    let store = desk.world.service.store();
    let person =
        Person { first_name: "Joana".to_owned(), phone_number: format!("+{ANA}"), ..Person::default() };
    let tags = store.of(desk.world.acme.id).tags();
    let tag = tags.ensure("VIP", None).await.unwrap();
    let contacts = store.of(desk.world.acme.id).contacts();
    contacts.add(&[(Uuid::now_v7(), person)], &[], Timestamp::now()).await.unwrap();
    let (agent, place) = (desk.world.signed_in(Role::Agent).await, desk.place(ANA).await);
    let accounts = desk.world.service.accounts();
    let me = accounts.user_by_email("agent@acme.example").await.unwrap().id.to_string();
    let outsider = desk.world.outsider().await;
    let stranger = accounts.user_by_email("outsider@globex.example").await.unwrap().id.to_string();
    drop(outsider);
    assert_eq!(agent.post(&format!("{place}/assign"), &[("to", &stranger)]).await.status, 404);
    let page = agent.submit(&format!("{place}/assign"), &[("to", &me)]).await;
    assert!(page.contains("The conversation is assigned"), "{page}");
    let listed = async |query: &str| {
        let page = agent.page(&format!("{PLACE}?{query}")).await;
        [ANA, BEA].map(|number| {
            list(&page).contains(&format!("Profile {number}"))
                || number == ANA && list(&page).contains("Joana")
        })
    };
    for (query, expected) in [
        ("view=mine", [true, false]),
        ("view=unassigned", [false, true]),
        ("search=joan", [true, false]),
        ("search=00008", [false, true]),
        ("search=nobody", [false, false]),
        (&format!("channel={}", desk.shop), [true, true]),
        (&format!("tag={tag}"), [false, false]),
    ] {
        assert_eq!(listed(query).await, expected, "{query}");
    }
    let given = tag.to_string();
    agent.submit(&format!("{place}/tags"), &[("tag", &given), ("action", "add")]).await;
    let other = desk.place(BEA).await;
    agent.submit(&format!("{other}/tags"), &[("tag", &given)]).await;
    assert_eq!(listed(&format!("tag={tag}")).await, [true, true], "a person without a contact becomes one");
    agent.submit(&format!("{place}/tags"), &[("tag", &given), ("action", "remove")]).await;
    assert_eq!(listed(&format!("tag={tag}")).await, [false, true]);
    let page = agent.submit(&format!("{place}/consent"), &[("opt_out", "everything")]).await;
    assert!(page.contains("Sends skip this person from now on"), "{page}");
    let page = agent.submit(&format!("{place}/consent"), &[]).await;
    assert!(page.contains("Sends reach this person again"), "{page}");
}

#[tokio::test]
async fn a_new_file_is_kept_and_put_beside_the_answer() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "a picture?", 60).await;
    let (agent, place) = (desk.world.signed_in(Role::Agent).await, desk.place(ANA).await);
    agent.post(&format!("{place}/draft"), &[("message", "here it is")]).await;
    let refused =
        upload_to(&agent, &format!("{place}/file"), ("", "page.png"), b"RIFF\0\0\0\0WEBPVP8 ").await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.body.contains("here it is</textarea>"), "{}", refused.body);
    let picture = picture(40, ImageFormat::Png);
    let kept = upload_to(&agent, &format!("{place}/file?reply=wamid.1"), ("", "cake.png"), &picture).await;
    let location = kept.header("location").to_owned();
    let expected = format!("{place}?reply=wamid.1&enclosed=");
    assert!(kept.status == 303 && location.starts_with(&expected), "{location}");
    let page = agent.page(&location).await;
    assert_eq!(value_of(&page, "reply").as_deref(), Some("wamid.1"), "what is quoted stays");
    let (_, id) = location.split_once("enclosed=").unwrap();
    assert!(page.contains(&format!("<option value=\"{id}\" selected")), "{page}");
    assert!(page.contains("here it is</textarea>"), "{page}");
}

#[tokio::test]
async fn a_quick_reply_is_filled_in_for_the_person_behind_what_was_typed() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "when are you open?", 60).await;
    let (agent, place) = (desk.world.signed_in(Role::Agent).await, desk.place(ANA).await);
    let member = desk.world.signed_in(Role::Member).await;
    for (word, text) in
        [("hours", "Hi {{contact.first_name|friend}}, from 9."), ("name", "Dear {{contact.last_name}},")]
    {
        member.submit("/console/quick-replies", &[("word", word), ("text", text)]).await;
    }
    let take = async |word: &str| {
        let fields = [("message", "One moment."), ("quick", word), ("action", "quick-reply")];
        agent.post(&format!("{place}/answer"), &fields).await
    };
    let taken = take("hours").await;
    assert!(
        taken.status == 200 && taken.body.contains("One moment.\nHi friend, from 9.</textarea>"),
        "{}",
        taken.body
    );
    assert!(taken.body.contains(">/hours<") && !taken.body.contains("has no value for"), "{}", taken.body);
    let unfit = take("name").await.body;
    assert!(unfit.contains("Dear {{contact.last_name}},</textarea>"), "{unfit}");
    assert!(unfit.contains("has no value for"), "{unfit}");
}

#[tokio::test]
async fn a_note_is_changed_by_its_author_and_deleted_by_an_owner() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "hello", 60).await;
    let (place, id) = (desk.place(ANA).await, desk.with(ANA).await.conversation.id);
    let (agent, owner) = (desk.world.signed_in(Role::Agent).await, desk.world.signed_in(Role::Owner).await);
    let member = desk.world.signed_in(Role::Member).await;
    agent.submit(&format!("{place}/notes"), &[("note", "first words")]).await;
    let conversations = desk.world.service.engine().conversations(desk.world.acme.id);
    let note = conversations.notes(id).await.unwrap()[0].id;
    let of = |browser: &Browser<'_>, end: &str| {
        browser.form(&format!("{place}/notes/{note}{end}"), &[("note", "other words")])
    };
    for browser in [&member, &owner] {
        let refused = browser.ask(of(browser, "").header("origin", browser.origin())).await;
        assert_eq!(refused.status, 404, "it is another's");
    }
    let refused = member.ask(of(&member, "/delete").header("origin", member.origin())).await;
    assert_eq!(refused.status, 404);
    let page = agent.submit(&format!("{place}/notes/{note}"), &[("note", "second words")]).await;
    assert!(page.contains("second words") && !page.contains("first words"), "{page}");
    let page = owner.submit(&format!("{place}/notes/{note}/delete"), &[]).await;
    assert!(page.contains("The note is deleted") && !page.contains("second words"), "{page}");
}

#[tokio::test]
async fn the_page_of_a_long_conversation_leads_to_earlier_messages() {
    let desk = Desk::new().await;
    for nth in 0..45 {
        desk.writes(ANA, &format!("wamid.{nth}"), &format!("message {nth:02}"), 100 - nth).await;
    }
    let (viewer, place) = (desk.world.signed_in(Role::Viewer).await, desk.place(ANA).await);
    let page = viewer.page(&place).await;
    assert!(page.contains(">message 05<") && !page.contains(">message 04<"), "{page}");
    let (_, rest) = page.split_once("?before=").unwrap();
    let before = rest.split('"').next().unwrap();
    let page = viewer.page(&format!("{place}?before={before}")).await;
    assert!(
        page.contains(">message 00<") && page.contains(">message 04<") && !page.contains(">message 05<"),
        "{page}"
    );
    assert!(page.contains("Latest messages"), "{page}");
}
