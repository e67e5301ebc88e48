//! Texts to people and groups.

use pombo::connector::web_session::{Built, Content, Jid, MessageId, SendError};

use super::{JOAO, MARIA, OWN, Stage, person};

const GROUP: &str = "120363000000000001";

#[tokio::test]
async fn a_text_reaches_its_recipient_under_the_id_that_was_chosen() {
    let stage = Stage::set();
    stage.whatsapp.contact(MARIA);
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let id = MessageId::generate();
    let content = Content::Text(String::from("Olá, veja https://exemplo.com.br"));
    let sent = session.session.send(&person(MARIA), &id, content).await.unwrap();
    assert_eq!((&sent.to, &sent.id, &sent.built), (&person(MARIA), &id, &Built::Text));

    let message = stage.whatsapp.expect_message(id.as_str()).await;
    assert_eq!(message.text(), Some("Olá, veja https://exemplo.com.br"));
    assert_eq!(message.account, OWN);
    assert_eq!(message.kind, "text");
    assert_eq!(message.readers.iter().collect::<Vec<_>>(), [MARIA]);
    assert!(message.is_on_own_phone);
}

#[tokio::test]
async fn texts_to_one_person_arrive_in_their_order() {
    let stage = Stage::set();
    stage.whatsapp.contact(MARIA);
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let mut last = None;
    for text in ["um", "dois", "três", "quatro"] {
        last = Some(session.text(&person(MARIA), text).await.id);
    }
    stage.whatsapp.expect_message(last.unwrap().as_str()).await;
    let messages = stage.whatsapp.messages();
    let texts: Vec<_> = messages.iter().filter_map(|message| message.text()).collect();
    assert_eq!(texts, ["um", "dois", "três", "quatro"]);
}

#[tokio::test]
async fn a_text_to_a_group_is_read_by_all_members() {
    let stage = Stage::set();
    let (maria, joao) = (stage.whatsapp.contact(MARIA), stage.whatsapp.contact(JOAO));
    stage.whatsapp.group(GROUP, &[&maria, &joao]);
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let group = Jid::group(GROUP).unwrap();
    for text in ["oi, pessoal", "de novo"] {
        let sent = session.text(&group, text).await;
        let message = stage.whatsapp.expect_message(sent.id.as_str()).await;
        assert_eq!(message.text(), Some(text));
        assert_eq!(message.to.to_string(), group.as_str());
        assert_eq!(message.readers.iter().collect::<Vec<_>>(), [MARIA, JOAO]);
    }
}

#[tokio::test]
async fn a_group_that_is_not_there_is_refused() {
    let stage = Stage::set();
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let refused = session.try_text(&Jid::group("120363999").unwrap(), "oi").await.unwrap_err();
    assert!(refused.is_surely_unsent(), "{refused:?}");
    assert!(matches!(refused, SendError::Refused { code: 404, .. } | SendError::Recipient(_)), "{refused:?}");
}

#[tokio::test]
async fn a_session_without_a_connection_sends_nothing() {
    let stage = Stage::set();
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    session.session.stop().await;
    assert_eq!(session.try_text(&person(MARIA), "oi").await, Err(SendError::NotConnected));
}

#[tokio::test]
async fn two_sessions_side_by_side_do_not_mix() {
    let stage = Stage::set();
    let maria = stage.whatsapp.contact(MARIA);
    let other = "5531966665555";
    let (mut first, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let (mut second, _) = stage.linked(&stage.whatsapp.phone(other)).await;
    for (session, account, text) in [(&mut first, OWN, "da primeira"), (&mut second, other, "da segunda")] {
        let sent = session.text(&person(MARIA), text).await;
        let message = stage.whatsapp.expect_message(sent.id.as_str()).await;
        assert_eq!((message.account.as_str(), message.text()), (account, Some(text)));
        maria.reads(&message);
        session.expect_state(&sent.id, pombo::connector::web_session::AckState::Read).await;
    }
    // Two accounts of this service may write to each other too.
    let sent = first.text(&person(other), "entre nós").await;
    let message = stage.whatsapp.expect_message(sent.id.as_str()).await;
    assert!(message.readers.contains(other));
}

/// Twenty sessions are linked at once, and none gets the others' events.
#[tokio::test]
async fn many_sessions_work_at_once() {
    let stage = Stage::set();
    stage.whatsapp.contact(MARIA);
    let accounts: Vec<String> = (0..20).map(|ordinal| format!("551190001{ordinal:04}")).collect();
    let phones: Vec<_> = accounts.iter().map(|account| stage.whatsapp.phone(account)).collect();
    let linked = futures_util::future::join_all(phones.iter().map(|phone| stage.linked(phone))).await;
    let recipient = person(MARIA);
    let sent = linked.iter().map(|(session, _)| session.text(&recipient, "oi"));
    let sent = futures_util::future::join_all(sent).await;
    for (sent, account) in sent.iter().zip(&accounts) {
        assert_eq!(stage.whatsapp.expect_message(sent.id.as_str()).await.account, *account);
    }
    assert_eq!(stage.whatsapp.messages().len(), accounts.len());
}
