//! The body that adds a channel.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{check_kind, secret};
use crate::api::State;
use crate::api::error::Error;
use crate::api::operator::{body, companies, tiers};
use crate::domain::channel::Kind;
use crate::domain::phone::PhoneNumber;
use crate::engine::{Addition, Number};
use crate::error::Code;

/// The tiers of channels whose company has one for the other kind.
const USUAL_TIERS: [(Kind, &str); 2] = [(Kind::BusinessAccount, "standard"), (Kind::WebSession, "web-new")];
/// The provider's ids are some 15 digits.
const MAX_ID_DIGITS: usize = 32;

/// Reads what is to be added.
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
        Some(tier) => tier_for(state, &tier, kind).await?,
        None => match tier_for(state, &company.tier, kind).await {
            Ok(tier) => tier,
            Err(_) => tier_for(state, usual(kind), kind).await?,
        },
    };
    let number = match kind {
        Kind::BusinessAccount => Some(number(fields)?),
        Kind::WebSession => None,
    };
    Ok(Addition { company_id: company.id, kind, name, tier, number })
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

fn usual(kind: Kind) -> &'static str {
    USUAL_TIERS.into_iter().find(|(of, _)| *of == kind).map_or("", |(_, tier)| tier)
}

fn number(fields: &mut Map<String, Value>) -> Result<Number, Error> {
    let phone_number = body::required(fields, "phone_number")?;
    PhoneNumber::parse(&phone_number)
        .map_err(|reason| Error::refused(Code::InvalidPhoneNumber, format!("`phone_number` {reason}")))?;
    let phone_number_id = provider_id(fields, "phone_number_id")?;
    let waba_id = provider_id(fields, "waba_id")?;
    let token = secret(fields, "token")?.ok_or_else(|| invalid("`token` is missing".to_owned()))?;
    let app_secret = secret(fields, "app_secret")?;
    Ok(Number { phone_number, phone_number_id, waba_id, token, app_secret })
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
