//! Two companies in one database, each with a phone of its own.

use serde_json::{Value, json};

use super::world::{QUICK, World, messages, text};
use super::{MARIA, OTHER, OWN};
use crate::harness::Answer;

/// A channel that the company does not have.
fn unknown(answer: &Answer) {
    assert_eq!((answer.status, answer.json()), (404, json!({"message": "Unknown Channel"})));
}

#[tokio::test]
async fn a_company_sees_its_own_channel_and_no_other() {
    let world = World::linked().await;
    let theirs = world.account("globex", OTHER, QUICK).await;
    for (account, number) in [(&world.own, OWN), (&theirs, OTHER)] {
        let channels = world.channels(account).await;
        let shown: Vec<_> = channels.iter().map(|channel| channel["phone_number"].clone()).collect();
        assert_eq!(shown, [Value::from(format!("+{number}"))]);
    }
    let (service, key) = (&world.service, &theirs.company.key);
    unknown(&service.post(&messages(&world.own), key, text(MARIA, "oi").to_string()).await);
    unknown(&service.post(&messages(&world.own), key, "{}").await);
    for what in ["pairing", "limits"] {
        unknown(&service.get(&format!("/api/v1/web-chat/{}/{what}", world.own.channel), key).await);
    }
    assert!(world.whatsapp.messages().is_empty());
}

#[tokio::test]
async fn unlinking_one_account_leaves_the_other_linked() {
    let world = World::linked().await;
    let theirs = world.account("globex", OTHER, QUICK).await;
    world.own.phone.unlink();
    world.becomes(&world.own, "unlinked", "disconnected", Some("logged_out")).await;
    assert_eq!(world.records(&world.own).await, 0);
    assert!(world.records(&theirs).await > 0);
    world.becomes(&theirs, "linked", "connected", None).await;
    world.unlink(&theirs).await;
    assert_eq!(world.records(&theirs).await, 0);
}

#[tokio::test]
async fn each_sends_from_its_own_number_and_hears_of_its_own_messages() {
    let world = World::linked().await;
    let maria = world.whatsapp.contact(MARIA);
    let theirs = world.account("globex", OTHER, QUICK).await;
    let mut sends = Vec::new();
    for (account, number, words) in [(&world.own, OWN, "da primeira"), (&theirs, OTHER, "da segunda")] {
        let sent = world.send_by(account, &text(MARIA, words)).await;
        let message = world.whatsapp.expect_message(&sent.id).await;
        assert_eq!((message.account.as_str(), message.text()), (number, Some(words)));
        sends.push((sent, message));
    }
    maria.reads(&sends[1].1);
    crate::running::until("the other company's message to be read", async || {
        world.message_of(&theirs, &sends[1].0.send).await["state"] == "read"
    })
    .await;
    assert_eq!(world.reaches(&sends[0].0.send, "sent").await["state"], "sent");
    let path = format!("/api/v1/sends/{}", sends[0].0.send);
    assert_eq!(world.service.get(&path, &theirs.company.key).await.code().as_deref(), Some("send_not_found"));
}

#[tokio::test]
async fn two_accounts_of_this_service_may_write_to_each_other() {
    let world = World::linked().await;
    world.account("globex", OTHER, QUICK).await;
    let (_, message) = world.arrives(&text(OTHER, "entre nós")).await;
    assert!(message.readers.contains(OTHER), "{:?}", message.readers);
    assert_eq!(message.text(), Some("entre nós"));
}
