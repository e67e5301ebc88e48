//! The sessions of a person: the list, and ending one or all others.

use actix_web::web::Data;
use maud::{Markup, html};

use super::{done, renewed};
use crate::accounts::{self, Session};
use crate::console::State;
use crate::console::answer::Answer;
use crate::console::component::browser::browser;
use crate::console::component::confirm::confirm;
use crate::console::component::table::{Column, table};
use crate::console::component::time::moment;
use crate::console::error::Result;
use crate::console::query::Id;
use crate::console::visitor::{Person, Visitor};

/// Ends one of the person's sessions.
pub(crate) async fn end(person: Person, state: Data<State>, id: Id) -> Result<Answer> {
    match state.accounts.end_session(&person.signed_in.user, id.0, &person.origin).await {
        // A session that has already ended counts as a success.
        Ok(()) | Err(accounts::Error::NotFound) => Ok(done(&state, &person, "account-session-ended")),
        Err(error) => Err(error.into()),
    }
}

/// Ends all of the person's sessions except this one.
pub(crate) async fn end_others(visitor: Visitor, person: Person, state: Data<State>) -> Result<Answer> {
    let token = state.accounts.end_other_sessions(&person.signed_in, &person.origin).await?;
    Ok(renewed(&state, &visitor, &person, &token, "account-others-ended"))
}

/// The part of the page with the sessions.
pub(super) fn section(person: &Person, sessions: &[Session]) -> Markup {
    let text = person.text;
    let others = text.get("account-end-others");
    html! {
        section aria-labelledby="sessions" {
            h2 id="sessions" { (text.get("account-sessions")) }
            (list(person, sessions))
            @if sessions.len() > 1 {
                (confirm(text, "/console/account/sessions/end", &others, &text.get("account-end-others-question")))
            }
        }
    }
}

fn list(person: &Person, sessions: &[Session]) -> Markup {
    let text = person.text;
    let columns =
        Column::all(text, ["account-browser", "account-address", "account-since", "account-last-used", ""]);
    let rows = sessions.iter().map(|session| {
        let end = if session.id == person.session {
            html! { strong { (text.get("account-this-session")) } }
        } else {
            let action = format!("/console/account/sessions/{}/end", session.id);
            confirm(text, &action, &text.get("account-end"), &text.get("account-end-question"))
        };
        vec![
            browser(text, &session.browser),
            html! { (session.address) },
            moment(person, session.created_at),
            moment(person, session.last_used_at),
            end,
        ]
    });
    table(&text.get("account-sessions"), &columns, rows)
}
