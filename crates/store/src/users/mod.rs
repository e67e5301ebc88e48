//! People who sign in: their accounts, and their credentials.
//!
//! Passwords are stored as hashes, and secrets of second factors are stored sealed. Every change is recorded with its
//! author.

pub mod credentials;
pub mod devices;
pub mod failed_sign_ins;
pub mod guesses;
pub mod invitations;
pub mod kept_forms;
pub mod links;
pub mod memberships;
mod second_factor;
pub mod sessions;
pub mod waiting;

use entity::user_account::{ActiveModel, Column, Entity, Model};
use entity::{link, membership};
use sea_orm::sea_query::{Condition, Expr, ExprTrait as _, Func, LikeExpr, SimpleExpr};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::json;
use uuid::Uuid;

use crate::changes::{self, What, Who};
use crate::nouns::Users;
use crate::queries::differs;
use crate::{Error, Result, Transaction, execute};
use clock::Timestamp;
use domain::fold::like_anywhere;
use domain::page::{Page, PageRequest};
use domain::phone::PhoneNumber;
use domain::user::{Email, Language, Role};

/// A person to add.
#[derive(Debug, Clone)]
pub struct NewUser<'a> {
    /// Unique.
    pub email: &'a Email,
    /// The person's display name.
    pub name: &'a str,
    /// Hash of the password; `None` until the person chooses one.
    pub password: Option<&'a str>,
    /// The language of pages; `None` for the browser's.
    pub language: Option<Language>,
    /// The zone that times are shown in; `None` for the browser's, or the company's.
    pub time_zone: Option<&'a str>,
    /// Whether the person is an operator.
    pub is_operator: bool,
    /// A first company, and the role in it.
    pub membership: Option<(Uuid, Role)>,
    /// The company whose owner invited the person; `None` when an operator vouches for them.
    pub vouched_by: Option<Uuid>,
}

/// A person who signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Time-ordered id.
    pub id: Uuid,
    /// Folded; unique.
    pub email: String,
    /// The person's display name.
    pub name: String,
    /// The language of pages; `None` for the browser's.
    pub language: Option<Language>,
    /// The zone that times are shown in; `None` for the browser's, or the company's.
    pub time_zone: Option<String>,
    /// Whether the person is an operator.
    pub is_operator: bool,
    /// Whether the person has a password.
    pub has_password: bool,
    /// Whether the person signs in with a second factor.
    pub has_totp: bool,
    /// Since when the person cannot sign in; `None` when they can.
    pub disabled_at: Option<Timestamp>,
    /// When the person was added.
    pub created_at: Timestamp,
    /// The version of the credentials, which each change of password or second factor raises.
    pub credentials_version: i64,
    /// The company whose owner invited the person; `None` when an operator vouches for them.
    pub vouched_by: Option<Uuid>,
    /// The person's own number, to which they get tests of sends.
    pub phone_number: Option<PhoneNumber>,
    /// When the person last signed in; `None` when that was never noted.
    pub last_sign_in_at: Option<Timestamp>,
}

/// The credentials of a person. Without `Debug`, so that they cannot be logged.
#[derive(Clone)]
pub struct Credentials {
    /// The person.
    pub user: User,
    /// Hash of the password.
    pub password: Option<String>,
    /// The secret of the second factor, sealed.
    pub totp_secret: Option<Vec<u8>>,
}

impl From<Model> for Credentials {
    fn from(model: Model) -> Self {
        let user = User {
            id: model.id,
            email: model.email,
            name: model.name,
            language: model.language.as_deref().and_then(Language::parse),
            time_zone: model.time_zone,
            is_operator: model.is_operator != 0,
            has_password: model.password.is_some(),
            has_totp: model.totp_secret.is_some(),
            disabled_at: model.disabled_at.map(Timestamp::from_millis),
            created_at: Timestamp::from_millis(model.created_at),
            credentials_version: model.credentials_version,
            vouched_by: model.vouched_by,
            phone_number: model.phone_number.and_then(PhoneNumber::from_i64),
            last_sign_in_at: model.last_sign_in_at.map(Timestamp::from_millis),
        };
        Self { user, password: model.password, totp_secret: model.totp_secret }
    }
}

impl From<Model> for User {
    fn from(model: Model) -> Self {
        Credentials::from(model).user
    }
}

/// Adds a person within a transaction.
pub(crate) async fn add(within: &Transaction, who: &Who, new: NewUser<'_>) -> Result<User> {
    let NewUser { email, name, password, language, time_zone, is_operator, membership, vouched_by } = new;
    let model = Model {
        id: Uuid::now_v7(),
        email: email.as_str().to_owned(),
        name: name.to_owned(),
        password: password.map(str::to_owned),
        language: language.map(|language| language.as_str().to_owned()),
        time_zone: time_zone.map(str::to_owned),
        is_operator: is_operator.into(),
        totp_secret: None,
        totp_step: 0,
        disabled_at: None,
        created_at: Timestamp::now().millis(),
        credentials_version: 0,
        vouched_by,
        phone_number: None,
        last_sign_in_at: None,
    };
    ActiveModel::from(model.clone()).reset_all().insert(within).await?;
    let user = User::from(model);
    let added = json!({ "status": "added", "name": name, "is_operator": is_operator });
    changes::record_one(within, who, What::User, email.as_str(), None, added).await?;
    if let Some((company_id, role)) = membership {
        memberships::put(within, who, &user, company_id, role).await?;
    }
    Ok(user)
}

