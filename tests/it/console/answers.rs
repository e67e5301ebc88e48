//! Quick replies and automatic answers in the console.

use pombo::accounts::Role;
use serde_json::json;

use super::browser::value_of;
use super::world::World;

const REPLIES: &str = "/console/quick-replies";
const ANSWERS: &str = "/console/automatic-answers";

#[tokio::test]
async fn a_quick_reply_is_added_changed_and_deleted() {
    let world = World::new().await;
    let (member, viewer) = (world.signed_in(Role::Member).await, world.signed_in(Role::Viewer).await);
    let empty = member.page(REPLIES).await;
    assert!(empty.contains("There are no quick replies yet."), "{empty}");
    let once = value_of(&empty, "once").unwrap();
    let form = |word: &'static str, text: &'static str| {
        [("once", once.as_str()), ("word", word), ("text", text), ("file", "")]
    };
    for (word, text, sentence) in [
        ("two words", "x", "A word has 1 to 32 letters"),
        ("hours", "", "Write a text, or choose a file."),
        ("hours", "{{contact.shoe_size}}", "There is no field {{contact.shoe_size}}."),
    ] {
        let refused = member.post(REPLIES, &form(word, text)).await;
        assert_eq!(refused.status, 422, "{word}");
        assert!(refused.body.contains(sentence), "{}", refused.body);
    }
    let added = member.post(REPLIES, &form("/Horário", "Das 9 às 18 <b>")).await;
    assert_eq!(added.status, 303, "{}", added.body);
    let page = member.page(REPLIES).await;
    assert!(page.contains("/horario") && page.contains("Das 9 às 18 &lt;b&gt;"), "{page}");
    assert!(!viewer.page(REPLIES).await.contains("Add quick reply"));
    let (_, link) = page.split_once(&format!("href=\"{REPLIES}/")).unwrap();
    let place = format!("{REPLIES}/{}", link.split('"').next().unwrap());
    assert_eq!(viewer.post(&place, &[("word", "x"), ("text", "x")]).await.status, 403);
    assert_eq!(member.post(&place, &[("word", "aberto"), ("text", "Sim")]).await.status, 303);
    let shown = member.page(&place).await;
    assert!(shown.contains("The quick reply was saved.") && shown.contains("/aberto"), "{shown}");
    assert_eq!(member.post(&format!("{place}/delete"), &[]).await.status, 303);
    assert_eq!(member.post(&format!("{place}/delete"), &[]).await.status, 404);
}

#[tokio::test]
async fn owners_decide_what_is_answered_automatically() {
    let world = World::new().await;
    let (owner, member) = (world.signed_in(Role::Owner).await, world.signed_in(Role::Member).await);
    let zone = ("time_zone", "Madrid");
    let form = [
        zone,
        ("stop_text", "Bye."),
        ("away_text", "Closed."),
        ("monday", "9:00-14:00, 16:00-20:00"),
        ("reading", "hidden"),
    ];
    assert_eq!(member.post(ANSWERS, &form).await.status, 403);
    for (field, value, sentence) in [
        ("time_zone", "Olympus", "time zone"),
        ("tuesday", "9-14", "Write up to three spans"),
        ("stop_text", "STOP", "This text is an opt-out word itself"),
    ] {
        let wrong: Vec<_> =
            if field == "time_zone" { vec![(field, value)] } else { vec![zone, (field, value)] };
        let refused = owner.post(ANSWERS, &wrong).await;
        assert_eq!(refused.status, 422, "{field}");
        assert!(refused.body.contains(sentence), "{}", refused.body);
    }
    let saved = owner.post(ANSWERS, &form).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let page = owner.page(ANSWERS).await;
    assert!(page.contains("The automatic answers were saved."), "{page}");
    assert_eq!(value_of(&page, "monday").as_deref(), Some("09:00-14:00, 16:00-20:00"));
    assert!(
        page.contains("Closed.") && value_of(&page, "time_zone").unwrap().starts_with("Madrid"),
        "{page}"
    );
    let set = world.service.get("/api/v1/automatic-answers", &world.acme.key).await.json();
    assert_eq!((&set["time_zone"], &set["stop_text"]), (&json!("Europe/Madrid"), &json!("Bye.")), "{set}");
    assert!(page.contains("value=\"hidden\" checked") && set["read_marks"] == false, "{page}");
}
