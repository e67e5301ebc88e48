//! The body that adds a channel.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{check_kind, secret};
use crate::api::State;
use crate::api::error::Error;
use crate::api::operator::{body, companies, tiers};
use crate::domain::channel::Kind;
use crate::domain::message::Failure;
use crate::domain::phone::PhoneNumber;
use crate::engine::{Addition, Check, NotAdded, Number, Unfit};
use crate::error::Code;

/// The most digits of a provider's id. Its ids have some 15 digits.
const MAX_ID_DIGITS: usize = 32;

/// Reads the channel to add.
///
/// # Errors
///
/// `company_not_found`, `tier_not_found`, `invalid_tier`, `invalid_phone_number`, and `invalid_field` for everything else.
pub(super) async fn read(state: &State, fields: &mut Map<String, Value>) -> Result<Addition, Error> {
    let company = Uuid::try_parse(&body::required(fields, "company_id")?).ok();
    let company = companies::find(state, company).await?;
    let kind = kind(&body::required(fields, "kind")?)?;
    let name = body::required_name(fields, "name")?;
    let tier = match body::text(fields, "tier")? {
        Some(tier) => Some(tier_for(state, &tier, kind).await?),
        None => None,
    };
    let number = match kind {
        Kind::BusinessAccount => Some(number(fields)?),
        Kind::WebSession => None,
    };
    Ok(Addition { company_id: company.id, name, tier, number })
}

fn kind(word: &str) -> Result<Kind, Error> {
    Kind::ALL.iter().copied().find(|kind| kind.as_str() == word).ok_or_else(|| {
        let words: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        invalid(format!("`kind` must be one of {}", words.join(", ")))
    })
}

async fn tier_for(state: &State, name: &str, kind: Kind) -> Result<String, Error> {
    let tier = tiers::find(state, name).await?;
    check_kind(&tier.settings, kind)?;
    Ok(tier.name)
}

fn number(fields: &mut Map<String, Value>) -> Result<Number, Error> {
    let check = match body::optional_flag(fields, "verify")? {
        Some(false) => Check::Later,
        Some(true) | None => Check::AtProvider,
    };
    let phone_number = match check {
        Check::AtProvider => body::text(fields, "phone_number")?,
        Check::Later => Some(body::required(fields, "phone_number")?),
    };
    if let Some(phone_number) = &phone_number {
        PhoneNumber::parse(phone_number)
            .map_err(|reason| Error::refused(Code::InvalidPhoneNumber, format!("`phone_number` {reason}")))?;
    }
    let phone_number_id = provider_id(fields, "phone_number_id")?;
    let waba_id = provider_id(fields, "waba_id")?;
    let token = secret(fields, "token")?.ok_or_else(|| invalid("`token` is missing".to_owned()))?;
    let app_secret = secret(fields, "app_secret")?;
    Ok(Number { phone_number, phone_number_id, waba_id, token, app_secret, check })
}

/// Why the channel was not added.
pub(super) fn refused(error: NotAdded) -> Error {
    let said = |what: &str, failure: Failure| {
        let code = failure.code.map_or_else(String::new, |code| format!(" ({code})"));
        let sentence = format!(
            "{what}, and nothing was saved: \"{}\"{code}; give `verify` as false to add the channel anyway",
            failure.sentence
        );
        Error::refused(Code::ProviderRefused, sentence)
    };
    match error {
        NotAdded::Unfit(Unfit::Token(failure)) => said("the provider refuses the token", failure),
        NotAdded::Unfit(Unfit::Restricted(failure)) => {
            said("the provider has restricted the account", failure)
        }
        NotAdded::Unfit(Unfit::Number(failure)) => said("the provider does not know the number", failure),
        NotAdded::Unfit(Unfit::Account(failure)) => {
            said("the provider does not know the business account", failure)
        }
        NotAdded::Unfit(Unfit::Away(_)) => Error::refused(
            Code::ProviderUnavailable,
            "the provider does not answer, and nothing was saved: try again, or give `verify` as false to add the \
             channel without this check",
        ),
        NotAdded::Taken => Error::refused(
            Code::AlreadyExists,
            "there is a channel with this `phone_number_id` already: reconnect that one, or remove it first",
        ),
        NotAdded::Failed(error) => error.into(),
    }
}

fn provider_id(fields: &mut Map<String, Value>, name: &str) -> Result<String, Error> {
    let id = body::required(fields, name)?;
    if (1..=MAX_ID_DIGITS).contains(&id.len()) && id.bytes().all(|digit| digit.is_ascii_digit()) {
        return Ok(id);
    }
    Err(invalid(format!("`{name}` must be the provider's id, which is digits only")))
}

fn invalid(sentence: String) -> Error {
    Error::refused(Code::InvalidField, sentence)
}
