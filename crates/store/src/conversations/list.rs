//! The list of conversations, those with the latest activity first.
//!
//! A page walks an index by activity; each filter that may skip most conversations has one of its own. A search looks for
//! conversations by the beginnings of their words, a tag by its contacts: few are fetched and sorted; where there are many, the
//! walk meets some of them soon.

use std::collections::HashSet;

use entity::conversation::{Column, Entity};
use sea_orm::sea_query::{Condition, Expr};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Value};
use uuid::Uuid;

use super::words::{BACKWARDS, FORWARDS, of_text};
use super::{Conversation, conversation};
use crate::contacts::signed;
use crate::dialect::{Rows, Type};
use crate::nouns::Conversations;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::fold::like_anywhere;
use domain::inbound::{ConversationKind, ConversationState, PeerKey};
use domain::phone::PhoneNumber;

/// The most conversations with one word that are fetched and sorted. With more, the walk by activity finds a page of them
/// after some ten thousand conversations at most, in a list of a million.
const FEW: usize = 4_000;
/// The most words of a search that count.
const MOST_TERMS: usize = 4;
/// The most contacts of a tag whose conversations are fetched and sorted.
const FEW_TAGGED: usize = 3_000;
/// The conversations whose contacts are looked at together, and how often for one page.
const TAGGED: u64 = 500;
const LOOKS: usize = 8;
/// What follows all texts that begin with the same characters.
const LAST: char = '\u{10ffff}';
const ID: &[(&str, Type)] = &[("id", Type::Uuid)];
const PEER: &[(&str, Type)] = &[("peer", Type::Text)];
const PHONE: &[(&str, Type)] = &[("phone", Type::Int)];

/// Whose conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignedTo {
    /// Those of this user.
    User(Uuid),
    /// Those of nobody.
    Nobody,
}

/// Which conversations to list. Everything that is `None` matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationFilter {
    /// Groups, and not people.
    pub groups: bool,
    /// Only those with something unread.
    pub unread: bool,
    /// Whose they are.
    pub assigned: Option<AssignedTo>,
    /// Their state.
    pub state: Option<ConversationState>,
    /// Their channel.
    pub channel_id: Option<Uuid>,
    /// A tag of the person's contact.
    pub tag: Option<Uuid>,
    /// The beginnings of words of the name, or the beginning or the end of the number.
    pub search: Option<String>,
    /// People who match the search in another way, such as by the names of their contacts: the numbers under which they are
    /// known. They have no effect where a word of the search has thousands of conversations.
    pub numbers: Vec<PhoneNumber>,
}

/// The place after a conversation in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationCursor {
    /// When something was written in it last.
    pub last_at: Timestamp,
    /// Its id.
    pub id: Uuid,
}

/// What a search asks of a conversation.
enum Term {
    /// A word of the name begins so.
    Word(String),
    /// The number begins or ends so.
    Digits(String),
}

impl Term {
    fn all(search: &str) -> Vec<Self> {
        let digits: String = search.chars().filter(char::is_ascii_digit).collect();
        let is_number =
            digits.len() > 2 && search.chars().all(|sign| sign.is_ascii_digit() || " +-().".contains(sign));
        if is_number {
            return vec![Self::Digits(digits)];
        }
        of_text(search).into_iter().take(MOST_TERMS).map(Self::Word).collect()
    }

    /// The beginnings of stored words.
    fn beginnings(&self) -> Vec<String> {
        match self {
            Self::Word(word) => vec![word.clone()],
            Self::Digits(digits) => {
                let backwards: String = digits.chars().rev().collect();
                vec![format!("{FORWARDS}{digits}"), format!("{BACKWARDS}{backwards}")]
            }
        }
    }

    fn condition(&self, values: &mut Vec<Value>) -> String {
        let (column, text) = match self {
            Self::Word(word) => ("name_folded", word),
            Self::Digits(digits) => ("peer", digits),
        };
        values.push(like_anywhere(text).into());
        format!("conversation.{column} LIKE ${} ESCAPE '\\'", values.len())
    }
}

