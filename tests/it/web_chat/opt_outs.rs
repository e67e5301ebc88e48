//! Opt-out words that people write to a linked phone, and what is answered.

use pombo::domain::automatic::{AutomaticTexts, OpeningHours};
use pombo::store::changes::Who;
use serde_json::json;

use super::world::{World, text};
use super::{GROUP, MARIA};
use crate::running::until;

#[tokio::test]
async fn a_word_stops_messages_is_confirmed_and_another_takes_it_back() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    world.whatsapp.group(GROUP, &[&maria]);
    let texts =
        AutomaticTexts::new(Some("Nothing more."), Some("Welcome back."), None, OpeningHours::default());
    let answers = world.service.store().of(world.own.company.id);
    answers.automatic().set_texts(&Who::Pombo, &texts.unwrap()).await.unwrap();
    let arrived = || -> Vec<String> {
        let messages = world.whatsapp.messages();
        messages.iter().filter_map(|message| message.text().map(str::to_owned)).collect()
    };
    maria.writes(&world.own.phone, " Sair ").await;
    until("the confirmation", async || arrived() == ["Nothing more."]).await;
    let refused = world.post(&text(MARIA, "hi")).await;
    assert_eq!((refused.status, refused.code().as_deref()), (400, Some("no_valid_recipients")));
    let path = format!("/api/v1/web-chat/{}/messages?dry_run=true", world.own.channel);
    let body = text(MARIA, "hi").to_string();
    let planned = world.service.post(&path, &world.own.company.key, body).await;
    assert_eq!(planned.code().as_deref(), Some("no_valid_recipients"), "{}", planned.body);
    // A group is nobody who opted out.
    let to_group =
        json!({ "phone_number": GROUP, "recipient_type": "group", "type": "text", "message": "hi" });
    world.send(&to_group).await;
    maria.writes(&world.own.phone, "start").await;
    until("the other one", async || arrived().last().is_some_and(|last| last == "Welcome back.")).await;
    world.arrives(&text(MARIA, "hi again")).await;
    assert_eq!(arrived(), ["Nothing more.", "hi", "Welcome back.", "hi again"]);
}
