//! Files of libraries in the database: taking, bounds, and leaving.

use std::time::Duration;

use futures_util::future::join_all;
use pombo::clock::Timestamp;
use pombo::domain::channel;
use pombo::domain::media::Kind;
use pombo::domain::page::PageRequest;
use pombo::store::Lease;
use pombo::store::changes::Who;
use pombo::store::channels::{NewChannel, Sealed};
use pombo::store::media::{MediaTotals, NewFile, Taking};
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, Statement};
use uuid::Uuid;

use crate::database::{Universe, stores};

stores! {
    a_file_is_kept_once_and_comes_back_with_its_content,
    the_content_of_a_removed_file_stays_for_sends_that_need_it,
    files_that_nobody_uses_are_removed,
    uploads_that_end_at_once_never_exceed_the_bound,
}

const MOST: MediaTotals = MediaTotals { files: 2, bytes: 1_000 };
const ALL: PageRequest = PageRequest { page: 1, limit: 10 };

fn file(digest: u8, bytes: u64) -> NewFile {
    NewFile {
        digest: [digest; 32],
        kind: Kind::Image,
        mime_type: "image/png".to_owned(),
        bytes,
        name: format!("{digest}.png"),
        thumbnail: Some(vec![digest]),
    }
}

async fn company(universe: &Universe, name: &str) -> Uuid {
    universe.store.companies().add(&Who::Pombo, name, "standard").await.unwrap().id
}

async fn kept(universe: &Universe, company: Uuid, new: &NewFile) -> Uuid {
    let own = universe.store.of(company);
    let Taking::Begun(id) = own.media().begin(&Who::Pombo, new, MOST).await.unwrap() else {
        panic!("not new")
    };
    assert!(own.media().finish(&Who::Pombo, id).await.unwrap());
    id
}

async fn lease(universe: &Universe) -> Lease {
    universe.store.lease().acquire(&universe.options(), "test").await.unwrap()
}

/// An active send of the company, with this content.
async fn send(rows: &DatabaseConnection, company: Uuid, channel: Uuid, content: &str) {
    let sql = "INSERT INTO send (id, company_id, channel_id, state, content, recipients, high_water, settled, created_at) \
               VALUES ($1, $2, $3, 1, $4, 1, 0, 0, 1)";
    let values = [Uuid::now_v7().into(), company.into(), channel.into(), content.into()];
    rows.execute_raw(Statement::from_sql_and_values(rows.get_database_backend(), sql, values)).await.unwrap();
}

async fn channel(universe: &Universe, company: Uuid) -> Uuid {
    let new = NewChannel {
        id: Uuid::now_v7(),
        company_id: company,
        kind: channel::Kind::BusinessAccount,
        name: "shop".to_owned(),
        phone_number: None,
        phone_number_id: Some("7".to_owned()),
        waba_id: Some("8".to_owned()),
        tier: "standard".to_owned(),
        secrets: Sealed::default(),
        status: channel::Status::Connected,
    };
    universe.store.channels().add(&Who::Pombo, new).await.unwrap().id
}

/// The files whose content can be deleted when everything is old enough.
async fn leaving(universe: &Universe, lease: &Lease) -> Vec<Uuid> {
    let later = Timestamp::now().plus(Duration::from_secs(60));
    let found = universe.store.media().claim_leaving(lease, (later, later), Uuid::nil(), 10).await.unwrap();
    assert_eq!(found.last, None);
    found.files.into_iter().map(|(id, ..)| id).collect()
}