impl Conversations<'_> {
    /// At most `limit` conversations after a place, those with the latest activity first, and the place after them if there
    /// are more. With a tag, a part may be shorter than that although there are more.
    pub async fn list(
        self,
        filter: &ConversationFilter,
        after: Option<ConversationCursor>,
        limit: u64,
    ) -> Result<(Vec<Conversation>, Option<ConversationCursor>)> {
        let search = filter.search.as_deref().map(Term::all).unwrap_or_default();
        if filter.search.is_some() && search.is_empty() && filter.numbers.is_empty() {
            return Ok((Vec::new(), None));
        }
        let among = self.among(&search, &filter.numbers).await?;
        let Some(tag) = filter.tag else {
            return self.part(filter, &search, among.as_deref(), after, limit).await;
        };
        if let Some(tagged) = self.of_few_tagged(tag).await? {
            let among: Vec<_> = match among {
                Some(found) => found.into_iter().filter(|id| tagged.contains(id)).collect(),
                None if search.is_empty() => tagged.into_iter().collect(),
                None => self.with_all(tagged, &search).await?.into_iter().collect(),
            };
            return self.part(filter, &search, Some(&among), after, limit).await;
        }
        let (mut found, mut place) = (Vec::new(), after);
        for _ in 0..LOOKS {
            let (part, next) = self.part(filter, &search, among.as_deref(), place, TAGGED).await?;
            let tagged = self.tagged(tag, &part).await?;
            for conversation in part {
                if conversation.peer.number().is_some_and(|number| tagged.contains(&number)) {
                    let last = cursor(&conversation);
                    found.push(conversation);
                    if found.len() as u64 >= limit {
                        return Ok((found, Some(last)));
                    }
                }
            }
            place = next;
            if place.is_none() {
                break;
            }
        }
        Ok((found, place))
    }

    /// The company's conversation with this id.
    pub async fn find(self, id: Uuid) -> Result<Option<Conversation>> {
        let found = Entity::find_by_id(id).filter(Column::CompanyId.eq(self.company));
        found.one(&self.store.read).await?.map(conversation).transpose()
    }

    /// The conversation of a channel with this person or group.
    pub async fn find_with(self, channel: Uuid, peer: &PeerKey) -> Result<Option<Conversation>> {
        let found = Entity::find()
            .filter(Column::ChannelId.eq(channel))
            .filter(Column::Peer.eq(peer.as_str()))
            .filter(Column::CompanyId.eq(self.company));
        found.one(&self.store.read).await?.map(conversation).transpose()
    }

    /// The conversations with these people, on all channels, those with the latest activity first; at most a thousand.
    pub async fn with_people(self, people: &[PeerKey]) -> Result<Vec<Conversation>> {
        let mut asked = Rows::new(self.store.backend, PEER);
        people.iter().for_each(|peer| asked.push([peer.as_str().into()]));
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let found = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(asked.have(Column::Peer))
            .order_by_desc(Column::LastAt)
            .order_by_desc(Column::Id)
            .limit(1_000);
        found.all(&self.store.read).await?.into_iter().map(conversation).collect()
    }

    /// How many open conversations with people have something unread, counted up to `most`: those of the user and those of
    /// nobody, or of everybody without a user.
    pub async fn count_unread(self, user: Option<Uuid>, most: u64) -> Result<u64> {
        let mut unread = Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            // As text, because the index of these has the first condition.
            .filter(Expr::cust("unread > 0 AND state = 0 AND kind = 0"));
        if let Some(user) = user {
            let own = Condition::any().add(Column::AssignedTo.is_null()).add(Column::AssignedTo.eq(user));
            unread = unread.filter(own);
        }
        Ok(unread.select_only().column(Column::Id).limit(most).count(&self.store.read).await?)
    }

    /// A part of the list, without regard to tags.
    async fn part(
        self,
        filter: &ConversationFilter,
        search: &[Term],
        among: Option<&[Uuid]>,
        after: Option<ConversationCursor>,
        limit: u64,
    ) -> Result<(Vec<Conversation>, Option<ConversationCursor>)> {
        // One walk for each state: the index has them apart. Known conversations are read at once.
        let states: Vec<_> = match (filter.state, among) {
            (None, None) => ConversationState::ALL.iter().copied().map(Some).collect(),
            (state, _) => vec![state],
        };
        let mut found = Vec::new();
        for state in states {
            let (sql, values) = self.statement(filter, search, among, (after, state), limit + 1);
            let rows = Entity::find().from_raw_sql(self.store.statement(sql, values));
            for row in rows.all(&self.store.read).await? {
                found.push(conversation(row)?);
            }
        }
        found.sort_unstable_by_key(|one: &Conversation| std::cmp::Reverse((one.last_at, one.id)));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = if more { found.last().map(cursor) } else { None };
        Ok((found, next))
    }

    fn statement(
        self,
        filter: &ConversationFilter,
        search: &[Term],
        among: Option<&[Uuid]>,
        (after, state): (Option<ConversationCursor>, Option<ConversationState>),
        limit: u64,
    ) -> (String, Vec<Value>) {
        let kind = if filter.groups { ConversationKind::Group } else { ConversationKind::Person };
        let mut values: Vec<Value> = vec![self.company.into()];
        let mut sql = "SELECT conversation.* FROM conversation WHERE conversation.company_id = $1".to_owned();
        // Where the conversations are known, no index by activity is considered.
        let plain = if among.is_some() { " + 0" } else { "" };
        sql += &format!(" AND conversation.kind{plain} = {}", kind.as_i16());
        if let Some(state) = state {
            sql += &format!(" AND conversation.state{plain} = {}", state.as_i16());
        }
        if filter.unread {
            sql += " AND conversation.unread > 0";
        }
        match filter.assigned {
            Some(AssignedTo::User(user)) => {
                values.push(user.into());
                sql += &format!(" AND conversation.assigned_to = ${}", values.len());
            }
            Some(AssignedTo::Nobody) => sql += " AND conversation.assigned_to IS NULL",
            None => {}
        }
        if let Some(channel) = filter.channel_id {
            values.push(channel.into());
            sql += &format!(" AND conversation.channel_id = ${}", values.len());
        }
        if let Some(ids) = among {
            let mut rows = Rows::new(self.store.backend, ID);
            ids.iter().for_each(|id| rows.push([(*id).into()]));
            let (rows, more) = rows.select(values.len() + 1);
            values.extend(more);
            sql += &format!(" AND conversation.id IN (SELECT id FROM {rows} AS among)");
        } else {
            for term in search {
                sql += &format!(" AND {}", term.condition(&mut values));
            }
        }
        if let Some(ConversationCursor { last_at, id }) = after {
            values.extend([last_at.millis().into(), id.into()]);
            let (at, id) = (values.len() - 1, values.len());
            sql += &format!(" AND (conversation.last_at, conversation.id) < (${at}, ${id})");
        }
        values.push(signed(limit).into());
        sql += &format!(" ORDER BY conversation.last_at DESC, conversation.id DESC LIMIT ${}", values.len());
        (sql, values)
    }

    /// The conversations that a search finds, if they are few; `None` without a search, and when there are many.
    async fn among(self, search: &[Term], numbers: &[PhoneNumber]) -> Result<Option<Vec<Uuid>>> {
        let mut among: Option<HashSet<Uuid>> = None;
        let mut is_sure = true;
        for term in search {
            let mut found = HashSet::new();
            for beginning in term.beginnings() {
                let sql = "SELECT conversation_id FROM conversation_word WHERE company_id = $1 AND word >= $2 \
                           AND word < $3 LIMIT $4";
                let values = [
                    self.company.into(),
                    beginning.as_str().into(),
                    format!("{beginning}{LAST}").into(),
                    (FEW as i64 + 1).into(),
                ];
                found.extend(fetch::<Uuid>(&self.store.read, sql, values).await?);
            }
            if found.len() > FEW {
                is_sure = false;
                continue;
            }
            among = Some(match among {
                Some(before) => before.intersection(&found).copied().collect(),
                None => found,
            });
        }
        let Some(mut among) = among.or_else(|| (is_sure && !numbers.is_empty()).then(HashSet::new)) else {
            return Ok(None);
        };
        if !is_sure {
            among = self.with_all(among, search).await?;
        }
        if !numbers.is_empty() {
            among.extend(self.of_people(numbers.iter().copied()).await?);
        }
        Ok(Some(among.into_iter().collect()))
    }

    /// Those of these conversations that all words of the search fit.
    async fn with_all(self, among: HashSet<Uuid>, search: &[Term]) -> Result<HashSet<Uuid>> {
        let (rows, mut values) = Rows::of_ids(self.store.backend, &among).select(1);
        let mut sql = format!("SELECT id FROM conversation WHERE id IN (SELECT id FROM {rows} AS among)");
        for term in search {
            sql += &format!(" AND {}", term.condition(&mut values));
        }
        Ok(fetch::<Uuid>(&self.store.read, sql, values).await?.into_iter().collect())
    }

    /// The conversations with people whose contacts have the tag, if these contacts are few.
    async fn of_few_tagged(self, tag: Uuid) -> Result<Option<HashSet<Uuid>>> {
        let sql = "SELECT contact_tag.phone FROM tag CROSS JOIN contact_tag WHERE tag.id = $1 AND tag.company_id = $2 \
                   AND contact_tag.tag_id = tag.id AND contact_tag.phone IS NOT NULL LIMIT $3";
        let values = [tag.into(), self.company.into(), (FEW_TAGGED as i64 + 1).into()];
        let phones = fetch::<i64>(&self.store.read, sql, values).await?;
        if phones.len() > FEW_TAGGED {
            return Ok(None);
        }
        let phones = phones.into_iter().filter_map(PhoneNumber::from_i64);
        Ok(Some(self.of_people(phones.map(PhoneNumber::person)).await?))
    }

    /// The conversations with the people who are known under these numbers.
    async fn of_people(self, numbers: impl IntoIterator<Item = PhoneNumber>) -> Result<HashSet<Uuid>> {
        let mut asked = Rows::new(self.store.backend, PEER);
        numbers.into_iter().for_each(|number| asked.push([PeerKey::of_number(number).as_str().into()]));
        let (asked, values) = asked.select(2);
        let sql = format!(
            "SELECT conversation.id FROM {asked} AS asked CROSS JOIN conversation \
             WHERE conversation.company_id = $1 AND conversation.peer = asked.peer"
        );
        let values = std::iter::once(self.company.into()).chain(values);
        Ok(fetch::<Uuid>(&self.store.read, sql, values).await?.into_iter().collect())
    }

    /// The people of these conversations whose contacts have the tag.
    async fn tagged(self, tag: Uuid, of: &[Conversation]) -> Result<HashSet<PhoneNumber>> {
        let mut asked = Rows::new(self.store.backend, PHONE);
        for number in of.iter().filter_map(|conversation| conversation.peer.number()) {
            let forms = std::iter::once(number).chain(number.other_form());
            forms.for_each(|form| asked.push([form.as_i64().into()]));
        }
        if asked.is_empty() {
            return Ok(HashSet::new());
        }
        let (asked, values) = asked.select(3);
        let sql = format!(
            "SELECT contact.phone FROM {asked} AS asked CROSS JOIN contact CROSS JOIN contact_tag \
             WHERE contact.company_id = $1 AND contact.phone = asked.phone \
             AND contact_tag.contact_id = contact.id AND contact_tag.tag_id = $2"
        );
        let values = [self.company.into(), tag.into()].into_iter().chain(values);
        let phones = fetch::<i64>(&self.store.read, sql, values).await?.into_iter();
        Ok(phones.filter_map(PhoneNumber::from_i64).map(PhoneNumber::person).collect())
    }
}

const fn cursor(of: &Conversation) -> ConversationCursor {
    ConversationCursor { last_at: of.last_at, id: of.id }
}

#[cfg(test)]
mod tests;
