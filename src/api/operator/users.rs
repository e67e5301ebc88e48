//! People who sign in: list, add, disable, reset.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Operator, companies};
use crate::accounts::{self, Create, NewLink, Role};
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query, SearchParameter};
use crate::api::path_id::Id;
use crate::api::schema::MemberRole;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::body::Field;
use crate::error::Code;

/// A person who signs in to the console.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct User {
    /// The id of the user.
    pub(crate) id: Uuid,
    /// Unique; in small letters.
    #[schema(example = "ana@example.com")]
    pub(crate) email: String,
    /// As the user is shown.
    #[schema(example = "Ana Souza")]
    pub(crate) name: String,
    /// Whether the user is an operator of every company.
    pub(crate) is_operator: bool,
    /// Whether the user has chosen a password.
    pub(crate) has_password: bool,
    /// Whether signing in needs a second factor.
    pub(crate) has_totp: bool,
    /// The company whose owner invited the user. Nobody else has confirmed that the e-mail is the user's. Null when an
    /// operator added the user or reset the password.
    pub(crate) vouched_by_company_id: Option<Uuid>,
    /// When the user was disabled; null when the user can sign in.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) disabled_at: Option<Timestamp>,
    /// When the user last signed in to the console; null when that was never noted.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) last_sign_in_at: Option<Timestamp>,
    /// When the user was added.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
}

/// A link that is valid once. Only this answer contains it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Link {
    /// The path of the link, below the address of the service.
    #[schema(example = "/console/link/Xy3kQ9…")]
    path: String,
    /// When the link expires.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// A user, and the link with which the user chooses a password.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LinkedUser {
    /// The user.
    user: User,
    /// The link to pass on.
    link: Link,
}

bodies! {
    /// A user to add: of a company, an operator, or both.
    pub(super) struct NewUser of Value {
        /// No other user has it.
        #[schema(example = "ana@example.com", max_length = 254)]
        email: String,
        /// As the user is shown.
        #[schema(example = "Ana Souza", max_length = 200)]
        name: String,
        /// The company's id.
        company_id: Option<String>,
        /// The role in the company; `member` when left out.
        role: Option<MemberRole>,
        /// Whether the user is an operator of every company.
        is_operator: Option<bool>,
    }

    /// How to reset a user's password.
    pub(super) struct PasswordReset of Value {
        /// Whether to remove the second factor too.
        totp: Option<bool>,
    }
}

impl From<accounts::User> for User {
    fn from(user: accounts::User) -> Self {
        Self {
            id: user.id,
            email: user.email,
            name: user.name,
            is_operator: user.is_operator,
            has_password: user.has_password,
            has_totp: user.has_totp,
            vouched_by_company_id: user.vouched_by,
            disabled_at: user.disabled_at,
            last_sign_in_at: user.last_sign_in_at,
            created_at: user.created_at,
        }
    }
}

impl From<NewLink> for Link {
    fn from(link: NewLink) -> Self {
        Self { path: link.path(), expires_at: link.expires_at }
    }
}

/// List users
///
/// All users, sorted by e-mail. `search` is matched in e-mail and name.
#[utoipa::path(
    get,
    path = "/operator/v1/users",
    operation_id = "listUsers",
    params(PageParameters, SearchParameter),
    responses((status = 200, description = "A page of users", body = Envelope<User>)),
)]
pub(crate) async fn list(_: Operator, state: Data<State>, query: Query) -> Answer<Envelope<User>> {
    let (page, search) = (query.page()?, query.search()?);
    let users = state.accounts.users(page, search.as_deref()).await?;
    Ok(Json(Envelope::new(page, users)))
}

/// Add a user
///
/// The user has no password at first, and chooses one with the link in the answer, which is valid once. With
/// `POST /operator/v1/invitations` the person also chooses the name.
#[utoipa::path(
    post,
    path = "/operator/v1/users",
    operation_id = "createUser",
    request_body = NewUser,
    responses(
        (status = 201, description = "The user, and the link", body = LinkedUser),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
        (status = 409, description = "`already_exists`: another user has the e-mail", body = ErrorBody),
    ),
)]
pub(crate) async fn create(
    operator: Operator,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (NewUser { email, name, company_id, role, is_operator }, _room) = body.fields(&state.options).await?;
    let (email, name) = (email.required()?, name.required_name()?);
    let Rights { company, is_operator } = Rights::read(&state, &company_id, &role, &is_operator).await?;
    let create = Create { email, name: &name, password: None, company, is_operator };
    let user = state.accounts.create(&operator.who(), create).await?;
    let link = state.accounts.reset(&operator.who(), &user).await?;
    Ok(HttpResponse::Created().json(LinkedUser { user: user.into(), link: link.into() }))
}

