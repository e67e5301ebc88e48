//! Conversations in the store: what people wrote, once and in its place, and the lists that are made of it.

use std::time::Duration;

use pombo::clock::Timestamp;
use pombo::domain::event::Type;
use pombo::domain::inbound::{
    ConversationState, Direction, ENTRY_POINT, PeerKey, SERVICE_WINDOW, WindowRule,
};
use pombo::domain::phone::PhoneNumber;
use pombo::store::changes::Who;
use pombo::store::conversations::{
    AnswerNote, AssignedTo, BegunAnswer, Conversation, ConversationFilter, ConversationNote, Inbound,
    ThreadCursor, ThreadSide,
};
use pombo::store::ledger::PendingWrites;
use pombo::store::{Conversations, Lease};
use uuid::Uuid;

use crate::database::{Universe, stores};
use crate::said::{ana, erasure, wrote, wrote_by};

stores!(
    a_message_is_kept_once_and_makes_its_conversation,
    a_message_opens_a_closed_conversation_and_an_answer_reads_it,
    a_window_opens_with_each_message_and_begins_to_count_after_a_day,
    an_advertisement_makes_messages_free_after_an_answer_in_time,
    changes_are_found_by_their_message_in_any_order_and_a_deletion_leaves_no_content,
    a_person_without_a_number_is_joined_once_it_is_known,
    the_list_has_filters_search_and_cursors,
    notes_belong_to_their_authors,
    begun_answers_are_kept_for_each_user_and_go_with_the_conversation,
    old_messages_and_silent_conversations_are_removed_and_a_person_is_erased,
    a_company_reaches_only_its_own_conversations,
);

const ACME: Uuid = Uuid::from_u128(1);
const CHANNEL: Uuid = Uuid::from_u128(2);
const SECOND: Duration = Duration::from_secs(1);

/// A store with a lease.
struct Desk<'a> {
    universe: &'a Universe,
    lease: Lease,
}

impl<'a> Desk<'a> {
    async fn new(universe: &'a Universe) -> Self {
        let lease = universe.store.lease().acquire(&universe.options(), "test").await.unwrap();
        Self { universe, lease }
    }

    async fn take_in(&self, inbound: Vec<Inbound>) {
        let batch = PendingWrites { inbound, ..PendingWrites::default() };
        self.universe.store.ledger().commit(&self.lease, &batch, Timestamp::now()).await.unwrap();
    }

    fn of_acme(&self) -> Conversations<'_> {
        self.universe.store.of(ACME).conversations()
    }

    async fn with(&self, number: PhoneNumber) -> Conversation {
        self.of_acme().find_with(CHANNEL, &PeerKey::of_number(number)).await.unwrap().unwrap()
    }

    async fn listed(&self, filter: ConversationFilter) -> Vec<Uuid> {
        let (found, next) = self.of_acme().list(&filter, None, 100).await.unwrap();
        assert_eq!(next, None);
        found.into_iter().map(|conversation| conversation.id).collect()
    }

    /// The provider's ids in a conversation, the later ones first.
    async fn ids(&self, conversation: Uuid) -> Vec<String> {
        let found = self.of_acme().messages_before(conversation, None, 100).await.unwrap();
        found.into_iter().map(|message| message.provider_id).collect()
    }

    async fn answers(&self, at: Timestamp) {
        let note = AnswerNote {
            channel_id: CHANNEL,
            peer: PeerKey::of_number(ana()),
            send_id: Uuid::now_v7(),
            at,
            kind: "text",
            line: b"answer".to_vec(),
        };
        self.universe.store.conversations().note_answers(&[note]).await.unwrap();
    }
}

fn hers(id: &str, at: Timestamp) -> Inbound {
    wrote((ACME, CHANNEL), id, at)
}

fn change(kind: &'static str, id: &str, of: &str, at: Timestamp) -> Inbound {
    let r#type = if kind == "reaction" { Type::MessageReaction } else { Type::MessageEdited };
    Inbound {
        kind,
        r#type,
        target: Some(of.to_owned()),
        is_to_be_read: false,
        window_until: None,
        ..hers(id, at)
    }
}

fn number(last: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + last).unwrap()
}

