//! What companies do with opt-out words that people write to them.

use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{Operator, companies};
use crate::api::State;
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::ErrorBody;
use crate::api::path_id::Id;
use crate::api::schema::StoppedByWord;
use crate::domain::body::Field;
use crate::domain::suppression::Suppression;
use crate::domain::{bodies, opt_out};
use crate::error::Code;

/// What a company does when a person writes an opt-out word.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OptOutWords {
    /// What a person who writes such a word is left out of. With `nothing`, words have no effect.
    #[schema(value_type = StoppedByWord)]
    left_out_of: &'static str,
    /// The company's own words that stop messages, beside those that everybody knows.
    #[schema(max_items = 50, example = json!(["chega"]))]
    stop_words: Vec<String>,
    /// The company's own words that take it back, beside `START` and `UNSTOP`.
    #[schema(max_items = 50, example = json!(["voltar"]))]
    start_words: Vec<String>,
}

impl From<opt_out::OptOutWords> for OptOutWords {
    fn from(words: opt_out::OptOutWords) -> Self {
        let opt_out::OptOutWords { scope, stop_words, start_words } = words;
        Self { left_out_of: scope.map_or(NOTHING, Suppression::as_str), stop_words, start_words }
    }
}

bodies! {
    /// What opt-out words do. A field that is left out or null has its default value.
    pub(super) struct NewOptOutWords of Value {
        /// What a person who writes such a word is left out of; `everything` when absent.
        left_out_of: Option<StoppedByWord>,
        /// The company's own words that stop messages, of at most 40 characters; none when absent.
        #[schema(max_items = 50, example = json!(["chega"]))]
        stop_words: Option<Vec<String>>,
        /// The company's own words that take it back, of at most 40 characters; none when absent.
        #[schema(max_items = 50, example = json!(["voltar"]))]
        start_words: Option<Vec<String>>,
    }
}

/// The word for words without effect.
const NOTHING: &str = "nothing";

/// Show what opt-out words do
#[utoipa::path(
    get,
    path = "/operator/v1/companies/{id}/opt-out-words",
    operation_id = "getOptOutWords",
    params(("id" = Uuid, Path, description = "The company")),
    responses(
        (status = 200, description = "The settings", body = OptOutWords),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(_: Operator, state: Data<State>, id: Id) -> Answer<OptOutWords> {
    let company = companies::find(&state, id.0).await?;
    let records = state.engine.operator().await?.company(company.id);
    Ok(Json(records.suppressions().words().await?.into()))
}

/// Set what opt-out words do
///
/// A field that is left out has its default value: `everything`, and no words of the company's own. Messages that arrive
/// from now on follow the settings.
#[utoipa::path(
    put,
    path = "/operator/v1/companies/{id}/opt-out-words",
    operation_id = "setOptOutWords",
    params(("id" = Uuid, Path, description = "The company")),
    request_body = NewOptOutWords,
    responses(
        (status = 200, description = "The settings", body = OptOutWords),
        (status = 404, description = "`company_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn set(operator: Operator, body: Body, state: Data<State>, id: Id) -> Answer<OptOutWords> {
    let company = companies::find(&state, id.0).await?;
    let (NewOptOutWords { left_out_of, stop_words, start_words }, _room) =
        body.fields(&state.options).await?;
    let scope = match left_out_of.text()? {
        None => opt_out::OptOutWords::default().scope,
        Some(NOTHING) => None,
        Some(word) => {
            Some(word.parse().map_err(|_| left_out_of.wrong_type("one of nothing, marketing, everything"))?)
        }
    };
    let list = |field: &Field<Value, _>| field.list("a list of texts", |word| Some(word.to_owned()));
    let (stopping, starting) = (list(&stop_words)?, list(&start_words)?);
    let words = opt_out::OptOutWords::new(scope, stopping, starting).map_err(|(list, wrong)| {
        let field = if list == opt_out::List::Stop { &stop_words } else { &start_words };
        field.refuse(Code::InvalidField, wrong)
    })?;
    let records = state.engine.operator().await?.company(company.id);
    records.suppressions().set_words(&operator.who(), &words).await?;
    Ok(Json(words.into()))
}
