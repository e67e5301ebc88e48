//! Who is told of what: what each person chose, or what the person's role says.

use std::collections::HashMap;

use entity::alert_subscription::{Column, Entity, Model};
use entity::membership;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _, QueryTrait as _};
use serde_json::json;
use uuid::Uuid;

use super::kind;
use crate::changes::{self, What, Who};
use crate::nouns::{Alerts, CompanyAlerts};
use crate::one_row::put_row;
use crate::users::User;
use crate::users::memberships::role;
use crate::{Result, fetch};
use domain::alert::AlertKind;
use domain::user::{Language, Role};

/// The companies that a person may choose alerts of, the first ones by name.
pub const MOST_CHOICES: i64 = 100;

/// A member of a company who may sign in, and what the person is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertListener {
    /// The person.
    pub user_id: Uuid,
    /// Folded.
    pub email: String,
    /// The person's display name.
    pub name: String,
    /// The language of mails; `None` when the person chose none.
    pub language: Option<Language>,
    /// The zone of times in mails; `None` when the person chose none.
    pub time_zone: Option<String>,
    /// What the person is told, in the order of [`AlertKind::ALL`].
    pub kinds: Vec<AlertKind>,
}

/// What a person is told of a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertChoice {
    /// The company.
    pub company_id: Uuid,
    /// Its name.
    pub company_name: String,
    /// What the person is told, in the order of [`AlertKind::ALL`].
    pub kinds: Vec<AlertKind>,
}

/// The choices of people.
struct Chosen(HashMap<(Uuid, Uuid, AlertKind), bool>);

impl Chosen {
    fn of(rows: Vec<Model>) -> Self {
        let chosen = rows.into_iter().filter_map(|row| {
            // A kind of a later version is of no concern to this one.
            Some(((row.user_id, row.company_id, kind(&row.kind).ok()?), row.wanted != 0))
        });
        Self(chosen.collect())
    }

    /// What a person with this role is told; an agent sees conversations alone, and is told nothing.
    fn kinds(&self, user: Uuid, company: Uuid, role: Role) -> Vec<AlertKind> {
        let is_wanted = |kind: &AlertKind| {
            self.0.get(&(user, company, *kind)).copied().unwrap_or_else(|| kind.is_told_to(role))
        };
        AlertKind::ALL.iter().copied().filter(|kind| role.sees_company() && is_wanted(kind)).collect()
    }
}

impl CompanyAlerts<'_> {
    /// The members who may sign in, by e-mail, each with what the person is told; nobody while the company is disabled.
    pub async fn listeners(self) -> Result<Vec<AlertListener>> {
        let members = membership::Entity::find().filter(membership::Column::CompanyId.eq(self.company));
        let members = members.select_only().column(membership::Column::UserId).into_query();
        let chosen = Entity::find().filter(Column::UserId.in_subquery(members));
        let chosen = chosen.filter(Column::CompanyId.eq(self.company)).all(&self.store.read).await?;
        let chosen = Chosen::of(chosen);
        let sql = "SELECT user_account.id, email, user_account.name, language, time_zone, role \
                   FROM membership JOIN user_account ON user_account.id = membership.user_id \
                   JOIN company ON company.id = membership.company_id \
                   WHERE membership.company_id = $1 AND user_account.disabled_at IS NULL \
                   AND company.disabled_at IS NULL ORDER BY email";
        type Row = (Uuid, String, String, Option<String>, Option<String>, String);
        let members = fetch::<Row>(&self.store.read, sql, [self.company.into()]).await?;
        let listeners = members.into_iter().map(|(user_id, email, name, language, time_zone, word)| {
            let kinds = chosen.kinds(user_id, self.company, role(&word)?);
            let language = language.as_deref().and_then(Language::parse);
            Ok(AlertListener { user_id, email, name, language, time_zone, kinds })
        });
        listeners.collect()
    }

    /// A member is told of these kinds, and of no others. `false` if the person is no member, or an agent.
    pub async fn choose(self, who: &Who, user: &User, wanted: &[AlertKind]) -> Result<bool> {
        let transaction = self.store.begin().await?;
        // Locked, so that the choices of one person take turns.
        let as_it_is = Expr::col(membership::Column::Role);
        let lock = membership::Entity::update_many().col_expr(membership::Column::Role, as_it_is);
        let lock = lock.filter(membership::Column::UserId.eq(user.id));
        let lock = lock.filter(membership::Column::CompanyId.eq(self.company));
        let Some(member) = lock.exec_with_returning(&transaction).await?.pop() else {
            return transaction.unchanged(false).await;
        };
        let role = role(&member.role)?;
        if !role.sees_company() {
            return transaction.unchanged(false).await;
        }
        let chosen = Entity::find().filter(Column::UserId.eq(user.id));
        let chosen = chosen.filter(Column::CompanyId.eq(self.company)).all(&transaction).await?;
        let chosen = Chosen::of(chosen);
        let before = chosen.kinds(user.id, self.company, role);
        let after: Vec<_> = AlertKind::ALL.iter().copied().filter(|kind| wanted.contains(kind)).collect();
        if before == after {
            return transaction.unchanged(true).await;
        }
        for kind in AlertKind::ALL {
            let row = [
                ("user_id", user.id.into()),
                ("company_id", self.company.into()),
                ("kind", kind.as_str().into()),
                ("wanted", i64::from(after.contains(kind)).into()),
            ];
            put_row(&transaction, "alert_subscription", &["user_id", "company_id", "kind"], row).await?;
        }
        let shown = |kinds: &[AlertKind]| {
            let kinds: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
            json!({ "company_id": self.company, "kinds": kinds })
        };
        changes::record_one(
            &transaction,
            who,
            What::Alerts,
            &user.email,
            Some(shown(&before)),
            shown(&after),
        )
        .await?;
        transaction.commit().await?;
        self.store.event_log().readers_changed();
        Ok(true)
    }
}

impl Alerts<'_> {
    /// The companies that a person belongs to, but not as an agent, by name, each with what the person is told; at most [`MOST_CHOICES`].
    pub async fn choices(self, user: Uuid) -> Result<Vec<AlertChoice>> {
        let chosen = Entity::find().filter(Column::UserId.eq(user)).all(&self.store.read).await?;
        let chosen = Chosen::of(chosen);
        let sql = "SELECT company.id, company.name, membership.role FROM membership \
                   JOIN company ON company.id = membership.company_id \
                   WHERE membership.user_id = $1 AND membership.role <> 'agent' \
                   ORDER BY company.name, company.id LIMIT $2";
        let values = [user.into(), MOST_CHOICES.into()];
        let rows = fetch::<(Uuid, String, String)>(&self.store.read, sql, values).await?;
        let choices = rows.into_iter().map(|(company_id, company_name, word)| {
            let kinds = chosen.kinds(user, company_id, role(&word)?);
            Ok(AlertChoice { company_id, company_name, kinds })
        });
        choices.collect()
    }
}