async fn a_message_is_kept_once_and_makes_its_conversation(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now();
    let (early, late) = (now.minus(10 * SECOND), now.minus(5 * SECOND));
    desk.take_in(vec![hers("b", late), hers("a", early), hers("b", late)]).await;
    desk.take_in(vec![hers("b", late)]).await;
    let conversation = desk.with(ana()).await;
    assert_eq!(desk.ids(conversation.id).await, ["b", "a"], "by time, however they came");
    assert_eq!((conversation.unread, conversation.name.as_deref()), (2, Some("Ana")));
    assert_eq!((conversation.last_at, conversation.last_inbound_at), (late, Some(late)));
    assert_eq!(
        (conversation.last.side, conversation.last.line.as_slice()),
        (ThreadSide::Person, &b"line"[..])
    );
    let first = ThreadCursor { at: early, id: Uuid::max() };
    let after = desk.of_acme().messages_after(conversation.id, first, 9).await.unwrap();
    assert_eq!(after.len(), 1);
    // Without contents, the row alone says that the message is known.
    desk.take_in(vec![Inbound { is_kept: false, ..hers("c", now) }]).await;
    let kept = desk.of_acme().message_named(conversation.id, "c").await.unwrap().unwrap();
    assert!(kept.content.is_empty() && desk.with(ana()).await.last.line.is_empty());
    // What was written on a phone before it was connected is there, and nobody has to read it.
    let past =
        Inbound { is_past: true, is_to_be_read: false, window_until: None, ..hers("0", early.minus(SECOND)) };
    desk.take_in(vec![past]).await;
    assert_eq!((desk.ids(conversation.id).await.len(), desk.with(ana()).await.unread), (4, 3));
}

async fn a_message_opens_a_closed_conversation_and_an_answer_reads_it(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now();
    desk.take_in(vec![hers("a", now)]).await;
    let id = desk.with(ana()).await.id;
    let of = desk.of_acme();
    assert!(of.set_state(id, ConversationState::Closed, "user:ana").await.unwrap());
    assert_eq!(desk.with(ana()).await.unread, 0);
    desk.take_in(vec![change("reaction", "r", "a", now)]).await;
    assert_eq!(desk.with(ana()).await.state, ConversationState::Closed, "a reaction is nothing to read");
    let later = now.plus(SECOND);
    desk.take_in(vec![hers("b", later)]).await;
    assert_eq!((desk.with(ana()).await.state, desk.with(ana()).await.unread), (ConversationState::Open, 1));
    assert!(of.mark_read(id, now).await.unwrap());
    assert_eq!(desk.with(ana()).await.unread, 1, "nobody has seen what came later");
    desk.answers(later.plus(SECOND)).await;
    let answered = desk.with(ana()).await;
    assert_eq!((answered.unread, answered.last.side), (0, ThreadSide::Own));
    assert!(of.mark_unread(id).await.unwrap());
    let echo = Inbound {
        direction: Direction::Echo,
        window_until: None,
        is_to_be_read: false,
        ..hers("e", later.plus(2 * SECOND))
    };
    desk.take_in(vec![echo]).await;
    let echoed = desk.with(ana()).await;
    assert_eq!((echoed.unread, echoed.last.side), (0, ThreadSide::Echo), "the shop answered on its phone");
    assert!(!of.mark_unread(Uuid::nil()).await.unwrap());
}

