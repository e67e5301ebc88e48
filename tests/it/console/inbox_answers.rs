//! The answer in the inbox, without script: what is typed and chosen stays until it goes, and a template is seen before.

use image::ImageFormat;
use pombo::accounts::Role;
use pombo::clock::Timestamp;
use pombo::domain::contact::Person;
use pombo::domain::inbound::WindowRule;
use pombo::store::changes::Who;
use uuid::Uuid;

use super::browser::value_of;
use super::inbox::Desk;
use super::media::upload_to;
use super::weight::assets;
use crate::api::media::picture;

/// Who writes.
const ANA: &str = "5511900000007";

#[tokio::test]
async fn choosing_the_message_that_is_answered_keeps_what_is_typed_and_chosen() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "a picture?", 60).await;
    let (agent, place) = (desk.world.signed_in(Role::Agent).await, desk.place(ANA).await);
    let kept =
        upload_to(&agent, &format!("{place}/file"), ("", "cake.png"), &picture(40, ImageFormat::Png)).await;
    let (_, file) = kept.header("location").split_once("enclosed=").unwrap();
    let form = |quote: &'static str| [("message", "half a <sentence>"), ("enclosed", file), ("quote", quote)];
    let has_all = |page: &str| {
        page.contains("half a &lt;sentence&gt;</textarea>")
            && page.contains(&format!("<option value=\"{file}\" selected"))
    };
    let page = agent.page(&place).await;
    let button = page.split("<button").find(|button| button.contains("value=\"wamid.1\"")).unwrap();
    assert!(button.contains("form=\"composer\"") && button.contains("formnovalidate"), "{button}");
    let chosen = agent.post(&format!("{place}/answer"), &form("wamid.1")).await;
    assert!(chosen.status == 200 && has_all(&chosen.body), "{}", chosen.body);
    assert_eq!(value_of(&chosen.body, "reply").as_deref(), Some("wamid.1"));
    assert!(!chosen.body.contains("class=\"spoken own"), "nothing was sent: {}", chosen.body);
    let none = agent.post(&format!("{place}/answer"), &form("")).await;
    assert!(none.status == 200 && has_all(&none.body), "{}", none.body);
    assert_eq!(value_of(&none.body, "reply"), None);
    assert!(agent.page(&place).await.contains("half a &lt;sentence&gt;</textarea>"), "it is kept, too");
}

#[tokio::test]
async fn what_was_on_its_way_when_the_answer_went_is_not_kept_after_it() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "are you open?", 60).await;
    let (agent, place) = (desk.world.signed_in(Role::Agent).await, desk.place(ANA).await);
    let (page, draft) = (agent.page(&place).await, format!("{place}/draft"));
    let once = value_of(&page, "once").unwrap();
    let typed = [("message", "until eight"), ("once", once.as_str())];
    agent.submit(&format!("{place}/answer"), &typed).await;
    assert_eq!(agent.post(&draft, &typed).await.status, 204);
    let page = agent.page(&place).await;
    assert!(page.contains("until eight") && !page.contains("until eight</textarea>"), "{page}");
    let once = value_of(&page, "once").unwrap();
    assert_eq!(agent.post(&draft, &[("message", "and you?"), ("once", &once)]).await.status, 204);
    assert!(agent.page(&place).await.contains("and you?</textarea>"), "it is another answer");
}

