//! What operators ask of the engine: who they are, and channels connected again.

use uuid::Uuid;

use super::{Engine, Error};
use crate::clock::Timestamp;
use crate::domain::secret::Secret;
use crate::store::change::Who;
use crate::vault::{api_key, context};

impl Engine {
    /// The name of the operator who presents this key; `None` when it is unknown, revoked or expired, or a
    /// company's. Operators are few and ask seldom: the store is asked each time.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the database is away.
    pub async fn authenticate_operator(&self, key: &str) -> Result<Option<String>, Error> {
        let operator = self.store().find_operator(&api_key::hash(key)).await?;
        let valid = operator.filter(|operator| operator.is_valid(Timestamp::now()));
        Ok(valid.map(|operator| operator.name))
    }

    /// Makes a business account `connecting` again, with a new access token when there is one, which is
    /// sealed here; `false` when there is no such channel. Its actor follows as it does to the command line.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when it cannot be written now.
    pub async fn reconnect(&self, who: &Who, id: Uuid, token: Option<Secret>) -> Result<bool, Error> {
        let vault = &self.0.shared.vault;
        let _hold = vault.hold();
        let sealed = token.map(|token| vault.seal(token.expose().as_bytes(), &context::token(id)));
        Ok(self.store().reconnect_channel(who, id, sealed).await?)
    }
}
