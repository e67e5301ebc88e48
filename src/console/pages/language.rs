//! The language of the console.

use actix_web::web::Data;

use crate::accounts::OwnProfile;
use crate::console::answer::Answer;
use crate::console::error::{Error, Result};
use crate::console::form::Form;
use crate::console::gate::inner;
use crate::console::language::Language;
use crate::console::visitor::Visitor;
use crate::console::{State, cookie};

/// Stores the language: in the account of a person who is signed in, and otherwise in a cookie.
pub(crate) async fn choose(visitor: Visitor, state: Data<State>, form: Form) -> Result<Answer> {
    let language = Language::parse(form.words().one("language")).ok_or(Error::Unreadable)?;
    if let Some(person) = &visitor.person {
        let user = &person.signed_in.user;
        let zone = user.time_zone.as_deref();
        OwnProfile::of(&state.accounts)
            .set(&person.signed_in, &user.name, Some(language), zone, &person.origin)
            .await?;
    }
    let next = form.words().one("next");
    let next = if visitor.person.is_none() && next.starts_with("/console/sign-in") {
        "/console/sign-in"
    } else {
        inner(next)
    };
    Ok(Answer::with_cookie(next, cookie::language(language.as_str(), visitor.is_https)))
}
