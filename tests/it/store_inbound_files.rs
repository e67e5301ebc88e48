//! Files that people send in the database: the queue, and names that they share with files of the library.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::inbound::{MissingFile, PeerKey};
use pombo::domain::media::Kind;
use pombo::store::Lease;
use pombo::store::changes::Who;
use pombo::store::conversations::Inbound;
use pombo::store::inbound_files::{FileHold, FileStanding, KeptFile, QueuedFile};
use pombo::store::ledger::PendingWrites;
use pombo::store::media::{MediaTotals, NewFile, Taking};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::said::{ana, erasure, wrote};

stores! {
    a_file_is_queued_once_with_its_message_and_fetched_by_channel,
    a_content_stays_while_anybody_has_it_whoever_came_first,
    files_leave_with_their_message_their_person_and_their_age,
}

const CHANNEL: Uuid = Uuid::from_u128(2);
const MOST: MediaTotals = MediaTotals { files: 9, bytes: 1_000 };
const DIGEST: [u8; 32] = [9; 32];

struct Desk<'a> {
    universe: &'a Universe,
    lease: Lease,
    acme: Uuid,
}

impl<'a> Desk<'a> {
    async fn new(universe: &'a Universe) -> Self {
        let lease = universe.store.lease().acquire(&universe.options(), "test").await.unwrap();
        let acme = universe.store.companies().add(&Who::Pombo, "acme", "standard").await.unwrap().id;
        Self { universe, lease, acme }
    }

    fn files(&self) -> pombo::store::AllInboundFiles<'_> {
        self.universe.store.inbound_files()
    }

    /// A message of hers with a file.
    fn sent(&self, id: &str, at: Timestamp) -> Inbound {
        Inbound { kind: "image", file: b"source".to_vec(), ..wrote((self.acme, CHANNEL), id, at) }
    }

    async fn take_in(&self, inbound: Vec<Inbound>) {
        let batch = PendingWrites { inbound, ..PendingWrites::default() };
        self.universe.store.ledger().commit(&self.lease, &batch, Timestamp::now()).await.unwrap();
    }

    async fn queued(&self) -> Vec<QueuedFile> {
        self.files().waiting(CHANNEL, Timestamp::now(), 9).await.unwrap()
    }

    async fn hold(&self, file: &QueuedFile) -> FileHold {
        self.files().hold(file, &DIGEST, 5, Timestamp::now()).await.unwrap()
    }

    /// Keeps the only queued file.
    async fn keep(&self) -> Uuid {
        let file = self.queued().await.pop().unwrap();
        assert_ne!(self.hold(&file).await, FileHold::Busy);
        let kept = KeptFile {
            digest: DIGEST,
            kind: Kind::Image,
            mime_type: "image/png".to_owned(),
            bytes: 5,
            name: "image.png".to_owned(),
            has_thumbnail: true,
            received_at: file.received_at,
        };
        assert!(self.files().finish(file.message_id, &kept, Some(vec![1])).await.unwrap());
        assert_eq!(self.standing(file.message_id).await, Some(FileStanding::Kept(kept)));
        file.message_id
    }

    async fn standing(&self, message: Uuid) -> Option<FileStanding> {
        self.files().find(message).await.unwrap().map(|file| file.standing)
    }

    /// The messages whose content is to be deleted.
    async fn leaving(&self) -> Vec<Uuid> {
        let (leaving, more) = self.files().claim_leaving(&self.lease, Timestamp::now(), 9).await.unwrap();
        assert!(!more && leaving.iter().all(|file| (file.company_id, file.digest) == (self.acme, DIGEST)));
        leaving.into_iter().map(|file| file.message_id).collect()
    }

    async fn upload(&self) -> Taking {
        let new = NewFile {
            digest: DIGEST,
            kind: Kind::Image,
            mime_type: "image/png".to_owned(),
            bytes: 5,
            name: "a.png".to_owned(),
            thumbnail: None,
        };
        self.universe.store.of(self.acme).media().begin(&Who::Pombo, &new, MOST).await.unwrap()
    }

    /// The library's files whose content is to be deleted when everything is old enough.
    async fn leaving_of_library(&self) -> usize {
        let later = Timestamp::now().plus(Duration::from_secs(60));
        let media = self.universe.store.media();
        media.claim_leaving(&self.lease, (later, later), Uuid::nil(), 9).await.unwrap().files.len()
    }
}

async fn a_file_is_queued_once_with_its_message_and_fetched_by_channel(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now().minus(Duration::from_secs(1));
    for _ in 0..2 {
        desk.take_in(vec![desk.sent("a", now)]).await;
    }
    let channels = desk.files().waiting_channels(Timestamp::now(), Uuid::nil(), 9).await.unwrap();
    assert_eq!(channels, [CHANNEL]);
    let queued = desk.queued().await;
    let [file] = &queued[..] else { panic!("{queued:?}") };
    assert_eq!((file.kind.as_str(), file.attempts, &file.source[..]), ("image", 0, &b"source"[..]));
    let later = Timestamp::now().plus(Duration::from_secs(60));
    let full = Some(MissingFile::DiskFull);
    desk.files().put_off(file.message_id, later, full, true).await.unwrap();
    assert!(desk.queued().await.is_empty());
    assert_eq!(desk.files().waiting(CHANNEL, later, 9).await.unwrap()[0].attempts, 1);
    let standing = desk.standing(file.message_id).await;
    assert!(matches!(standing, Some(FileStanding::Waiting { reason, .. }) if reason == full), "{standing:?}");
    desk.files().give_up(file.message_id, MissingFile::Gone).await.unwrap();
    assert_eq!(desk.standing(file.message_id).await, Some(FileStanding::Missing(MissingFile::Gone)));
    assert_eq!((desk.leaving().await, desk.files().count_waiting().await.unwrap()), (vec![], 0));
}

