//! Edits and deletions in a group: everybody can name the message of another, and only its writer and admins change it.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::event::Type;
use pombo::domain::inbound::{ConversationKind, Direction, PeerKey};
use pombo::store::Lease;
use pombo::store::conversations::{BY_ADMIN, Inbound};
use pombo::store::ledger::PendingWrites;
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::said::wrote;

stores!(
    a_member_of_a_group_deletes_no_message_of_another_and_an_admin_does,
    a_deletion_that_comes_before_its_message_is_judged_when_the_message_comes,
);

const ACME: Uuid = Uuid::from_u128(1);
const CHANNEL: Uuid = Uuid::from_u128(2);
const SECOND: Duration = Duration::from_secs(1);

fn group() -> PeerKey {
    PeerKey::of_group("120363000000000001")
}

/// A message of a member of the group.
fn by(writer: &str, id: &str, at: Timestamp) -> Inbound {
    Inbound {
        with: ConversationKind::Group,
        peer: group(),
        number: None,
        name: None,
        writer: Some(writer.to_owned()),
        window_until: None,
        ..wrote((ACME, CHANNEL), id, at)
    }
}

fn change(kind: &'static str, writer: &str, of: &str, at: Timestamp) -> Inbound {
    Inbound {
        kind,
        r#type: if kind == "edit" { Type::MessageEdited } else { Type::MessageDeleted },
        target: Some(of.to_owned()),
        is_to_be_read: false,
        ..by(writer, &format!("{kind} of {of} by {writer}"), at)
    }
}

/// A store with a lease.
struct Group<'a> {
    universe: &'a Universe,
    lease: Lease,
}

impl<'a> Group<'a> {
    async fn new(universe: &'a Universe) -> Self {
        let lease = universe.store.lease().acquire(&universe.options(), "test").await.unwrap();
        Self { universe, lease }
    }

    async fn take_in(&self, inbound: Vec<Inbound>) {
        let batch = PendingWrites { inbound, ..PendingWrites::default() };
        self.universe.store.ledger().commit(&self.lease, &batch, Timestamp::now()).await.unwrap();
    }

    /// What is left of a message: the kind of the group's last line, whether the message has its content, and which of its
    /// deletions count.
    async fn left(&self, id: &str) -> (String, bool, Vec<bool>) {
        let stored = self.universe.store.of(ACME).conversations();
        let conversation = stored.find_with(CHANNEL, &group()).await.unwrap().unwrap();
        let message = stored.message_named(conversation.id, id).await.unwrap().unwrap();
        let changes = stored.changes_of(conversation.id, &[id]).await.unwrap();
        let deletions = changes.into_iter().filter(|change| change.change.kind == "deletion");
        let counts = deletions.map(|change| change.is_allowed).collect();
        (conversation.last.kind, !message.content.is_empty(), counts)
    }
}

async fn a_member_of_a_group_deletes_no_message_of_another_and_an_admin_does(universe: &Universe) {
    let (group, now) = (Group::new(universe).await, Timestamp::now());
    let at = |seconds: u32| now.plus(seconds * SECOND);
    group.take_in(vec![by("ana", "1", at(0))]).await;
    group.take_in(vec![change("edit", "bea", "1", at(1))]).await;
    group.take_in(vec![change("deletion", "bea", "1", at(2))]).await;
    assert_eq!(group.left("1").await, ("text".to_owned(), true, vec![false]));
    group.take_in(vec![change("deletion", "ana", "1", at(3))]).await;
    assert_eq!(group.left("1").await, ("deletion".to_owned(), false, vec![false, true]));

    group.take_in(vec![by("ana", "2", at(4))]).await;
    group.take_in(vec![change("deletion", BY_ADMIN, "2", at(5))]).await;
    assert_eq!(group.left("2").await, ("deletion".to_owned(), false, vec![true]));
    // The company's own phone may be an admin, and a member is none over it.
    let own = |message| Inbound { direction: Direction::Echo, ..message };
    group.take_in(vec![by("ana", "3", at(6))]).await;
    group.take_in(vec![own(change("deletion", BY_ADMIN, "3", at(7)))]).await;
    assert_eq!(group.left("3").await, ("deletion".to_owned(), false, vec![true]));
    group.take_in(vec![Inbound { writer: None, ..own(by("own", "4", at(8))) }]).await;
    group.take_in(vec![change("deletion", "ana", "4", at(9))]).await;
    assert_eq!(group.left("4").await, ("text".to_owned(), true, vec![false]));
}

async fn a_deletion_that_comes_before_its_message_is_judged_when_the_message_comes(universe: &Universe) {
    let (group, now) = (Group::new(universe).await, Timestamp::now());
    let at = |seconds: u32| now.plus(seconds * SECOND);
    group.take_in(vec![change("deletion", "bea", "1", at(0)), change("deletion", "ana", "2", at(0))]).await;
    group.take_in(vec![by("ana", "1", at(0)), by("ana", "2", at(1))]).await;
    assert_eq!(group.left("1").await, ("deletion".to_owned(), true, vec![false]));
    assert_eq!(group.left("2").await, ("deletion".to_owned(), false, vec![true]));
    // In one batch with its message.
    group.take_in(vec![by("ana", "3", at(2)), change("deletion", "bea", "3", at(3))]).await;
    assert_eq!(group.left("3").await, ("text".to_owned(), true, vec![false]));
}
