//! Tagging and untagging many contacts.

use std::collections::HashSet;

use actix_web::web::{Data, Json};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::{self, ContactNumber, invalid, invalid_field};
use crate::api::State;
use crate::api::auth::{Author, Company};
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::path_id::Id;
use crate::domain::phone::PhoneNumber;
use crate::engine::records::contacts::{ContactFilter, Membership};
use crate::engine::{MOST_AT_ONCE, Whom};
use crate::error::Code;
use crate::surface::body::Room;

/// Unknown entries that are listed.
const MOST_UNKNOWN: usize = 100;

/// Characters of a wrong number that a refusal shows.
const SHOWN: usize = 64;

/// Contacts that get a tag, and contacts that lose it.
#[derive(Deserialize, ToSchema)]
pub(crate) struct MemberChange<'a> {
    /// Contacts that get the tag.
    #[serde(borrow)]
    add: Option<Selection<'a>>,
    /// Contacts that lose the tag, after the others got it.
    #[serde(borrow)]
    remove: Option<Selection<'a>>,
}

/// Named contacts, the contacts that a search finds, or all contacts.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Selection<'a> {
    /// Ids of contacts; together with `phone_numbers` at most 10,000.
    #[serde(borrow)]
    #[schema(value_type = Option<Vec<Uuid>>, max_items = 10000)]
    contact_ids: Option<&'a RawValue>,
    /// Numbers of contacts.
    #[serde(borrow)]
    #[schema(value_type = Option<Vec<ContactNumber>>, max_items = 10000)]
    phone_numbers: Option<&'a RawValue>,
    /// All contacts that the list of contacts finds with this `search`.
    search: Option<String>,
    /// All contacts of the company.
    all: Option<bool>,
}

/// The result of tagging and untagging.
#[derive(Serialize, ToSchema)]
pub(crate) struct MembersChanged {
    /// Contacts that got the tag.
    added: u64,
    /// Contacts that lost the tag.
    removed: u64,
    /// The first 100 ids and numbers that belong to no contact.
    unknown: Vec<String>,
}

/// Tag and untag contacts
///
/// The request is answered when everything is done, in small steps that delay no other request; a million
/// contacts take about a minute. The change continues when the client disconnects. Repeating the request
/// changes nothing more. A company has one such change at a time: the answer is `service_unavailable` while
/// another one is in progress.
#[utoipa::path(
    post,
    path = "/api/v1/contacts/tags/{id}/members",
    operation_id = "changeMembers",
    params(("id" = Uuid, Path, description = "The tag")),
    request_body = MemberChange,
    responses(
        (status = 200, description = "What changed", body = MembersChanged),
        (status = 404, description = "`tag_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<MembersChanged> {
    let tag = id.or_nil();
    let search_chars = state.options.search_chars;
    let read = move |body: &str, room: &mut Room| read(body, search_chars, room);
    let (selected, _room) = fields::read_with(body, &state, read).await?;
    let mut changed = MembersChanged { added: 0, removed: 0, unknown: Vec::new() };
    for (whom, membership) in selected {
        unknown(&state, company, &whom, &mut changed.unknown).await?;
        let count = state.engine.contacts().change_members(&who, company.id, tag, whom, membership).await?;
        match membership {
            Membership::Add => changed.added = count,
            Membership::Remove => changed.removed = count,
        }
    }
    Ok(Json(changed))
}

fn read(body: &str, search_chars: usize, room: &mut Room) -> Result<Vec<(Whom, Membership)>, Error> {
    let MemberChange { add, remove } = fields::fields(body)?;
    if add.is_none() && remove.is_none() {
        return Err(invalid_field("give `add`, `remove` or both"));
    }
    let mut selected = Vec::new();
    for (selection, membership) in [(add, Membership::Add), (remove, Membership::Remove)] {
        if let Some(selection) = selection {
            selected.push((read_selection(selection, search_chars, room)?, membership));
        }
    }
    Ok(selected)
}

fn read_selection(selection: Selection<'_>, search_chars: usize, room: &mut Room) -> Result<Whom, Error> {
    let Selection { contact_ids, phone_numbers, search, all } = selection;
    let search = fields::search(search, search_chars)?;
    let named = contact_ids.is_some() || phone_numbers.is_some();
    let all = all.unwrap_or(false);
    if u8::from(named) + u8::from(search.is_some()) + u8::from(all) != 1 {
        return Err(invalid_field(
            "say which contacts: either `contact_ids` and `phone_numbers`, `search`, or `all`",
        ));
    }
    if !named {
        return Ok(Whom::Found(ContactFilter { search, ..ContactFilter::default() }));
    }
    let too_many = || {
        let sentence = format!("more than {MOST_AT_ONCE} contacts are named: split them, or give `search`");
        Error::refused(Code::TooManyContacts, sentence)
    };
    let ids: Vec<Uuid> = match contact_ids {
        Some(ids) => fields::values(ids, "contact_ids", (MOST_AT_ONCE, too_many), room)?,
        None => Vec::new(),
    };
    let numbers: Vec<ContactNumber> = match phone_numbers {
        Some(numbers) => {
            let most = MOST_AT_ONCE - ids.len();
            fields::values(numbers, "phone_numbers", (most, too_many), room)?
        }
        None => Vec::new(),
    };
    let numbers = numbers.into_iter().map(ContactNumber::into_text).map(|text| {
        PhoneNumber::parse(&text).map_err(|wrong| {
            let shown: String = text.chars().take(SHOWN).collect();
            invalid("phone_numbers")(format!("the number {shown:?} of `phone_numbers` {wrong}"))
        })
    });
    Ok(Whom::Named { ids, numbers: numbers.collect::<Result<_, _>>()? })
}

/// Adds the ids and numbers that belong to no contact to `into`.
async fn unknown(state: &State, company: Company, whom: &Whom, into: &mut Vec<String>) -> Result<(), Error> {
    let Whom::Named { ids, numbers } = whom else { return Ok(()) };
    let records = state.engine.company(company.id).await?;
    let known: HashSet<Uuid> = records.contacts().among(ids).await?.into_iter().collect();
    let found = records.contacts().with_numbers(numbers).await?;
    let found: HashSet<PhoneNumber> = found.into_iter().map(|(number, _)| number).collect();
    let ids = ids.iter().filter(|id| !known.contains(*id)).map(Uuid::to_string);
    let numbers = numbers.iter().filter(|number| !found.contains(*number)).map(|number| format!("+{number}"));
    let room = MOST_UNKNOWN.saturating_sub(into.len());
    into.extend(ids.chain(numbers).take(room));
    Ok(())
}
