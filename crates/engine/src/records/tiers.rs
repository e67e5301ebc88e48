//! Tiers, for operators.

use super::OperatorRecords;
use crate::{Error, Who};
use domain::error::{Code, Refusal};
use store::changes::Change;
pub use store::tiers::Record;

/// Every tier.
pub struct Tiers<'a>(pub(super) &'a OperatorRecords);

impl Tiers<'_> {
    /// All of them, by name.
    pub async fn all(&self) -> Result<Vec<Record>, Error> {
        Ok(self.0.store().tiers().await?)
    }

    /// The tier of this name.
    pub async fn find(&self, name: &str) -> Result<Option<Record>, Error> {
        Ok(self.0.store().find_tier(name).await?)
    }

    /// What [`Tiers::apply`] would change.
    pub async fn compare(&self, who: &Who, tiers: &[(String, String)]) -> Result<Vec<Change>, Error> {
        self.0.store().compare_tiers(who, tiers).await.map_err(unless_of_another_kind)
    }

    /// Adds or replaces the tiers given as name and JSON, and returns what that changed. Refused with
    /// `tier_kind_changed` when one would become a tier for another kind of channel.
    pub async fn apply(&self, who: &Who, tiers: &[(String, String)]) -> Result<Vec<Change>, Error> {
        self.0.store().apply_tiers(who, tiers).await.map_err(unless_of_another_kind)
    }
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
