//! The states of a message after it was handed over.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::connector::web_session::{AckState, Jid};

use super::{JOAO, MARIA, OWN, Stage, person};

#[tokio::test]
async fn every_state_of_a_message_is_reported() {
    let stage = Stage::set();
    let maria = stage.whatsapp.contact(MARIA);
    let (mut session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let before = Timestamp::now().minus(Duration::from_secs(2));
    let sent = session.text(&person(MARIA), "oi").await;
    let ack = session.expect_ack(&sent.id).await;
    assert_eq!(ack.state, AckState::Server);
    assert!(ack.at >= before, "{:?}", ack.at);

    let message = stage.whatsapp.expect_message(sent.id.as_str()).await;
    maria.gets(&message);
    let ack = session.expect_ack(&sent.id).await;
    assert_eq!(ack.state, AckState::Delivered);
    assert!(ack.from.is_some());
    maria.reads(&message);
    assert_eq!(session.expect_ack(&sent.id).await.state, AckState::Read);
    maria.plays(&message);
    assert_eq!(session.expect_ack(&sent.id).await.state, AckState::Played);
}

#[tokio::test]
async fn the_states_of_a_group_message_are_reported_for_every_member() {
    let stage = Stage::set();
    let (maria, joao) = (stage.whatsapp.contact(MARIA), stage.whatsapp.contact(JOAO));
    stage.whatsapp.group("120363000000000001", &[&maria, &joao]);
    let (mut session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let sent = session.text(&Jid::group("120363000000000001").unwrap(), "oi").await;
    let message = stage.whatsapp.expect_message(sent.id.as_str()).await;
    session.expect_state(&sent.id, AckState::Server).await;
    for member in [&maria, &joao] {
        member.gets(&message);
        let ack = session.expect_ack(&sent.id).await;
        assert_eq!(ack.state, AckState::Delivered);
        assert!(ack.from.is_some());
    }
}

/// The code of a message that WhatsApp refuses with this error, and whether the refusal reports a restricted
/// account.
async fn refused_with(code: u16) -> AckState {
    let stage = Stage::set();
    stage.whatsapp.contact(MARIA);
    let phone = stage.whatsapp.phone(OWN);
    let (mut session, _) = stage.linked(&phone).await;
    phone.refuse_next_message(code);
    let refused = session.text(&person(MARIA), "oi").await;
    let state = session.expect_ack(&refused.id).await.state;

    let sent = session.text(&person(MARIA), "de novo").await;
    session.expect_state(&sent.id, AckState::Server).await;
    assert_eq!(stage.whatsapp.expect_message(sent.id.as_str()).await.text(), Some("de novo"));
    assert_eq!(stage.whatsapp.messages().len(), 1);
    state
}

#[tokio::test]
async fn a_message_of_a_restricted_account_is_refused_after_it_was_sent() {
    let state = refused_with(463).await;
    assert_eq!(state, AckState::Refused { code: Some(463) });
    assert!(state.is_restricted());
}

#[tokio::test]
async fn a_message_that_whatsapp_does_not_understand_is_refused() {
    let state = refused_with(479).await;
    assert_eq!(state, AckState::Refused { code: Some(479) });
    assert!(!state.is_restricted());
}

#[tokio::test]
async fn a_message_that_whatsapp_did_not_acknowledge_may_be_acknowledged_by_its_recipient() {
    let stage = Stage::set();
    let maria = stage.whatsapp.contact(MARIA);
    let phone = stage.whatsapp.phone(OWN);
    let (mut session, _) = stage.linked(&phone).await;
    phone.withhold_acks();
    let sent = session.text(&person(MARIA), "oi").await;
    maria.gets(&stage.whatsapp.expect_message(sent.id.as_str()).await);
    assert_eq!(session.expect_ack(&sent.id).await.state, AckState::Delivered);
}
