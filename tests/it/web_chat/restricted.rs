//! An account that WhatsApp restricts: it sends no messages to strangers, and sends to known people as
//! before.

use super::world::{World, text};
use super::{JOAO, MARIA};
use crate::running::until;

const ANA: &str = "5531955554444";

/// Waits until the channel refuses strangers, a moment after the restriction is shown.
async fn refuses_strangers(world: &World) {
    let mut strangers = 5_541_900_000_000_u64..;
    until("strangers to be refused", async || {
        let stranger = strangers.next().unwrap().to_string();
        world.whatsapp.contact(&stranger);
        world.post(&text(&stranger, "oi")).await.status == 429
    })
    .await;
}

#[tokio::test]
async fn a_restricted_account_writes_to_nobody_new_and_to_whom_it_has_written_before() {
    let world = World::linked().await;
    for number in [MARIA, JOAO, ANA] {
        world.whatsapp.contact(number);
    }
    let (known, _) = world.arrives(&text(MARIA, "oi")).await;
    world.reaches(&known.send, "sent").await;

    world.own.phone.refuse_next_message(463);
    let refused = world.send(&text(JOAO, "oi")).await;
    let shown = world.reaches(&refused.send, "failed").await;
    assert_eq!(shown["error"]["code"], 463);
    let shown = world.becomes(&world.own, "linked", "connected", Some("restricted")).await;
    assert_eq!(shown["status_reason"]["provider_code"], 463);
    assert_eq!(world.channels(&world.own).await[0]["status_reason"]["code"], "restricted");

    refuses_strangers(&world).await;
    let answer = world.post(&text(ANA, "oi")).await;
    assert_eq!((answer.status, answer.code().as_deref()), (429, Some("rate_limited")), "{}", answer.body);
    assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
    let (sent, message) = world.arrives(&text(MARIA, "ainda aqui")).await;
    assert_eq!(message.text(), Some("ainda aqui"));
    world.reaches(&sent.send, "sent").await;
    assert!(world.whatsapp.messages().iter().all(|message| !message.readers.contains(ANA)));
}

#[tokio::test]
async fn a_restriction_outlives_the_process() {
    let mut world = World::linked().await;
    for number in [MARIA, JOAO, ANA] {
        world.whatsapp.contact(number);
    }
    let (known, _) = world.arrives(&text(MARIA, "oi")).await;
    world.reaches(&known.send, "sent").await;
    world.own.phone.refuse_next_message(463);
    let refused = world.send(&text(JOAO, "oi")).await;
    world.reaches(&refused.send, "failed").await;
    world.becomes(&world.own, "linked", "connected", Some("restricted")).await;
    world.restart().await;
    world.comes_back(1).await;
    world.becomes(&world.own, "linked", "connected", Some("restricted")).await;
    refuses_strangers(&world).await;
    assert_eq!(world.post(&text(ANA, "oi")).await.status, 429);
    world.arrives(&text(MARIA, "ainda aqui")).await;
}