async fn a_window_opens_with_each_message_and_begins_to_count_after_a_day(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let of = desk.of_acme();
    let now = Timestamp::now();
    assert_eq!(of.windows(CHANNEL).await.unwrap().recorded_since, None);
    desk.take_in(vec![hers("a", now)]).await;
    let windows = of.windows(CHANNEL).await.unwrap();
    assert!(!windows.are_enforced(now), "she may have written before messages were recorded");
    assert!(windows.are_enforced(now.plus(SERVICE_WINDOW + 60 * SECOND)));
    let open = async |at| {
        of.with_window(CHANNEL, [ana(), number(1)], at).await.unwrap().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(open(now).await, [ana()]);
    assert!(open(now.plus(SERVICE_WINDOW)).await.is_empty());
    let who = Who::CommandLine("ana".to_owned());
    of.set_window_rule(&who, CHANNEL, WindowRule::Enforce).await.unwrap();
    assert!(of.windows(CHANNEL).await.unwrap().are_enforced(now));
}

async fn an_advertisement_makes_messages_free_after_an_answer_in_time(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now();
    desk.take_in(vec![Inbound { is_referred: true, ..hers("a", now) }]).await;
    assert_eq!(desk.with(ana()).await.entry_point_until, None);
    let answer = now.plus(SECOND);
    desk.answers(answer).await;
    assert_eq!(desk.with(ana()).await.entry_point_until, Some(answer.plus(ENTRY_POINT)));
    desk.answers(answer.plus(SECOND)).await;
    assert_eq!(
        desk.with(ana()).await.entry_point_until,
        Some(answer.plus(ENTRY_POINT)),
        "the first answer counts"
    );
}

async fn changes_are_found_by_their_message_in_any_order_and_a_deletion_leaves_no_content(
    universe: &Universe,
) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now();
    desk.take_in(vec![change("reaction", "r", "a", now), change("edit", "e", "a", now.plus(SECOND))]).await;
    desk.take_in(vec![hers("a", now.minus(SECOND))]).await;
    let id = desk.with(ana()).await.id;
    let changes = async || {
        let found = desk.of_acme().changes_of(id, &["a", "other"]).await.unwrap();
        found.into_iter().map(|found| found.change.kind).collect::<Vec<_>>()
    };
    assert_eq!(changes().await, ["reaction", "edit"]);
    assert_eq!(desk.ids(id).await, ["a"], "changes are no entries");
    desk.take_in(vec![change("deletion", "d", "a", now.plus(2 * SECOND))]).await;
    assert_eq!(changes().await, ["reaction", "edit", "deletion"]);
    for gone in ["a", "e"] {
        let kept = desk.of_acme().message_named(id, gone).await.unwrap().unwrap();
        assert!(kept.content.is_empty(), "{gone}");
    }
    assert_eq!(desk.with(ana()).await.last.kind, "deletion");
}

async fn a_person_without_a_number_is_joined_once_it_is_known(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now();
    let user = PeerKey::of_user("BR.1");
    let hidden = |id: &str| Inbound {
        peer: user.clone(),
        number: None,
        user_id: Some("BR.1".to_owned()),
        ..hers(id, now)
    };
    desk.take_in(vec![hidden("a")]).await;
    let before = desk.of_acme().find_with(CHANNEL, &user).await.unwrap().unwrap();
    desk.take_in(vec![Inbound { others: vec![user.clone()], ..hers("b", now) }]).await;
    let known = desk.with(ana()).await;
    assert_eq!((known.id, known.user_id.as_deref(), known.unread), (before.id, Some("BR.1"), 2));
    assert_eq!(desk.of_acme().find_with(CHANNEL, &user).await.unwrap(), None);
    // Both are there: one takes over the other's messages, each once, and waits for somebody again.
    assert!(desk.of_acme().set_state(known.id, ConversationState::Closed, "user:ana").await.unwrap());
    let last = Inbound { at: now.plus(SECOND), ..hidden("c") };
    desk.take_in(vec![last.clone(), hidden("b")]).await;
    desk.take_in(vec![Inbound { others: vec![user.clone()], ..change("reaction", "d", "a", now) }]).await;
    let joined = desk.with(ana()).await;
    assert_eq!((joined.state, joined.last.id), (ConversationState::Open, last.id));
    let mut ids = desk.ids(joined.id).await;
    ids.sort_unstable();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(desk.listed(ConversationFilter::default()).await, [known.id]);
}

