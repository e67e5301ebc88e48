//! Memberships: the roles of people in companies.

use std::collections::HashMap;

use entity::membership::{Column, Entity, Model};
use entity::{company, user_session};
use sea_orm::sea_query::{Condition, Expr, OnConflict};
use sea_orm::{ColumnTrait as _, EntityTrait as _, Insert, QueryFilter as _, QueryResult, Value};
use serde_json::json;
use uuid::Uuid;

use super::{User, invitations};
use crate::changes::{self, What, Who};
use crate::contacts::signed;
use crate::nouns::{Members, Users};
use crate::one_row::delete_rows;
use crate::{Error, Result, Transaction, fetch, fetch_one, moment};
use clock::Timestamp;
use domain::fold::fold;
use domain::page::{Page, PageRequest};
use domain::user::Role;

/// The most companies that are read for the people of one page.
pub const MOST_COMPANIES: u32 = 1_000;

/// A company, as a person may use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The company.
    pub company_id: Uuid,
    /// Its name.
    pub company_name: String,
    /// The person's role in it.
    pub role: Role,
    /// Whether it is disabled, so that nobody may choose it.
    pub is_disabled: bool,
}

/// A person, as a member of a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The person.
    pub user_id: Uuid,
    /// Folded.
    pub email: String,
    /// The person's display name.
    pub name: String,
    /// The person's role.
    pub role: Role,
    /// Whether the person signs in with a second factor.
    pub has_totp: bool,
    /// Whether the person cannot sign in.
    pub is_disabled: bool,
    /// When the person last used the console, to the minute; without a session, when they last signed in.
    pub last_used_at: Option<Timestamp>,
}

impl Member {
    /// Whether the person may answer conversations, and so be given one.
    pub const fn answers(&self) -> bool {
        self.role.answers() && !self.is_disabled
    }
}

/// The result of changing a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// The change was made.
    Done,
    /// The person is no member.
    NoMember,
    /// The company would be left without an owner.
    LastOwner,
}

pub(crate) fn role(word: &str) -> Result<Role> {
    Role::parse(word).ok_or_else(|| Error::Impossible(format!("role `{word}`")))
}

/// The columns of a company's membership: its id and name, the role, and since when the company is disabled.
type MembershipRow = (Uuid, String, String, Option<i64>);

fn membership((company_id, company_name, word, disabled_at): MembershipRow) -> Result<Membership> {
    Ok(Membership { company_id, company_name, role: role(&word)?, is_disabled: disabled_at.is_some() })
}

fn member(row: &QueryResult) -> Result<Member> {
    Ok(Member {
        user_id: row.try_get("", "user_id")?,
        email: row.try_get("", "email")?,
        name: row.try_get("", "name")?,
        role: role(&row.try_get::<String>("", "role")?)?,
        has_totp: row.try_get::<Option<Vec<u8>>>("", "totp_secret")?.is_some(),
        is_disabled: row.try_get::<Option<i64>>("", "disabled_at")?.is_some(),
        last_used_at: moment(row, "last_used_at")?,
    })
}

/// Makes changes of a company's members take turns.
pub(super) async fn lock(within: &Transaction, company_id: Uuid) -> Result<()> {
    let as_it_is = Expr::col(company::Column::Name);
    let lock = company::Entity::update_many().col_expr(company::Column::Name, as_it_is);
    lock.filter(company::Column::Id.eq(company_id)).exec(within).await?;
    Ok(())
}

/// Makes a person a member, or gives them a more powerful role, within a transaction.
pub(crate) async fn raise(
    within: &Transaction,
    who: &Who,
    user: &User,
    company_id: Uuid,
    new: Role,
) -> Result<()> {
    match role_in(within, user.id, company_id).await? {
        Some(former) if former >= new => Ok(()),
        _ => put(within, who, user, company_id, new).await,
    }
}

async fn role_in(within: &Transaction, user_id: Uuid, company_id: Uuid) -> Result<Option<Role>> {
    let found = Entity::find_by_id((user_id, company_id)).one(within).await?;
    found.map(|found| role(&found.role)).transpose()
}

