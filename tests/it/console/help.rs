//! The help about states, waits and causes: pages link to it, and show the end of each wait.

use pombo::accounts::Role;
use serde_json::json;

use super::browser::Browser;
use super::sends::{accepted, in_an_hour, past, shop};
use super::world::World;

const HELP: &str = "/console/help";

#[tokio::test]
async fn every_state_wait_and_code_of_a_page_leads_to_its_explanation() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let channel = shop(&world).await;
    let (over, waits) =
        (past(&world, channel).await, accepted(&world, channel, json!({"send_at": in_an_hour()})).await);
    let help = Browser::new(&world.service).page(HELP).await;
    for (page, topics) in [
        ("/console".to_owned(), &["channel-connected", "wait-scheduled"][..]),
        ("/console/sends".to_owned(), &["send-finished", "send-scheduled"]),
        ("/console/channels".to_owned(), &["channel-connected"]),
        (format!("/console/channels/{channel}"), &["channel-connected"]),
        (format!("/console/sends/{waits}"), &["send-scheduled", "wait-scheduled"]),
        (
            format!("/console/sends/{over}"),
            &["message-failed", "code-131026", "code-131049", "message-expired"],
        ),
        (format!("/console/sends/{over}/messages/1"), &["message-failed", "code-131026"]),
        (format!("/console/sends/{waits}/messages/0"), &["message-queued", "wait-scheduled"]),
    ] {
        let shown = member.page(&page).await;
        let mark = format!("href=\"{HELP}#");
        let links: Vec<_> = shown.split(&mark).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        for topic in topics {
            assert!(links.contains(topic), "{page} does not lead to {topic}: {links:?}");
        }
        for link in links {
            assert!(
                help.contains(&format!("id=\"{link}\"")),
                "{page} leads to {link}, which is not explained"
            );
        }
    }
}

#[tokio::test]
async fn a_wait_is_told_with_its_end_in_the_person_s_words() {
    let world = World::new().await;
    let member = world.signed_in(Role::Member).await;
    let send = accepted(&world, shop(&world).await, json!({"send_at": in_an_hour()})).await;
    for (language, until, left) in
        [("en", "until ", "in 1 hour"), ("pt-BR", "até ", "em 1 hora"), ("es", "hasta ", "dentro de 1 hora")]
    {
        member.post("/console/language", &[("language", language), ("next", "/console")]).await;
        for page in [
            "/console",
            "/console/sends",
            &format!("/console/sends/{send}"),
            &format!("/console/sends/{send}/messages/0"),
        ] {
            let shown = member.page(page).await;
            assert!(
                shown.contains(&format!(">{until}")) && shown.contains(left),
                "{language} {page}: {shown}"
            );
        }
    }
}