async fn the_list_has_filters_search_and_cursors(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let (of, now) = (desk.of_acme(), Timestamp::now());
    let names = ["João Padaria", "Maria Souza", "Ana Padilha", "Bo"];
    let all = (1..).zip(names).map(|(nth, name)| {
        let message =
            wrote_by(number(nth), (ACME, CHANNEL), "a", now.plus(u32::try_from(nth).unwrap() * SECOND));
        Inbound { name: Some(name.to_owned()), ..message }
    });
    desk.take_in(all.collect()).await;
    let mut ids = Vec::new();
    for nth in (1..=4).rev() {
        ids.push(desk.with(number(nth)).await.id);
    }
    assert_eq!(desk.listed(ConversationFilter::default()).await, ids, "the latest first");
    let (page, next) = of.list(&ConversationFilter::default(), None, 3).await.unwrap();
    assert_eq!(page.iter().map(|one| one.id).collect::<Vec<_>>(), ids[..3]);
    let (rest, end) = of.list(&ConversationFilter::default(), next, 3).await.unwrap();
    assert_eq!((rest[0].id, rest.len(), end), (ids[3], 1, None));

    let search =
        |text: &str| ConversationFilter { search: Some(text.to_owned()), ..ConversationFilter::default() };
    for (text, expected) in [
        ("pad", vec![ids[1], ids[3]]),
        ("JOAO pad", vec![ids[3]]),
        ("souza", vec![ids[2]]),
        ("0002", vec![ids[2]]),
        ("+55 11 90000", ids.clone()),
        ("nobody", vec![]),
        ("   ", vec![]),
    ] {
        assert_eq!(desk.listed(search(text)).await, expected, "{text}");
    }
    let user = Uuid::from_u128(9);
    assert!(of.assign(ids[0], Some(user), "user:ana").await.unwrap());
    assert!(of.mark_read(ids[1], now.plus(60 * SECOND)).await.unwrap());
    assert!(of.set_state(ids[2], ConversationState::Closed, "user:ana").await.unwrap());
    let mine = ConversationFilter { assigned: Some(AssignedTo::User(user)), ..ConversationFilter::default() };
    assert_eq!(desk.listed(mine).await, [ids[0]]);
    let nobodys = ConversationFilter { assigned: Some(AssignedTo::Nobody), ..ConversationFilter::default() };
    assert_eq!(desk.listed(nobodys).await, ids[1..]);
    let unread = ConversationFilter { unread: true, ..ConversationFilter::default() };
    assert_eq!(desk.listed(unread).await, [ids[0], ids[3]]);
    let (all, others) = (of.count_unread(None, 9).await, of.count_unread(Some(ACME), 9).await);
    assert_eq!((all.unwrap(), others.unwrap()), (2, 1));
    let closed =
        ConversationFilter { state: Some(ConversationState::Closed), ..ConversationFilter::default() };
    assert_eq!(desk.listed(closed).await, [ids[2]]);
    let elsewhere = ConversationFilter { channel_id: Some(ACME), ..ConversationFilter::default() };
    assert!(desk.listed(elsewhere).await.is_empty());
    // A new name is found, and the former one is not.
    let message = wrote_by(number(4), (ACME, CHANNEL), "b", now.plus(60 * SECOND));
    let met = Inbound { name: None, user_id: Some("BR.1".to_owned()), ..hers("c", message.at) };
    let met = Inbound { peer: message.peer.clone(), number: message.number, ..met };
    desk.take_in(vec![Inbound { name: Some("Bela".to_owned()), ..message }, met]).await;
    assert_eq!(desk.with(number(4)).await.user_id.as_deref(), Some("BR.1"));
    assert_eq!(desk.listed(search("bela")).await, [ids[0]]);
    assert!(desk.listed(search("bo")).await.is_empty());
}

async fn notes_belong_to_their_authors(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let (of, now) = (desk.of_acme(), Timestamp::now());
    desk.take_in(vec![hers("a", now)]).await;
    let id = desk.with(ana()).await.id;
    let note = ConversationNote {
        id: Uuid::now_v7(),
        author: "user:ana".to_owned(),
        text: b"sealed".to_vec(),
        created_at: now,
        edited_at: None,
    };
    assert!(of.add_note(id, &note).await.unwrap());
    assert!(!of.add_note(Uuid::nil(), &note).await.unwrap());
    assert_eq!(of.notes(id).await.unwrap(), std::slice::from_ref(&note));
    assert!(!of.edit_note((id, note.id), "user:bo", b"other".to_vec(), now).await.unwrap());
    assert!(of.edit_note((id, note.id), "user:ana", b"other".to_vec(), now).await.unwrap());
    assert_eq!(of.notes(id).await.unwrap()[0].text, b"other");
    assert!(!of.remove_note((id, note.id), Some("user:bo")).await.unwrap());
    assert!(of.remove_note((id, note.id), None).await.unwrap());
    assert!(of.notes(id).await.unwrap().is_empty());
}

