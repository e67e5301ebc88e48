//! Conversations with people and groups: their list, and one of them. What was written in them, answers, notes, and who
//! deals with them are in the modules below.

pub(super) mod actions;
pub(super) mod messages;
pub(super) mod notes;
pub(super) mod of_contact;
pub(super) mod send;

use std::collections::HashMap;

use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::State;
use super::auth::Company;
use super::envelope::Answer;
use super::error::{Error, ErrorBody};
use super::list_query::{Query, SearchParameter, other_cursor};
use super::path_id::Id;
use super::schema::{ConversationPeer, ConversationState, MessageDirection};
use super::sends::id;
use crate::accounts::Email;
use crate::clock::Timestamp;
use crate::domain::inbound::{self, Direction, PeerKey};
use crate::domain::page::{Start, Window, cursor};
use crate::domain::phone::PhoneNumber;
use crate::domain::request::GROUP_SUFFIX;
use crate::engine::conversations::types::{AssignedTo, ConversationCursor, ConversationFilter, ThreadSide};
use crate::engine::conversations::{ConversationPart, ListedConversation};
use crate::engine::records::contacts::{ContactFilter, Counting};
use crate::error::Code;

/// The list's name, for its cursors.
const LIST: &str = "conversations";
/// The contacts whose conversations a search finds by what only the contacts say.
const MOST_CONTACTS: u64 = 300;
/// The word for nobody in the filter by assignment.
const NOBODY: &str = "nobody";

/// A conversation with a person or a group on a channel.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Conversation)]
pub(crate) struct ConversationRecord {
    /// The id of the conversation.
    id: Uuid,
    /// The channel.
    channel_id: Uuid,
    /// Whether it is with a person or with a group.
    #[schema(value_type = ConversationPeer, example = "person")]
    kind: &'static str,
    /// The person's number; null for a group, and for a person of whom only an id is known.
    #[schema(example = "+5511988887777")]
    phone_number: Option<String>,
    /// WhatsApp's own id of the person, if it is known.
    user_id: Option<String>,
    /// The group; null for a person.
    #[schema(example = "120363025246125016@g.us")]
    group_id: Option<String>,
    /// The name in the person's profile.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// Whether it is dealt with. A message from the person opens it again.
    #[schema(value_type = ConversationState, example = "open")]
    state: &'static str,
    /// The user who deals with it; null for nobody.
    assigned_to: Option<Assignee>,
    /// Messages that nobody read.
    unread: u64,
    /// When something was written last, by either side.
    #[schema(value_type = String, format = DateTime)]
    last_at: Timestamp,
    /// When the person wrote last.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_inbound_at: Option<Timestamp>,
    /// When the company answered last.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_outbound_at: Option<Timestamp>,
    /// Until when WhatsApp takes any message to the person, and afterwards templates alone; null when it is closed, and for
    /// web sessions, which have no such time.
    #[schema(value_type = Option<String>, format = DateTime)]
    window_until: Option<Timestamp>,
    /// Until when messages are free because the person came from an advertisement.
    #[schema(value_type = Option<String>, format = DateTime)]
    entry_point_until: Option<Timestamp>,
    /// The message that was written last; null when there is none.
    last_message: Option<LastMessage>,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// The user who deals with a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Assignee {
    /// The id of the user.
    user_id: Uuid,
    /// The user's e-mail address; null for a user who is no member of the company any more.
    #[schema(example = "ana@example.com")]
    email: Option<String>,
}

/// The message of a conversation that was written last.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LastMessage {
    /// Who wrote it.
    #[schema(value_type = MessageDirection, example = "in")]
    direction: &'static str,
    /// Its type.
    #[schema(example = "text")]
    r#type: String,
    /// Its words in one line, at most 160 characters; empty for one without words, and null when it is not kept.
    #[schema(example = "Where is my order?")]
    line: Option<String>,
}

/// A part of the list of conversations.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationList {
    /// The conversations, those with the latest activity first.
    data: Vec<ConversationRecord>,
    /// The `cursor` of those that follow; absent when none do.
    #[schema(value_type = String, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The word for who wrote a message.
pub(super) const fn direction(side: ThreadSide) -> &'static str {
    match side {
        ThreadSide::Person => Direction::In.as_str(),
        ThreadSide::Echo => Direction::Echo.as_str(),
        ThreadSide::Own => "out",
    }
}

