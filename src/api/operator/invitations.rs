//! Invitations: list, create, withdraw.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Operator;
use super::users::{Link, Rights};
use crate::accounts::{self, Invite};
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::{Answer, Envelope};
use crate::api::error::{Error, ErrorBody};
use crate::api::list_query::{PageParameters, Query};
use crate::api::path_id::Id;
use crate::api::schema::MemberRole;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::page::Page;
use crate::error::Code;

/// An unused invitation, without its link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Invitation {
    /// The id of the invitation.
    id: Uuid,
    /// The invited person's e-mail.
    #[schema(example = "ana@example.com")]
    email: String,
    /// The company that the person is invited to; null for an operator without a company.
    company_id: Option<Uuid>,
    /// The person's role in the company; null without a company.
    #[schema(value_type = Option<MemberRole>)]
    role: Option<&'static str>,
    /// Whether the person becomes an operator of every company.
    is_operator: bool,
    /// The author of the invitation, as in the record of changes.
    #[schema(example = "ana")]
    made_by: String,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it expires.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

bodies! {
    /// A person to invite: to a company, as an operator, or both.
    pub(super) struct NewInvitation of Value {
        /// The invited person's e-mail.
        #[schema(example = "ana@example.com", max_length = 254)]
        email: String,
        /// The name that is suggested.
        #[schema(example = "Ana Souza", max_length = 200)]
        name: Option<String>,
        /// The company's id.
        company_id: Option<String>,
        /// The role in the company; `member` when left out.
        role: Option<MemberRole>,
        /// Whether the person becomes an operator of every company.
        is_operator: Option<bool>,
    }
}

impl From<accounts::Invitation> for Invitation {
    fn from(invitation: accounts::Invitation) -> Self {
        let accounts::Invitation { id, email, company, is_operator, made_by, created_at, expires_at, .. } =
            invitation;
        let (company_id, role) = company.map(|company| (company.company_id, company.role.as_str())).unzip();
        Self { id, email, company_id, role, is_operator, made_by, created_at, expires_at }
    }
}

/// List invitations
///
/// The invitations that are not used and have not expired, newest first.
#[utoipa::path(
    get,
    path = "/operator/v1/invitations",
    operation_id = "listInvitations",
    params(PageParameters),
    responses((status = 200, description = "A page of invitations", body = Envelope<Invitation>)),
)]
pub(crate) async fn list(_: Operator, state: Data<State>, query: Query) -> Answer<Envelope<Invitation>> {
    let page = query.page()?;
    // Invitations expire after a day, so there are never many.
    let open = state.accounts.invitations(None).await?;
    Ok(Json(Envelope::new(page, Page::of(open, page))))
}

/// Invite a user
///
/// An earlier invitation of the same e-mail to the same company is revoked. The link in the answer is valid
/// once, and is shown only once.
#[utoipa::path(
    post,
    path = "/operator/v1/invitations",
    operation_id = "createInvitation",
    request_body = NewInvitation,
    responses(
        (status = 201, description = "The link to pass on", body = Link),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn create(
    operator: Operator,
    body: Body,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (NewInvitation { email, name, company_id, role, is_operator }, _room) =
        body.fields(&state.options).await?;
    let (email, name) = (email.required()?, name.name()?.unwrap_or_default());
    let Rights { company, is_operator } = Rights::read(&state, &company_id, &role, &is_operator).await?;
    let invite = Invite { email, name: &name, company, is_operator };
    let link = state.accounts.invite(&operator.who(), invite).await?;
    Ok(HttpResponse::Created().json(Link::from(link)))
}

/// Withdraw an invitation
#[utoipa::path(
    delete,
    path = "/operator/v1/invitations/{id}",
    operation_id = "withdrawInvitation",
    params(("id" = Uuid, Path, description = "The invitation")),
    responses(
        (status = 204, description = "Its link is no longer valid"),
        (status = 404, description = "`invitation_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn withdraw(operator: Operator, state: Data<State>, id: Id) -> Result<HttpResponse, Error> {
    let gone = || {
        let sentence = "there is no invitation with this id, or it was used or has expired";
        Error::refused(Code::InvitationNotFound, sentence)
    };
    let id = id.0.ok_or_else(gone)?;
    match state.accounts.withdraw_invitation(&operator.who(), None, id).await {
        Ok(()) => Ok(HttpResponse::NoContent().finish()),
        Err(accounts::Error::NotFound) => Err(gone()),
        Err(error) => Err(error.into()),
    }
}
