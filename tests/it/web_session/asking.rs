//! A session's lookups of numbers.

use pombo::connector::web_session::{AskError, Jid};

use super::{JOAO, MARIA, OWN, Stage, number, person};

#[tokio::test]
async fn a_number_on_whatsapp_is_found_with_its_hidden_address() {
    let stage = Stage::set();
    let maria = stage.whatsapp.contact(MARIA);
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let found = session.session.find(number(MARIA)).await.unwrap().unwrap();
    assert_eq!(found.jid, person(MARIA));
    assert_eq!(found.lid.as_ref().map(Jid::as_str), Some(maria.lid().as_str()));
    assert!(!found.is_business);
}

#[tokio::test]
async fn a_number_that_is_not_on_whatsapp_is_not_found() {
    let stage = Stage::set();
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    assert_eq!(session.session.find(number(JOAO)).await, Ok(None));
}

#[tokio::test]
async fn a_number_with_a_ninth_digit_is_found_as_the_number_without_it() {
    let stage = Stage::set();
    let without_ninth_digit = "551188887777";
    stage.whatsapp.contact(without_ninth_digit).is_found_as(MARIA);
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let found = session.session.find(number(MARIA)).await.unwrap().unwrap();
    assert_eq!(found.jid.as_str(), "551188887777@s.whatsapp.net");
    let sent = session.text(&found.jid, "oi").await;
    let message = stage.whatsapp.expect_message(sent.id.as_str()).await;
    assert!(message.readers.contains(without_ninth_digit));
}

#[tokio::test]
async fn a_picture_is_shown_where_there_is_one() {
    let stage = Stage::set();
    stage.whatsapp.contact(MARIA);
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    let picture = session.session.picture(&person(MARIA)).await.unwrap().unwrap();
    assert!(picture.url.ends_with(MARIA), "{}", picture.url);
    assert_eq!(session.session.picture(&person(JOAO)).await, Ok(None));
}

#[tokio::test]
async fn a_lookup_without_a_connection_fails() {
    let stage = Stage::set();
    let (session, _) = stage.linked(&stage.whatsapp.phone(OWN)).await;
    session.session.stop().await;
    assert_eq!(session.session.find(number(MARIA)).await, Err(AskError::NotConnected));
    assert_eq!(session.session.picture(&person(MARIA)).await, Err(AskError::NotConnected));
}