/// E-mail addresses of the company's members, by their ids.
type Emails = HashMap<Uuid, String>;

impl ConversationRecord {
    fn new(listed: ListedConversation, emails: &Emails) -> Self {
        let ListedConversation { conversation, line } = listed;
        let peer = &conversation.peer;
        let last = &conversation.last;
        let assignee = |user_id| Assignee { user_id, email: emails.get(&user_id).cloned() };
        Self {
            id: conversation.id,
            channel_id: conversation.channel_id,
            kind: conversation.kind.as_str(),
            phone_number: peer.number().map(|number| format!("+{number}")),
            group_id: peer.group().map(|group| format!("{group}{}", GROUP_SUFFIX)),
            last_message: (!last.kind.is_empty()).then(|| LastMessage {
                direction: direction(last.side),
                r#type: last.kind.clone(),
                line,
            }),
            user_id: user_id(peer, conversation.user_id),
            name: conversation.name,
            state: conversation.state.as_str(),
            assigned_to: conversation.assigned_to.map(assignee),
            unread: conversation.unread,
            last_at: conversation.last_at,
            last_inbound_at: conversation.last_inbound_at,
            last_outbound_at: conversation.last_outbound_at,
            window_until: conversation.window_until.filter(|until| *until > Timestamp::now()),
            entry_point_until: conversation.entry_point_until.filter(|until| *until > Timestamp::now()),
            created_at: conversation.created_at,
        }
    }
}

fn user_id(peer: &PeerKey, known: Option<String>) -> Option<String> {
    known.or_else(|| peer.user_id().map(str::to_owned))
}

/// These conversations as records.
async fn records(
    state: &State,
    company: Company,
    listed: Vec<ListedConversation>,
) -> Result<Vec<ConversationRecord>, Error> {
    let emails = if listed.iter().any(|one| one.conversation.assigned_to.is_some()) {
        let members = state.accounts.members(company.id).await?;
        members.into_iter().map(|member| (member.user_id, member.email)).collect()
    } else {
        Emails::new()
    };
    Ok(listed.into_iter().map(|one| ConversationRecord::new(one, &emails)).collect())
}

/// The conversation with this id as it is now.
async fn shown(state: &State, company: Company, id: Uuid) -> Answer<ConversationRecord> {
    let listed = state.engine.conversations(company.id).one(id).await?;
    let record = records(state, company, vec![listed]).await?.pop();
    record.map(Json).ok_or(Error::Internal)
}

/// The member of the company whom a text names: by the id or by the e-mail address.
async fn member(state: &State, company: Company, text: &str) -> Result<Option<Uuid>, Error> {
    let (id, email) = (Uuid::try_parse(text).ok(), Email::parse(text).ok());
    if id.is_none() && email.is_none() {
        return Ok(None);
    }
    let members = state.accounts.members(company.id).await?;
    let is_meant = |user_id: Uuid, of: &str| {
        id == Some(user_id) || email.as_ref().is_some_and(|email| email.as_str() == of)
    };
    let found = members.into_iter().find(|member| is_meant(member.user_id, &member.email));
    Ok(found.map(|member| member.user_id))
}

/// List conversations
///
/// The company's conversations with people, those with the latest activity first. Each word of `search` is matched with the
/// beginnings of words of the name in the person's profile, and with the person's contact; digits match the beginning or the
/// end of the number. With `contact_tag_id`, a part may be short although more follow: as long as there is a `next_cursor`,
/// there may be more.
#[utoipa::path(
    get,
    path = "/api/v1/conversations",
    operation_id = "listConversations",
    params(
        ("limit" = Option<u64>, Query, minimum = 1, description = "Conversations in the answer; 10 when absent"),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the answer before"),
        SearchParameter,
        ("unread" = Option<bool>, Query, description = "Only conversations with unread messages"),
        ("state" = Option<ConversationState>, Query, description = "Only conversations in this state"),
        ("assigned_to" = Option<String>, Query, example = "ana@example.com", description = "Only conversations of this \
             user, by the e-mail address or the id, or those of `nobody`"),
        ("channel_id" = Option<Uuid>, Query, description = "Only conversations on this channel"),
        ("contact_tag_id" = Option<Uuid>, Query, description = "Only conversations with people whose contact has this tag"),
        ("groups" = Option<bool>, Query, description = "Whether to list the conversations with groups, and not those with \
             people"),
    ),
    responses((status = 200, description = "A part of the conversations", body = ConversationList)),
)]
pub(super) async fn list(company: Company, state: Data<State>, query: Query) -> Answer<ConversationList> {
    let limit = query.page()?.limit;
    let after = query.text("cursor")?.map(|text| read_cursor(&text).ok_or_else(other_cursor)).transpose()?;
    let filter = filter(&state, company, &query).await?;
    let part = state.engine.conversations(company.id).list(filter, after, limit).await?;
    let ConversationPart { conversations, next } = part;
    let data = records(&state, company, conversations).await?;
    let next_cursor = next.map(|place| cursor::write(LIST, 1, &(place.last_at.millis(), place.id)));
    Ok(Json(ConversationList { data, next_cursor }))
}

