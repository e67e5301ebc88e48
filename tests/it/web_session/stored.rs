//! Sessions that keep their keys as in the service: in the database, sealed.

use std::path::Path;
use std::sync::Arc;

use pombo::config::Secrets;
use pombo::connector::web_session::{AckState, End, Records};
use pombo::domain::secret::SealingKey;
use pombo::engine::web_session::SessionRecords;
use pombo::vault::Vault;
use uuid::Uuid;

use super::{MARIA, OWN, Stage, open, person};
use crate::database::{Universe, stores};

stores!(
    a_session_in_the_database_connects_again_without_a_code,
    sessions_in_one_database_do_not_mix,
    a_session_that_is_wiped_leaves_the_others_alone,
);

/// The store of a channel's session, opened again as after a restart.
fn records(universe: &Universe, channel: Uuid) -> Arc<dyn Records> {
    let secrets = Secrets { key: Some(SealingKey::new([7; 32])), previous_keys: Vec::new(), key_file: None };
    let vault = Arc::new(Vault::open(&secrets, Path::new("/nowhere")).unwrap().0);
    Arc::new(SessionRecords::new(universe.store.clone(), vault, channel))
}

async fn a_session_in_the_database_connects_again_without_a_code(universe: &Universe) {
    let stage = Stage::set();
    let (phone, maria) = (stage.whatsapp.phone(OWN), stage.whatsapp.contact(MARIA));
    let channel = Uuid::now_v7();
    let mut session = open(&stage.driver, records(universe, channel)).await;
    phone.scan(&session.expect_qr().await);
    session.expect_connected().await;
    session.text(&person(MARIA), "antes").await;
    session.session.stop().await;
    assert_eq!(session.expect_end().await, End::Stopped);

    let mut session = open(&stage.driver, records(universe, channel)).await;
    session.expect_connected().await;
    assert!(!session.has_shown_qr());
    let sent = session.text(&person(MARIA), "depois").await;
    let message = stage.whatsapp.expect_message(sent.id.as_str()).await;
    assert_eq!(message.text(), Some("depois"));
    maria.reads(&message);
    session.expect_state(&sent.id, AckState::Read).await;
    assert_eq!(phone.uploads_of_keys(), 1);
    session.session.stop().await;
}

/// Links an account's phone to a session of its own.
async fn linked(stage: &Stage, universe: &Universe, number: &str) -> (super::Watched, Arc<dyn Records>) {
    let records = records(universe, Uuid::now_v7());
    let mut session = open(&stage.driver, Arc::clone(&records)).await;
    stage.whatsapp.phone(number).scan(&session.expect_qr().await);
    session.expect_connected().await;
    (session, records)
}

async fn sessions_in_one_database_do_not_mix(universe: &Universe) {
    let stage = Stage::set();
    stage.whatsapp.contact(MARIA);
    let other = "5531966665555";
    let ((first, _), (second, _)) =
        tokio::join!(linked(&stage, universe, OWN), linked(&stage, universe, other));
    for (session, account) in [(&first, OWN), (&second, other), (&first, OWN)] {
        let sent = session.text(&person(MARIA), "oi").await;
        assert_eq!(stage.whatsapp.expect_message(sent.id.as_str()).await.account, account);
    }
    first.session.stop().await;
    second.session.stop().await;
}

async fn a_session_that_is_wiped_leaves_the_others_alone(universe: &Universe) {
    let stage = Stage::set();
    let (mut first, records) = linked(&stage, universe, OWN).await;
    let (second, _) = linked(&stage, universe, "5531966665555").await;
    first.session.unlink().await;
    assert_eq!(first.expect_end().await, End::Unlinked);
    records.wipe().await.unwrap();
    assert!(second.session.figures().is_logged_in);
    assert!(second.session.find(super::number(MARIA)).await.is_ok());
    second.session.stop().await;

    let mut again = open(&stage.driver, records).await;
    again.expect_qr().await;
    again.session.stop().await;
}