async fn a_content_stays_while_anybody_has_it_whoever_came_first(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now().minus(Duration::from_secs(1));
    let library = universe.store.of(desk.acme);
    let Taking::Begun(upload) = desk.upload().await else { panic!("not new") };
    assert!(library.media().finish(&Who::Pombo, upload).await.unwrap());
    desk.take_in(vec![desk.sent("a", now)]).await;
    assert_eq!(desk.hold(&desk.queued().await[0]).await, FileHold::Known, "the library has it");
    let first = desk.keep().await;
    // The library's file goes, and its content stays for hers.
    assert!(library.media().remove(&Who::Pombo, upload).await.unwrap());
    assert_eq!(desk.leaving_of_library().await, 0);
    assert_eq!(desk.leaving_of_library().await, 0);
    assert!(universe.store.media().find(upload).await.unwrap().is_none());
    // A second message has the same content; the first one's row goes alone.
    desk.take_in(vec![desk.sent("b", now)]).await;
    let second = desk.keep().await;
    assert_eq!(library.inbound_files().bytes().await.unwrap(), 10);
    assert_eq!(library.inbound_files().thumbnail(second).await.unwrap(), Some(vec![1]));
    let old = Timestamp::now().plus(Duration::from_secs(60));
    assert_eq!(desk.files().leave_by_age(&desk.lease, old, 1).await.unwrap().others, 1);
    assert_eq!((desk.leaving().await, desk.standing(first).await), (vec![], None));
    // While the last one leaves, nobody takes the name.
    desk.files().leave_by_age(&desk.lease, old, 9).await.unwrap();
    assert_eq!(desk.leaving().await, [second]);
    assert_eq!(desk.upload().await, Taking::Busy);
    desk.take_in(vec![desk.sent("c", now)]).await;
    assert_eq!(desk.hold(&desk.queued().await[0]).await, FileHold::Busy);
    desk.files().forget(second).await.unwrap();
    assert_eq!(desk.hold(&desk.queued().await[0]).await, FileHold::New);
    assert!(matches!(desk.upload().await, Taking::Begun(_)));
}

async fn files_leave_with_their_message_their_person_and_their_age(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now().minus(Duration::from_secs(1));
    desk.take_in(vec![desk.sent("a", now)]).await;
    let kept = desk.keep().await;
    // She deletes it for everyone.
    let deletion = |id: &str, of: &str| Inbound {
        kind: "deletion",
        target: Some(of.to_owned()),
        is_to_be_read: false,
        window_until: None,
        file: Vec::new(),
        ..desk.sent(id, now)
    };
    desk.take_in(vec![deletion("b", "a")]).await;
    assert_eq!(desk.standing(kept).await, Some(FileStanding::Missing(MissingFile::NotKept)));
    assert_eq!(desk.leaving().await, [kept]);
    desk.files().forget(kept).await.unwrap();
    assert_eq!(desk.standing(kept).await, None);
    // A message that comes after its deletion leaves nothing either.
    desk.take_in(vec![deletion("y", "z")]).await;
    let late = desk.sent("z", Timestamp::now());
    desk.take_in(vec![late.clone()]).await;
    let conversations = universe.store.of(desk.acme).conversations();
    let (stored, conversation, _) = conversations.message(late.id).await.unwrap().unwrap();
    let last = conversations.find(conversation).await.unwrap().unwrap().last;
    assert!(stored.content.is_empty() && last.line.is_empty() && desk.queued().await.is_empty());
    let edit = Inbound { kind: "edit", ..deletion("x", "z") };
    desk.take_in(vec![edit.clone()]).await;
    assert!(conversations.message(edit.id).await.unwrap().unwrap().0.content.is_empty());
    let last = conversations.find(conversation).await.unwrap().unwrap().last;
    assert_eq!((last.id, last.kind.as_str()), (late.id, "deletion"));
    // One that is being fetched leaves with her, and is not shown when it arrives.
    desk.take_in(vec![desk.sent("c", now)]).await;
    let file = desk.queued().await.pop().unwrap();
    assert_eq!(desk.hold(&file).await, FileHold::New);
    let people = [PeerKey::of_number(ana())];
    let of = universe.store.of(desk.acme).conversations();
    of.erase(&mut erasure(desk.acme), &people).await.unwrap();
    assert_eq!(desk.hold(&file).await, FileHold::Busy, "its content is to be deleted");
    assert_eq!(desk.leaving().await, [file.message_id]);
    desk.files().forget(file.message_id).await.unwrap();
    assert_eq!(desk.hold(&file).await, FileHold::Over);
}