fn read_cursor(text: &str) -> Option<ConversationCursor> {
    let (_, (last_at, id)) = cursor::read::<(i64, Uuid)>(LIST, text)?;
    Some(ConversationCursor { last_at: Timestamp::from_millis(last_at), id })
}

/// Which conversations the query asks for.
async fn filter(state: &State, company: Company, query: &Query) -> Result<ConversationFilter, Error> {
    let search = query.search()?;
    let in_state = query.text("state")?.map(|word| word.parse::<inbound::ConversationState>()).transpose();
    let filter = ConversationFilter {
        groups: query.flag("groups")?,
        unread: query.flag("unread")?,
        assigned: assigned(state, company, query).await?,
        state: in_state.map_err(|wrong| Error::of("state", Code::InvalidField, wrong))?,
        channel_id: id(query, "channel_id", "a channel")?,
        tag: tag(state, company, query).await?,
        numbers: match &search {
            Some(search) => numbers(state, company, search).await?,
            None => Vec::new(),
        },
        search,
    };
    Ok(filter)
}

async fn assigned(state: &State, company: Company, query: &Query) -> Result<Option<AssignedTo>, Error> {
    let Some(text) = query.text("assigned_to")? else { return Ok(None) };
    if text == NOBODY {
        return Ok(Some(AssignedTo::Nobody));
    }
    match member(state, company, &text).await? {
        Some(user) => Ok(Some(AssignedTo::User(user))),
        None => {
            let what = "must be the e-mail address or the id of a member of the company, or `nobody`";
            Err(Error::of("assigned_to", Code::InvalidField, what))
        }
    }
}

/// The tag of the filter. One that the company does not have is refused: a mistyped id would find nobody.
async fn tag(state: &State, company: Company, query: &Query) -> Result<Option<Uuid>, Error> {
    let Some(tag) = id(query, "contact_tag_id", "a tag")? else { return Ok(None) };
    if state.engine.company(company.id).await?.tags().among(&[tag]).await?.contains(&tag) {
        return Ok(Some(tag));
    }
    let what = "is no tag of this company: GET /api/v1/contacts/tags lists them";
    Err(Error::of("contact_tag_id", Code::InvalidField, what))
}

/// The numbers of the contacts that a search finds.
async fn numbers(state: &State, company: Company, search: &str) -> Result<Vec<PhoneNumber>, Error> {
    let asked = ContactFilter { search: Some(search.to_owned()), ..ContactFilter::default() };
    let window = Window { start: Start::Offset(0), limit: MOST_CONTACTS };
    let records = state.engine.company(company.id).await?;
    let found = records.contacts().filtered(&asked, window, Counting::Skipped).await?.records;
    Ok(found
        .into_iter()
        .filter_map(|contact| PhoneNumber::parse(&contact.person.phone_number).ok())
        .collect())
}

/// Show a conversation
#[utoipa::path(
    get,
    path = "/api/v1/conversations/{id}",
    operation_id = "showConversation",
    params(("id" = Uuid, Path, description = "The conversation")),
    responses(
        (status = 200, description = "The conversation", body = ConversationRecord),
        (status = 404, description = "`conversation_not_found`", body = ErrorBody),
    ),
)]
pub(super) async fn show(company: Company, state: Data<State>, id: Id) -> Answer<ConversationRecord> {
    shown(&state, company, id.or_nil()).await
}
