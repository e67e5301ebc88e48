//! Links that owners make: for a member who lost the password, and for an invitation whose link was lost.

use actix_web::HttpRequest;
use actix_web::web::Data;

use super::{LINK, MEMBER_LINK, PLACE};
use crate::accounts;
use crate::console::answer::Answer;
use crate::console::error::Result;
use crate::console::query::Id;
use crate::console::visitor::Viewer;
use crate::console::{State, address};

/// Makes a link with which a member chooses a new password; it is shown once.
pub(crate) async fn make(viewer: Viewer, state: Data<State>, request: HttpRequest, id: Id) -> Result<Answer> {
    match state.accounts.member_link(&viewer.who(), viewer.company.id, id.0).await {
        Ok(link) => {
            let link = format!("{}{}", address::base(&request, &state), link.path());
            state.flashes.put(viewer.session, MEMBER_LINK, link);
        }
        Err(accounts::Error::OperatorsOnly) => {
            state.flashes.put(viewer.session, "fault", viewer.text.get("company-link-operators-only"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Answer::to(format!("{PLACE}#members")))
}

/// Makes the link of an invitation again, which ends the earlier one; it is shown once.
pub(crate) async fn invite_again(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
    id: Id,
) -> Result<Answer> {
    let link = state.accounts.invite_again(&viewer.who(), viewer.company.id, id.0).await?;
    let link = format!("{}{}", address::base(&request, &state), link.path());
    state.flashes.put(viewer.session, LINK, link);
    Ok(Answer::to(format!("{PLACE}#members")))
}
