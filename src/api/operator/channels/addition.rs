//! The body that adds a channel.

use serde_json::Value;
use uuid::Uuid;

use super::{check_kind, secret};
use crate::api::State;
use crate::api::error::Error;
use crate::api::operator::{companies, tiers};
use crate::api::schema::ChannelKind;
use crate::domain::bodies;
use crate::domain::body::Field;
use crate::domain::channel::Kind;
use crate::domain::message::Failure;
use crate::domain::phone::PhoneNumber;
use crate::engine::{Addition, Check, NotAdded, Number, Unfit};
use crate::error::Code;

/// The most digits of a provider's id. Its ids have some 15 digits.
const MAX_ID_DIGITS: usize = 32;

bodies! {
    /// A channel to add.
    pub(in crate::api::operator) struct NewChannel of Value {
        /// The company's id.
        company_id: String,
        /// The kind of provider.
        #[schema(example = "business_account")]
        kind: ChannelKind,
        /// The name of the channel.
        #[schema(example = "Support", max_length = 200)]
        name: String,
        /// A tier for this kind. When left out, the company's tier if it is for this kind, or else `standard` or
        /// `web-new`.
        #[schema(example = "standard")]
        tier: Option<String>,
        /// Business accounts: the number, as shown to people. Required when `verify` is false; otherwise the
        /// provider's number is used.
        #[schema(example = "+55 11 98888-7777")]
        phone_number: Option<String>,
        /// Business accounts: the provider's id of the number.
        #[schema(example = "106540352242922")]
        phone_number_id: Option<String>,
        /// Business accounts: the provider's id of the account.
        #[schema(example = "102290129340398")]
        waba_id: Option<String>,
        /// Business accounts: the provider's access token. It is never shown.
        token: Option<String>,
        /// Business accounts: the app secret that signs webhooks. It is never shown.
        app_secret: Option<String>,
        /// Business accounts: whether the account is looked up at the provider first; true when left out.
        verify: Option<bool>,
    }
}

/// Reads the channel to add.
///
/// # Errors
///
/// `company_not_found`, `tier_not_found`, `invalid_tier`, `invalid_phone_number`, and `invalid_field` for everything else.
pub(super) async fn read(state: &State, new: &NewChannel) -> Result<Addition, Error> {
    let company = Uuid::try_parse(new.company_id.required()?).ok();
    let company = companies::find(state, company).await?;
    let kind = kind(&new.kind)?;
    let name = new.name.required_name()?;
    let tier = match new.tier.text()? {
        Some(tier) => Some(tier_for(state, tier, kind).await?),
        None => None,
    };
    let number = match kind {
        Kind::BusinessAccount => Some(number(new)?),
        Kind::WebSession => None,
    };
    Ok(Addition { company_id: company.id, name, tier, number })
}

fn kind(field: &Field<Value, ChannelKind>) -> Result<Kind, Error> {
    let word = field.required()?;
    let known = Kind::ALL.iter().copied().find(|kind| kind.as_str() == word);
    known.ok_or_else(|| {
        let words: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        field.wrong_type(format_args!("one of {}", words.join(", "))).into()
    })
}

async fn tier_for(state: &State, name: &str, kind: Kind) -> Result<String, Error> {
    let tier = tiers::read(&tiers::find(state, name).await?)?;
    check_kind(&tier, kind)?;
    Ok(tier.name)
}

fn number(new: &NewChannel) -> Result<Number, Error> {
    let check = match new.verify.choice()? {
        Some(false) => Check::Later,
        Some(true) | None => Check::AtProvider,
    };
    let phone_number = match check {
        Check::AtProvider => new.phone_number.text()?,
        Check::Later => Some(new.phone_number.required()?),
    };
    if let Some(phone_number) = phone_number {
        PhoneNumber::parse(phone_number)
            .map_err(|reason| new.phone_number.refuse(Code::InvalidPhoneNumber, reason))?;
    }
    let phone_number_id = provider_id(&new.phone_number_id)?;
    let waba_id = provider_id(&new.waba_id)?;
    let token = secret(&new.token)?.ok_or_else(|| new.token.missing())?;
    let app_secret = secret(&new.app_secret)?;
    let phone_number = phone_number.map(str::to_owned);
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
        NotAdded::Unfit(Unfit::OtherAccount) => Error::refused(
            Code::ProviderRefused,
            "the number is not one of this business account's, and nothing was saved: give the `waba_id` of the number, or \
             give `verify` as false to add the channel anyway",
        ),
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

fn provider_id(field: &Field<Value, Option<String>>) -> Result<String, Error> {
    let id = field.required()?;
    if (1..=MAX_ID_DIGITS).contains(&id.len()) && id.bytes().all(|digit| digit.is_ascii_digit()) {
        return Ok(id.to_owned());
    }
    Err(field.wrong_type("the provider's id, which is digits only").into())
}