async fn a_file_is_kept_once_and_comes_back_with_its_content(universe: &Universe) {
    let (acme, globex) = (company(universe, "acme").await, company(universe, "globex").await);
    let media = || universe.store.of(acme).media();
    let Taking::Begun(id) = media().begin(&Who::Pombo, &file(1, 400), MOST).await.unwrap() else {
        panic!("it is new")
    };
    assert_eq!(media().find(id).await.unwrap(), None, "its content is not stored yet");
    assert!(media().finish(&Who::Pombo, id).await.unwrap());
    assert!(!media().finish(&Who::Pombo, id).await.unwrap(), "another upload has ended");
    let found = media().find(id).await.unwrap().unwrap();
    assert_eq!((found.bytes, found.kind, found.has_thumbnail), (400, Kind::Image, true));
    assert_eq!(media().thumbnail(id).await.unwrap(), Some(vec![1]));
    assert_eq!(universe.store.of(globex).media().find(id).await.unwrap(), None);
    let begin = async |new: NewFile| media().begin(&Who::Pombo, &new, MOST).await.unwrap();
    assert_eq!(begin(file(1, 400)).await, Taking::Known(id));
    let now = MediaTotals { files: 1, bytes: 400 };
    assert_eq!(begin(file(2, 601)).await, Taking::Full(now));
    let second = kept(universe, acme, &file(2, 600)).await;
    assert_eq!(begin(file(3, 0)).await, Taking::Full(MediaTotals { files: 2, bytes: 1_000 }));
    assert!(media().remove(&Who::Pombo, second).await.unwrap());
    assert!(!media().remove(&Who::Pombo, second).await.unwrap());
    assert_eq!(media().totals().await.unwrap(), now);
    assert!(universe.store.media().find(second).await.unwrap().is_some(), "a provider may still fetch it");
    assert_eq!(begin(file(2, 600)).await, Taking::Known(second));
    assert_eq!(media().page(Some(Kind::Image), ALL).await.unwrap().total, 2);
    assert_eq!(media().page(Some(Kind::Video), ALL).await.unwrap().total, 0);
}

async fn the_content_of_a_removed_file_stays_for_sends_that_need_it(universe: &Universe) {
    let acme = company(universe, "acme").await;
    let (needed, other) = (kept(universe, acme, &file(1, 1)).await, kept(universe, acme, &file(2, 1)).await);
    let (lease, channel) = (lease(universe).await, channel(universe, acme).await);
    let rows = Database::connect(&universe.url).await.unwrap();
    send(&rows, acme, channel, &format!(r#"{{"type":"image","link":"media:{needed}"}}"#)).await;
    for id in [needed, other] {
        assert!(universe.store.of(acme).media().remove(&Who::Pombo, id).await.unwrap());
    }
    assert_eq!(leaving(universe, &lease).await, [other]);
    let again = universe.store.of(acme).media().begin(&Who::Pombo, &file(2, 1), MOST).await.unwrap();
    assert_eq!(again, Taking::Busy, "its content is being deleted");
    universe.store.media().forget(other).await.unwrap();
    assert_eq!(leaving(universe, &lease).await, Vec::<Uuid>::new());
    rows.execute_unprepared(&format!("UPDATE send SET state = 2 WHERE content LIKE '%{needed}%'"))
        .await
        .unwrap();
    assert_eq!(leaving(universe, &lease).await, Vec::<Uuid>::new(), "the provider fetches it for a while");
    assert_eq!(leaving(universe, &lease).await, [needed], "the send is over");
}

async fn files_that_nobody_uses_are_removed(universe: &Universe) {
    let acme = company(universe, "acme").await;
    let (used, unused) = (kept(universe, acme, &file(1, 1)).await, kept(universe, acme, &file(2, 1)).await);
    let rows = Database::connect(&universe.url).await.unwrap();
    rows.execute_unprepared("UPDATE media_file SET created_at = 1").await.unwrap();
    assert!(universe.store.of(acme).media().used(used).await.unwrap().is_some());
    let lease = lease(universe).await;
    let before = Timestamp::now().minus(Duration::from_secs(60));
    assert_eq!(universe.store.media().remove_unused(&lease, before, 10).await.unwrap(), 1);
    assert!(universe.store.of(acme).media().find(used).await.unwrap().is_some());
    assert_eq!(universe.store.of(acme).media().find(unused).await.unwrap(), None);
    rows.execute_unprepared("UPDATE media_file SET created_at = 1, used_at = NULL").await.unwrap();
    let again = universe.store.of(acme).media().begin(&Who::Pombo, &file(1, 1), MOST).await.unwrap();
    assert_eq!(again, Taking::Known(used));
    assert_eq!(universe.store.media().remove_unused(&lease, before, 10).await.unwrap(), 0, "it is as new");
}

async fn uploads_that_end_at_once_never_exceed_the_bound(universe: &Universe) {
    let acme = company(universe, "acme").await;
    let begun = (0..12).map(|digest| async move {
        universe.store.of(acme).media().begin(&Who::Pombo, &file(digest, 10), MOST).await.unwrap()
    });
    let begun = join_all(begun).await;
    let begun = begun.iter().filter(|taking| matches!(taking, Taking::Begun(_))).count();
    assert_eq!(begun as u64, MOST.files);
    assert_eq!(universe.store.of(acme).media().totals().await.unwrap(), MediaTotals { files: 2, bytes: 20 });
}
