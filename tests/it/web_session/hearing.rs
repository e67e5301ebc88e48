//! Incoming messages of a session.

use pombo::connector::web_session::Event;
use pombo::domain::phone::PhoneNumber;

use super::{JOAO, MARIA, OWN, Stage, Watched, number};
use crate::fake_whatsapp::write_hidden;

/// The sender of the next incoming message.
async fn expect_inbound(session: &mut Watched) -> PhoneNumber {
    let pick = |event: &Event| match event {
        Event::Inbound { from } => Some(*from),
        _ => None,
    };
    session.expect("message from anybody", pick).await
}

#[tokio::test]
async fn an_inbound_message_is_reported_if_its_sender_s_number_is_known() {
    let stage = Stage::set();
    let (maria, joao) = (stage.whatsapp.contact(MARIA), stage.whatsapp.contact(JOAO));
    let stranger = stage.whatsapp.contact("5531966665555");
    let phone = stage.whatsapp.phone(OWN);
    let (mut session, records) = stage.linked(&phone).await;
    phone.expect_online().await;
    maria.writes(&phone, "oi").await;
    assert_eq!(expect_inbound(&mut session).await, number(MARIA));
    write_hidden(&joao, &phone, true, "oi").await;
    assert_eq!(expect_inbound(&mut session).await, number(JOAO));

    // This sender's number is unknown; the others' numbers were learnt.
    let unknown = write_hidden(&stranger, &phone, false, "oi").await;
    phone.expect_receipt(&unknown).await;
    for (person, digits) in [(&maria, MARIA), (&joao, JOAO)] {
        write_hidden(person, &phone, false, "de novo").await;
        assert_eq!(expect_inbound(&mut session).await, number(digits));
    }

    // Messages during the absence are reported when the session is back.
    session.session.stop().await;
    maria.writes(&phone, "tudo bem?").await;
    let mut session = stage.open(&records).await;
    assert_eq!(expect_inbound(&mut session).await, number(MARIA));
}
