//! A conversation of a channel with a person or a group.

use sea_orm::entity::prelude::*;

/// A conversation of a channel with a person or a group.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "conversation")]
pub struct Model {
    /// Time-ordered id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The company that owns the conversation.
    pub company_id: Uuid,
    /// The channel.
    pub channel_id: Uuid,
    /// 0 a person, 1 a group.
    pub kind: i16,
    /// The number under which the person is known as digits, else `u:` and the person's id, or `g:` and the group.
    pub peer: String,
    /// The person's id within the business, or the address that hides the number.
    pub user_id: Option<String>,
    /// The name in the person's profile.
    pub name: Option<String>,
    /// The same for searches: without case and accents.
    pub name_folded: Option<String>,
    /// 0 open, 1 closed.
    pub state: i16,
    /// The user who has it.
    pub assigned_to: Option<Uuid>,
    /// Messages of the person that nobody read.
    pub unread: i64,
    /// When something was written last, by either side, in Unix milliseconds; 0 if never.
    pub last_at: i64,
    /// When the person wrote last, in Unix milliseconds; 0 if never.
    pub last_inbound_at: i64,
    /// When the company answered last, in Unix milliseconds; 0 if never.
    pub last_outbound_at: i64,
    /// Until when the company may write freely, in Unix milliseconds; 0 if it never could.
    pub window_until: i64,
    /// When the person came from an advertisement that was not answered yet, in Unix milliseconds; 0 if there is none.
    pub referral_at: i64,
    /// Until when messages are free because of an advertisement, in Unix milliseconds; 0 if they never were.
    pub entry_point_until: i64,
    /// The entry that a list shows, to which its line is sealed.
    pub last_id: Uuid,
    /// When that entry was written, in Unix milliseconds; 0 if there is none.
    pub last_line_at: i64,
    /// The word of its kind; empty when there is none.
    pub last_kind: String,
    /// Who wrote it: 0 the person, 1 an echo, 2 the company through Pombo.
    pub last_direction: i16,
    /// Its sealed line; empty when it is not kept.
    pub last_line: Vec<u8>,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// Joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