impl Users<'_> {
    /// Adds a person.
    ///
    /// # Errors
    ///
    /// [`Error::Taken`] when another user has the e-mail.
    pub async fn add(self, who: &Who, new: NewUser<'_>) -> Result<User> {
        let transaction = self.store.begin().await?;
        let user = add(&transaction, who, new).await?;
        transaction.commit().await?;
        Ok(user)
    }

    /// A page of all people, by e-mail; `search` is matched anywhere in e-mail and name, without case.
    pub async fn page(self, page: PageRequest, search: Option<&str>) -> Result<Page<User>> {
        let mut matching = Entity::find();
        if let Some(search) = search {
            let pattern = || LikeExpr::new(like_anywhere(&search.to_lowercase())).escape('\\');
            let email = Expr::col(Column::Email).like(pattern());
            let name = SimpleExpr::from(Func::lower(Expr::col(Column::Name))).like(pattern());
            matching = matching.filter(Condition::any().add(email).add(name));
        }
        Ok(self.store.page_of(matching.order_by_asc(Column::Email), page).await?.map(User::from))
    }

    /// The person of this id.
    pub async fn find(self, id: Uuid) -> Result<Option<User>> {
        Ok(Entity::find_by_id(id).one(&self.store.read).await?.map(User::from))
    }

    /// The person of this e-mail.
    pub async fn find_by_email(self, email: &Email) -> Result<Option<User>> {
        Ok(self.credentials_by_email(email).await?.map(|credentials| credentials.user))
    }

    /// The credentials of the person with this e-mail address.
    pub async fn credentials_by_email(self, email: &Email) -> Result<Option<Credentials>> {
        let found = Entity::find().filter(Column::Email.eq(email.as_str())).one(&self.store.read).await?;
        Ok(found.map(Credentials::from))
    }

    /// The credentials of the person with this id.
    pub async fn credentials(self, id: Uuid) -> Result<Option<Credentials>> {
        Ok(Entity::find_by_id(id).one(&self.store.read).await?.map(Credentials::from))
    }

    /// Changes a person's name, language and time zone.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] when there is no such person.
    pub async fn set_profile(
        self,
        who: &Who,
        user: &User,
        name: &str,
        language: Option<Language>,
        time_zone: Option<&str>,
    ) -> Result<()> {
        let shown = |name: &str, language: Option<Language>, zone: Option<&str>| json!({ "name": name, "language": language.map(Language::as_str), "time_zone": zone });
        let before = shown(&user.name, user.language, user.time_zone.as_deref());
        let after = shown(name, language, time_zone);
        if before == after {
            return Ok(());
        }
        let transaction = self.store.begin().await?;
        // The same form may have been sent twice: what another request changed already is no change.
        let sql = "UPDATE user_account SET name = $2, language = $3, time_zone = $4
            WHERE id = $1 AND (name <> $2 OR language IS DISTINCT FROM $3 OR time_zone IS DISTINCT FROM $4)";
        let values = [user.id.into(), name.into(), language.map(Language::as_str).into(), time_zone.into()];
        if execute(&transaction, sql, values).await? == 0 {
            transaction.rollback().await?;
            let is_known = self.find(user.id).await?.is_some();
            let missing = || Error::Missing(format!("there is no person {}", user.id));
            return if is_known { Ok(()) } else { Err(missing()) };
        }
        changes::record_one(&transaction, who, What::User, &user.email, Some(before), after).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Sets a person's own number; `None` removes it. Returns whether that changed anything.
    pub async fn set_phone_number(self, who: &Who, user: &User, number: Option<PhoneNumber>) -> Result<bool> {
        let shown = |number: Option<PhoneNumber>| json!({ "phone_number": number.map(|number| format!("+{number}")) });
        let transaction = self.store.begin().await?;
        let stored = number.map(PhoneNumber::as_i64);
        let update = Entity::update_many().col_expr(Column::PhoneNumber, Expr::value(stored));
        let update = update.filter(Column::Id.eq(user.id)).filter(differs(Column::PhoneNumber, stored));
        if update.exec(&transaction).await?.rows_affected == 0 {
            return transaction.unchanged(false).await;
        }
        let (before, after) = (Some(shown(user.phone_number)), shown(number));
        changes::record_one(&transaction, who, What::User, &user.email, before, after).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Disables a person, ends their sessions, links and invitations, and gives their conversations to nobody; or enables the person
    /// again. Returns whether that changed anything.
    pub async fn set_disabled(self, who: &Who, user: &User, disabled: bool) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let (to, word, before) = if disabled {
            (Some(Timestamp::now().millis()), "disabled", "enabled")
        } else {
            (None, "enabled", "disabled")
        };
        let mut update = Entity::update_many()
            .col_expr(Column::DisabledAt, Expr::value(to))
            .filter(Column::Id.eq(user.id));
        update = update.filter(if disabled {
            Column::DisabledAt.is_null()
        } else {
            Column::DisabledAt.is_not_null()
        });
        if update.exec(&transaction).await?.rows_affected == 0 {
            return transaction.unchanged(false).await;
        }
        if disabled {
            credentials::renew(&transaction, user, None).await?;
            let of_them = link::Column::Email.eq(user.email.as_str()).or(link::Column::InviterId.eq(user.id));
            link::Entity::delete_many().filter(of_them).exec(&transaction).await?;
            let own = membership::Entity::find().filter(membership::Column::UserId.eq(user.id));
            for own in own.order_by_asc(membership::Column::CompanyId).all(&transaction).await? {
                self.store.of(own.company_id).members().take_conversations(&transaction, who, user).await?;
            }
        }
        changes::record_one(&transaction, who, What::User, &user.email, Some(json!(before)), json!(word))
            .await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(true)
    }
}