/// Makes a person a member, or gives them another role, within a transaction.
pub(crate) async fn put(
    within: &Transaction,
    who: &Who,
    user: &User,
    company_id: Uuid,
    new: Role,
) -> Result<()> {
    let former = role_in(within, user.id, company_id).await?;
    if former == Some(new) {
        return Ok(());
    }
    let row = Model {
        user_id: user.id,
        company_id,
        role: new.as_str().to_owned(),
        created_at: Timestamp::now().millis(),
    };
    let replace =
        OnConflict::columns([Column::UserId, Column::CompanyId]).update_column(Column::Role).to_owned();
    Insert::one(row).on_conflict(replace).exec_without_returning(within).await?;
    let shown = |role: Role| json!({ "company_id": company_id, "role": role.as_str() });
    changes::record_one(within, who, What::Membership, &user.email, former.map(shown), shown(new)).await
}

impl Users<'_> {
    /// A page of the companies that a person may use, by name: all of them for an operator. `search` is matched
    /// anywhere in the name, without case and accents.
    pub async fn companies_of(
        self,
        user: &User,
        page: PageRequest,
        search: Option<&str>,
    ) -> Result<Page<Membership>> {
        let (join, role) = if user.is_operator {
            ("LEFT JOIN membership ON company_id = company.id AND user_id = $1", "'owner'")
        } else {
            ("JOIN membership ON company_id = company.id AND user_id = $1", "membership.role")
        };
        let sql = format!(
            "SELECT company.id, company.name, {role}, company.disabled_at FROM company {join} \
             ORDER BY company.name, company.id"
        );
        let Some(search) = search.map(fold) else {
            let total = format!("SELECT COUNT(*) FROM company {join}");
            let total = self.store.count(total, [user.id.into()]).await?;
            let values = [user.id.into(), signed(page.limit).into(), signed(page.offset()).into()];
            let rows = fetch(&self.store.read, format!("{sql} LIMIT $2 OFFSET $3"), values).await?;
            let records = rows.into_iter().map(membership).collect::<Result<_>>()?;
            return Ok(Page { records, total });
        };
        // Names are folded here, because the databases cannot fold them. There are few companies.
        let mut found = Vec::new();
        for row in fetch(&self.store.read, sql, [user.id.into()]).await? {
            let membership = membership(row)?;
            if fold(&membership.company_name).contains(&search) {
                found.push(membership);
            }
        }
        Ok(Page::of(found, page))
    }

    /// The companies of each of these people that they are members of, by name, at most [`MOST_COMPANIES`] in all.
    pub async fn companies_of_each(self, users: &[Uuid]) -> Result<HashMap<Uuid, Vec<Membership>>> {
        let mut found: HashMap<Uuid, Vec<Membership>> = HashMap::new();
        if users.is_empty() {
            return Ok(found);
        }
        let places = (1..=users.len()).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT user_id, company.id, company.name, role, company.disabled_at
             FROM membership JOIN company ON company.id = company_id
             WHERE user_id IN ({places}) ORDER BY company.name, company.id LIMIT {MOST_COMPANIES}"
        );
        type Row = (Uuid, Uuid, String, String, Option<i64>);
        let values = users.iter().map(|id| Value::from(*id));
        for (user_id, id, name, word, disabled_at) in fetch::<Row>(&self.store.read, sql, values).await? {
            found.entry(user_id).or_default().push(membership((id, name, word, disabled_at))?);
        }
        Ok(found)
    }

    /// The company, if this person may use it; an operator may use every company as an owner.
    pub async fn membership(self, user: &User, company_id: Uuid) -> Result<Option<Membership>> {
        let sql = "SELECT company.name, membership.role, company.disabled_at
            FROM company LEFT JOIN membership ON company_id = company.id AND user_id = $1
            WHERE company.id = $2";
        let values = [user.id.into(), company_id.into()];
        let row = fetch_one::<(String, Option<String>, Option<i64>)>(&self.store.read, sql, values).await?;
        let Some((company_name, own_role, disabled_at)) = row else { return Ok(None) };
        let word = if user.is_operator { Some(Role::Owner.as_str().to_owned()) } else { own_role };
        word.map(|word| membership((company_id, company_name, word, disabled_at))).transpose()
    }
}