/// Show a user
#[utoipa::path(
    get,
    path = "/operator/v1/users/{id}",
    operation_id = "getUser",
    params(("id" = Uuid, Path, description = "The user")),
    responses(
        (status = 200, description = "The user", body = User),
        (status = 404, description = "`user_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(_: Operator, state: Data<State>, id: Id) -> Answer<User> {
    find(&state, id).await.map(User::from).map(Json)
}

/// Disable a user
///
/// The user's sessions end, the user's links are revoked, and the user cannot sign in.
#[utoipa::path(
    post,
    path = "/operator/v1/users/{id}/disable",
    operation_id = "disableUser",
    params(("id" = Uuid, Path, description = "The user")),
    responses(
        (status = 200, description = "The user", body = User),
        (status = 404, description = "`user_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn disable(operator: Operator, state: Data<State>, id: Id) -> Answer<User> {
    set_disabled(&operator, &state, id, true).await
}

/// Let a disabled user sign in again
#[utoipa::path(
    post,
    path = "/operator/v1/users/{id}/enable",
    operation_id = "enableUser",
    params(("id" = Uuid, Path, description = "The user")),
    responses(
        (status = 200, description = "The user", body = User),
        (status = 404, description = "`user_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn enable(operator: Operator, state: Data<State>, id: Id) -> Answer<User> {
    set_disabled(&operator, &state, id, false).await
}

/// Reset a user's password
///
/// The user chooses a new password with the link in the answer, which is valid once; the old password is valid
/// until then. With `totp`, the second factor is removed at once, for a user who lost it.
#[utoipa::path(
    post,
    path = "/operator/v1/users/{id}/reset",
    operation_id = "resetUser",
    params(("id" = Uuid, Path, description = "The user")),
    request_body = Option<PasswordReset>,
    responses(
        (status = 201, description = "The user, and the link", body = LinkedUser),
        (status = 404, description = "`user_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn reset(
    operator: Operator,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    let mut user = find(&state, id).await?;
    let (PasswordReset { totp }, _room) = body.optional_fields(&state.options).await?;
    if totp.flag()? && state.accounts.forget_totp(&operator.who(), &user).await? {
        user = state.accounts.user(user.id).await?;
    }
    let link = state.accounts.reset(&operator.who(), &user).await?;
    Ok(HttpResponse::Created().json(LinkedUser { user: user.into(), link: link.into() }))
}

async fn set_disabled(operator: &Operator, state: &State, id: Id, disabled: bool) -> Answer<User> {
    let user = find(state, id).await?;
    state.accounts.set_disabled(&operator.who(), &user, disabled).await?;
    Ok(Json(state.accounts.user(user.id).await?.into()))
}

/// The user of the path.
async fn find(state: &State, id: Id) -> Result<accounts::User, Error> {
    Ok(state.accounts.user(id.0.ok_or(accounts::Error::NotFound)?).await?)
}

/// The rights of a new or invited user.
pub(super) struct Rights {
    pub(super) company: Option<(Uuid, Role)>,
    pub(super) is_operator: bool,
}

impl Rights {
    /// From `company_id`, `role` and `is_operator`.
    pub(super) async fn read(
        state: &State,
        company_id: &Field<Value, Option<String>>,
        role: &Field<Value, Option<MemberRole>>,
        is_operator: &Field<Value, Option<bool>>,
    ) -> Result<Self, Error> {
        let wrong_role =
            || role.wrong_type(format_args!("one of {}", Role::ALL.map(Role::as_str).join(", ")));
        let role = match role.text()? {
            None => Role::Member,
            Some(word) => Role::parse(word).ok_or_else(wrong_role)?,
        };
        let company = match company_id.text()? {
            None => None,
            Some(id) => Some((companies::find(state, Uuid::try_parse(id).ok()).await?.id, role)),
        };
        let is_operator = is_operator.flag()?;
        if company.is_none() && !is_operator {
            let what = "is missing: give a company's id, or set `is_operator`";
            return Err(company_id.refuse(Code::InvalidField, what).into());
        }
        Ok(Self { company, is_operator })
    }
}