#[tokio::test]
async fn a_template_is_shown_filled_in_before_it_is_sent() {
    let desk = Desk::new().await;
    let conversations = desk.world.service.engine().conversations(desk.world.acme.id);
    conversations.set_window_rule(&Who::Pombo, desk.shop, WindowRule::Enforce).await.unwrap();
    desk.world.service.templates(&desk.world.acme, &[("greeting", "en", "APPROVED")]).await;
    desk.writes(ANA, "wamid.1", "long ago", 2 * 24 * 60 * 60).await;
    let (agent, place) = (desk.world.signed_in(Role::Agent).await, desk.place(ANA).await);
    let template = desk.world.service.template_id(&desk.world.acme, "greeting", "en").await.to_string();
    let values = [
        ("template", template.as_str()),
        ("body_1", "{{contact.first_name|friend}}"),
        ("body_2", "seven"),
        ("action", "preview"),
    ];
    let filled = "Hello friend, order seven left.";
    let shown = agent.post(&format!("{place}/answer"), &values).await;
    assert!(shown.status == 200 && shown.body.contains(filled), "{}", shown.body);
    assert_eq!(value_of(&shown.body, "body_2").as_deref(), Some("seven"), "{}", shown.body);
    assert!(!shown.body.contains("class=\"spoken own"), "nothing was sent: {}", shown.body);
    let part = agent.post(&format!("{place}/preview"), &values).await;
    assert!(part.status == 200 && part.body.contains(filled), "{}", part.body);
    assert!(part.body.starts_with("<div id=\"preview\""), "{}", part.body);
}

#[tokio::test]
async fn emoji_are_offered_where_people_write_and_only_with_script() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "are you open?", 60).await;
    let member = desk.world.signed_in(Role::Member).await;
    let compose = format!("/console/sends/new?type=text&step=what&channel={}", desk.shop);
    for place in [desk.place(ANA).await, compose] {
        let page = member.page(&place).await;
        let button = page.split("<button").find(|button| button.contains("data-emoji=")).unwrap();
        let (_, field) = button.split_once("data-emoji=\"").unwrap();
        let (field, _) = field.split_once('"').unwrap();
        assert!(page.contains(&format!("<textarea id=\"{field}\"")), "{field}: {page}");
        assert!(button.contains(" hidden") && button.contains("Faces|Hands and people|"), "{button}");
        let script = assets(&page).into_iter().find(|asset| asset.contains("/emoji-")).unwrap();
        let script = member.page(script).await;
        let groups =
            script.lines().filter(|line| line.trim_start().starts_with('"') && line.ends_with("\","));
        let (groups, names) = (groups.count(), button.split("data-groups=\"").nth(1).unwrap());
        assert_eq!(groups, names.split('"').next().unwrap().split('|').count(), "each group has a name");
    }
}

#[tokio::test]
async fn the_id_of_each_message_is_there_to_copy() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "are you open?", 60).await;
    let (viewer, place) = (desk.world.signed_in(Role::Viewer).await, desk.place(ANA).await);
    let page = viewer.page(&place).await;
    assert!(page.contains("data-copy=\"wamid.1\""), "{page}");
}

#[tokio::test]
async fn a_member_erases_the_conversations_with_a_contact_and_the_record_of_changes_says_so() {
    let desk = Desk::new().await;
    desk.writes(ANA, "wamid.1", "my secret", 60).await;
    let (world, id) = (&desk.world, Uuid::now_v7());
    let ana = Person { first_name: "Ana".to_owned(), phone_number: format!("+{ANA}"), ..Person::default() };
    let contacts = world.service.store().of(world.acme.id).contacts();
    contacts.add(&[(id, ana)], &[], Timestamp::now()).await.unwrap();
    let place = format!("/console/contacts/{id}");
    let erase = format!("{place}/conversations/erase");
    let (member, viewer) = (world.signed_in(Role::Member).await, world.signed_in(Role::Viewer).await);
    assert!(!viewer.page(&place).await.contains("Erase conversations"));
    assert_eq!(viewer.post(&erase, &[]).await.status, 403);
    assert_eq!(world.outsider().await.post(&erase, &[]).await.status, 404);
    assert!(member.page(&place).await.contains("Erase conversations"));
    let page = member.submit(&erase, &[]).await;
    assert!(page.contains("The conversations with this person are erased."), "{page}");
    assert!(!page.contains("Erase conversations"), "nothing is left to erase: {page}");
    assert!(!member.page("/console/inbox").await.contains("my secret"));
    let changes = world.operator().await.page("/console/operator/changes").await;
    assert!(changes.contains("Messages erased") && changes.contains("member@acme.example"), "{changes}");
    assert!(!changes.contains("my secret"), "{changes}");
}