impl Members<'_> {
    /// The members of a company, by e-mail.
    pub async fn all(self) -> Result<Vec<Member>> {
        let sql = "SELECT user_id, email, name, role, totp_secret, disabled_at,
                COALESCE((SELECT MAX(last_used_at) FROM user_session
                    WHERE user_session.user_id = membership.user_id), last_sign_in_at) AS last_used_at
            FROM membership JOIN user_account ON user_account.id = user_id
            WHERE company_id = $1 ORDER BY email";
        self.store.rows(sql, [self.company.into()]).await?.iter().map(member).collect()
    }

    /// Gives a member another role. With a lesser one, the invitations that the member made or was given end, and with
    /// one that only reads, nobody has the member's conversations.
    pub async fn set_role(self, who: &Who, user: &User, new: Role) -> Result<Changed> {
        let company_id = self.company;
        let transaction = self.store.begin().await?;
        let changed = self.may_change(&transaction, user.id, new != Role::Owner).await?;
        let former = role_in(&transaction, user.id, company_id).await?;
        // A member who has the role already is not changed, so that even the lock writes nothing.
        if changed == Changed::Done && former != Some(new) {
            put(&transaction, who, user, company_id, new).await?;
            if former.is_some_and(|former| former > new) {
                invitations::end(&transaction, user, company_id).await?;
            }
            if !new.answers() {
                self.take_conversations(&transaction, who, user).await?;
            }
            transaction.commit().await?;
            self.store.tell_of_events();
        } else {
            transaction.rollback().await?;
        }
        Ok(changed)
    }

    /// Removes a member from a company. The person's sessions that had chosen the company choose another one, and their
    /// tokens that read it end, as do the invitations to it that the person made or was given. Nobody has the person's
    /// conversations.
    pub async fn remove(self, who: &Who, user: &User) -> Result<Changed> {
        let company_id = self.company;
        let transaction = self.store.begin().await?;
        let changed = self.may_change(&transaction, user.id, true).await?;
        if changed != Changed::Done {
            return transaction.unchanged(changed).await;
        }
        let former = Entity::delete_by_id((user.id, company_id)).exec_with_returning(&transaction).await?;
        let former = former.map(|former| former.role).unwrap_or_default();
        let of = [("user_id", user.id.into()), ("company_id", company_id.into())];
        delete_rows(&transaction, "alert_subscription", of).await?;
        let sessions =
            || user_session::Entity::update_many().filter(user_session::Column::UserId.eq(user.id));
        let in_it = sessions().filter(user_session::Column::CompanyId.eq(company_id));
        in_it.col_expr(user_session::Column::CompanyId, Expr::null()).exec(&transaction).await?;
        let reading_it = sessions().filter(user_session::Column::TokenCompanyId.eq(company_id));
        let reading_it = reading_it.col_expr(user_session::Column::TokenHash, Expr::null());
        reading_it.col_expr(user_session::Column::TokenCompanyId, Expr::null()).exec(&transaction).await?;
        invitations::end(&transaction, user, company_id).await?;
        self.take_conversations(&transaction, who, user).await?;
        let before = json!({ "company_id": company_id, "role": former });
        let after = json!({ "company_id": company_id, "role": null });
        changes::record_one(&transaction, who, What::Membership, &user.email, Some(before), after).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(Changed::Done)
    }

    /// Takes the company's conversations from a user who may not answer them any more.
    pub(super) async fn take_conversations(self, within: &Transaction, who: &Who, user: &User) -> Result<()> {
        self.store.of(self.company).conversations().take_from(within, user.id, &who.to_string()).await
    }

    /// Whether a member may lose their role. Concurrent changes take turns, so that one owner is left.
    async fn may_change(self, within: &Transaction, user_id: Uuid, loses_ownership: bool) -> Result<Changed> {
        lock(within, self.company).await?;
        let concerned =
            Condition::any().add(Column::UserId.eq(user_id)).add(Column::Role.eq(Role::Owner.as_str()));
        let members = Entity::find().filter(Column::CompanyId.eq(self.company)).filter(concerned);
        let (mut own, mut other_owners) = (None, 0);
        for member in members.all(within).await? {
            if member.user_id == user_id {
                own = Some(role(&member.role)?);
            } else {
                other_owners += 1;
            }
        }
        Ok(match own {
            None => Changed::NoMember,
            Some(Role::Owner) if loses_ownership && other_owners == 0 => Changed::LastOwner,
            Some(_) => Changed::Done,
        })
    }
}
