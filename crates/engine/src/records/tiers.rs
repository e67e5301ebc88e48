//! Tiers: what operators change of them, beside what the store's noun lists.

use serde_json::Value;
use uuid::Uuid;

use super::OperatorRecords;
use crate::{Error, Who};
use domain::error::{Code, Refusal};
use domain::tier::is_name;
use store::changes::Change;
pub use store::tiers::{Earlier, Record, Removed, Renamed, Usage};

impl OperatorRecords {
    /// What [`OperatorRecords::apply_tiers`] would change.
    pub async fn compare_tiers(&self, who: &Who, tiers: &[(String, String)]) -> Result<Vec<Change>, Error> {
        self.tiers().compare(who, tiers).await.map_err(unless_of_another_kind)
    }

    /// Adds or replaces the tiers given as name and JSON, and returns what that changed. Refused with
    /// `tier_kind_changed` when one would become a tier for another kind of channel.
    pub async fn apply_tiers(&self, who: &Who, tiers: &[(String, String)]) -> Result<Vec<Change>, Error> {
        self.tiers().apply(who, tiers).await.map_err(unless_of_another_kind)
    }

    /// Removes a tier. Refused with `tier_not_found`, and with `tier_in_use` while a channel or a company has it.
    pub async fn remove_tier(&self, who: &Who, name: &str) -> Result<(), Error> {
        check(name)?;
        match self.tiers().remove(who, name).await? {
            Removed::Done => Ok(()),
            Removed::Missing => Err(Error::Refused(no_tier(name))),
            Removed::InUse(usage) => {
                let sentence = format!("the tier `{name}` is used by {usage}: give them another tier first");
                Err(Error::Refused(Refusal::new(Code::TierInUse, sentence)))
            }
        }
    }

    /// Gives a tier another name; its channels and companies follow. Refused with `tier_not_found`, and with
    /// `already_exists` when a tier has the new name.
    pub async fn rename_tier(&self, who: &Who, old: &str, new: &str) -> Result<(), Error> {
        check(old)?;
        match self.tiers().rename(who, old, new).await? {
            Renamed::Done => Ok(()),
            Renamed::Missing => Err(Error::Refused(no_tier(old))),
            Renamed::Taken => Err(Error::Refused(Refusal::new(
                Code::AlreadyExists,
                format!("there is a tier `{new}` already: choose another name"),
            ))),
        }
    }

    /// The tier as it was after an entry of its history, or before the newest one. Refused with `change_not_found` when
    /// there is no such entry, or the tier was not there then.
    pub async fn earlier_tier(&self, name: &str, entry: Option<Uuid>) -> Result<Value, Error> {
        let earlier = if is_name(name) { self.tiers().earlier(name, entry).await? } else { Earlier::NoEntry };
        let sentence = match earlier {
            Earlier::Options(options) => return Ok(options),
            Earlier::Absent => "there was no tier of this name then: choose another entry of its history",
            Earlier::NoEntry => {
                "the tier's history has no such entry: GET /operator/v1/changes?what=tier&subject=NAME lists it"
            }
        };
        Err(Error::Refused(Refusal::new(Code::ChangeNotFound, sentence)))
    }
}

/// What cannot be the name of a tier names none, and databases refuse some of it.
fn check(name: &str) -> Result<(), Error> {
    if is_name(name) { Ok(()) } else { Err(Error::Refused(no_tier(name))) }
}

fn no_tier(name: &str) -> Refusal {
    Refusal::new(
        Code::TierNotFound,
        format!("there is no tier `{name}`: GET /operator/v1/tiers lists the tiers"),
    )
}

fn unless_of_another_kind(error: store::Error) -> Error {
    match error {
        store::Error::OtherKind(name) => Error::Refused(Refusal::new(
            Code::TierKindChanged,
            format!("the tier `{name}` is for another kind of channel and stays so: choose another name"),
        )),
        other => other.into(),
    }
}