async fn begun_answers_are_kept_for_each_user_and_go_with_the_conversation(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let (of, now) = (desk.of_acme(), Timestamp::now());
    desk.take_in(vec![hers("a", now)]).await;
    let id = desk.with(ana()).await.id;
    let begun = |user, text: &[u8], updated_at| BegunAnswer {
        user_id: Uuid::from_u128(user),
        text: text.to_vec(),
        updated_at,
    };
    let (one, two) = (begun(1, b"one", now.plus(SECOND)), begun(2, b"two", now));
    assert!(of.keep_begun(id, &begun(1, b"before", now)).await.unwrap());
    assert!(of.keep_begun(id, &one).await.unwrap() && of.keep_begun(id, &two).await.unwrap());
    assert!(!of.keep_begun(Uuid::nil(), &one).await.unwrap());
    assert_eq!(of.begun(id).await.unwrap(), [one.clone(), two.clone()]);
    let elsewhere = universe.store.of(Uuid::from_u128(9)).conversations();
    assert!(elsewhere.begun(id).await.unwrap().is_empty());
    assert!(!elsewhere.keep_begun(id, &one).await.unwrap());
    of.remove_begun(id, one.user_id).await.unwrap();
    assert_eq!(of.begun(id).await.unwrap(), [two]);
    of.erase(&mut erasure(ACME), &[PeerKey::of_number(ana())]).await.unwrap();
    assert!(of.begun(id).await.unwrap().is_empty());
}

async fn old_messages_and_silent_conversations_are_removed_and_a_person_is_erased(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now();
    let bo = number(1);
    desk.take_in(vec![hers("a", now), wrote_by(bo, (ACME, CHANNEL), "a", now), hers("b", now)]).await;
    let all = universe.store.conversations();
    let soon = now.plus(3_600 * SECOND);
    let step = all.remove_messages(&desk.lease, now.minus(3_600 * SECOND), 9).await.unwrap();
    assert_eq!(step.others, 0, "nothing is old");
    let step = all.remove_messages(&desk.lease, soon, 2).await.unwrap();
    assert_eq!((step.others, step.more), (2, true));
    assert_eq!(all.remove_messages(&desk.lease, soon, 2).await.unwrap().others, 1);
    desk.take_in(vec![hers("c", now)]).await;
    let erased = desk.of_acme().erase(&mut erasure(ACME), &[PeerKey::of_number(ana())]).await.unwrap();
    assert_eq!((erased.0.len(), erased.1.len()), (1, 1));
    assert_eq!(desk.listed(ConversationFilter::default()).await, [desk.with(bo).await.id]);
    let named = ConversationFilter { search: Some("ana".to_owned()), ..ConversationFilter::default() };
    assert_eq!(desk.listed(named.clone()).await.len(), 1, "the words of others stay");
    assert_eq!(all.remove_silent(&desk.lease, soon, 9).await.unwrap().others, 1);
    assert!(desk.listed(named).await.is_empty());
}

async fn a_company_reaches_only_its_own_conversations(universe: &Universe) {
    let desk = Desk::new(universe).await;
    let now = Timestamp::now();
    desk.take_in(vec![hers("a", now)]).await;
    let id = desk.with(ana()).await.id;
    let other = universe.store.of(Uuid::from_u128(7)).conversations();
    assert_eq!(other.find(id).await.unwrap(), None);
    assert!(other.list(&ConversationFilter::default(), None, 9).await.unwrap().0.is_empty());
    assert!(other.messages_before(id, None, 9).await.unwrap().is_empty());
    assert!(!other.assign(id, None, "user:bo").await.unwrap());
    assert!(!other.set_state(id, ConversationState::Closed, "user:bo").await.unwrap());
    assert!(!other.mark_read(id, now).await.unwrap());
    assert!(other.erase(&mut erasure(ACME), &[PeerKey::of_number(ana())]).await.unwrap().0.is_empty());
    assert_eq!(desk.with(ana()).await.unread, 1);
}
